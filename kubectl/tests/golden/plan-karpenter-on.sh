# From k8s-csi-driver with Karpenter off, tier community
# to k8s-csi-driver with Karpenter on, tier community: Karpenter on.
#
# Made of what was collected: read it, and run it step by step. What was done before does nothing a
# second time, or is refused: a patch by its `test`, of what has changed in between, too. Then
# collect and plan anew.
# It takes kubectl, helm and jq.

# === 1. The policy
# In every policy of policy.yaml the settings must have:
#   mountMethod: k8s-csi-driver
#   karpenterEnabled: true
#   tier: community
# and until the pools are changed, but not in the twins that only report:
#   nodePools: {action: warn}
kubectl apply -f policy.yaml
kubectl wait --for=condition=PolicyUniquelyReachable --timeout=5m clusteradmissionpolicies \
  odigos-karpenter odigos-karpenter-audit odigos-pods-and-nodes odigos-pods-and-nodes-audit

# === 2. Odigos
# Under the name that you installed it by, and from where:
version=$(helm get metadata odigos --namespace odigos-system -o json | jq -er .version) &&
  helm upgrade odigos odigos/odigos --namespace odigos-system --version "$version" --reuse-values --set karpenter.enabled=true
kubectl -n odigos-system rollout status daemonset/odiglet

# === 3. Workloads whose pods carry what Odigos once added
# Affinity and resources of a running pod can't be changed. DaemonSets come first, for Karpenter
# counts the requests of a DaemonSet's newest pod for every new node.
# DaemonSet shop/agent: 1 pod.
kubectl -n shop rollout restart daemonset/agent && kubectl -n shop rollout status daemonset/agent
# Deployment shop/coupon: 2 pods.
kubectl -n shop rollout restart deployment/coupon
# Deployment shop/till: its template; change the manifest, as the policy only puts right the pods made of it.
kubectl -n shop rollout restart deployment/till

# === 4. The policy, of pools too
# Remove nodePools.action again.
kubectl apply -f policy.yaml
kubectl wait --for=condition=PolicyUniquelyReachable --timeout=5m clusteradmissionpolicies \
  odigos-karpenter odigos-karpenter-audit odigos-pods-and-nodes odigos-pods-and-nodes-audit

# === 5. Pools
# Karpenter replaces every node of a pool whose startup taints change. New nodes are put right
# without that, by their NodeClaims, as long as the policy is there; so when to do each of these is
# for you to decide.
# default: 2 nodes are replaced by drift, at most 1 at a time (budgets: 10%).
# To keep that for later, before:
#   kubectl patch nodepools.karpenter.sh default --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"10%"}]},{"op":"add","value":{"nodes":"0","reasons":["Drifted"]},"path":"/spec/disruption/budgets/0"}]'
# and to let it go on:
#   kubectl patch nodepools.karpenter.sh default --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"0","reasons":["Drifted"]},{"nodes":"10%"}]},{"op":"remove","path":"/spec/disruption/budgets/0"}]'
kubectl patch nodepools.karpenter.sh default --type=json -p '[{"op":"test","path":"/spec/template/spec","value":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},"requirements":[{"key":"kubernetes.io/os","operator":"In","values":["linux"]}]}},{"op":"add","path":"/spec/template/spec/startupTaints","value":[{"effect":"NoSchedule","key":"odigos.io/needs-init"}]}]'
# gpu: there is no node of it to be replaced.
kubectl patch nodepools.karpenter.sh gpu --type=json -p '[{"op":"test","path":"/spec/template/spec/startupTaints","value":[{"effect":"NoExecute","key":"node.cilium.io/agent-not-ready"}]},{"op":"replace","path":"/spec/template/spec/startupTaints","value":[{"effect":"NoExecute","key":"node.cilium.io/agent-not-ready"},{"effect":"NoSchedule","key":"odigos.io/needs-init"}]}]'
# windows: 1 node is replaced by drift, at most 1 at a time (budgets: 10%).
# To keep that for later, before:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"10%"}]},{"op":"add","value":{"nodes":"0","reasons":["Drifted"]},"path":"/spec/disruption/budgets/0"}]'
# and to let it go on:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"0","reasons":["Drifted"]},{"nodes":"10%"}]},{"op":"remove","path":"/spec/disruption/budgets/0"}]'
kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/template/spec/startupTaints","value":[{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"remove","path":"/spec/template/spec/startupTaints"}]'

# === 6. Nodes that keep the taint
# Nobody removes it from 1 node.
kubectl patch node node-w --type=json -p '[{"op":"test","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"},{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"replace","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"}]}]'
# It came to 1 node after odiglet, which removes it when it starts:
# node-b.
kubectl -n odigos-system rollout restart daemonset/odiglet
kubectl -n odigos-system rollout status daemonset/odiglet
