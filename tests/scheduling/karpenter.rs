//! How Karpenter decides whether it can launch a node for a pod, and what it launches.
//!
//! Of a pod's terms it reads the first, and drops it for the next where that leads nowhere. A label
//! that is not well known must be defined by the pool. Startup taints don't matter, and a resource
//! that no instance type has refuses the pod (Karpenter, `pkg/scheduling/requirements.go` and
//! `pkg/controllers/provisioning/scheduling`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::kubernetes::{self, Node, entries, is_tolerated, required_terms, resources};

/// Labels that every node gets from its instance type, and what it may be.
const WELL_KNOWN: [(&str, &[&str]); 3] = [
    ("kubernetes.io/os", &["linux", "windows"]),
    ("kubernetes.io/arch", &["amd64", "arm64"]),
    ("topology.kubernetes.io/zone", &["a", "b"]),
];

fn name(pool: &Value) -> &str {
    pool["metadata"]["name"].as_str().unwrap()
}

fn template(pool: &Value) -> &Value {
    &pool["spec"]["template"]
}

/// The values that a label may have on nodes of a pool: none where it has no such label.
fn values(pool: &Value, key: &str) -> BTreeSet<String> {
    if key == "karpenter.sh/nodepool" {
        return [name(pool).to_owned()].into();
    }
    let requirements: Vec<&Value> =
        entries(template(pool), "/spec/requirements").iter().filter(|requirement| requirement["key"] == key).collect();
    let known =
        WELL_KNOWN.iter().find(|(label, _)| *label == key).map(|(_, values)| values.iter().map(ToString::to_string));
    let mut values: BTreeSet<String> = known.into_iter().flatten().collect();
    if let Some(value) = template(pool)["metadata"]["labels"].get(key) {
        values = [value.as_str().unwrap().to_owned()].into();
    } else if values.is_empty() {
        let named = requirements.iter().filter(|requirement| requirement["operator"] == "In");
        values = named
            .flat_map(|requirement| entries(requirement, "/values"))
            .map(|value| value.as_str().unwrap().to_owned())
            .collect();
    }
    values.retain(|value| requirements.iter().all(|requirement| kubernetes::holds(requirement, Some(value))));
    values
}

/// Whether a node of the pool could suit all of these expressions.
fn suits(pool: &Value, expressions: &[Value]) -> bool {
    let keys: BTreeSet<&str> = expressions.iter().filter_map(|expression| expression["key"].as_str()).collect();
    keys.iter().all(|key| {
        let about = || expressions.iter().filter(|expression| expression["key"] == **key);
        let values = values(pool, key);
        if values.is_empty() {
            return about().all(|expression| kubernetes::holds(expression, None));
        }
        values.iter().any(|value| about().all(|expression| kubernetes::holds(expression, Some(value))))
    })
}

/// Whether Karpenter can launch a node of the pool for a pod, with a NodeOverlay that tells it of
/// these resources.
pub fn launches(pod: &Value, pool: &Value, overlay: &[&str]) -> bool {
    let selector = pod.pointer("/spec/nodeSelector").and_then(Value::as_object);
    let selected: Vec<Value> = selector
        .into_iter()
        .flatten()
        .map(|(key, value)| json!({"key": key, "operator": "In", "values": [value]}))
        .collect();
    let suits_term = |term: &Value| {
        let expressions = [entries(term, "/matchExpressions"), &selected].concat();
        // A pod with fields, be it none of them, is refused.
        term.get("matchFields").is_none_or(Value::is_null) && suits(pool, &expressions)
    };
    let affinity = match required_terms(pod) {
        None => suits(pool, &selected),
        Some(terms) => terms.iter().any(suits_term),
    };
    affinity
        && entries(template(pool), "/spec/taints").iter().all(|taint| is_tolerated(pod, taint))
        && resources(pod).iter().all(|(resource, count)| *count == 0 || overlay.contains(&resource.as_str()))
}

/// The claim that Karpenter makes of a pool for a node with these labels: it asks for what the instance
/// type brings, and leaves open what else the pool leaves open.
pub fn claim(pool: &Value, labels: &BTreeMap<String, String>) -> Value {
    let mut spec = template(pool)["spec"].clone();
    let known = WELL_KNOWN.iter().filter_map(|(key, _)| Some((key, labels.get(*key)?)));
    let known = known.map(|(key, value)| json!({"key": key, "operator": "In", "values": [value]}));
    let open = entries(template(pool), "/spec/requirements").iter().cloned();
    spec["requirements"] = open.chain(known).collect();
    let mut claim_labels = template(pool)["metadata"]["labels"].clone();
    claim_labels["karpenter.sh/nodepool"] = json!(name(pool));
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"generateName": "d-", "labels": claim_labels},
        "spec": spec,
    })
}

/// The labels of the nodes that a pool may launch, one of each value.
pub fn possible_labels(pool: &Value, pick: usize) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for key in WELL_KNOWN.iter().map(|(key, _)| *key).chain(["team", "karpenter.sh/nodepool"]) {
        let values: Vec<String> = values(pool, key).into_iter().collect();
        match values.get(pick % values.len().max(1)) {
            Some(value) => drop(labels.insert(key.to_owned(), value.clone())),
            // A label that the pool's own requirements exclude.
            None if template(pool)["metadata"]["labels"].get(key).is_some() => return None,
            None if key == "team" => {}
            None => return None,
        }
    }
    Some(labels)
}

/// The taints of a node after Karpenter has registered it: it takes its own away, and brings those of
/// the claim, of which none is there twice.
pub fn registered(mut taints: Vec<Value>, claim: &Value) -> Vec<Value> {
    taints.retain(|taint| taint["key"] != "karpenter.sh/unregistered");
    for taint in [entries(claim, "/spec/taints"), entries(claim, "/spec/startupTaints")].concat() {
        let same = |other: &Value| other["key"] == taint["key"] && other["effect"] == taint["effect"];
        if !taints.iter().any(same) {
            taints.push(taint);
        }
    }
    taints
}

/// The object of a node.
pub fn node_object(node: &Node) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": node.labels},
        "spec": {"taints": node.taints},
    })
}
