#!/bin/sh
# Collects what `kubectl odigos-karpenter` reads, one call for each kind, and writes it to standard
# output. It only reads, and no Secrets: save it, or pipe it on.
#
#   kubectl odigos-karpenter collect | sh > cluster.json
#   kubectl odigos-karpenter scan cluster.json

set -eu

odigos_namespace='@NAMESPACE@'

# An API that is registered and away makes this fail, and yet print all others.
served=$(kubectl api-resources --verbs=list -o name) || true
if [ -z "$served" ]; then
  echo 'The cluster does not say what it serves.' >&2
  exit 1
fi

collected=''
missed=''

# Kinds that the cluster does not serve are left out. What can't be read is said by kubectl.
collect() {
  resource=$1
  shift
  printf '%s\n' "$served" | grep -qxF "$resource" || return 0
  kubectl get "$resource" -o json "$@" || { missed="$missed $resource"; return 0; }
  collected="$collected${collected:+,}\"$resource\""
}

collect nodepools.karpenter.sh
collect nodeclaims.karpenter.sh
collect provisioners.karpenter.sh
collect machines.karpenter.sh
collect nodeoverlays.karpenter.sh
collect nodes
collect pods --all-namespaces
collect daemonsets.apps --all-namespaces
collect statefulsets.apps --all-namespaces
collect deployments.apps --all-namespaces
collect replicasets.apps --all-namespaces
collect cronjobs.batch --all-namespaces
collect jobs.batch --all-namespaces
collect instrumentationconfigs.odigos.io --all-namespaces

# Of all ConfigMaps the one that says what Odigos is set to.
collect configmaps --namespace "$odigos_namespace" effective-config --ignore-not-found

# What was asked for and is not there is nowhere.
printf '{"apiVersion": "@API_VERSION@", "kind": "@KIND@", "odigosNamespace": "%s", "resources": [%s]}\n' \
  "$odigos_namespace" "$collected"

if [ -n "$missed" ]; then
  echo "Not collected:$missed" >&2
  exit 1
fi
