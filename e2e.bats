#!/usr/bin/env bats
# End-to-end tests: AdmissionReviews of test_data, answered by the policy as it is shipped.
#
#   KWCTL   what answers them: kwctl, or this project's host, which takes the same arguments
#   POLICY  the module, annotated: the annotation says how it is run, and what it may read
#
# `make e2e-tests` sets both.

bats_require_minimum_version 1.5.0

KWCTL="${KWCTL:-kwctl}"
POLICY="${POLICY:-annotated-policy.wasm}"

GATED='{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true}'
GATED_REJECT='{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "action": "reject"}'
GATED_WARN='{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "action": "warn"}'
LABELLED='{"mountMethod": "k8s-host-path"}'
LABELLED_REJECT='{"mountMethod": "k8s-host-path", "action": "reject"}'
DEVICE='{"mountMethod": "k8s-virtual-device", "karpenterEnabled": true}'
DEVICE_REJECT='{"mountMethod": "k8s-virtual-device", "karpenterEnabled": true, "action": "reject"}'
DEVICE_WARN='{"mountMethod": "k8s-virtual-device", "karpenterEnabled": true, "action": "warn"}'
INIT_CONTAINER='{"mountMethod": "k8s-init-container", "karpenterEnabled": true}'
INIT_CONTAINER_REJECT='{"mountMethod": "k8s-init-container", "karpenterEnabled": true, "action": "reject"}'

# What is read from the cluster, over settings that would gate nothing, and over others.
LIVE='{"fromCluster": {"effectiveConfig": true}}'
GATED_LIVE='{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "fromCluster": {"effectiveConfig": true}}'
GATED_LIVE_REJECT='{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "action": "reject", "fromCluster": {"effectiveConfig": true}}'
GATED_ODIGLET='{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "fromCluster": {"odiglet": true}}'
GATED_ODIGLET_REJECT='{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "action": "reject", "fromCluster": {"odiglet": true}}'
LABELLED_CONFIGS='{"mountMethod": "k8s-host-path", "fromCluster": {"instrumentationConfigs": true}}'
DEVICE_OVERLAYS='{"karpenterEnabled": true, "fromCluster": {"nodeOverlays": true}}'
DEVICE_OVERLAYS_REJECT='{"karpenterEnabled": true, "action": "reject", "fromCluster": {"nodeOverlays": true}}'
EVERYTHING='{"fromCluster": {"effectiveConfig": true, "odiglet": true, "instrumentationConfigs": true, "nodeOverlays": true}}'

TAINT='{"effect":"NoSchedule","key":"odigos.io/needs-init"}'
LABEL='{"key":"odigos.io/odiglet-oss-installed","operator":"In","values":["true"]}'
TERMS=/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms

# judge REQUEST SETTINGS [ARGUMENT...]: has the policy answer test_data/REQUEST.json.
judge() {
  run --separate-stderr "$KWCTL" run \
    --request-path "test_data/$1.json" --settings-json "$2" "${@:3}" "$POLICY"
  printf 'request   %s\nsettings  %s\nexit      %s\nanswer    %s\n%s\n' \
    "$1" "$2" "$status" "$output" "$stderr"
  [ "$status" -eq 0 ]
  [[ "$output" != *'"code":500'* ]]
}

# in_cluster SESSION REQUEST SETTINGS: the same where the cluster answers as test_data/sessions/SESSION.yml
# says. Exactly the questions in it are asked, in their order.
in_cluster() {
  judge "$2" "$3" --allow-context-aware --replay-host-capabilities-interactions "test_data/sessions/$1.yml"
  [[ "$output" != *'Replay error'* ]]
  [[ "$output" != *'recorded responses is empty'* ]]
  # What the project's host and kwctl say of questions that nobody has asked.
  [[ "$stderr" != *'never asked'* ]]
  [[ "$stderr" != *'have not been replayed'* ]]
}

# without_grant SESSION REQUEST SETTINGS: the same where the policy may read nothing of the cluster.
without_grant() {
  judge "$2" "$3" --replay-host-capabilities-interactions "test_data/sessions/$1.yml"
}

