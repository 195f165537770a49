# From k8s-csi-driver with Karpenter off, tier community
# to k8s-csi-driver with Karpenter off, tier community: nothing changes, and what is not as it should be is put right.
#
# Made of what was collected: read it, and run it step by step. What was done before does nothing a
# second time, or is refused: a patch by its `test`, of what has changed in between, too. Then
# collect and plan anew.
# It takes kubectl, helm and jq.

# === 1. The policy
# In every policy of policy.yaml the settings must have:
#   mountMethod: k8s-csi-driver
#   karpenterEnabled: false
#   tier: community
kubectl apply -f policy.yaml
kubectl wait --for=condition=PolicyUniquelyReachable --timeout=5m clusteradmissionpolicies \
  odigos-karpenter odigos-karpenter-audit odigos-pods-and-nodes odigos-pods-and-nodes-audit

# === 2. Workloads whose pods carry what Odigos once added
# Affinity and resources of a running pod can't be changed. DaemonSets come first, for Karpenter
# counts the requests of a DaemonSet's newest pod for every new node.
# DaemonSet shop/agent: 1 pod.
kubectl -n shop rollout restart daemonset/agent && kubectl -n shop rollout status daemonset/agent

# === 3. Pools
# Karpenter replaces every node of a pool whose startup taints change. New nodes are put right
# without that, by their NodeClaims, as long as the policy is there; so when to do each of these is
# for you to decide.
# windows: 1 node is replaced by drift, at most 1 at a time (budgets: 10%).
# To keep that for later, before:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"10%"}]},{"op":"add","value":{"nodes":"0","reasons":["Drifted"]},"path":"/spec/disruption/budgets/0"}]'
# and to let it go on:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"0","reasons":["Drifted"]},{"nodes":"10%"}]},{"op":"remove","path":"/spec/disruption/budgets/0"}]'
kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/template/spec/startupTaints","value":[{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"remove","path":"/spec/template/spec/startupTaints"}]'

# === 4. Nodes that keep the taint
# Nobody removes it from 1 node.
kubectl patch node node-w --type=json -p '[{"op":"test","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"},{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"replace","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"}]}]'
# It came to 1 node after odiglet, which removes it when it starts:
# node-b.
kubectl -n odigos-system rollout restart daemonset/odiglet
kubectl -n odigos-system rollout status daemonset/odiglet
