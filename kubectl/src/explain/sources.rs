//! Where the facts behind a rule are written down.

use odigos_karpenter_policy::rule::Rule;

/// Who removes the taint, and from which nodes.
const UNTAINTING: &str = "Odigos: k8sutils/pkg/node/node.go, helm/odigos/templates/odiglet/daemonset.yaml";
/// What Karpenter waits for before a node counts.
const INITIALIZATION: &str = "Karpenter: pkg/controllers/nodeclaim/lifecycle/initialization.go";
/// What Karpenter refuses in a pool.
const VALIDATION: &str = "Karpenter: pkg/apis/v1/nodeclaim_validation.go";
/// What Odigos' webhook does to a pod's affinity.
const AFFINITY: &str = "Odigos: instrumentor/internal/pod/pod.go";
/// When it does.
const WEBHOOK: &str = "Odigos: instrumentor/controllers/agentenabled/pods_webhook.go";
/// Which labels Karpenter knows when it simulates.
const REQUIREMENTS: &str = "Karpenter: pkg/scheduling/requirements.go";
/// How node selector terms are matched.
const TERMS: &str = "Kubernetes: Assigning Pods to Nodes (concepts/scheduling-eviction/assign-pod-node)";
/// Who advertises the device.
const DEVICE: &str = "Odigos: common/consts/consts.go, deviceplugin/pkg/instrumentation";
/// What is asked of extended resources.
const EXTENDED: &str = "Kubernetes: Resource Management for Pods and Containers, extended resources";
/// What an overlay does.
const OVERLAY: &str = "Karpenter: pkg/apis/v1alpha1/nodeoverlay.go, pkg/controllers/nodeoverlay";

/// The files and pages that a rule rests on.
pub fn of(rule: Rule) -> &'static [&'static str] {
    match rule {
        Rule::StartupTaintMissing => &[
            "Odigos: docs, 'Configure Odigos with Karpenter'",
            UNTAINTING,
            "Karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go",
        ],
        Rule::StartupTaintEffect => &[UNTAINTING, INITIALIZATION],
        Rule::StartupTaintPermanent => &["Karpenter: pkg/controllers/provisioning/scheduling/nodeclaim.go", VALIDATION],
        Rule::StartupTaintDuplicate => &[VALIDATION, "Kubernetes: pkg/apis/core/validation (validateNodeTaints)"],
        Rule::StartupTaintOrphaned => {
            &[UNTAINTING, "Odigos: helm/odigos/templates/odiglet/clusterrole.yaml", INITIALIZATION]
        }
        Rule::KarpenterIntegrationOff => &[WEBHOOK, REQUIREMENTS],
        Rule::OdigletIntolerant => &["Odigos: helm/odigos/values.yaml (odiglet.tolerations)", INITIALIZATION],
        Rule::OdigletAffinityMissing | Rule::OdigletAffinityOred => &[AFFINITY, TERMS],
        Rule::OdigletAffinityTier => &["Odigos: api/k8sconsts/odiglet.go", "Odigos: k8sutils/pkg/node/node.go"],
        Rule::OdigletAffinityConflict => &[TERMS, AFFINITY],
        Rule::OdigletAffinityBlocksKarpenter => &[WEBHOOK, REQUIREMENTS],
        Rule::OdigletAffinityOrphaned => &[UNTAINTING, WEBHOOK],
        Rule::DeviceMissing => &[DEVICE, "Odigos: distros/yamls"],
        Rule::DeviceUnbalanced => &[EXTENDED],
        Rule::DeviceUnknown => &[DEVICE],
        Rule::DeviceOrphaned => &[DEVICE, INITIALIZATION],
        Rule::StartupTaintTolerated => {
            &["Kubernetes: Taints and Tolerations (concepts/scheduling-eviction/taint-and-toleration)"]
        }
        Rule::OverlayDeviceCapacity => &[OVERLAY, EXTENDED],
        Rule::OverlayDeviceOrphaned => &[OVERLAY, INITIALIZATION],
        Rule::NodeOverlayMissing => &[OVERLAY, "Karpenter: pkg/cloudprovider/overlay/cloudprovider.go"],
    }
}
