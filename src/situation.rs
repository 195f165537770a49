//! What rules go by: the settings, and where they say so the cluster as it is.
//!
//! The cluster is asked when a rule first needs the answer, and once for each. Where it gives none,
//! the settings' own values serve, and [`Situation::failures`] says why.

use std::cell::{Cell, OnceCell, RefCell};

use crate::cluster::daemon_set::DaemonSet;
use crate::cluster::effective_config::{self, EffectiveConfig};
use crate::cluster::{Cluster, LookUpError, Resource};
use crate::finding::Hint;
use crate::kind::Kind;
use crate::kubernetes::taint::Taint;
use crate::message::{Message, name};
use crate::odigos::{MountMethod, TAINT_EFFECT, TAINT_KEY};
use crate::path::Path;
use crate::reach::Placement;
use crate::settings::Settings;

/// The settings, and the cluster that they have the policy look into.
pub struct Situation<'s> {
    /// The settings.
    pub settings: &'s Settings<'s>,
    cluster: Option<&'s dyn Cluster>,
    asks_after_odiglet: bool,
    config: OnceCell<LookUp<EffectiveConfig>>,
    daemon_set: OnceCell<LookUp<DaemonSet>>,
    failures: RefCell<Vec<Failure>>,
    has_asked: Cell<bool>,
}

enum LookUp<T> {
    Found(T),
    NotFound,
    Failed,
}

/// A look-up that gave no answer.
struct Failure {
    resource: Resource,
    name: String,
    why: String,
}

impl<'s> Situation<'s> {
    /// What the settings alone say.
    pub fn of_settings(settings: &'s Settings<'s>) -> Self {
        Situation {
            settings,
            cluster: None,
            asks_after_odiglet: false,
            config: OnceCell::new(),
            daemon_set: OnceCell::new(),
            failures: RefCell::default(),
            has_asked: Cell::new(false),
        }
    }

    /// What the settings and the cluster say to a request for an object of this kind. Where Odigos is
    /// installed at all, a Pod takes from its configuration: two calls are all that a Pod is worth.
    pub fn in_cluster(settings: &'s Settings<'s>, cluster: &'s dyn Cluster, kind: Kind) -> Self {
        let switches = &settings.from_cluster;
        let asks_after_odiglet =
            settings.odiglet.installed && switches.odiglet && !(kind == Kind::Pod && switches.effective_config);
        Situation { cluster: Some(cluster), asks_after_odiglet, ..Situation::of_settings(settings) }
    }

    /// Whether the cluster has been asked for anything.
    pub fn has_asked(&self) -> bool {
        self.has_asked.get()
    }

    /// Whether where odiglet runs is looked up in the cluster.
    pub fn asks_after_odiglet(&self) -> bool {
        self.asks_after_odiglet
    }

    /// How Odigos hands its files to pods.
    pub fn mount_method(&self) -> MountMethod {
        self.config().map_or(self.settings.mount_method, |config| config.mount_method)
    }

    /// Whether Odigos' Karpenter integration is on.
    pub fn karpenter_enabled(&self) -> bool {
        self.config().map_or(self.settings.karpenter_enabled, |config| config.karpenter_enabled)
    }

    /// Whether Odigos is there at all.
    pub fn installed(&self) -> bool {
        self.settings.odiglet.installed && !self.is_gone()
    }

    /// Whether the cluster lacks what the settings say is installed: nobody removes a taint, but an
    /// upgrade may be under way.
    pub fn is_gone(&self) -> bool {
        matches!(self.look_up_config(), Some(LookUp::NotFound))
            || matches!(self.look_up_daemon_set(), Some(LookUp::NotFound))
    }

    /// Whether the startup taint is what keeps pods from a node until odiglet has prepared it.
    pub fn gated(&self) -> bool {
        self.settings.odiglet.installed
            && self.karpenter_enabled()
            && self.mount_method().needs_prepared_node()
            && self.installed()
    }

    /// Whether odiglet removes the startup taint from the nodes that it reaches.
    pub fn untainting(&self) -> bool {
        self.settings.odiglet.installed
            && self.mount_method() != MountMethod::InitContainer
            && self.installed()
            && self.daemon_set().is_none_or(|daemon_set| daemon_set.prepares_nodes)
            && self.odiglet_tolerates_startup_taint()
    }

