//! The rules by name.

/// A rule: what makes a finding or a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// `startup-taint-missing`
    StartupTaintMissing,
    /// `startup-taint-effect`
    StartupTaintEffect,
    /// `startup-taint-permanent`
    StartupTaintPermanent,
    /// `startup-taint-duplicate`
    StartupTaintDuplicate,
    /// `startup-taint-orphaned`
    StartupTaintOrphaned,
    /// `karpenter-integration-off`
    KarpenterIntegrationOff,
    /// `odiglet-intolerant`
    OdigletIntolerant,
    /// `odiglet-affinity-missing`
    OdigletAffinityMissing,
    /// `odiglet-affinity-ored`
    OdigletAffinityOred,
    /// `odiglet-affinity-tier`
    OdigletAffinityTier,
    /// `odiglet-affinity-conflict`
    OdigletAffinityConflict,
    /// `odiglet-affinity-blocks-karpenter`
    OdigletAffinityBlocksKarpenter,
    /// `odiglet-affinity-orphaned`
    OdigletAffinityOrphaned,
    /// `device-missing`
    DeviceMissing,
    /// `device-unbalanced`
    DeviceUnbalanced,
    /// `device-unknown`
    DeviceUnknown,
    /// `device-orphaned`
    DeviceOrphaned,
    /// `startup-taint-tolerated`
    StartupTaintTolerated,
    /// `overlay-device-capacity`
    OverlayDeviceCapacity,
    /// `overlay-device-orphaned`
    OverlayDeviceOrphaned,
    /// `node-overlay-missing`
    NodeOverlayMissing,
}

/// What a rule makes of what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A finding with an edit.
    Edit,
    /// A finding that only a person can put right.
    NoEdit,
    /// A hint.
    Hint,
}

impl Outcome {
    /// As the README's table says it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Edit => "edit",
            Outcome::NoEdit => "no edit",
            Outcome::Hint => "hint",
        }
    }
}

/// A row of the table of rules.
struct Row {
    name: &'static str,
    objects: &'static str,
    outcome: Outcome,
    summary: &'static str,
}

const fn row(name: &'static str, objects: &'static str, outcome: Outcome, summary: &'static str) -> Row {
    Row { name, objects, outcome, summary }
}

impl Rule {
    /// Every rule, in the order of the README.
    pub const ALL: &[Rule] = &[
        Rule::StartupTaintMissing,
        Rule::StartupTaintEffect,
        Rule::StartupTaintPermanent,
        Rule::StartupTaintDuplicate,
        Rule::StartupTaintOrphaned,
        Rule::KarpenterIntegrationOff,
        Rule::OdigletIntolerant,
        Rule::OdigletAffinityMissing,
        Rule::OdigletAffinityOred,
        Rule::OdigletAffinityTier,
        Rule::OdigletAffinityConflict,
        Rule::OdigletAffinityBlocksKarpenter,
        Rule::OdigletAffinityOrphaned,
        Rule::DeviceMissing,
        Rule::DeviceUnbalanced,
        Rule::DeviceUnknown,
        Rule::DeviceOrphaned,
        Rule::StartupTaintTolerated,
        Rule::OverlayDeviceCapacity,
        Rule::OverlayDeviceOrphaned,
        Rule::NodeOverlayMissing,
    ];

