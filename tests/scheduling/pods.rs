//! Pods: their generators, and what of them is their own.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::kubernetes::entries;
use crate::words::{DEVICE, DEVICES, KEY, ODIGLET_LABELS, always, list, map, one_of, some, word};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

fn expression(key: &str, operator: &str, values: Value) -> Value {
    json!({"key": key, "operator": operator, "values": values})
}

/// What pods wish for by themselves.
fn own_expression() -> BoxedStrategy<Value> {
    prop_oneof![
        12 => one_of(&[
            expression("topology.kubernetes.io/zone", "In", json!(["a"])),
            expression("topology.kubernetes.io/zone", "NotIn", json!(["a"])),
            expression("kubernetes.io/arch", "In", json!(["amd64"])),
            expression("kubernetes.io/os", "In", json!(["linux"])),
            expression("team", "In", json!(["a", "b"])),
            expression("team", "Exists", json!([])),
            expression("team", "DoesNotExist", json!([])),
            expression("karpenter.sh/nodepool", "Exists", json!([])),
            expression("karpenter.sh/nodepool", "DoesNotExist", json!([])),
            expression("cpus", "Gt", json!(["4"])),
        ]),
        1 => one_of(&[
            expression(ODIGLET_LABELS[0], "NotIn", json!(["true"])),
            expression(ODIGLET_LABELS[1], "DoesNotExist", json!([])),
            expression("kubernetes.io/os", "In", json!(["windows"])),
            expression("team", "NotIn", json!(["a"])),
        ]),
    ]
    .boxed()
}

/// What Odigos, or somebody in its stead, has put there.
fn odiglet_expression() -> BoxedStrategy<Value> {
    let operator = prop_oneof![5 => Just(("In", json!(["true"]))), 1 => Just(("Exists", json!([])))];
    (proptest::sample::select(&ODIGLET_LABELS[..]), operator)
        .prop_map(|(label, (operator, values))| expression(label, operator, values))
        .boxed()
}

fn term(odigos: bool) -> BoxedStrategy<Value> {
    let own = list(own_expression(), 2);
    let odiglet = if odigos { list(odiglet_expression(), 1) } else { one_of(&[json!([])]) };
    let pinned =
        proptest::option::weighted(0.1, Just(json!([{"key": "metadata.name", "operator": "In", "values": ["n0"]}])));
    (own, odiglet, pinned)
        .prop_map(|(own, odiglet, fields)| {
            let expressions = [entries(&own, ""), entries(&odiglet, "")].concat();
            let mut term = json!({"matchExpressions": expressions});
            if let Some(fields) = fields {
                term["matchFields"] = fields;
            }
            term
        })
        .boxed()
}

fn container(odigos: bool) -> BoxedStrategy<Value> {
    let resource =
        if odigos { word(&[DEVICE, DEVICE, "instrumentation.odigos.io/old"]) } else { word(&["example.com/fuse"]) };
    let counts = |resource: BoxedStrategy<Value>| {
        (resource, one_of(&[json!("1"), json!(1), json!("2")]))
            .prop_map(|(resource, count)| {
                Value::Object([(resource.as_str().unwrap().to_owned(), count)].into_iter().collect())
            })
            .boxed()
    };
    let resources = map(vec![some(60, "requests", counts(resource.clone())), some(60, "limits", counts(resource))]);
    let distro = word(&["java-community", "opentelemetry-ebpf-instrumentation", ""]);
    let env = distro.prop_map(|distro| json!([{"name": "ODIGOS_DISTRO_NAME", "value": distro}])).boxed();
    let mut fields = vec![always("name", word(&["app", "sidecar"])), some(30, "resources", resources)];
    if odigos {
        fields.push(some(50, "env", env));
    }
    map(fields)
}