    /// Whether odiglet may start on a node with the startup taint.
    pub fn odiglet_tolerates_startup_taint(&self) -> bool {
        self.placement(|odiglet| odiglet.tolerates(&Taint { key: TAINT_KEY, value: "", effect: TAINT_EFFECT }))
    }

    /// Whether Odigos' device is what pods ask for.
    pub fn uses_device(&self) -> bool {
        self.settings.odiglet.installed && self.mount_method() == MountMethod::VirtualDevice && self.installed()
    }

    /// How many pods of odiglet are wanted where none is ready, so that nothing would take a taint
    /// away: a bad image must not block every new node.
    pub fn none_ready_of(&self) -> Option<u64> {
        self.daemon_set().and_then(|daemon_set| daemon_set.none_ready_of)
    }

    /// What `ask` says of where odiglet may run.
    pub fn placement<R>(&self, ask: impl FnOnce(&Placement) -> R) -> R {
        match self.daemon_set() {
            Some(daemon_set) => daemon_set.placement(ask),
            None => ask(&self.settings.odiglet.placement()),
        }
    }

    /// Whether Odigos will inject its agents into the pods of the workload that an
    /// InstrumentationConfig is named after.
    pub fn will_instrument(&self, namespace: &str, name: &str) -> bool {
        let answer = self.get(Resource::InstrumentationConfig, namespace, name, Ok);
        matches!(answer, LookUp::Found(text) if effective_config::injects_agents(&text))
    }

    /// The NodeOverlays, as a list in JSON; `None` where they can't be read.
    pub fn node_overlays(&self) -> Option<Vec<u8>> {
        self.has_asked.set(true);
        let why = match self.cluster?.list(Resource::NodeOverlay) {
            Ok(list) => return Some(list),
            Err(LookUpError::NotFound) => "there are none".to_owned(),
            Err(LookUpError::Failed(why)) => why,
        };
        self.fail(Resource::NodeOverlay, "", why);
        None
    }

    /// Says of an answer that it can't be read.
    pub fn fail(&self, resource: Resource, name: &str, why: String) {
        self.failures.borrow_mut().push(Failure { resource, name: name.to_owned(), why });
    }

    /// Whether InstrumentationConfigs are looked up.
    pub fn asks_for_instrumentation_configs(&self) -> bool {
        self.cluster.is_some() && self.settings.from_cluster.instrumentation_configs
    }

    /// Whether NodeOverlays are looked up.
    pub fn asks_for_node_overlays(&self) -> bool {
        self.cluster.is_some() && self.settings.from_cluster.node_overlays
    }

    /// A hint for each look-up that gave no answer.
    pub fn failures(&self) -> Vec<Hint> {
        self.failures.borrow().iter().map(Failure::hint).collect()
    }

    fn config(&self) -> Option<&EffectiveConfig> {
        match self.look_up_config()? {
            LookUp::Found(config) => Some(config),
            _ => None,
        }
    }

    fn daemon_set(&self) -> Option<&DaemonSet> {
        match self.look_up_daemon_set()? {
            LookUp::Found(daemon_set) => Some(daemon_set),
            _ => None,
        }
    }

    fn look_up_config(&self) -> Option<&LookUp<EffectiveConfig>> {
        let settings = self.settings;
        let asks = self.cluster.is_some() && settings.odiglet.installed && settings.from_cluster.effective_config;
        let look_up = || {
            let read = |text: Vec<u8>| EffectiveConfig::read(&text);
            self.get(Resource::ConfigMap, settings.odiglet.namespace, effective_config::NAME, read)
        };
        asks.then(|| self.config.get_or_init(look_up))
    }

    fn look_up_daemon_set(&self) -> Option<&LookUp<DaemonSet>> {
        let odiglet = &self.settings.odiglet;
        let look_up = || self.get(Resource::DaemonSet, odiglet.namespace, odiglet.daemon_set, DaemonSet::read);
        self.asks_after_odiglet().then(|| self.daemon_set.get_or_init(look_up))
    }