    /// The stable name, in kebab case.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The kinds of object that the rule speaks of.
    pub fn objects(self) -> &'static str {
        self.row().objects
    }

    /// What it makes of what it finds.
    pub fn outcome(self) -> Outcome {
        self.row().outcome
    }

    /// What it finds, in one sentence.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    fn row(self) -> Row {
        use Outcome::{Edit, Hint, NoEdit};
        const KARPENTER_AND_NODE: &str = "NodePool, NodeClaim, Provisioner, Machine, Node";
        const KARPENTER: &str = "NodePool, NodeClaim, Provisioner, Machine";
        match self {
            Rule::StartupTaintMissing => row(
                "startup-taint-missing",
                KARPENTER_AND_NODE,
                Edit,
                "New nodes come without the startup taint, so pods start before odiglet has prepared them.",
            ),
            Rule::StartupTaintEffect => row(
                "startup-taint-effect",
                KARPENTER_AND_NODE,
                Edit,
                "The startup taint has an effect other than NoSchedule, which odiglet never removes.",
            ),
            Rule::StartupTaintPermanent => row(
                "startup-taint-permanent",
                KARPENTER,
                Edit,
                "The startup taint is among the permanent taints, so Karpenter launches nodes only for pods that tolerate it.",
            ),
            Rule::StartupTaintDuplicate => row(
                "startup-taint-duplicate",
                KARPENTER_AND_NODE,
                Edit,
                "The startup taint is there twice, so Karpenter ignores the pool and the API server refuses the node.",
            ),
            Rule::StartupTaintOrphaned => row(
                "startup-taint-orphaned",
                KARPENTER_AND_NODE,
                Edit,
                "The startup taint is where no odiglet removes it, so nodes never initialize.",
            ),
            Rule::KarpenterIntegrationOff => row(
                "karpenter-integration-off",
                "NodePool",
                Hint,
                "Odigos does not know of Karpenter, and its node affinity keeps Karpenter from provisioning.",
            ),
            Rule::OdigletIntolerant => row(
                "odiglet-intolerant",
                "NodePool",
                Hint,
                "Odiglet does not tolerate the startup taint, so it could not start on a tainted node to remove it.",
            ),
            Rule::OdigletAffinityMissing => row(
                "odiglet-affinity-missing",
                "Pod",
                Edit,
                "An instrumented pod may run on a node that odiglet has not prepared.",
            ),
            Rule::OdigletAffinityOred => row(
                "odiglet-affinity-ored",
                "Pod",
                Edit,
                "The odiglet label stands in a term of its own beside others: terms are ORed, so the pod escapes either.",
            ),
            Rule::OdigletAffinityTier => row(
                "odiglet-affinity-tier",
                "Pod",
                Edit,
                "The pod requires an odiglet label that odiglet of this tier does not set.",
            ),
            Rule::OdigletAffinityConflict => row(
                "odiglet-affinity-conflict",
                "Pod",
                NoEdit,
                "The pod forbids the nodes that odiglet prepares, so it can't be both instrumented and scheduled.",
            ),
            Rule::OdigletAffinityBlocksKarpenter => row(
                "odiglet-affinity-blocks-karpenter",
                "Pod",
                Edit,
                "The pod requires an odiglet label, which Karpenter does not know, so it provisions nothing for it.",
            ),
            Rule::OdigletAffinityOrphaned => {
                row("odiglet-affinity-orphaned", "Pod", Edit, "The pod requires an odiglet label that nothing sets.")
            }
            Rule::DeviceMissing => row(
                "device-missing",
                "Pod",
                Edit,
                "An instrumented container does not ask for Odigos' device, so it starts without the agent's files.",
            ),
            Rule::DeviceUnbalanced => row(
                "device-unbalanced",
                "Pod",
                Edit,
                "A container asks for Odigos' device in only one of requests and limits, or for another quantity than 1.",
            ),
            Rule::DeviceUnknown => row(
                "device-unknown",
                "Pod",
                Edit,
                "A container asks for a device of an older Odigos, which nothing advertises.",
            ),
            Rule::DeviceOrphaned => row(
                "device-orphaned",
                "Pod, NodeClaim",
                Edit,
                "A device of Odigos is asked for where no node can have it.",
            ),
            Rule::StartupTaintTolerated => row(
                "startup-taint-tolerated",
                "Pod",
                Hint,
                "An instrumented pod tolerates the startup taint, so it can start before odiglet has prepared the node.",
            ),
            Rule::OverlayDeviceCapacity => row(
                "overlay-device-capacity",
                "NodeOverlay",
                NoEdit,
                "The overlay promises a device that no node advertises, or a quantity of it that no pod can use.",
            ),
            Rule::OverlayDeviceOrphaned => row(
                "overlay-device-orphaned",
                "NodeOverlay",
                Hint,
                "The overlay promises a device that nothing advertises, so Karpenter launches nodes that never initialize.",
            ),
            Rule::NodeOverlayMissing => row(
                "node-overlay-missing",
                "NodePool",
                Hint,
                "No NodeOverlay in the cluster tells Karpenter that the pool's nodes have Odigos' device (`fromCluster.nodeOverlays`).",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_listed_once_in_order() {
        assert!(Rule::ALL.is_sorted_by(|a, b| a < b));
        assert_eq!(Rule::ALL.last().map(|rule| *rule as usize + 1), Some(Rule::ALL.len()));
    }
}