/// A pod; where `odigos`, one that Odigos instruments, else one without any mark of it.
pub fn pod(odigos: bool) -> BoxedStrategy<Value> {
    let affinity = map(vec![always(
        "nodeSelectorTerms",
        proptest::collection::vec(term(odigos), 1..=3).prop_map(Value::from).boxed(),
    )])
    .prop_map(|required| json!({"nodeAffinity": {REQUIRED: required}}))
    .boxed();
    let selected = one_of(&[
        json!({"team": "a"}),
        json!({"team": "b"}),
        json!({"kubernetes.io/os": "linux"}),
        json!({"topology.kubernetes.io/zone": "b"}),
    ]);
    let odiglet = one_of(&[json!({ODIGLET_LABELS[0]: "true"}), json!({ODIGLET_LABELS[1]: "true", "team": "a"})]);
    let selector = if odigos { prop_oneof![2 => selected, 1 => odiglet].boxed() } else { selected };
    let tolerations = one_of(&[
        json!([]),
        json!([{"key": "dedicated", "operator": "Exists"}]),
        json!([{"operator": "Exists"}]),
        json!([{"key": KEY, "operator": "Exists"}]),
        json!([{"key": KEY, "operator": "Exists", "effect": "NoExecute"}]),
    ]);
    let spec = map(vec![
        always("containers", proptest::collection::vec(container(odigos), 1..=2).prop_map(Value::from).boxed()),
        some(15, "initContainers", list(container(odigos), 1)),
        some(75, "affinity", affinity),
        some(25, "nodeSelector", selector),
        some(50, "tolerations", tolerations),
    ]);
    spec.prop_map(move |spec| {
        let labels = if odigos { json!({"odigos.io/agents-meta-hash": "x"}) } else { json!({"app": "web"}) };
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop", "labels": labels}, "spec": spec})
    })
    .boxed()
}

/// Whether an expression requires a label of odiglet.
pub fn requires_odiglet(expression: &Value) -> bool {
    let label = ODIGLET_LABELS.iter().any(|label| expression["key"] == *label);
    let values = entries(expression, "/values");
    label && (expression["operator"] == "Exists" || (expression["operator"] == "In" && values.contains(&json!("true"))))
}

fn is_empty(term: &Value) -> bool {
    entries(term, "/matchExpressions").is_empty() && entries(term, "/matchFields").is_empty()
}

fn is_odiglet_only(term: &Value) -> bool {
    !is_empty(term)
        && entries(term, "/matchFields").is_empty()
        && entries(term, "/matchExpressions").iter().all(requires_odiglet)
}

/// The pod as it would be without Odigos: what it requires by itself.
pub fn own(pod: &Value) -> Value {
    let mut own = without_devices(pod);
    if let Some(selector) = own.pointer_mut("/spec/nodeSelector").and_then(Value::as_object_mut) {
        selector.retain(|key, value| !(ODIGLET_LABELS.contains(&key.as_str()) && value == "true"));
    }
    let pointer = format!("/spec/affinity/nodeAffinity/{REQUIRED}/nodeSelectorTerms");
    let terms = entries(pod, &pointer);
    if terms.iter().any(is_odiglet_only) && terms.iter().all(|term| is_odiglet_only(term) || is_empty(term)) {
        own["spec"].as_object_mut().unwrap().remove("affinity");
    } else if let Some(Value::Array(terms)) = own.pointer_mut(&pointer) {
        // Beside others, it was no more than a way around them.
        terms.retain(|term| !is_odiglet_only(term));
        for term in terms {
            term["matchExpressions"].as_array_mut().unwrap().retain(|expression| !requires_odiglet(expression));
        }
    }
    own
}

/// The pod without any device of Odigos.
pub fn without_devices(pod: &Value) -> Value {
    let mut pod = pod.clone();
    for list in ["containers", "initContainers"] {
        for container in pod["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            for kind in ["requests", "limits"] {
                if let Some(resources) =
                    container.pointer_mut(&format!("/resources/{kind}")).and_then(Value::as_object_mut)
                {
                    resources.retain(|resource, _| !resource.starts_with(DEVICES));
                }
            }
        }
    }
    pod
}
