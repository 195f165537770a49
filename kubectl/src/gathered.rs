//! What of the input answers for the cluster.

use std::collections::{BTreeMap, BTreeSet};

use odigos_karpenter_policy::cluster::daemon_set::DaemonSet;
use odigos_karpenter_policy::cluster::effective_config::{self, EffectiveConfig};
use odigos_karpenter_policy::cluster::{Cluster, LookUpError, Resource};
use odigos_karpenter_policy::json::view::{Content, View};
use odigos_karpenter_policy::odigos::{LABEL_VALUE, MountMethod, Tier};
use odigos_karpenter_policy::path::Path;
use odigos_karpenter_policy::settings::{FromCluster, Settings};

use crate::flaw::{Flaw, Unreadable};
use crate::item::Item;
use crate::names::name_of;
use crate::plain::plain;

/// The `apiVersion` of what `collect` says of itself.
pub const COLLECTION_API_VERSION: &str = "odigos-karpenter/v1";

/// The `kind` of what `collect` says of itself: `resources` lists all that it has asked for, so that
/// what is not there is known to be nowhere, and `odigosNamespace` is where it has looked for Odigos.
pub const COLLECTION: &str = "Collection";

/// Pods, of which a plan has to know whether they were collected.
pub const PODS: &str = "pods";
/// NodePools, or Provisioners, likewise.
pub const POOLS: &str = "nodepools.karpenter.sh";
/// NodeOverlays, likewise.
pub const OVERLAYS: &str = "nodeoverlays.karpenter.sh";
/// Nodes, likewise.
pub const NODES: &str = "nodes";
/// NodeClaims, likewise.
pub const CLAIMS: &str = "nodeclaims.karpenter.sh";

/// The labels that odiglet sets.
const OF_TIERS: [&str; 2] = [Tier::Community.label(), Tier::Onprem.label()];

/// Namespace and name.
pub type Name = (String, String);

/// A copy of an object, and where it was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    text: String,
    file: String,
    line: usize,
}

