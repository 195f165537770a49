//! What is to be done about the objects of a cluster, once the rules are those of after a change.

use std::collections::{BTreeMap, BTreeSet};

use odigos_karpenter_policy::json::scan::may_say_odigos;
use odigos_karpenter_policy::json::view::{Content, View};
use odigos_karpenter_policy::odigos::{AGENTS_HASH_LABEL, DEVICE_DOMAIN};
use odigos_karpenter_policy::rule::Rule;

use super::nodes::{self, Tainted};
use super::overlays;
use super::pools::Pool;
use super::workloads::Workloads;
use crate::gathered::{CLAIMS, Gathered, NODES, Name};
use crate::item::Item;
use crate::judge::Judge;

/// What is to be done, by object. Sets and maps, for the order of the input must not matter.
#[derive(Debug, Default)]
pub struct Survey {
    /// Pools that are to be patched.
    pub pools: BTreeSet<Pool>,
    /// Nodes with a taint that nobody removes, and the command for each.
    pub stuck: BTreeMap<String, String>,
    /// Nodes whose taint came after odiglet.
    pub came_late: BTreeSet<String>,
    /// Nodes that wait for odiglet.
    pub waits: BTreeSet<String>,
    /// Workloads to be restarted.
    pub workloads: Workloads,
    /// The NodePools, as JSON, that no overlay gives the device to.
    without_device: BTreeMap<String, String>,
    /// NodeClaims that wait for a device which nothing will advertise.
    pub waiting_claims: BTreeSet<String>,
    /// NodePools in which Karpenter will launch nothing for pods that require the odiglet label.
    pub unprovisioned: BTreeSet<String>,
    /// Whether odiglet could not start on a node with the startup taint, so that no pool gets it.
    pub intolerant: bool,
    /// Whether there are Provisioners or Machines, and NodePools or NodeClaims.
    old_karpenter: bool,
    /// Pools with the taint that the settings exclude, though nobody will take it away.
    pub left_alone: BTreeSet<String>,
    new_karpenter: bool,
    nodes: BTreeSet<(String, String)>,
    claims: BTreeSet<(String, String)>,
    instrumented_daemon_sets: BTreeSet<Name>,
}

impl Survey {
    /// Takes what it needs of an object.
    pub fn take(&mut self, item: &Item, judge: &Judge, gathered: &Gathered) {
        self.take_daemon_sets_pod(item);
        let object = View::new(item.text);
        let name = || {
            let name = object.get("metadata").and_then(|metadata| metadata.get("name")).and_then(View::as_str);
            name.unwrap_or_default().to_owned()
        };
        match (item.group(), item.kind.as_ref()) {
            ("", "Node") => self.nodes.extend(nodes::pool_of(&object).map(|pool| (pool, name()))),
            ("karpenter.sh", "NodeClaim" | "Machine") => {
                self.claims.extend(nodes::pool_of(&object).map(|pool| (pool, name())));
            }
            _ => {}
        }
        self.old_karpenter |= item.group() == "karpenter.sh" && matches!(item.kind.as_ref(), "Provisioner" | "Machine");
        self.new_karpenter |= item.group() == "karpenter.sh" && matches!(item.kind.as_ref(), "NodePool" | "NodeClaim");
        let Some(judged) = judge.judge(item) else { return };
        let is_pool = matches!(item.kind.as_ref(), "NodePool" | "Provisioner");
        if is_pool && judged.findings.is_empty() && !judge.situation().untainting() && nodes::has_key(&object) {
            self.left_alone.insert(format!("{} {}", judged.kind, judged.name));
        }
        match (item.group(), item.kind.as_ref()) {
            ("karpenter.sh", "NodePool" | "Provisioner") => {
                self.pools.extend(Pool::of(item, &judged));
                let hinted = |rule| judged.hints.iter().any(|hint| hint.rule == Some(rule));
                self.intolerant |= hinted(Rule::OdigletIntolerant);
                if hinted(Rule::KarpenterIntegrationOff) {
                    self.unprovisioned.insert(judged.name.clone());
                }
                if hinted(Rule::NodeOverlayMissing) {
                    let text = object.canonical().unwrap_or_default();
                    keep_least(&mut self.without_device, judged.name.clone(), text);
                }
            }
            ("", "Node") => match nodes::tainted(item, &judged, judge.situation().untainting()) {
                Some(Tainted::Stuck { command, rest }) => {
                    match rest {
                        Some(true) => drop(self.came_late.insert(judged.name.clone())),
                        Some(false) => drop(self.waits.insert(judged.name.clone())),
                        None => {}
                    }
                    keep_least(&mut self.stuck, judged.name, command);
                }
                Some(Tainted::CameLate) => drop(self.came_late.insert(judged.name)),
                Some(Tainted::Waits) => drop(self.waits.insert(judged.name)),
                None => {}
            },
            ("karpenter.sh", "NodeClaim") => {
                let waits = judged.findings.iter().any(|finding| finding.rule == Rule::DeviceOrphaned);
                if waits && !is_initialized(&object) {
                    self.waiting_claims.insert(judged.name);
                }
            }
            _ => self.workloads.take(item, &judged, gathered),
        }
    }

