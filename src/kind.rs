//! Kinds of objects, and what is done to them.

/// A kind of object that rules speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `karpenter.sh` NodePool
    NodePool,
    /// `karpenter.sh` NodeClaim
    NodeClaim,
    /// `karpenter.sh` Provisioner, NodePool's forerunner
    Provisioner,
    /// `karpenter.sh` Machine, NodeClaim's forerunner
    Machine,
    /// `karpenter.sh` NodeOverlay
    NodeOverlay,
    /// Node
    Node,
    /// Pod
    Pod,
}

impl Kind {
    /// The kind of this group and name, where rules speak of it.
    pub fn of(group: &str, kind: &str) -> Option<Self> {
        match (group, kind) {
            ("karpenter.sh", "NodePool") => Some(Kind::NodePool),
            ("karpenter.sh", "NodeClaim") => Some(Kind::NodeClaim),
            ("karpenter.sh", "Provisioner") => Some(Kind::Provisioner),
            ("karpenter.sh", "Machine") => Some(Kind::Machine),
            ("karpenter.sh", "NodeOverlay") => Some(Kind::NodeOverlay),
            ("", "Node") => Some(Kind::Node),
            ("", "Pod") => Some(Kind::Pod),
            _ => None,
        }
    }

    /// Whether rules speak of it under this operation. A NodeClaim's spec and most of a Pod's can't
    /// be changed once they exist.
    pub fn is_judged_on(self, operation: Operation) -> bool {
        operation == Operation::Create || matches!(self, Kind::NodePool | Kind::NodeOverlay | Kind::Node)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::NodePool => "NodePool",
            Kind::NodeClaim => "NodeClaim",
            Kind::Provisioner => "Provisioner",
            Kind::Machine => "Machine",
            Kind::NodeOverlay => "NodeOverlay",
            Kind::Node => "Node",
            Kind::Pod => "Pod",
        }
    }
}

/// What is being done to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is new. The background audit sends live objects so, too.
    Create,
    /// It is changed.
    Update,
}