/// What answers for the cluster. Objects are kept in an order of their own, so that the order of the
/// input does not matter; of several that have the same name the first by its text counts.
#[derive(Debug, Default)]
pub struct Gathered {
    config_maps: BTreeSet<Copy>,
    odiglets: BTreeSet<Copy>,
    daemon_sets: BTreeMap<Name, BTreeSet<String>>,
    instrumentation_configs: BTreeMap<Name, bool>,
    overlays: BTreeMap<String, BTreeSet<String>>,
    /// Deployments and CronJobs, by kind.
    templates: BTreeSet<(&'static str, Name)>,
    /// Workloads that can't just be restarted, and what to do with each.
    by_hand: BTreeMap<(&'static str, Name), &'static str>,
    /// Which object owns a ReplicaSet or a Job: kind and name.
    owners: BTreeMap<(&'static str, Name), (String, String)>,
    collected: BTreeSet<String>,
    /// Resources of which the input has objects.
    seen: BTreeSet<&'static str>,
    /// The odiglet labels that Nodes bear.
    odiglet_labels: BTreeSet<&'static str>,
    /// Where `collect` has looked for Odigos.
    searched: BTreeSet<String>,
    /// Whether there is an Odigos of which something can't be read.
    is_unreadable: bool,
    /// Namespaces other than the settings' in which there is an Odigos.
    elsewhere: BTreeSet<String>,
}

impl Gathered {
    /// Takes what it needs of an object.
    pub fn take(&mut self, item: &Item, settings: &Settings) {
        let (group, kind) = (item.group(), item.kind.as_ref());
        let view = View::new(item.text);
        let metadata = |key| view.get("metadata").and_then(|metadata| metadata.get(key)).and_then(View::as_str);
        let name = || -> Name {
            (metadata("namespace").unwrap_or_default().to_owned(), metadata("name").unwrap_or_default().to_owned())
        };
        let copy = || {
            let text = view.canonical()?;
            Some(Copy { text, file: item.file.to_owned(), line: item.line(&Path::default()) })
        };
        let is_odigos = match (group, kind) {
            ("", "ConfigMap") => name().1 == effective_config::NAME,
            ("apps", "DaemonSet") => name().1 == settings.odiglet.daemon_set,
            _ => false,
        };
        let (namespace, _) = name();
        let is_here = namespace == settings.odiglet.namespace || namespace.is_empty();
        if is_odigos && !is_here {
            self.elsewhere.insert(namespace);
        }
        match (group, kind) {
            ("", "Pod") => drop(self.seen.insert(PODS)),
            ("", "Node") => {
                self.seen.insert(NODES);
                let labels = view.get("metadata").and_then(|metadata| metadata.get("labels"));
                let label = |key| labels.and_then(|labels| labels.get(key)).and_then(View::as_str);
                self.odiglet_labels.extend(OF_TIERS.into_iter().filter(|key| label(key) == Some(LABEL_VALUE)));
            }
            ("karpenter.sh", "NodeClaim" | "Machine") => drop(self.seen.insert(CLAIMS)),
            ("karpenter.sh", "NodePool" | "Provisioner") => drop(self.seen.insert(POOLS)),
            ("", "ConfigMap") if is_odigos && is_here => self.config_maps.extend(copy()),
            ("apps", "StatefulSet") => self.take_restart("StatefulSet", name(), &view),
            ("apps", "DaemonSet") => {
                self.take_restart("DaemonSet", name(), &view);
                if is_odigos && is_here {
                    self.odiglets.extend(copy());
                }
                self.daemon_sets.entry(name()).or_default().extend(view.canonical());
            }
            ("apps", "Deployment") => {
                self.take_restart("Deployment", name(), &view);
                self.templates.insert(("Deployment", name()));
            }
            ("batch", "CronJob") => drop(self.templates.insert(("CronJob", name()))),
            ("apps", "ReplicaSet") => self.take_owner("ReplicaSet", name(), &view),
            ("batch", "Job") => self.take_owner("Job", name(), &view),
            ("odigos.io", "InstrumentationConfig") => {
                *self.instrumentation_configs.entry(name()).or_default() |= effective_config::injects_agents(item.text);
            }
            ("karpenter.sh", "NodeOverlay") => self.overlays.entry(name().1).or_default().extend(view.canonical()),
            _ if item.api_version == COLLECTION_API_VERSION && kind == COLLECTION => {
                if let Some(Content::List(resources)) = view.get("resources").map(View::content) {
                    self.collected.extend(resources.iter().filter_map(View::as_str).map(str::to_owned));
                }
                self.searched.extend(view.get("odigosNamespace").and_then(View::as_str).map(str::to_owned));
            }
            _ => {}
        }
    }

    fn take_restart(&mut self, kind: &'static str, name: Name, object: &View) {
        let Some(spec) = object.get("spec") else { return };
        let strategy = spec.get("updateStrategy").and_then(|strategy| strategy.get("type")).and_then(View::as_str);
        let paused = matches!(spec.get("paused").map(View::content), Some(Content::Boolean(true)));
        if strategy == Some("OnDelete") {
            self.by_hand.insert((kind, name), "It is updated OnDelete: delete its pods, one after the other");
        } else if paused {
            self.by_hand.insert((kind, name), "It is paused: resume it, and then restart it");
        }
    }

    fn take_owner(&mut self, kind: &'static str, name: Name, object: &View) {
        if let Some(owner) = controller(object) {
            let first = self.owners.entry((kind, name)).or_insert_with(|| owner.clone());
            *first = owner.min(first.clone());
        }
    }

    /// Lets go of what can't be read, and tells of it.
    pub fn check(&mut self) -> Vec<Unreadable> {
        let mut unreadable = Vec::new();
        let mut sound = |copy: &Copy, what: &str, result: Result<(), String>| match result {
            Ok(()) => true,
            Err(why) => {
                let flaw = Flaw::at(copy.line, 0, format!("{what} can't be read: {why}"));
                unreadable.push(Unreadable { file: copy.file.clone(), flaw });
                false
            }
        };
        self.config_maps.retain(|copy| {
            let result = EffectiveConfig::read(copy.text.as_bytes()).map(drop);
            sound(copy, "ConfigMap effective-config", result)
        });
        self.odiglets.retain(|copy| {
            let result = DaemonSet::read(copy.text.clone().into_bytes()).map(drop);
            sound(copy, "odiglet's DaemonSet", result)
        });
        self.is_unreadable = !unreadable.is_empty();
        unreadable
    }

    /// What the input can be asked for. That Odigos is not there is an answer only where it was looked
    /// for in the namespace of the settings, and is in no other.
    pub fn answers(&self, settings: &Settings) -> FromCluster {
        let collected = |resource: &str| self.collected.contains(resource);
        let looked_for =
            self.searched.contains(settings.odiglet.namespace) && self.elsewhere.is_empty() && !self.is_unreadable;
        FromCluster {
            effective_config: !self.config_maps.is_empty() || looked_for && collected("configmaps"),
            odiglet: !self.odiglets.is_empty() || looked_for && collected("daemonsets.apps"),
            instrumentation_configs: !self.instrumentation_configs.is_empty()
                || collected("instrumentationconfigs.odigos.io"),
            node_overlays: !self.overlays.is_empty() || collected("nodeoverlays.karpenter.sh"),
        }
    }

    /// Odigos' configuration, where the input has it.
    pub fn effective_config(&self) -> Option<EffectiveConfig> {
        EffectiveConfig::read(self.config_maps.first()?.text.as_bytes()).ok()
    }

    /// Says which of several different configurations or DaemonSets of Odigos counts.
    pub fn ambiguity(&self) -> Option<String> {
        let of = |what: &str, copies: &BTreeSet<Copy>| {
            let (first, last) = (copies.first()?, copies.last()?);
            let Copy { file, line, .. } = first;
            (first.text != last.text).then(|| format!("of different {what} the one at {}:{line} counts", plain(file)))
        };
        of("ConfigMaps effective-config", &self.config_maps).or_else(|| of("DaemonSets of odiglet", &self.odiglets))
    }

    /// Says where Odigos is, where that is not where the settings have it.
    pub fn misplaced(&self, settings: &Settings) -> Option<String> {
        let namespaces: Vec<&str> = self.elsewhere.iter().map(String::as_str).collect();
        (!namespaces.is_empty() && self.config_maps.is_empty() && self.odiglets.is_empty()).then(|| {
            format!(
                "Odigos is in namespace {}, and odiglet.namespace of the settings is {}",
                namespaces.join(", "),
                settings.odiglet.namespace
            )
        })
    }

    /// Says what Nodes tell of the tier, where the settings have another: the tier is read nowhere else.
    pub fn other_tier(&self, settings: &Settings) -> Option<String> {
        let (label, first) = (settings.tier.label(), self.odiglet_labels.first()?);
        (!self.odiglet_labels.contains(label)).then(|| {
            format!(
                "Nodes have {first} and none has {label}, which odiglet of tier {} sets",
                name_of(Tier::ALL, settings.tier)
            )
        })
    }

    /// Says what Odigos is set to, where the settings say otherwise.
    pub fn otherwise(&self, settings: &Settings) -> Option<String> {
        let config = self.effective_config()?;
        let told = |mount_method, karpenter| {
            format!(
                "{} with Karpenter {}",
                name_of(MountMethod::ALL, mount_method),
                if karpenter { "on" } else { "off" }
            )
        };
        let (theirs, ours) = (
            told(config.mount_method, config.karpenter_enabled),
            told(settings.mount_method, settings.karpenter_enabled),
        );
        (theirs != ours).then(|| format!("Odigos is set to {theirs}, which counts, and the settings say {ours}"))
    }

    /// Whether the input has all objects of a resource that the cluster has, as far as it can be known.
    pub fn knows(&self, resource: &str) -> bool {
        self.seen.contains(resource) || self.collected.contains(resource)
    }

    /// Whether `collect` has not come by a resource: the cluster does not serve it, or the call failed.
    pub fn lacks(&self, resource: &str) -> bool {
        !self.collected.is_empty() && !self.knows(resource)
    }

    /// What to do with a workload that can't just be restarted.
    pub fn by_hand(&self, kind: &str, namespace: &str, name: &str) -> Option<&'static str> {
        let kind = ["DaemonSet", "StatefulSet", "Deployment"].into_iter().find(|known| *known == kind)?;
        self.by_hand.get(&(kind, (namespace.to_owned(), name.to_owned()))).copied()
    }

    /// odiglet's DaemonSet as JSON, where the input has it.
    pub fn odiglet(&self) -> Option<&str> {
        self.odiglets.first().map(|copy| copy.text.as_str())
    }

    /// The DaemonSets as JSON, by namespace and name.
    pub fn daemon_sets(&self) -> impl Iterator<Item = (&Name, &str)> {
        self.daemon_sets.iter().filter_map(|(name, texts)| Some((name, texts.first()?.as_str())))
    }

    /// The NodeOverlays as JSON, by name.
    pub fn overlays(&self) -> impl Iterator<Item = (&str, &str)> {
        self.overlays.iter().filter_map(|(name, texts)| Some((name.as_str(), texts.first()?.as_str())))
    }

    /// Whether Odigos injects its agents into the pods of a workload: `daemonset-agent`.
    pub fn instruments(&self, namespace: &str, config: &str) -> bool {
        self.instrumentation_configs.get(&(namespace.to_owned(), config.to_owned())).copied().unwrap_or_default()
    }

    /// The object that owns a ReplicaSet or a Job, where the input has it.
    pub fn owner(&self, kind: &str, namespace: &str, name: &str) -> Option<&(String, String)> {
        let kind = ["ReplicaSet", "Job"].into_iter().find(|known| *known == kind)?;
        self.owners.get(&(kind, (namespace.to_owned(), name.to_owned())))
    }

    /// Whether the input has the Deployment or CronJob whose template this object was made from.
    pub fn has_owner_of(&self, object: &View) -> bool {
        let Some((kind, name)) = controller(object) else { return false };
        let namespace = object.get("metadata").and_then(|metadata| metadata.get("namespace")).and_then(View::as_str);
        let namespace = namespace.unwrap_or_default().to_owned();
        ["Deployment", "CronJob"]
            .into_iter()
            .filter(|known| *known == kind)
            .any(|known| self.templates.contains(&(known, (namespace.clone(), name.clone()))))
    }
}

/// The kind and name of the object that controls this one.
pub fn controller(object: &View) -> Option<(String, String)> {
    let Content::List(owners) = object.get("metadata")?.get("ownerReferences")?.content() else { return None };
    let controls = |owner: &&View| matches!(owner.get("controller").map(View::content), Some(Content::Boolean(true)));
    let owner = owners.iter().find(controls).or(owners.first())?;
    Some((owner.get("kind")?.as_str()?.to_owned(), owner.get("name")?.as_str()?.to_owned()))
}

impl Cluster for Gathered {
    fn get(&self, resource: Resource, namespace: &str, name: &str) -> Result<Vec<u8>, LookUpError> {
        let text = match resource {
            Resource::ConfigMap => self.config_maps.first().map(|copy| copy.text.clone()),
            Resource::DaemonSet => self.odiglet().map(str::to_owned),
            Resource::InstrumentationConfig => {
                self.instruments(namespace, name).then(|| r#"{"spec":{"agentInjectionEnabled":true}}"#.to_owned())
            }
            Resource::NodeOverlay => None,
        };
        text.map(String::into_bytes).ok_or(LookUpError::NotFound)
    }

    fn list(&self, _: Resource) -> Result<Vec<u8>, LookUpError> {
        let overlays: Vec<&str> = self.overlays().map(|(_, text)| text).collect();
        Ok(format!(r#"{{"items":[{}]}}"#, overlays.join(",")).into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Lines;

    fn gathered(objects: &[&str]) -> Gathered {
        let mut gathered = Gathered::default();
        for text in objects {
            let top = crate::json_items::Top::read(text.as_bytes());
            let (api_version, kind) = (top.api_version, top.kind);
            let item = Item { text: text.as_bytes(), api_version, kind, file: "f", lines: Lines::From(1) };
            gathered.take(&item, &Settings::default());
        }
        gathered
    }

    const CONFIG: &str = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"odigos-system","name":"effective-config"},"data":{"config.yaml":"mountMethod: k8s-csi-driver"}}"#;

    #[test]
    fn only_what_is_there_answers() {
        assert_eq!(gathered(&[]).answers(&Settings::default()), FromCluster::default());
        let found = gathered(&[CONFIG]);
        assert_eq!(
            found.answers(&Settings::default()),
            FromCluster { effective_config: true, ..FromCluster::default() }
        );
        assert!(found.get(Resource::ConfigMap, "odigos-system", "effective-config").is_ok());
    }

    #[test]
    fn what_was_collected_and_is_not_there_is_not_found() {
        let found = gathered(&[
            r#"{"apiVersion":"odigos-karpenter/v1","kind":"Collection","odigosNamespace":"odigos-system","resources":["configmaps","nodeoverlays.karpenter.sh"]}"#,
        ]);
        let expected = FromCluster { effective_config: true, node_overlays: true, ..FromCluster::default() };
        assert_eq!(found.answers(&Settings::default()), expected);
        assert_eq!(found.get(Resource::ConfigMap, "a", "b"), Err(LookUpError::NotFound));
        assert_eq!(found.list(Resource::NodeOverlay), Ok(br#"{"items":[]}"#.to_vec()));
    }

    #[test]
    fn an_odigos_elsewhere_is_not_gone() {
        let marker = |namespace: &str| {
            format!(
                r#"{{"apiVersion":"odigos-karpenter/v1","kind":"Collection","odigosNamespace":"{namespace}","resources":["configmaps","daemonsets.apps"]}}"#
            )
        };
        let settings = Settings::default();
        let asked_elsewhere = gathered(&[&marker("odigos")]);
        assert_eq!(asked_elsewhere.answers(&settings), FromCluster::default());
        let elsewhere = CONFIG.replace("odigos-system", "odigos");
        let found_elsewhere = gathered(&[&elsewhere, &marker("odigos-system")]);
        assert_eq!(found_elsewhere.answers(&settings), FromCluster::default());
        assert_eq!(
            found_elsewhere.misplaced(&settings).as_deref(),
            Some("Odigos is in namespace odigos, and odiglet.namespace of the settings is odigos-system")
        );
    }

    #[test]
    fn what_can_not_be_read_is_told_and_let_go() {
        let mut found = gathered(&[&CONFIG.replace("mountMethod: k8s-csi-driver", "a: [b")]);
        let told = found.check();
        assert!(
            told[0].to_string().starts_with("f:1: ConfigMap effective-config can't be read: config.yaml is no YAML")
        );
        assert_eq!(found.answers(&Settings::default()), FromCluster::default());
    }
}
