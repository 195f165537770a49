# From k8s-csi-driver with Karpenter off, tier community
# to k8s-csi-driver with Karpenter on, tier community: Karpenter on.
# to k8s-virtual-device with Karpenter on, tier community: to virtual devices.
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
kubectl apply -f policy.yaml
kubectl wait --for=condition=PolicyUniquelyReachable --timeout=5m clusteradmissionpolicies \
  odigos-karpenter odigos-karpenter-audit odigos-pods-and-nodes odigos-pods-and-nodes-audit

# === 2. Odigos
# Under the name that you installed it by, and from where:
version=$(helm get metadata odigos --namespace odigos-system -o json | jq -er .version) &&
  helm upgrade odigos odigos/odigos --namespace odigos-system --version "$version" --reuse-values --set karpenter.enabled=true
kubectl -n odigos-system rollout status daemonset/odiglet

# === 3. A NodeOverlay for each pool
# Without one Karpenter launches no node for a pod that asks for the device. It must be told to
# apply them (feature gate NodeOverlay); EKS Auto Mode and AKS node auto-provisioning don't.
# default: needed for any node at all, for DaemonSet shop/agent runs there.
kubectl apply -f - <<'EOF'
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: odigos-default
spec:
  requirements:
  - key: karpenter.sh/nodepool
    operator: In
    values: ["default"]
  capacity:
    instrumentation.odigos.io/generic: "1024"
EOF
# gpu: needed if it is to have nodes for instrumented pods.
kubectl apply -f - <<'EOF'
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: odigos-gpu
spec:
  requirements:
  - key: karpenter.sh/nodepool
    operator: In
    values: ["gpu"]
  capacity:
    instrumentation.odigos.io/generic: "1024"
EOF

# === 4. Odigos
# Under the name that you installed it by, and from where:
version=$(helm get metadata odigos --namespace odigos-system -o json | jq -er .version) &&
  helm upgrade odigos odigos/odigos --namespace odigos-system --version "$version" --reuse-values --set instrumentor.mountMethod=k8s-virtual-device
kubectl -n odigos-system rollout status daemonset/odiglet

# === 5. The policy
# In every policy of policy.yaml the settings must have:
#   mountMethod: k8s-virtual-device
#   karpenterEnabled: true
#   tier: community
kubectl apply -f policy.yaml
kubectl wait --for=condition=PolicyUniquelyReachable --timeout=5m clusteradmissionpolicies \
  odigos-karpenter odigos-karpenter-audit odigos-pods-and-nodes odigos-pods-and-nodes-audit

# === 6. Workloads whose pods carry what Odigos once added
# Affinity and resources of a running pod can't be changed. DaemonSets come first, for Karpenter
# counts the requests of a DaemonSet's newest pod for every new node.
# Deployment shop/coupon: 2 pods.
kubectl -n shop rollout restart deployment/coupon
# Deployment shop/till: its template; change the manifest, as the policy only puts right the pods made of it.
kubectl -n shop rollout restart deployment/till

# === 7. Pools
# Karpenter replaces every node of a pool whose startup taints change. New nodes are put right
# without that, by their NodeClaims, as long as the policy is there; so when to do each of these is
# for you to decide.
# windows: 1 node is replaced by drift, at most 1 at a time (budgets: 10%).
# To keep that for later, before:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"10%"}]},{"op":"add","value":{"nodes":"0","reasons":["Drifted"]},"path":"/spec/disruption/budgets/0"}]'
# and to let it go on:
#   kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/disruption/budgets","value":[{"nodes":"0","reasons":["Drifted"]},{"nodes":"10%"}]},{"op":"remove","path":"/spec/disruption/budgets/0"}]'
kubectl patch nodepools.karpenter.sh windows --type=json -p '[{"op":"test","path":"/spec/template/spec/startupTaints","value":[{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"remove","path":"/spec/template/spec/startupTaints"}]'

# === 8. Nodes that keep the taint
# Nobody removes it from 1 node.
kubectl patch node node-w --type=json -p '[{"op":"test","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"},{"effect":"NoSchedule","key":"odigos.io/needs-init"}]},{"op":"replace","path":"/spec/taints","value":[{"effect":"NoSchedule","key":"os","value":"windows"}]}]'
# It came to 1 node after odiglet, which removes it when it starts:
# node-b.
kubectl -n odigos-system rollout restart daemonset/odiglet
kubectl -n odigos-system rollout status daemonset/odiglet