    /// A pod that Odigos has instrumented tells that its DaemonSet is.
    fn take_daemon_sets_pod(&mut self, item: &Item) {
        if !item.group().is_empty() || item.kind != "Pod" || !may_say_odigos(item.text) {
            return;
        }
        let pod = View::new(item.text);
        let Some((_, name)) = crate::gathered::controller(&pod).filter(|(kind, _)| kind == "DaemonSet") else {
            return;
        };
        let metadata = pod.get("metadata");
        let labels = metadata.and_then(|metadata| metadata.get("labels"));
        let is_marked = labels.is_some_and(|labels| labels.get(AGENTS_HASH_LABEL).is_some())
            || String::from_utf8_lossy(item.text).contains(DEVICE_DOMAIN);
        if is_marked {
            let namespace = metadata.and_then(|metadata| metadata.get("namespace")).and_then(View::as_str);
            self.instrumented_daemon_sets.insert((namespace.unwrap_or_default().to_owned(), name));
        }
    }

    /// How many nodes a pool has: by its Nodes, or where there are none in the input, its NodeClaims;
    /// `None` where the input has neither.
    pub fn nodes_of(&self, pool: &str, gathered: &Gathered) -> Option<usize> {
        let all = if gathered.knows(NODES) { &self.nodes } else { &self.claims };
        (gathered.knows(NODES) || gathered.knows(CLAIMS)).then(|| all.iter().filter(|(of, _)| of == pool).count())
    }

    /// The resources by which Karpenter tells of the nodes that it launches.
    pub fn claims(&self) -> &'static str {
        match (self.old_karpenter, self.new_karpenter) {
            (true, true) => "nodeclaims.karpenter.sh,machines.karpenter.sh",
            (true, false) => "machines.karpenter.sh",
            (false, _) => CLAIMS,
        }
    }

    /// The pools that need a NodeOverlay, and the instrumented DaemonSets that run on each.
    pub fn overlays(&self, gathered: &Gathered, odigos_namespace: &str) -> Vec<(&str, Vec<String>)> {
        let is_instrumented = |name: &Name, text: &str| {
            name.0 != odigos_namespace
                && (self.instrumented_daemon_sets.contains(name)
                    || gathered.instruments(&name.0, &format!("daemonset-{}", name.1.to_ascii_lowercase()))
                    || text.contains(DEVICE_DOMAIN))
        };
        let running_on = |pool: &str| {
            let pool = View::new(pool.as_bytes());
            let instrumented = gathered.daemon_sets().filter(|(name, text)| is_instrumented(name, text));
            let running = instrumented.filter(|(_, text)| overlays::can_run_on(text, &pool));
            running.map(|(name, _)| format!("{}/{}", name.0, name.1)).collect()
        };
        self.without_device.iter().map(|(pool, text)| (pool.as_str(), running_on(text))).collect()
    }
}

/// Of objects that have the same name the order of the input must not choose.
fn keep_least(map: &mut BTreeMap<String, String>, name: String, text: String) {
    let least = map.entry(name).or_insert_with(|| text.clone());
    if text < *least {
        *least = text;
    }
}

fn is_initialized(claim: &View) -> bool {
    let conditions = claim.get("status").and_then(|status| status.get("conditions")).map(View::content);
    let is = |condition: &View, key, value| condition.get(key).and_then(View::as_str) == Some(value);
    matches!(conditions, Some(Content::List(conditions))
        if conditions.iter().any(|it| is(it, "type", "Initialized") && is(it, "status", "True")))
}
