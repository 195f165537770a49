//! Generators of what objects of every kind are made of.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub const KEY: &str = "odigos.io/needs-init";
pub const DEVICE: &str = "instrumentation.odigos.io/generic";
pub const DEVICES: &str = "instrumentation.odigos.io/";
/// The labels of odiglet: of either tier, and the one that only the docs have.
pub const ODIGLET_LABELS: [&str; 3] =
    ["odigos.io/odiglet-oss-installed", "odigos.io/odiglet-enterprise-installed", "odigos.io/odiglet-installed"];

/// A field of a map, which may be absent.
pub type Field = (&'static str, BoxedStrategy<Option<Value>>);

/// A map of fields.
pub fn map(fields: Vec<Field>) -> BoxedStrategy<Value> {
    let (keys, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    values
        .prop_map(move |values| {
            let present = |(key, value): (&&str, Option<Value>)| Some(((*key).to_owned(), value?));
            Value::Object(keys.iter().zip(values).filter_map(present).collect())
        })
        .boxed()
}

/// A field that is there in so many of a hundred.
pub fn some(percent: u32, key: &'static str, value: BoxedStrategy<Value>) -> Field {
    (key, proptest::option::weighted(f64::from(percent.clamp(1, 99)) / 100.0, value).boxed())
}

/// A field that is always there.
pub fn always(key: &'static str, value: BoxedStrategy<Value>) -> Field {
    (key, value.prop_map(Some).boxed())
}

/// One of these.
pub fn one_of(values: &[Value]) -> BoxedStrategy<Value> {
    proptest::sample::select(values.to_vec()).boxed()
}

/// One of these words.
pub fn word(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    proptest::sample::select(words).prop_map(Value::from).boxed()
}

pub fn list(entry: BoxedStrategy<Value>, most: usize) -> BoxedStrategy<Value> {
    vec(entry, 0..=most).prop_map(Value::from).boxed()
}

/// A map from one of these keys to values.
pub fn members(key: BoxedStrategy<Value>, value: BoxedStrategy<Value>, most: usize) -> BoxedStrategy<Value> {
    vec((key, value), 0..=most)
        .prop_map(|members| {
            let member = |(key, value): (Value, Value)| (key.as_str().unwrap_or_default().to_owned(), value);
            Value::Object(members.into_iter().map(member).collect::<Map<_, _>>())
        })
        .boxed()
}

/// A name; seldom one that no API server takes, long, or that breaks a line.
pub fn name() -> BoxedStrategy<Value> {
    prop_oneof![
        8 => word(&["web", "default", "gpu-a100", "gk3-pool-1", "ip-10-0-0-1.ec2.internal", ""]),
        2 => "\\PC{0,12}".prop_map(Value::from),
        1 => (0_usize..600).prop_map(|length| Value::from("n".repeat(length))),
        1 => word(&["a\nstartup-taint-missing: Pod b: forged; trust me", "a\u{2028}b\u{85}c\r\td\u{202e}e", "é漢🦀\u{0}"]),
    ]
    .boxed()
}

/// `metadata`, with these labels beside.
pub fn metadata(labels: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let annotations =
        members(word(&["a", "kubernetes.io/config.mirror", "odigos.io/x"]), one_of(&[json!("x"), json!(null)]), 1);
    map(vec![
        some(80, "name", name()),
        some(20, "generateName", word(&["web-", "d-"])),
        some(30, "namespace", word(&["shop", "odigos-system", "default"])),
        some(80, "labels", labels),
        some(10, "annotations", annotations),
        some(3, "deletionTimestamp", one_of(&[json!("2026-01-01T00:00:00Z"), json!(null)])),
        some(20, "creationTimestamp", one_of(&[json!(null)])),
    ])
}

pub fn effect() -> BoxedStrategy<Value> {
    prop_oneof![4 => word(&["NoSchedule"]), 3 => word(&["NoExecute", "PreferNoSchedule", ""])].boxed()
}

/// A taint, often the startup taint or one like it.
pub fn taint() -> BoxedStrategy<Value> {
    let key = prop_oneof![
        4 => word(&[KEY]),
        2 => word(&["dedicated", "karpenter.sh/unregistered", "node.kubernetes.io/not-ready", "node.cilium.io/agent-not-ready"]),
        1 => word(&["virtual-kubelet.io/provider", "odigos.io/needs-init2", "é"]),
    ];
    map(vec![
        always("key", key.boxed()),
        some(90, "effect", effect()),
        some(20, "value", word(&["true", "gpu", ""])),
        some(5, "timeAdded", one_of(&[json!(null), json!("2026-01-01T00:00:00Z")])),
    ])
}

pub fn taints() -> BoxedStrategy<Value> {
    prop_oneof![12 => list(taint(), 4), 1 => one_of(&[json!(null)])].boxed()
}

pub fn toleration() -> BoxedStrategy<Value> {
    map(vec![
        some(60, "key", word(&[KEY, "dedicated", "", "node.cilium.io/agent-not-ready"])),
        some(80, "operator", word(&["Exists", "Equal", "Gt", "Lt"])),
        some(20, "value", word(&["true", "", "5"])),
        some(30, "effect", effect()),
    ])
}

/// A key of a label that a rule looks at, or of another.
pub fn label_key() -> BoxedStrategy<Value> {
    prop_oneof![
        3 => word(&ODIGLET_LABELS),
        2 => word(&["kubernetes.io/os", "kubernetes.io/arch", "topology.kubernetes.io/zone", "karpenter.sh/nodepool"]),
        2 => word(&["team", "karpenter.k8s.aws/instance-family", "karpenter.sh/capacity-type", "é/ü"]),
    ]
    .boxed()
}

pub fn label_value() -> BoxedStrategy<Value> {
    word(&["true", "true", "linux", "windows", "false", "", "a", "default", "5"])
}

/// An expression of a term, often one that requires a label of odiglet.
pub fn expression() -> BoxedStrategy<Value> {
    let any = map(vec![
        always("key", label_key()),
        always("operator", word(&["In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "in"])),
        some(80, "values", list(label_value(), 3)),
        some(5, "minValues", one_of(&[json!(2), json!(null)])),
    ]);
    let required = word(&ODIGLET_LABELS).prop_map(|key| json!({"key": key, "operator": "In", "values": ["true"]}));
    prop_oneof![3 => any, 3 => required].boxed()
}

pub fn term() -> BoxedStrategy<Value> {
    let fields = word(&["In", "NotIn"])
        .prop_map(|operator| json!([{"key": "metadata.name", "operator": operator, "values": ["a"]}]));
    map(vec![
        some(85, "matchExpressions", list(expression(), 3)),
        some(15, "matchFields", prop_oneof![4 => fields, 1 => one_of(&[json!([]), json!(null)])].boxed()),
    ])
}

/// A quantity of a device, right or not.
pub fn quantity() -> BoxedStrategy<Value> {
    one_of(&[
        json!("1"),
        json!("1"),
        json!(1),
        json!("1000m"),
        json!("2"),
        json!(0),
        json!("0"),
        json!("1024"),
        json!(1.0),
        json!("1e0"),
        json!("-1"),
        json!("lots"),
        json!(null),
    ])
}

/// A map of resources, often with a device of Odigos.
pub fn resource_list() -> BoxedStrategy<Value> {
    let resource = prop_oneof![
        4 => word(&[DEVICE]),
        2 => word(&["instrumentation.odigos.io/java-native", "instrumentation.odigos.io/"]),
        4 => word(&["cpu", "memory", "nvidia.com/gpu", "smarter-devices/fuse"]),
    ];
    members(resource.boxed(), quantity(), 3)
}

/// `resources` of a container or a pod.
pub fn resources() -> BoxedStrategy<Value> {
    map(vec![
        some(70, "requests", resource_list()),
        some(70, "limits", resource_list()),
        some(5, "claims", one_of(&[json!([{"name": "gpu"}])])),
    ])
}
