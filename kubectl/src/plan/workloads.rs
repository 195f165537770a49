//! Workloads whose pods carry what can't be changed in a running pod.

use std::collections::{BTreeMap, BTreeSet};

use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::rule::Rule;

use super::lists::shell;
use crate::gathered::Gathered;
use crate::item::Item;
use crate::judge::Judged;
use crate::output::counted;

/// What a pod carries that was right once.
const STALE: &[Rule] = &[
    Rule::OdigletAffinityBlocksKarpenter,
    Rule::OdigletAffinityOrphaned,
    Rule::OdigletAffinityTier,
    Rule::DeviceOrphaned,
    Rule::DeviceUnknown,
];

/// In which order workloads are restarted: Karpenter counts the requests of a DaemonSet's newest pod for
/// every new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    DaemonSet,
    StatefulSet,
    Deployment,
    Rollout,
    Other,
}

/// A workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Workload {
    rank: Rank,
    namespace: String,
    kind: String,
    name: String,
}

/// What is stale of a workload.
#[derive(Clone, Debug, Default)]
pub struct Stale {
    /// Its pods, by name.
    pods: BTreeSet<String>,
    /// Its template, which people wrote.
    template: bool,
}

/// The workloads that are to be restarted.
#[derive(Debug, Default)]
pub struct Workloads(BTreeMap<Workload, Stale>);

impl Workloads {
    /// Takes a pod or a workload, where something in it is stale.
    pub fn take(&mut self, item: &Item, judged: &Judged, gathered: &Gathered) {
        // A claim has no template, and what has ended is never scheduled again.
        let is_workload = item.group() != "karpenter.sh" && !has_ended(item);
        if !is_workload || !judged.findings.iter().any(|finding| STALE.contains(&finding.rule)) {
            return;
        }
        if item.kind == "Pod" {
            self.0.entry(owner(item, judged, gathered)).or_default().pods.insert(judged.name.clone());
        } else {
            // A ReplicaSet is its Rollout's, whose template it has.
            let (kind, name) = match &judged.controller {
                Some((kind, name)) if item.kind == "ReplicaSet" => (kind, name),
                _ => (&judged.kind, &judged.name),
            };
            self.0.entry(workload(kind, &judged.namespace, name)).or_default().template = true;
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A note and a command for each, in order.
    pub fn steps(&self, gathered: &Gathered) -> impl Iterator<Item = (String, Option<String>)> {
        self.0.iter().map(|(workload, stale)| {
            let Workload { namespace, kind, name, .. } = workload;
            let by_hand = gathered.by_hand(kind, namespace, name);
            let command = command(workload).filter(|_| by_hand.is_none());
            let without = match (by_hand, &command) {
                (Some(by_hand), _) => format!(" {by_hand}."),
                (None, Some(_)) => String::new(),
                (None, None) if kind == "Pod" => " Delete it and create it again.".to_owned(),
                (None, None) => " It can't be restarted.".to_owned(),
            };
            (format!("{}.{without}", note(workload, stale)), command)
        })
    }
}

fn has_ended(item: &Item) -> bool {
    let object = View::new(item.text);
    let status = |key| object.get("status").and_then(|status| status.get(key));
    match item.kind.as_ref() {
        "Pod" => matches!(status("phase").and_then(View::as_str), Some("Succeeded" | "Failed")),
        "Job" => status("completionTime").is_some_and(|time| !time.is_null()),
        _ => false,
    }
}

fn note(workload: &Workload, stale: &Stale) -> String {
    let Workload { namespace, kind, name, .. } = workload;
    let place = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
    let carriers = match (stale.pods.len(), stale.template) {
        (0, _) => "its template".to_owned(),
        (pods, true) => format!("{} and its template", counted(pods, "pod")),
        (pods, false) => counted(pods, "pod"),
    };
    let mut note = format!("{kind} {place}{name}: {carriers}");
    if stale.template {
        note.push_str("; change the manifest, as the policy only puts right the pods made of it");
    }
    note
}

fn command(workload: &Workload) -> Option<String> {
    let Workload { rank, namespace, kind, name } = workload;
    let namespace = if namespace.is_empty() { String::new() } else { format!("-n {} ", shell(namespace)) };
    let target = format!("{}/{name}", kind.to_ascii_lowercase());
    match rank {
        Rank::Other => None,
        // A plugin's name comes before all flags.
        Rank::Rollout => Some(format!("kubectl argo rollouts {namespace}restart {}", shell(name))),
        // The next ones are to find its new pods.
        Rank::DaemonSet => Some(format!(
            "kubectl {namespace}rollout restart {target} && kubectl {namespace}rollout status {target}",
            target = shell(&target)
        )),
        _ => Some(format!("kubectl {namespace}rollout restart {}", shell(&target))),
    }
}

fn workload(kind: &str, namespace: &str, name: &str) -> Workload {
    let rank = match kind {
        "DaemonSet" => Rank::DaemonSet,
        "StatefulSet" => Rank::StatefulSet,
        "Deployment" => Rank::Deployment,
        "Rollout" => Rank::Rollout,
        _ => Rank::Other,
    };
    Workload { rank, namespace: namespace.to_owned(), kind: kind.to_owned(), name: name.to_owned() }
}

/// The workload that a pod is of: that of its ReplicaSet, by the ReplicaSet itself where it is in the
/// input, else by its name, which is the workload's and a hash.
fn owner(item: &Item, judged: &Judged, gathered: &Gathered) -> Workload {
    let namespace = &judged.namespace;
    let Some((kind, name)) = &judged.controller else { return workload("Pod", namespace, &judged.name) };
    if let Some((kind, name)) = gathered.owner(kind, namespace, name) {
        return workload(kind, namespace, name);
    }
    let pod = View::new(item.text);
    let has_label = |label| {
        let labels = pod.get("metadata").and_then(|metadata| metadata.get("labels"));
        labels.is_some_and(|labels| labels.get(label).is_some())
    };
    match (kind.as_str(), name.rsplit_once('-')) {
        ("ReplicaSet", Some((name, _))) if has_label("rollouts-pod-template-hash") => {
            workload("Rollout", namespace, name)
        }
        ("ReplicaSet", Some((name, _))) if has_label("pod-template-hash") => workload("Deployment", namespace, name),
        _ => workload(kind, namespace, name),
    }
}