# The JSON patch of the answer with the keys of its objects in order, empty where there is none.
patch() {
  local patch
  patch=$(sed -n 's/.*"patch":"\([^"]*\)".*/\1/p' <<<"$output" | base64 -d)
  if [ -n "$patch" ] && command -v jq >/dev/null; then
    patch=$(jq -cS . <<<"$patch")
  fi
  printf '%s' "$patch"
}

allowed() { [[ "$output" == *'"allowed":true'* ]]; }

unpatched() {
  [[ "$output" != *'"patch":"'* ]]
  [[ "$output" != *'"patchType":"'* ]]
}

silent() { [[ "$output" == *'"warnings":null'* || "$output" == *'"warnings":[]'* ]]; }

# patched JSON-PATCH: allowed, and changed by exactly that.
patched() {
  allowed
  [[ "$output" == *'"patchType":"JSONPatch"'* ]]
  printf 'patch     %s\nexpected  %s\n' "$(patch)" "$1"
  [ "$(patch)" = "$1" ]
}

# untouched: allowed unchanged, and nothing said.
untouched() {
  allowed
  unpatched
  silent
}

# warned PATTERN: allowed unchanged, with a warning like that.
warned() {
  allowed
  unpatched
  [[ "$output" =~ \"warnings\":\[.*$1 ]]
}

# rejected PATTERN: refused with a message like that, and no patch.
rejected() {
  [[ "$output" == *'"allowed":false'* ]]
  unpatched
  [[ "$output" =~ \"message\":\".*$1 ]]
}

# also_warned PATTERN: a warning like that, beside what else there is.
also_warned() { [[ "$output" =~ \"warnings\":\[.*$1 ]]; }

# by RULES: the audit annotation names the rules that changed the object.
by() { [[ "$output" == *"\"auditAnnotations\":{\"rules\":\"$1\"}"* ]]; }

# ours: skips a test of what only this project's host does.
ours() {
  if [ "$(basename "$KWCTL")" = kwctl ]; then
    skip "kwctl does not do this"
  fi
}

# === NodePool

@test "NodePool: a new one gets the startup taint" {
  judge nodepool-create "$GATED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  silent
  by startup-taint-missing
}

@test "NodePool: a new one without the startup taint is rejected" {
  judge nodepool-create "$GATED_REJECT"
  rejected 'NodePool.*default.*startupTaints.*odigos\.io/needs-init'
}

@test "NodePool: a new one without the startup taint is warned of" {
  judge nodepool-create "$GATED_WARN"
  warned 'odigos\.io/needs-init'
}

@test "NodePool: its own action goes before the common one" {
  judge nodepool-create '{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "nodePools": {"action": "warn"}}'
  warned 'odigos\.io/needs-init'
}

@test "NodePool: an excluded one is left alone" {
  judge nodepool-create '{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "nodePools": {"exclude": ["def*"]}}'
  untouched
}

@test "NodePool: without settings nothing is done" {
  judge nodepool-create '{}'
  untouched
}

@test "NodePool: Karpenter off in Odigos is a hint, and never a rejection" {
  judge nodepool-create "$LABELLED_REJECT"
  warned '[Kk]arpenter'
}

@test "NodePool: one with the startup taint stays as it is" {
  judge nodepool-create-tainted "$GATED_REJECT"
  untouched
}

@test "NodePool: the startup taint that nobody would remove goes" {
  judge nodepool-create-tainted "$INIT_CONTAINER"
  patched '[{"op":"remove","path":"/spec/template/spec/startupTaints/1"}]'
  by startup-taint-orphaned
}

@test "NodePool: the startup taint that nobody would remove is rejected" {
  judge nodepool-create-tainted "$INIT_CONTAINER_REJECT"
  rejected 'NodePool.*default.*odigos\.io/needs-init'
}

@test "NodePool: the startup taint goes once Odigos is gone" {
  judge nodepool-create-tainted '{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "odiglet": {"installed": false}}'
  patched '[{"op":"remove","path":"/spec/template/spec/startupTaints/1"}]'
}

@test "NodePool: v1beta1 is understood" {
  judge nodepool-create-v1beta1 "$GATED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
}

@test "NodePool: Windows nodes get no taint" {
  judge nodepool-create-windows "$GATED_REJECT"
  untouched
}

@test "NodePool: an update of its metadata must not drift it" {
  judge nodepool-update-metadata "$GATED"
  warned drift
  judge nodepool-update-metadata "$GATED_REJECT"
  warned drift
}

@test "NodePool: an update of its limits must not drift it, unless that is wanted" {
  judge nodepool-update-limits "$GATED"
  warned drift
  judge nodepool-update-limits '{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "nodePools": {"retrofit": true}}'
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
}

@test "NodePool: an update that drifts it anyway brings the startup taint" {
  judge nodepool-update-template "$GATED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  judge nodepool-update-template "$GATED_REJECT"
  rejected 'NodePool.*default.*odigos\.io/needs-init'
}

@test "NodePool: its deletion and its status are left alone" {
  judge nodepool-delete "$GATED_REJECT"
  untouched
  judge nodepool-update-status "$GATED_REJECT"
  untouched
}

# === NodeClaim

@test "NodeClaim: a new one gets the startup taint" {
  judge nodeclaim-create "$GATED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/startupTaints\",\"value\":[$TAINT]}]"
  silent
  by startup-taint-missing
}

@test "NodeClaim: it is never rejected" {
  judge nodeclaim-create "$GATED_REJECT"
  warned 'default-.*odigos\.io/needs-init'
}

@test "NodeClaim: warned of" {
  judge nodeclaim-create "$GATED_WARN"
  warned 'odigos\.io/needs-init'
}

@test "NodeClaim: the exclusion of its NodePool covers it" {
  judge nodeclaim-create '{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "nodePools": {"exclude": ["default"]}}'
  untouched
}

@test "NodeClaim: a device that nothing advertises goes" {
  judge nodeclaim-create-device "$GATED"
  patched "[{\"op\":\"remove\",\"path\":\"/spec/resources/requests/instrumentation.odigos.io~1generic\"},{\"op\":\"add\",\"path\":\"/spec/startupTaints\",\"value\":[$TAINT]}]"
  by device-orphaned,startup-taint-missing
}

@test "NodeClaim: with virtual devices the device stays" {
  judge nodeclaim-create-device "$DEVICE"
  untouched
}

@test "NodeClaim: an update is left alone" {
  judge nodeclaim-update "$GATED"
  untouched
}

# === Provisioner and Machine

@test "Provisioner: mutated, rejected, warned of" {
  judge provisioner-create "$GATED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/startupTaints/1\",\"value\":$TAINT}]"
  judge provisioner-create "$GATED_REJECT"
  rejected 'Provisioner.*default.*odigos\.io/needs-init'
  judge provisioner-create "$GATED_WARN"
  warned 'odigos\.io/needs-init'
}

@test "Machine: mutated, never rejected, warned of" {
  judge machine-create "$GATED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/startupTaints\",\"value\":[$TAINT]}]"
  judge machine-create "$GATED_REJECT"
  warned 'odigos\.io/needs-init'
  judge machine-create "$GATED_WARN"
  warned 'odigos\.io/needs-init'
}

# === Node

@test "Node: one that Karpenter launched registers with the startup taint" {
  judge node-create "$GATED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/taints/1\",\"value\":$TAINT}]"
  silent
  by startup-taint-missing
}

@test "Node: it is never rejected" {
  judge node-create "$GATED_REJECT"
  warned 'ip-10-0-12-34.*odigos\.io/needs-init'
}

@test "Node: warned of" {
  judge node-create "$GATED_WARN"
  warned 'odigos\.io/needs-init'
}

@test "Node: one that brings all the taints of its NodeClaim gets a hint only" {
  judge node-create-do-not-sync-taints "$GATED"
  warned 'odigos\.io/needs-init'
}

@test "Node: one of a managed group is judged only when all are" {
  judge node-create-managed-group "$GATED"
  untouched
  judge node-create-managed-group '{"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "nodes": {"include": "all"}}'
  patched "[{\"op\":\"add\",\"path\":\"/spec/taints\",\"value\":[$TAINT]}]"
}

@test "Node: odiglet may take the startup taint away" {
  judge node-update-odiglet "$GATED"
  untouched
}

@test "Node: one that is stuck is freed, but never in an update of its kubelet" {
  judge node-update-stuck "$INIT_CONTAINER"
  patched '[{"op":"remove","path":"/spec/taints"}]'
  by startup-taint-orphaned
  judge node-update-kubelet "$INIT_CONTAINER"
  untouched
}

@test "Node: an update is neither rejected nor warned of" {
  judge node-update-stuck "$INIT_CONTAINER_REJECT"
  untouched
}

@test "Node: its status is left alone" {
  judge node-update-status "$INIT_CONTAINER"
  untouched
}

@test "Node: an audit is told of one that is stuck" {
  judge node-audit "$INIT_CONTAINER_REJECT"
  rejected 'ip-10-0-12-34.*odigos\.io/needs-init'
}

# === Pod

@test "Pod: one that has nothing to do with Odigos is left alone" {
  judge pod-create "$GATED_REJECT"
  untouched
  judge pod-create "$LABELLED_REJECT"
  untouched
  judge pod-create "$DEVICE_REJECT"
  untouched
}

@test "Pod: an affinity that keeps Karpenter from provisioning goes" {
  judge pod-create-odiglet-affinity "$GATED"
  patched '[{"op":"remove","path":"/spec/affinity"}]'
  silent
  by odiglet-affinity-blocks-karpenter
}

@test "Pod: an affinity that keeps Karpenter from provisioning is rejected" {
  judge pod-create-odiglet-affinity "$GATED_REJECT"
  rejected 'coupon-6b7c8d9f5-.*odigos\.io/odiglet-oss-installed'
}

@test "Pod: an affinity that keeps Karpenter from provisioning is warned of" {
  judge pod-create-odiglet-affinity "$GATED_WARN"
  warned 'odigos\.io/odiglet-oss-installed'
}

@test "Pod: with init containers nothing sets the label" {
  judge pod-create-odiglet-affinity "$INIT_CONTAINER"
  patched '[{"op":"remove","path":"/spec/affinity"}]'
  by odiglet-affinity-orphaned
}

@test "Pod: without Karpenter the affinity is as it should be" {
  judge pod-create-odiglet-affinity "$LABELLED_REJECT"
  untouched
}

@test "Pod: what else the node selector says stays" {
  judge pod-create-node-selector "$GATED"
  patched '[{"op":"remove","path":"/spec/nodeSelector/odigos.io~1odiglet-oss-installed"}]'
}

@test "Pod: ORed terms that a pod escapes by are made one" {
  judge pod-create-ored-affinity "$LABELLED"
  patched "[{\"op\":\"add\",\"path\":\"$TERMS/0/matchExpressions/1\",\"value\":$LABEL},{\"op\":\"remove\",\"path\":\"$TERMS/1\"}]"
  by odiglet-affinity-missing,odiglet-affinity-ored
}

@test "Pod: of ORed terms Karpenter gets the user's" {
  judge pod-create-ored-affinity "$GATED"
  patched "[{\"op\":\"remove\",\"path\":\"$TERMS/1\"}]"
}

@test "Pod: an instrumented one gets the affinity" {
  judge pod-create-marked "$LABELLED"
  patched "[{\"op\":\"add\",\"path\":\"/spec/affinity\",\"value\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[$LABEL]}]}}}}]"
  by odiglet-affinity-missing
  judge pod-create-marked "$GATED"
  untouched
}

@test "Pod: one that the settings name gets the affinity" {
  judge pod-create '{"mountMethod": "k8s-host-path", "pods": {"selector": {"matchLabels": {"app": "coupon"}}}}'
  patched "[{\"op\":\"add\",\"path\":\"/spec/affinity\",\"value\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[$LABEL]}]}}}}]"
}

@test "Pod: the device is in requests and in limits" {
  judge pod-create-device "$DEVICE"
  patched '[{"op":"add","path":"/spec/containers/0/resources/limits","value":{"instrumentation.odigos.io/generic":"1"}},{"op":"add","path":"/spec/containers/0/resources/requests","value":{"instrumentation.odigos.io/generic":"1"}},{"op":"add","path":"/spec/containers/1/resources/requests","value":{"instrumentation.odigos.io/generic":"1"}}]'
  by device-missing,device-unbalanced
}

@test "Pod: a device that is not asked for rightly is rejected, and warned of" {
  judge pod-create-device "$DEVICE_REJECT"
  rejected 'coupon-6b7c8d9f5-.*instrumentation\.odigos\.io/generic'
  judge pod-create-device "$DEVICE_WARN"
  warned 'instrumentation\.odigos\.io/generic'
}

@test "Pod: a device that nothing advertises goes" {
  judge pod-create-device "$GATED"
  patched '[{"op":"remove","path":"/spec/containers/1/resources/limits/instrumentation.odigos.io~1generic"}]'
  by device-orphaned
}

@test "Pod: a toleration that lets it in too early is a hint, and never a rejection" {
  judge pod-create-tolerant "$GATED_REJECT"
  warned '[Tt]oler'
}

@test "Pod: mirror pods and updates are left alone" {
  judge pod-create-mirror "$GATED_REJECT"
  untouched
  judge pod-update "$GATED_REJECT"
  untouched
}

@test "Pod: an audit judges a running one" {
  judge pod-audit "$GATED_REJECT"
  rejected 'coupon-6b7c8d9f5-2xkqw.*odigos\.io/odiglet-oss-installed'
}

# === NodeOverlay

@test "NodeOverlay: a capacity that no pod can use is rejected, and warned of" {
  judge nodeoverlay-create-unusable "$DEVICE_REJECT"
  rejected 'odigos-instrumentation.*instrumentation\.odigos\.io/generic'
  judge nodeoverlay-create-unusable "$DEVICE_WARN"
  warned 'instrumentation\.odigos\.io/generic'
  judge nodeoverlay-create-unusable "$DEVICE"
  warned 'instrumentation\.odigos\.io/generic'
}

@test "NodeOverlay: a usable one is left alone" {
  judge nodeoverlay-create "$DEVICE_REJECT"
  untouched
}

@test "NodeOverlay: for a device that nothing advertises there is a hint" {
  judge nodeoverlay-create "$GATED_REJECT"
  warned 'instrumentation\.odigos\.io'
}

# === what is none of this policy's business

@test "other kinds are left alone" {
  judge deployment-create "$GATED_REJECT"
  untouched
}

# === the cluster

@test "effectiveConfig: Odigos' own configuration goes before the settings" {
  in_cluster effective-config-csi nodepool-create "$LIVE"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  silent
  by startup-taint-missing
}

@test "effectiveConfig: it rejects nothing that the settings alone would not" {
  in_cluster effective-config-csi nodepool-create '{"action": "reject", "fromCluster": {"effectiveConfig": true}}'
  warned 'odigos\.io/needs-init'
  in_cluster effective-config-csi nodepool-create "$GATED_LIVE_REJECT"
  rejected 'NodePool.*default.*odigos\.io/needs-init'
}

@test "effectiveConfig: not found, nothing is tainted, and a NodePool keeps what it has" {
  in_cluster effective-config-not-found nodepool-create "$GATED_LIVE"
  untouched
  in_cluster effective-config-not-found nodeclaim-create "$GATED_LIVE"
  untouched
  in_cluster effective-config-not-found nodepool-create-tainted "$GATED_LIVE"
  warned 'Odigos is not in the cluster'
  in_cluster effective-config-not-found nodepool-create-tainted "$GATED_LIVE_REJECT"
  warned 'Odigos is not in the cluster'
}

@test "effectiveConfig: where it can't be read the settings serve, and NodePools are told" {
  in_cluster effective-config-forbidden nodepool-create "$GATED_LIVE"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  also_warned 'ConfigMap effective-config.*fromCluster\.effectiveConfig'
  in_cluster effective-config-forbidden nodeclaim-create "$GATED_LIVE"
  patched "[{\"op\":\"add\",\"path\":\"/spec/startupTaints\",\"value\":[$TAINT]}]"
  silent
}

@test "effectiveConfig: without the grant the settings serve" {
  without_grant effective-config-csi nodepool-create "$GATED_LIVE"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  also_warned 'ConfigMap effective-config: Policy has not been.*fromCluster\.effectiveConfig'
  without_grant effective-config-csi nodepool-create "$LIVE"
  warned 'ConfigMap effective-config: Policy has not been'
}

@test "odiglet: where it runs and is ready, nodes are gated" {
  in_cluster odiglet-ready nodepool-create "$GATED_ODIGLET"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  silent
  in_cluster odiglet-ready node-create "$GATED_ODIGLET"
  patched "[{\"op\":\"add\",\"path\":\"/spec/taints/1\",\"value\":$TAINT}]"
}

@test "odiglet: where it does not run, the startup taint goes" {
  in_cluster odiglet-elsewhere nodepool-create-tainted "$GATED_ODIGLET"
  patched '[{"op":"remove","path":"/spec/template/spec/startupTaints/1"}]'
  in_cluster odiglet-prepares-nothing nodepool-create-tainted "$GATED_ODIGLET"
  patched '[{"op":"remove","path":"/spec/template/spec/startupTaints/1"}]'
  by startup-taint-orphaned
}

@test "odiglet: while none of its pods is ready nothing is tainted" {
  in_cluster odiglet-none-ready nodepool-create "$GATED_ODIGLET"
  warned 'none of odiglet'
  in_cluster odiglet-none-ready nodepool-create "$GATED_ODIGLET_REJECT"
  warned 'none of odiglet'
  in_cluster odiglet-none-ready nodeclaim-create "$GATED_ODIGLET"
  untouched
  in_cluster odiglet-none-ready node-create "$GATED_ODIGLET"
  untouched
}

@test "odiglet: not found, nothing is tainted, and a NodePool keeps what it has" {
  in_cluster odiglet-not-found nodepool-create "$GATED_ODIGLET"
  untouched
  in_cluster odiglet-not-found nodeclaim-create "$GATED_ODIGLET"
  untouched
  in_cluster odiglet-not-found nodepool-create-tainted "$GATED_ODIGLET"
  warned 'Odigos is not in the cluster'
}

@test "odiglet: where it can't be read the settings serve, and NodePools are told" {
  in_cluster odiglet-timed-out nodepool-create "$GATED_ODIGLET"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  also_warned 'DaemonSet odiglet: ServiceError.*fromCluster\.odiglet'
  without_grant odiglet-ready nodepool-create "$GATED_ODIGLET"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  also_warned 'DaemonSet odiglet: Policy has not been.*fromCluster\.odiglet'
}

@test "instrumentationConfigs: a Pod that Odigos will instrument gets the affinity" {
  in_cluster instrumentation-config-on pod-create "$LABELLED_CONFIGS"
  patched "[{\"op\":\"add\",\"path\":\"/spec/affinity\",\"value\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[$LABEL]}]}}}}]"
  silent
  by odiglet-affinity-missing
}

@test "instrumentationConfigs: it rejects nothing that the settings alone would not" {
  in_cluster instrumentation-config-on pod-create '{"mountMethod": "k8s-host-path", "action": "reject", "fromCluster": {"instrumentationConfigs": true}}'
  warned 'odigos\.io/odiglet-oss-installed'
}

@test "instrumentationConfigs: any other Pod is left alone" {
  for session in off not-found forbidden; do
    in_cluster "instrumentation-config-$session" pod-create "$LABELLED_CONFIGS"
    untouched
  done
  without_grant instrumentation-config-on pod-create "$LABELLED_CONFIGS"
  untouched
}

@test "nodeOverlays: a NodePool whose nodes no overlay gives the device is told which one would" {
  in_cluster node-overlays-none nodepool-create "$DEVICE_OVERLAYS"
  warned 'node-overlay-missing:.*karpenter\.sh/nodepool.*\[default\].*instrumentation\.odigos\.io/generic'
  in_cluster node-overlays-none nodepool-create "$DEVICE_OVERLAYS_REJECT"
  warned 'node-overlay-missing'
}

@test "nodeOverlays: an overlay that covers it is enough, unless Karpenter has refused it" {
  in_cluster node-overlays-for-all nodepool-create "$DEVICE_OVERLAYS_REJECT"
  untouched
  in_cluster node-overlays-not-ready nodepool-create "$DEVICE_OVERLAYS"
  warned 'node-overlay-missing:.*odigos-instrumentation is not Ready: Conflict'
}

@test "nodeOverlays: an update that leaves the template alone asks nobody" {
  in_cluster nothing nodepool-update-metadata "$DEVICE_OVERLAYS"
  untouched
  in_cluster node-overlays-for-all nodepool-update-template "$DEVICE_OVERLAYS"
  untouched
}

@test "nodeOverlays: without the right to list them nothing is listed" {
  in_cluster node-overlays-forbidden nodepool-create "$DEVICE_OVERLAYS"
  warned 'may not list nodeoverlays.*fromCluster\.nodeOverlays'
  in_cluster node-overlays-forbidden nodepool-create "$DEVICE_OVERLAYS_REJECT"
  warned 'may not list nodeoverlays'
  in_cluster node-overlays-not-asked nodepool-create "$DEVICE_OVERLAYS"
  warned 'subjectaccessreviews.*fromCluster\.nodeOverlays'
}

@test "nodeOverlays: a list that fails is told" {
  in_cluster node-overlays-unserved nodepool-create "$DEVICE_OVERLAYS"
  warned 'fromCluster\.nodeOverlays'
  without_grant node-overlays-allowed nodepool-create "$DEVICE_OVERLAYS"
  warned 'fromCluster\.nodeOverlays'
}

@test "the cluster: a Pod is worth two questions, and a NodePool four" {
  in_cluster pod-two-questions pod-create "$EVERYTHING"
  patched "[{\"op\":\"add\",\"path\":\"/spec/affinity\",\"value\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[$LABEL]}]}}}}]"
  in_cluster nodepool-four-questions nodepool-create "$EVERYTHING"
  warned 'node-overlay-missing'
}

@test "the cluster: what no rule can touch asks nobody" {
  for request in deployment-create nodepool-delete nodepool-update-status nodeclaim-update node-update-kubelet \
    node-create-managed-group pod-create-mirror pod-update; do
    in_cluster nothing "$request" "$EVERYTHING"
    untouched
  done
}

@test "the cluster: a switch that nothing would come of is an error" {
  run --separate-stderr "$KWCTL" run --request-path test_data/nodepool-create.json \
    --settings-json '{"fromCluster": {"instrumentationConfigs": true, "nodeOverlays": true}}' "$POLICY"
  printf '%s\n' "$output" "$stderr"
  [ "$status" -ne 0 ]
  [[ "$stderr" == *fromCluster.instrumentationConfigs*mountMethod* ]]
  [[ "$stderr" == *fromCluster.nodeOverlays*karpenterEnabled* ]]
}

# === settings

@test "settings: every error is told at once" {
  run --separate-stderr "$KWCTL" run --request-path test_data/nodepool-create.json \
    --settings-json '{"mountMethod": "host-path", "karpenterEnabled": "yes", "nodePools": {"exclud": []}, "nodes": {"action": "reject"}}' \
    "$POLICY"
  printf '%s\n' "$output" "$stderr"
  [ "$status" -ne 0 ]
  [ -z "$output" ]
  [[ "$stderr" == *mountMethod*host-path*k8s-host-path* ]]
  [[ "$stderr" == *karpenterEnabled* ]]
  [[ "$stderr" == *nodePools.exclud* ]]
  [[ "$stderr" == *nodes.action* ]]
}

@test "settings: a file does as well" {
  settings="$BATS_TEST_TMPDIR/settings.yaml"
  printf 'mountMethod: k8s-csi-driver\nkarpenterEnabled: true\n' >"$settings"
  run --separate-stderr "$KWCTL" run --request-path test_data/nodeclaim-create.json \
    --settings-path "$settings" "$POLICY"
  [ "$status" -eq 0 ]
  patched "[{\"op\":\"add\",\"path\":\"/spec/startupTaints\",\"value\":[$TAINT]}]"
}

# === the ways to ask

@test "a request on standard input does as well" {
  run --separate-stderr bash -c '"$0" run --request-path - --settings-json "$1" "$2" \
    <test_data/nodeclaim-create.json' "$KWCTL" "$GATED" "$POLICY"
  [ "$status" -eq 0 ]
  patched "[{\"op\":\"add\",\"path\":\"/spec/startupTaints\",\"value\":[$TAINT]}]"
}

# answers REQUEST POLICIES [ARGUMENT...]: has each policy of a file answer test_data/REQUEST.json, a
# line each.
answers() {
  run --separate-stderr "$KWCTL" run --request-path "test_data/$1.json" --module "$POLICY" "${@:3}" "$2"
  printf 'exit      %s\nanswer    %s\n%s\n' "$status" "$output" "$stderr"
  [ "$status" -eq 0 ]
}

@test "policy.yaml: applied unread it taints nothing" {
  ours
  for request in nodepool-create nodeclaim-create node-create; do
    answers "$request" policy.yaml
    [ "${#lines[@]}" -eq 4 ]
    for output in "${lines[@]}"; do
      untouched
    done
  done
}

@test "policy.yaml: a policy changes an object, and its twin blocks nothing" {
  ours
  policies="$BATS_TEST_TMPDIR/policy.yaml"
  sed 's|mountMethod: k8s-virtual-device|mountMethod: k8s-csi-driver|' policy.yaml >"$policies"

  answers nodepool-create "$policies"
  [ "${#lines[@]}" -eq 4 ]
  output="${lines[0]}"
  patched "[{\"op\":\"add\",\"path\":\"/spec/template/spec/startupTaints\",\"value\":[$TAINT]}]"
  output="${lines[1]}"
  untouched

  answers pod-create-odiglet-affinity "$policies"
  output="${lines[2]}"
  patched '[{"op":"remove","path":"/spec/affinity"}]'
  output="${lines[3]}"
  untouched
}

@test "policy.yaml: NodeOverlays can be switched on" {
  ours
  policies="$BATS_TEST_TMPDIR/policy.yaml"
  sed '/^# ---$/,$ s/^# //' policy.yaml >"$policies"

  answers nodeoverlay-create-unusable "$policies"
  [ "${#lines[@]}" -eq 5 ]
  output="${lines[4]}"
  rejected 'odigos-instrumentation.*instrumentation\.odigos\.io/generic'
}

@test "policy.yaml: the look-ups can be switched on, and NodeOverlays with them" {
  ours
  policies="$BATS_TEST_TMPDIR/policy.yaml"
  sed 's/^\([# ]*\)#cluster /\1/' policy.yaml | sed '/^# ---$/,$ s/^# //' >"$policies"

  answers nodepool-create "$policies" \
    --replay-host-capabilities-interactions test_data/sessions/nodepool-four-questions.yml
  [ "${#lines[@]}" -eq 5 ]
  for output in "${lines[@]}"; do
    warned 'node-overlay-missing'
  done
  [[ "$stderr" != *'never asked'* ]]
}

@test "the answer can be had for people" {
  ours
  run --separate-stderr "$KWCTL" run --request-path test_data/nodepool-create.json \
    --settings-json "$GATED" --output pretty "$POLICY"
  printf '%s\n' "$output" "$stderr"
  [ "$status" -eq 0 ]
  [[ "$output" == *startupTaints* ]]
  [[ "$output" == *odigos.io/needs-init* ]]
}
