# From k8s-csi-driver with Karpenter off, tier community
# to a cluster without Odigos: Odigos goes, or is gone.
#
# Made of what was collected: read it, and run it step by step. What was done before does nothing a
# second time, or is refused: a patch by its `test`, of what has changed in between, too. Then
# collect and plan anew.
# It takes kubectl, helm and jq.

# === 1. The policy
# In every policy of policy.yaml the settings must have:
#   odiglet: {installed: false}
kubectl apply -f policy.yaml
kubectl wait --for=condition=PolicyUniquelyReachable --timeout=5m clusteradmissionpolicies \
  odigos-karpenter odigos-karpenter-audit odigos-pods-and-nodes odigos-pods-and-nodes-audit

# === 2. Pools
# Karpenter replaces every node of a pool whose startup taints change. New nodes are put right
# without that, by their NodeClaims, as long as the policy is there; so when to do each of these is
# for you to decide, but before the policy ever goes.
# windows: 1 node is replaced by drift, at most 1 at a time (budgets: 10%).
# To keep that for later, before:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"10%"}]},{"op":"add","value":{"nodes":"0","reasons":["Drifted"]},"path":"/spec/disruption/budgets/0"}]'
# and to let it go on:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"0","reasons":["Drifted"]},{"nodes":"10%"}]},{"op":"remove","path":"/spec/disruption/budgets/0"}]'
kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/template/spec/startupTaints","value":[{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"remove","path":"/spec/template/spec/startupTaints"}]'

# === 3. Nodes that keep the taint
# Nobody removes it from 1 node.
kubectl patch node node-w --type=json -p '[{"op":"test","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"},{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"replace","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"}]}]'
# It came to 1 node after odiglet, which removes it when it starts:
# node-b.
kubectl -n odigos-system rollout restart daemonset/odiglet
kubectl -n odigos-system rollout status daemonset/odiglet

# === 4. Wait until no node is uninitialized
# odiglet must be there for as long as a node waits for it. This prints those that do, and ends
# when there are none, or with what kubectl says where it can't ask: then run it again. What waits for
# something else (see kubectl describe) you may delete, and Karpenter launches another. Where there is
# no Karpenter nothing has to be waited for: nothing_waits=yes
waiting=unknown; while claims=$(kubectl get nodeclaims.karpenter.sh -o json) && waiting=$(printf '%s' "$claims" | jq -r '.items[]
  | select(all(.status.conditions[]?; (.type | endswith("Initialized") | not) or .status != "True"))
  | .metadata.name' || echo unknown) && [ -n "$waiting" ] && [ "$waiting" != unknown ]; do
  echo "$waiting"; sleep 10; done; [ -z "$waiting" ] && nothing_waits=yes

# === 5. Odigos
# Only after the wait, in the same shell:
# Under the name that you installed it by:
: "${nothing_waits:?wait first}" &&
  helm uninstall odigos --namespace odigos-system && odigos_is_gone=yes

# === 6. Workloads whose pods carry what Odigos once added
# Affinity and resources of a running pod can't be changed. DaemonSets come first, for Karpenter
# counts the requests of a DaemonSet's newest pod for every new node.
# DaemonSet shop/agent: 1 pod.
kubectl -n shop rollout restart daemonset/agent && kubectl -n shop rollout status daemonset/agent
# Deployment shop/coupon: 2 pods.
kubectl -n shop rollout restart deployment/coupon
# Deployment shop/till: its template; change the manifest, as the policy only puts right the pods made of it.
kubectl -n shop rollout restart deployment/till

# === 7. What is left on nodes
: "${odigos_is_gone:?uninstall it first}" &&
  kubectl label nodes --all odigos.io/odiglet-oss-installed- odigos.io/odiglet-enterprise-installed-
# Collect and plan again: a node that still has the taint has it for good. Those that had it when
# this was made, which odiglet should have freed since:
kubectl patch node node-b --type=json -p '[{"op":"test","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"remove","path":"/spec/taints"}]'