    fn get<T>(
        &self,
        resource: Resource,
        namespace: &str,
        name: &str,
        read: impl FnOnce(Vec<u8>) -> Result<T, String>,
    ) -> LookUp<T> {
        let Some(cluster) = self.cluster else { return LookUp::Failed };
        self.has_asked.set(true);
        let answer = match cluster.get(resource, namespace, name) {
            Ok(text) => read(text),
            Err(LookUpError::NotFound) => return LookUp::NotFound,
            Err(LookUpError::Failed(why)) => Err(why),
        };
        match answer {
            Ok(found) => LookUp::Found(found),
            Err(why) => {
                self.fail(resource, name, why);
                LookUp::Failed
            }
        }
    }
}

impl Failure {
    fn hint(&self) -> Hint {
        let mut problem = Message::from(["can't read ".into(), self.resource.kind().into()]);
        if !self.name.is_empty() {
            problem.push(" ");
            problem.push(name(&self.name));
        }
        if !self.why.is_empty() {
            problem.push(": ");
            problem.push(name(&self.why));
        }
        let (serves, switch) = match self.resource {
            Resource::ConfigMap => ("the settings' mountMethod and karpenterEnabled serve; ", "effectiveConfig"),
            Resource::DaemonSet => ("the settings' odiglet serves; ", "odiglet"),
            Resource::InstrumentationConfig => ("", "instrumentationConfigs"),
            Resource::NodeOverlay => ("", "nodeOverlays"),
        };
        let remedy =
            Message::from([serves.into(), "see the README on RBAC, or unset fromCluster.".into(), switch.into()]);
        Hint { rule: None, path: Path::default(), problem, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::host::HostCluster;
    use crate::json::view::View;
    use rstest::rstest;
    use serde_json::{Value, json};
    use std::cell::RefCell;

    #[rstest]
    #[case(json!({"mountMethod": "k8s-csi-driver", "karpenterEnabled": true}), true, true)]
    #[case(json!({"mountMethod": "k8s-host-path", "karpenterEnabled": true, "odiglet": {"tolerations": []}}), true, false)]
    #[case(json!({"mountMethod": "k8s-host-path"}), false, true)]
    #[case(json!({"karpenterEnabled": true}), false, true)]
    #[case(json!({"mountMethod": "k8s-init-container", "karpenterEnabled": true}), false, false)]
    #[case(json!({"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "odiglet": {"installed": false}}), false, false)]
    fn gated_and_untainting(#[case] settings: Value, #[case] gated: bool, #[case] untainting: bool) {
        let settings = settings.to_string();
        let view = View::new(settings.as_bytes());
        let settings = Settings::read(&view).unwrap();
        let situation = Situation::of_settings(&settings);
        assert_eq!((situation.gated(), situation.untainting()), (gated, untainting));
        assert!(!situation.has_asked());
    }

    /// The kinds that are asked for, where everything is looked up and nothing found.
    fn asked(kind: Kind, ask: impl Fn(&Situation)) -> Vec<String> {
        let settings = json!({"fromCluster": {
            "effectiveConfig": true, "odiglet": true, "instrumentationConfigs": true, "nodeOverlays": true
        }});
        let settings = settings.to_string();
        let view = View::new(settings.as_bytes());
        let settings = Settings::read(&view).unwrap();
        let calls = RefCell::new(Vec::new());
        let cluster = HostCluster(|_: &str, payload: &[u8]| {
            let payload: Value = serde_json::from_slice(payload).unwrap();
            calls.borrow_mut().push(payload["kind"].as_str().unwrap().to_owned());
            Err("no".to_owned())
        });
        ask(&Situation::in_cluster(&settings, &cluster, kind));
        calls.into_inner()
    }

    #[test]
    fn each_question_is_asked_once() {
        let asked = asked(Kind::NodePool, |situation| {
            assert!(!situation.gated() && situation.untainting() && situation.uses_device());
            assert_eq!(situation.failures().len(), 2);
        });
        assert_eq!(asked, ["ConfigMap", "DaemonSet"]);
    }

    #[test]
    fn a_pod_is_worth_two_calls() {
        let asked = asked(Kind::Pod, |situation| {
            assert!(situation.uses_device() && !situation.gated());
            assert!(!situation.will_instrument("shop", "deployment-web"));
        });
        assert_eq!(asked, ["ConfigMap", "InstrumentationConfig"]);
    }
}
