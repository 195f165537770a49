//! The same of every other list, map and text that an object can have: what rules read, and what they
//! pass over.

use std::collections::BTreeMap;

use odigos_karpenter_bench::request::Outcome;
use serde_json::{Value, json};

use super::linear::{assert_linear, assert_linear_in_keys, assert_linear_with, expression, many, request, taint};

const DEVICE: &str = "instrumentation.odigos.io/generic";

/// Lists in lists, as deep as a host reads.
const DEEP: usize = 100;

/// A map of so many keys, each with the same value.
fn map(count: usize, prefix: &str, value: &Value) -> Value {
    let members: BTreeMap<String, &Value> = (0..count).map(|number| (format!("{prefix}{number}"), value)).collect();
    json!(members)
}

/// An instrumented Pod with these keys in its spec, and one container where there are no others.
fn pod(spec: Value) -> Value {
    pod_with(json!({}), spec)
}

fn pod_with(mut metadata: Value, mut spec: Value) -> Value {
    metadata["name"] = json!("p");
    metadata["labels"]["odigos.io/agents-meta-hash"] = json!("1");
    if spec["containers"].is_null() {
        spec["containers"] = json!([container(json!({}))]);
    }
    request("", "v1", "Pod", json!({"metadata": metadata, "spec": spec}))
}

/// An instrumented container with these keys.
fn container(mut container: Value) -> Value {
    container["name"] = json!("c");
    if container["env"].is_null() {
        container["env"] = json!([{"name": "ODIGOS_DISTRO_NAME", "value": "java"}]);
    }
    container
}

fn karpenters(kind: &str, mut metadata: Value, spec: Value) -> Value {
    metadata["name"] = json!("p");
    request("karpenter.sh", "v1", kind, json!({"metadata": metadata, "spec": spec}))
}

fn node(mut metadata: Value, spec: Value) -> Value {
    metadata["name"] = json!("n");
    metadata["labels"]["karpenter.sh/nodepool"] = json!("p");
    request("", "v1", "Node", json!({"metadata": metadata, "spec": spec}))
}

fn with_action(mount_method: &str, action: &str) -> impl Fn(usize) -> Value {
    move |_| json!({"mountMethod": mount_method, "action": action})
}

// === Pods ===

#[test]
fn containers_that_get_the_device() {
    assert_linear("k8s-virtual-device", false, Outcome::Mutated, |count| {
        pod(json!({"containers": many(count, |_| container(json!({})))}))
    });
}

#[test]
fn containers_of_which_the_device_is_taken() {
    let resources = json!({"requests": {DEVICE: 1}, "limits": {DEVICE: 1, "memory": "1Gi"}});
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        pod(json!({"containers": many(count, |_| container(json!({"resources": resources})))}))
    });
}

#[test]
fn init_containers_and_volumes() {
    assert_linear("k8s-virtual-device", false, Outcome::Mutated, |count| {
        pod(json!({
            "initContainers": many(count, |_| container(json!({}))),
            "volumes": many(count, |number| json!({"name": format!("v{number}"), "emptyDir": {}})),
        }))
    });
}

#[test]
fn devices_of_a_container() {
    for (mount_method, prefix) in [
        ("k8s-virtual-device", "instrumentation.odigos.io/java-"),
        ("k8s-csi-driver", "instrumentation.odigos.io/java-"),
        ("k8s-virtual-device", "example.com/"),
    ] {
        assert_linear_in_keys(mount_method, true, Outcome::Mutated, |count| {
            let mut devices = map(count, prefix, &json!(1));
            devices[DEVICE] = json!(2);
            pod(json!({"containers": [container(json!({"resources": {"requests": devices, "limits": devices}}))]}))
        });
    }
}

#[test]
fn variables_of_a_container() {
    assert_linear("k8s-virtual-device", false, Outcome::Mutated, |count| {
        let mut env = many(count, |number| json!({"name": format!("V{number}"), "value": "1"}));
        env.as_array_mut().unwrap().push(json!({"name": "ODIGOS_DISTRO_NAME", "value": "java"}));
        pod(json!({"containers": [container(json!({"env": env}))]}))
    });
}

#[test]
fn labels_annotations_and_owners_of_a_pod() {
    assert_linear("k8s-virtual-device", false, Outcome::Mutated, |count| {
        let owner =
            |number| json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("r{number}"), "uid": "1"});
        let metadata = json!({
            "labels": map(count, "example.com/", &json!("a")),
            "annotations": map(count, "example.com/", &json!("a")),
            "ownerReferences": many(count, owner),
        });
        pod_with(metadata, json!({}))
    });
}

#[test]
fn tolerations() {
    for toleration in [json!({"operator": "Exists"}), json!({"key": "odigos.io/needs-init", "operator": "Exists"})] {
        assert_linear("k8s-csi-driver", true, Outcome::Accepted, |count| {
            pod(json!({"tolerations": many(count, |_| toleration.clone())}))
        });
    }
}

#[test]
fn node_selectors() {
    assert_linear_in_keys("k8s-csi-driver", false, Outcome::Mutated, |count| {
        pod(json!({"nodeSelector": map(count, "example.com/", &json!("a"))}))
    });
}

