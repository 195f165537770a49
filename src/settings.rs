//! The policy's settings.

mod check;
mod errors;
mod read;

use serde::Serialize;
use serde_json::Value;

pub use errors::SettingsError;

use crate::json::view::View;
use crate::kind::Kind;
use crate::kubernetes::label_selector::LabelSelector;
use crate::kubernetes::toleration::Toleration;
use crate::odigos::{MountMethod, Tier};
use crate::reach::Placement;

/// What becomes of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Its edits are applied.
    #[default]
    Mutate,
    /// The object is rejected.
    Reject,
    /// The object is admitted with a warning.
    Warn,
}

impl Action {
    /// All, by name.
    pub const ALL: &[(&str, Action)] =
        &[("mutate", Action::Mutate), ("reject", Action::Reject), ("warn", Action::Warn)];

    /// Those that block nothing: a rejected Node can't join, a rejected NodeClaim can't launch.
    pub const NEVER_BLOCKING: &[(&str, Action)] = &[("mutate", Action::Mutate), ("warn", Action::Warn)];
}

/// Which nodes are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Include {
    /// Those that Karpenter launched.
    #[default]
    Karpenter,
    /// Those of managed groups and static ones too.
    All,
}

impl Include {
    /// All, by name.
    pub const ALL: &[(&str, Include)] = &[("karpenter", Include::Karpenter), ("all", Include::All)];
}

/// `nodePools`: NodePools and Provisioners.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NodePools<'s> {
    /// `action`; absent: the policy's.
    pub action: Option<Action>,
    /// `retrofit`: under `mutate`, whether a pool is changed on any UPDATE of its spec.
    pub retrofit: bool,
    /// `exclude`: names of pools that no rule touches; `*` is any run of characters.
    pub exclude: Vec<&'s str>,
}

/// `nodeClaims`: NodeClaims and Machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NodeClaims {
    /// `action`; absent: `mutate` where the policy's is, else `warn`, and the policy's in an audit.
    pub action: Option<Action>,
}

/// `nodes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Nodes {
    /// `action`; absent: as [`NodeClaims::action`].
    pub action: Option<Action>,
    /// `include`.
    pub include: Include,
}

/// `pods`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pods<'s> {
    /// `action`; absent: the policy's.
    pub action: Option<Action>,
    /// `selector`: pods known to be instrumented; absent: none, empty: all.
    pub selector: Option<LabelSelector<'s>>,
    /// `containers` of selected pods that get the device; empty: all.
    pub containers: Vec<&'s str>,
}

/// `odiglet`: Odigos' DaemonSet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Odiglet<'s> {
    /// `installed`: false once Odigos is uninstalled.
    pub installed: bool,
    /// `namespace`, whose pods are left alone.
    pub namespace: &'s str,
    /// `daemonSet`, its name.
    pub daemon_set: &'s str,
    /// `nodeSelector` of its pods, by key.
    #[serde(serialize_with = "as_map")]
    pub node_selector: Vec<(&'s str, &'s str)>,
    /// `tolerations` of its pods.
    pub tolerations: Vec<Toleration<'s>>,
}

impl Default for Odiglet<'_> {
    fn default() -> Self {
        Odiglet {
            installed: true,
            namespace: "odigos-system",
            daemon_set: "odiglet",
            node_selector: vec![("kubernetes.io/os", "linux")],
            tolerations: vec![Toleration::EVERYTHING],
        }
    }
}

impl Odiglet<'_> {
    /// Where its pods may run.
    pub fn placement(&self) -> Placement<'_> {
        Placement {
            node_selector: self.node_selector.as_slice().into(),
            tolerations: self.tolerations.as_slice().into(),
            terms: None,
        }
    }
}

fn as_map<S: serde::Serializer>(pairs: &[(&str, &str)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}

/// `fromCluster`: what is looked up in the cluster for each request that it matters to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FromCluster {
    /// `effectiveConfig`: `mountMethod` and `karpenterEnabled`, as Odigos resolved them.
    pub effective_config: bool,
    /// `odiglet`: where odiglet runs, and whether it takes the startup taint away.
    pub odiglet: bool,
    /// `instrumentationConfigs`: which pods Odigos will instrument.
    pub instrumentation_configs: bool,
    /// `nodeOverlays`: whether Karpenter knows the device.
    pub node_overlays: bool,
}

