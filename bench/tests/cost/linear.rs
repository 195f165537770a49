//! That what takes ten times as much to say takes about ten times as much to check.

use odigos_karpenter_bench::request::{Outcome, payload};
use serde_json::{Value, json};

use super::POLICY;

const FEW: usize = 1_000;
const MANY: usize = 10_000;

/// For ten times as many. Buffers that double as they grow make it more than ten.
const MOST: f64 = 12.0;
/// The same, where keys are sorted to find those that are there twice.
const MOST_OF_KEYS: f64 = 15.0;

const ODIGLET_LABEL: &str = "odigos.io/odiglet-oss-installed";
const STARTUP_TAINT: &str = "odigos.io/needs-init";

pub fn assert_linear(mount_method: &str, karpenter: bool, outcome: Outcome, request: impl Fn(usize) -> Value) {
    let settings = json!({"mountMethod": mount_method, "karpenterEnabled": karpenter});
    assert_linear_with(|_| settings.clone(), outcome, request);
}

/// The same for maps of so many keys.
pub fn assert_linear_in_keys(mount_method: &str, karpenter: bool, outcome: Outcome, request: impl Fn(usize) -> Value) {
    let settings = json!({"mountMethod": mount_method, "karpenterEnabled": karpenter});
    assert_at_most(MOST_OF_KEYS, |_| settings.clone(), outcome, request);
}

/// The same, where the settings may be long as well.
pub fn assert_linear_with(settings: impl Fn(usize) -> Value, outcome: Outcome, request: impl Fn(usize) -> Value) {
    assert_at_most(MOST, settings, outcome, request);
}

fn assert_at_most(most: f64, settings: impl Fn(usize) -> Value, outcome: Outcome, request: impl Fn(usize) -> Value) {
    let fuel = |count| {
        let it = POLICY.measure(&payload(&request(count), &settings(count))).unwrap();
        assert_eq!(Outcome::of(&it.answer), outcome, "of {count}");
        it.call_fuel as f64
    };
    let (few, many) = (fuel(FEW), fuel(MANY));
    assert!(many <= few * most, "{few} fuel for {FEW}, {many} for {MANY}");
}

pub fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    (0..count).map(item).collect()
}

pub fn expression(key: &str) -> Value {
    json!({"key": key, "operator": "In", "values": ["true"]})
}

pub fn request(group: &str, version: &str, kind: &str, object: Value) -> Value {
    let mut object = object;
    object["apiVersion"] = if group.is_empty() { json!(version) } else { json!(format!("{group}/{version}")) };
    object["kind"] = json!(kind);
    json!({
        "uid": "1",
        "kind": {"group": group, "version": version, "kind": kind},
        "resource": {"group": group, "version": version, "resource": format!("{}s", kind.to_lowercase())},
        "operation": "CREATE",
        "userInfo": {"username": "kubernetes-admin"},
        "object": object,
    })
}

/// An instrumented Pod with these node selector terms.
fn pod(terms: &Value) -> Value {
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    let spec = json!({"containers": [{"name": "c", "image": "i"}], "affinity": {"nodeAffinity": required}});
    let metadata = json!({"name": "p", "labels": {"odigos.io/agents-meta-hash": "1"}});
    request("", "v1", "Pod", json!({"metadata": metadata, "spec": spec}))
}

pub fn taint(key: &str) -> Value {
    json!({"key": key, "effect": "NoSchedule"})
}

fn nodepool(taints: &Value) -> Value {
    let spec = json!({"startupTaints": taints, "requirements": [], "nodeClassRef": {}});
    request("karpenter.sh", "v1", "NodePool", json!({"metadata": {"name": "p"}, "spec": {"template": {"spec": spec}}}))
}

fn node(taints: &Value) -> Value {
    let metadata = json!({"name": "n", "labels": {"karpenter.sh/nodepool": "p"}});
    let unregistered = json!({"key": "karpenter.sh/unregistered", "effect": "NoExecute"});
    let mut taints = taints.clone();
    if let Some(taints) = taints.as_array_mut() {
        taints.push(unregistered);
    }
    request("", "v1", "Node", json!({"metadata": metadata, "spec": {"taints": taints}}))
}

#[test]
fn expressions_that_are_taken_away() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        pod(&json!([{"matchExpressions": many(count, |_| expression(ODIGLET_LABEL))}]))
    });
}

#[test]
fn expressions_that_stay() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        let mut expressions = many(count, |number| expression(&format!("example.com/{number}")));
        expressions.as_array_mut().unwrap().push(expression(ODIGLET_LABEL));
        pod(&json!([{"matchExpressions": expressions}]))
    });
}

#[test]
fn terms_of_which_an_expression_is_taken_away() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        pod(&many(
            count,
            |number| json!({"matchExpressions": [expression(&format!("example.com/{number}")), expression(ODIGLET_LABEL)]}),
        ))
    });
}

#[test]
fn terms_to_which_an_expression_is_added() {
    assert_linear("k8s-csi-driver", false, Outcome::Mutated, |count| {
        pod(&many(count, |number| json!({"matchExpressions": [expression(&format!("example.com/{number}"))]})))
    });
}

#[test]
fn startup_taints_of_which_all_but_one_are_taken_away() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| nodepool(&many(count, |_| taint(STARTUP_TAINT))));
}

#[test]
fn startup_taints_that_stay() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        nodepool(&many(count, |number| taint(&format!("example.com/{number}"))))
    });
}

#[test]
fn taints_of_a_node_that_are_taken_away() {
    assert_linear("k8s-init-container", true, Outcome::Mutated, |count| node(&many(count, |_| taint(STARTUP_TAINT))));
}

#[test]
fn taints_of_a_node_that_stay() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        node(&many(count, |number| taint(&format!("example.com/{number}"))))
    });
}

/// Where there is a hundred times as much to do, it is noticed.
#[test]
#[should_panic(expected = "fuel for 1000")]
fn what_grows_by_the_square() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        nodepool(&many(count * count / FEW, |number| taint(&format!("example.com/{number}"))))
    });
}
