//! Where the principle does not hold, and why: each exception that the README makes, and no other.

use serde_json::{Value, json};

use crate::kubernetes::{Node, entries, holds, is_tolerated, required_terms, tolerates};
use crate::odigos::Odigos;
use crate::words::KEY;

/// A term, or the node selector, forbids every node that odiglet prepares: the pod can't be both
/// instrumented and scheduled there, and any edit would strand it. What of the pod is so: all of it, or
/// the pod with only such terms.
pub fn in_conflict(pod: &Value, odigos: &Odigos) -> Option<Value> {
    let mut needed = odigos.node_selector.clone();
    needed[odigos.label()] = json!("true");
    let needed = needed.as_object().unwrap();
    let selector = pod.pointer("/spec/nodeSelector").and_then(Value::as_object);
    let mut conflicting = pod.clone();
    if selector.into_iter().flatten().any(|(key, value)| needed.get(key).is_some_and(|needed| needed != value)) {
        return Some(conflicting);
    }
    let forbids = |expression: &Value| {
        let needed = expression["key"].as_str().and_then(|key| needed.get(key));
        needed.is_some_and(|value| !holds(expression, value.as_str()))
    };
    let terms = conflicting.pointer_mut(REQUIRED_TERMS)?.as_array_mut()?;
    terms.retain(|term| entries(term, "/matchExpressions").iter().any(forbids));
    (!terms.is_empty()).then_some(conflicting)
}

const REQUIRED_TERMS: &str =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

/// A DaemonSet's pod is pinned to its node, and odiglet may never come there: with the label required
/// it might wait for ever, so it may run before odiglet, or without.
pub fn may_run_where_it_is_pinned(pod: &Value, odigos: &Odigos) -> bool {
    let everywhere = odigos.node_selector.as_object().unwrap().keys().all(|key| key == "kubernetes.io/os")
        && entries(&odigos.tolerations, "").contains(&json!({"operator": "Exists"}));
    let is_pinned = |term: &Value| entries(term, "/matchFields").iter().any(|field| field["key"] == "metadata.name");
    !everywhere && required_terms(pod).unwrap_or_default().iter().any(is_pinned)
}

/// A pod that tolerates the startup taint is told so, and starts before odiglet.
pub fn tolerates_startup_taint(pod: &Value) -> bool {
    is_tolerated(pod, &startup_taint())
}

/// Where a pool leaves open which value a label has, some of its nodes may be out of odiglet's reach:
/// they are told from the others when they register, and freed then.
pub fn is_left_open(claim: &Value, key: &str) -> bool {
    let requirements = entries(claim, "/spec/requirements");
    requirements.iter().any(|requirement| requirement["key"] == key && entries(requirement, "/values").len() > 1)
}

/// No rule touches an excluded pool, and what is launched of it.
pub fn is_excluded(node: &Node, odigos: &Odigos) -> bool {
    node.labels.get("karpenter.sh/nodepool").is_some_and(|pool| odigos.excluded.contains(&pool.as_str()))
}

/// With Karpenter on, the startup taint is the gate, and only where odiglet takes it away again: nodes
/// that odiglet never reaches have none, and instrumented pods may come there.
pub fn is_out_of_reach(node: &Node, odigos: &Odigos) -> bool {
    !odigos.runs_on(node)
}

/// Where odiglet could not start on a node with the startup taint, there is none, and the README's
/// hint says so.
pub fn odiglet_does_not_tolerate_startup_taint(odigos: &Odigos) -> bool {
    !entries(&odigos.tolerations, "").iter().any(|toleration| tolerates(toleration, &startup_taint()))
}

/// Of nodes that Karpenter did not launch only those are judged that the settings ask for.
pub fn is_not_judged(node: &Node, odigos: &Odigos) -> bool {
    !odigos.all_nodes && !node.labels.contains_key("karpenter.sh/nodepool")
}

/// On a node, taints that others take away look like those that stay, so a taint that odiglet does
/// not tolerate makes no startup taint an orphan. That matters where somebody else brought the startup
/// taint, and where the other taint was not there yet when the node registered.
pub fn has_another_taint_that_odiglet_does_not_tolerate(node: &Node, odigos: &Odigos) -> bool {
    let odiglet = json!({"spec": {"tolerations": odigos.tolerations}});
    let is_karpenters = node.labels.contains_key("karpenter.sh/nodepool");
    !(is_karpenters && node.brings_taints)
        && node.taints.iter().any(|taint| taint["key"] != KEY && !is_tolerated(&odiglet, taint))
}

fn startup_taint() -> Value {
    json!({"key": KEY, "effect": "NoSchedule"})
}