/// The settings, as [`Settings::read`] takes them from JSON. Each field is the key of the same
/// name in camel case; a key that is absent or `null` has its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings<'s> {
    /// `mountMethod`, as Odigos has it.
    pub mount_method: MountMethod,
    /// `karpenterEnabled`, as Odigos has it.
    pub karpenter_enabled: bool,
    /// `tier`, as Odigos has it.
    pub tier: Tier,
    /// `action`, where a kind has none of its own.
    pub action: Action,
    /// `nodePools`
    pub node_pools: NodePools<'s>,
    /// `nodeClaims`
    pub node_claims: NodeClaims,
    /// `nodes`
    pub nodes: Nodes,
    /// `pods`
    pub pods: Pods<'s>,
    /// `odiglet`
    pub odiglet: Odiglet<'s>,
    /// `fromCluster`
    pub from_cluster: FromCluster,
}

/// The settings that hold where none are given, as JSON. `null` stands where an action follows
/// the policy's, and for no selector.
pub fn defaults() -> Value {
    serde_json::to_value(Settings::default()).unwrap_or_default()
}

impl<'s> Settings<'s> {
    /// Reads settings; `null` and `{}` are the defaults. All errors at once, in the order of the
    /// fields, those of unknown keys after those of the known ones beside them.
    pub fn read(settings: &'s View<'s>) -> Result<Self, Vec<SettingsError>> {
        read::settings(settings)
    }

    /// Whether the pool of this name is excluded.
    pub fn excludes(&self, pool: &str) -> bool {
        self.node_pools.exclude.iter().any(|pattern| matches(pattern, pool))
    }

    /// What becomes of a finding in an object of this kind. An audit blocks nothing, so there
    /// nodes and claims may be found wanting too.
    pub fn action_on(&self, kind: Kind, audit: bool) -> Action {
        let never_blocking = if audit || self.action == Action::Mutate { self.action } else { Action::Warn };
        match kind {
            Kind::NodePool | Kind::Provisioner => self.node_pools.action.unwrap_or(self.action),
            Kind::NodeClaim | Kind::Machine => self.node_claims.action.unwrap_or(never_blocking),
            Kind::Node => self.nodes.action.unwrap_or(never_blocking),
            Kind::Pod => self.pods.action.unwrap_or(self.action),
            Kind::NodeOverlay => self.action,
        }
    }
}

/// Whether a name matches a pattern in which `*` is any run of characters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = tail.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.find(part) {
            Some(start) => rest = rest.get(start + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("system", "system", true)]
    #[case("system", "systems", false)]
    #[case("gpu-*", "gpu-a100", true)]
    #[case("gpu-*", "cpu-gpu-a100", false)]
    #[case("*-gpu", "a-gpu", true)]
    #[case("*-gpu", "a-gpu-b", false)]
    #[case("a*b*c", "axxbyyc", true)]
    #[case("a*b*c", "acb", false)]
    #[case("a*a", "a", false)]
    #[case("*", "", true)]
    #[case("**", "x", true)]
    #[case("", "", true)]
    #[case("", "x", false)]
    fn patterns(#[case] pattern: &str, #[case] name: &str, #[case] expected: bool) {
        assert_eq!(matches(pattern, name), expected);
    }

    #[test]
    fn the_defaults_are_valid_and_their_own_reading() {
        for settings in [defaults(), Value::Null, json!({})] {
            let settings = settings.to_string();
            assert_eq!(Settings::read(&View::new(settings.as_bytes())), Ok(Settings::default()));
        }
    }

    #[rstest]
    #[case::inherited(json!({"action": "reject"}), Kind::NodePool, false, Action::Reject)]
    #[case::own(json!({"action": "reject", "pods": {"action": "warn"}}), Kind::Pod, false, Action::Warn)]
    #[case::never_blocking(json!({"action": "reject"}), Kind::Node, false, Action::Warn)]
    #[case::claims_too(json!({"action": "reject"}), Kind::NodeClaim, false, Action::Warn)]
    #[case::mutate_stays(json!({}), Kind::Node, false, Action::Mutate)]
    #[case::audited(json!({"action": "reject"}), Kind::Machine, true, Action::Reject)]
    #[case::audited_but_said(json!({"action": "reject", "nodes": {"action": "warn"}}), Kind::Node, true, Action::Warn)]
    #[case::overlay(json!({"action": "reject", "nodePools": {"action": "warn"}}), Kind::NodeOverlay, false, Action::Reject)]
    fn actions(#[case] settings: Value, #[case] kind: Kind, #[case] audit: bool, #[case] expected: Action) {
        let settings = settings.to_string();
        assert_eq!(Settings::read(&View::new(settings.as_bytes())).unwrap().action_on(kind, audit), expected);
    }
}
