//! Which changes lead from where a cluster is to where it is wanted.

use std::fmt;

use odigos_karpenter_policy::odigos::{MountMethod, Tier};
use odigos_karpenter_policy::settings::{FromCluster, Settings};

use super::Goal;
use crate::gathered::Gathered;
use crate::names::name_of;

/// What decides over nodes and pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// How Odigos hands its files to pods.
    pub mount_method: MountMethod,
    /// Whether Odigos' Karpenter integration is on.
    pub karpenter: bool,
    /// Odigos' tier.
    pub tier: Tier,
    /// Whether Odigos is there at all.
    pub installed: bool,
}

/// A kind of change, each with an order of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// None: what is not as it should be is put right.
    Settle,
    OtherTier,
    KarpenterOn,
    KarpenterOff,
    ToInitContainer,
    FromInitContainer,
    FromVirtualDevice,
    ToVirtualDevice,
    /// Between a directory of the node and a CSI volume.
    OtherMount,
    Uninstall,
}

/// A change, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub after: State,
}

impl ChangeKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Settle => "nothing changes, and what is not as it should be is put right",
            ChangeKind::OtherTier => "another tier",
            ChangeKind::KarpenterOn => "Karpenter on",
            ChangeKind::KarpenterOff => "Karpenter off",
            ChangeKind::ToInitContainer => "to init containers",
            ChangeKind::FromInitContainer => "from init containers",
            ChangeKind::FromVirtualDevice => "from virtual devices",
            ChangeKind::ToVirtualDevice => "to virtual devices",
            ChangeKind::OtherMount => "another mount method",
            ChangeKind::Uninstall => "Odigos goes, or is gone",
        }
    }
}

impl State {
    /// The settings that are true then. What the cluster says of Odigos now is of no use for them, but
    /// where odiglet runs.
    pub fn settings<'s>(self, settings: &Settings<'s>, gathered: &Gathered) -> Settings<'s> {
        let mut after = settings.clone();
        after.mount_method = self.mount_method;
        after.karpenter_enabled = self.karpenter;
        after.tier = self.tier;
        after.odiglet.installed = self.installed;
        after.from_cluster = FromCluster {
            effective_config: false,
            odiglet: gathered.odiglet().is_some(),
            instrumentation_configs: settings.from_cluster.instrumentation_configs,
            node_overlays: true,
        };
        after
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.installed {
            return f.write_str("a cluster without Odigos");
        }
        let karpenter = if self.karpenter { "on" } else { "off" };
        let (mount_method, tier) = (name_of(MountMethod::ALL, self.mount_method), name_of(Tier::ALL, self.tier));
        write!(f, "{mount_method} with Karpenter {karpenter}, tier {tier}")
    }
}

/// The changes that lead to the goal, one after the other: that of the mount method last, so that
/// workloads are restarted once.
pub fn changes(before: State, goal: Goal) -> Vec<Change> {
    if goal.uninstall {
        return vec![Change { kind: ChangeKind::Uninstall, after: State { installed: false, ..before } }];
    }
    let mut changes = Vec::new();
    let mut here = before;
    if let Some(tier) = goal.tier.filter(|tier| *tier != before.tier) {
        here.tier = tier;
        changes.push(Change { kind: ChangeKind::OtherTier, after: here });
    }
    if let Some(karpenter) = goal.karpenter.filter(|karpenter| *karpenter != before.karpenter) {
        here.karpenter = karpenter;
        let kind = if karpenter { ChangeKind::KarpenterOn } else { ChangeKind::KarpenterOff };
        changes.push(Change { kind, after: here });
    }
    if let Some(mount_method) = goal.mount_method.filter(|method| *method != before.mount_method) {
        here.mount_method = mount_method;
        let kind = match (before.mount_method, mount_method) {
            (_, MountMethod::InitContainer) => ChangeKind::ToInitContainer,
            (MountMethod::InitContainer, _) => ChangeKind::FromInitContainer,
            (MountMethod::VirtualDevice, _) => ChangeKind::FromVirtualDevice,
            (_, MountMethod::VirtualDevice) => ChangeKind::ToVirtualDevice,
            _ => ChangeKind::OtherMount,
        };
        changes.push(Change { kind, after: here });
    }
    if changes.is_empty() {
        changes.push(Change { kind: ChangeKind::Settle, after: before });
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChangeKind::{
        FromVirtualDevice, KarpenterOff, KarpenterOn, OtherMount, OtherTier, Settle, ToInitContainer, Uninstall,
    };
    use MountMethod::{CsiDriver, HostPath, InitContainer, VirtualDevice};
    use rstest::rstest;

    #[rstest]
    #[case(VirtualDevice, false, None, None, &[Settle])]
    #[case(VirtualDevice, false, Some(CsiDriver), None, &[FromVirtualDevice])]
    #[case(VirtualDevice, false, Some(CsiDriver), Some(true), &[KarpenterOn, FromVirtualDevice])]
    #[case(CsiDriver, true, Some(HostPath), Some(true), &[OtherMount])]
    #[case(CsiDriver, true, Some(InitContainer), Some(false), &[KarpenterOff, ToInitContainer])]
    #[case(CsiDriver, true, Some(CsiDriver), None, &[Settle])]
    fn which(
        #[case] mount_method: MountMethod,
        #[case] karpenter: bool,
        #[case] to: Option<MountMethod>,
        #[case] on: Option<bool>,
        #[case] expected: &[ChangeKind],
    ) {
        let before = State { mount_method, karpenter, tier: Tier::Community, installed: true };
        let goal = Goal { mount_method: to, karpenter: on, ..Goal::default() };
        let changes = changes(before, goal);
        assert_eq!(changes.iter().map(|change| change.kind).collect::<Vec<_>>(), expected);
        let last = changes.last().unwrap().after;
        assert_eq!((last.mount_method, last.karpenter), (to.unwrap_or(mount_method), on.unwrap_or(karpenter)));
    }

    #[test]
    fn another_tier_comes_first() {
        let before = State { mount_method: CsiDriver, karpenter: false, tier: Tier::Community, installed: true };
        let goal = Goal { karpenter: Some(true), tier: Some(Tier::Onprem), ..Goal::default() };
        let after = State { tier: Tier::Onprem, ..before };
        assert_eq!(
            changes(before, goal),
            [
                Change { kind: OtherTier, after },
                Change { kind: KarpenterOn, after: State { karpenter: true, ..after } }
            ]
        );
    }

    #[test]
    fn uninstalling_is_all() {
        let before = State { mount_method: CsiDriver, karpenter: true, tier: Tier::Community, installed: true };
        let changes = changes(before, Goal { uninstall: true, ..Goal::default() });
        assert_eq!(changes, [Change { kind: Uninstall, after: State { installed: false, ..before } }]);
    }
}