#[test]
fn values_of_an_expression() {
    assert_linear("k8s-csi-driver", false, Outcome::Mutated, |count| {
        let values = many(count, |number| json!(number.to_string()));
        let expression = json!({"key": "kubernetes.io/os", "operator": "NotIn", "values": values});
        let required = json!({"nodeSelectorTerms": [{"matchExpressions": [expression]}]});
        pod(json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}))
    });
}

#[test]
fn terms_that_are_preferred() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        let label = expression("odigos.io/odiglet-oss-installed");
        let preferred = many(count, |_| json!({"weight": 1, "preference": {"matchExpressions": [label]}}));
        let affinity = json!({
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [label]}]},
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        });
        pod(json!({"affinity": {"nodeAffinity": affinity}}))
    });
}

#[test]
fn findings_that_are_only_told() {
    for (action, outcome) in [("reject", Outcome::Rejected), ("warn", Outcome::Accepted)] {
        assert_linear_with(with_action("k8s-virtual-device", action), outcome, |count| {
            pod(json!({"containers": many(count, |_| container(json!({})))}))
        });
    }
}

// === Karpenter's ===

#[test]
fn labels_and_requirements_of_a_pool() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        let requirements = many(count, |number| expression(&format!("example.com/{number}")));
        let template = json!({
            "metadata": {"labels": map(count, "example.com/", &json!("a"))},
            "spec": {"requirements": requirements},
        });
        karpenters("NodePool", json!({"annotations": map(count, "a", &json!("b"))}), json!({"template": template}))
    });
}

#[test]
fn permanent_taints_that_are_moved() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        let taints = many(count, |_| taint("odigos.io/needs-init"));
        karpenters("NodePool", json!({}), json!({"template": {"spec": {"taints": taints}}}))
    });
}

#[test]
fn taints_and_resources_of_a_claim() {
    assert_linear_in_keys("k8s-csi-driver", true, Outcome::Mutated, |count| {
        let spec = json!({
            "taints": many(count, |number| taint(&format!("example.com/{number}"))),
            "startupTaints": many(count, |number| taint(&format!("example.org/{number}"))),
            "requirements": many(count, |number| expression(&format!("example.com/{number}"))),
            "resources": {"requests": map(count, "instrumentation.odigos.io/", &json!(1))},
        });
        karpenters("NodeClaim", json!({"labels": {"karpenter.sh/nodepool": "p"}}), spec)
    });
}

#[test]
fn requirements_and_capacity_of_an_overlay() {
    assert_linear("k8s-virtual-device", true, Outcome::Accepted, |count| {
        let spec = json!({
            "requirements": many(count, |number| expression(&format!("example.com/{number}"))),
            "capacity": map(count, "instrumentation.odigos.io/", &json!("1")),
        });
        request("karpenter.sh", "v1alpha1", "NodeOverlay", json!({"metadata": {"name": "o"}, "spec": spec}))
    });
}

#[test]
fn labels_of_a_node() {
    assert_linear("k8s-csi-driver", true, Outcome::Mutated, |count| {
        let taints = [taint("karpenter.sh/unregistered")];
        node(json!({"labels": map(count, "example.com/", &json!("a"))}), json!({"taints": taints}))
    });
}

// === settings ===

#[test]
fn pools_that_are_excluded() {
    let settings = |count| {
        let exclude = many(count, |number| json!(format!("a*{number}")));
        json!({"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "nodePools": {"exclude": exclude}})
    };
    assert_linear_with(settings, Outcome::Mutated, |_| {
        karpenters("NodePool", json!({}), json!({"template": {"spec": {}}}))
    });
}

#[test]
fn where_odiglet_runs() {
    let settings = |count| {
        let tolerations = many(count, |number| json!({"key": format!("a{number}"), "operator": "Exists"}));
        let mut tolerations = tolerations.as_array().unwrap().clone();
        tolerations.push(json!({"operator": "Exists"}));
        json!({"mountMethod": "k8s-csi-driver", "karpenterEnabled": true, "odiglet": {"tolerations": tolerations}})
    };
    assert_linear_with(settings, Outcome::Mutated, |_| {
        karpenters("NodePool", json!({}), json!({"template": {"spec": {"taints": [taint("a")]}}}))
    });
}

#[test]
fn pods_that_are_selected() {
    let settings = |count| {
        let expressions = many(count, |number| json!({"key": format!("a{number}"), "operator": "DoesNotExist"}));
        json!({"mountMethod": "k8s-csi-driver", "pods": {"selector": {"matchExpressions": expressions}}})
    };
    assert_linear_with(settings, Outcome::Mutated, |_| pod(json!({})));
}

// === anything ===

/// Of a text of all that an object may have, every character is looked at as often as in a short one.
#[test]
fn long_texts() {
    for letters in ["a", "\"\\", "\u{1f980}\u{e9}", "\n"] {
        let bytes = json!(letters).to_string().len() - 2;
        assert_linear("k8s-virtual-device", false, Outcome::Mutated, |count| {
            let text = letters.repeat(count * 300 / bytes);
            pod_with(json!({"annotations": {"a": text}, "generateName": text}), json!({"hostname": text}))
        });
    }
}

#[test]
fn deep_lists() {
    let deep = (0..DEEP).fold(json!([]), |inner, _| json!([inner]));
    assert_linear("k8s-virtual-device", false, Outcome::Mutated, |count| {
        pod(json!({"x": many(count / 4, |_| deep.clone())}))
    });
}
