//! Generators of objects, by kind.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::words::*;

/// The kinds that rules speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Pod,
    Node,
    NodePool,
    NodeClaim,
    Provisioner,
    Machine,
    NodeOverlay,
}

impl Kind {
    pub const ALL: [Kind; 7] =
        [Kind::Pod, Kind::Node, Kind::NodePool, Kind::NodeClaim, Kind::Provisioner, Kind::Machine, Kind::NodeOverlay];

    /// The API group and version, and the name.
    pub fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Kind::Pod => ("", "v1", "Pod"),
            Kind::Node => ("", "v1", "Node"),
            Kind::NodePool => ("karpenter.sh", "v1", "NodePool"),
            Kind::NodeClaim => ("karpenter.sh", "v1", "NodeClaim"),
            Kind::Provisioner => ("karpenter.sh", "v1alpha5", "Provisioner"),
            Kind::Machine => ("karpenter.sh", "v1alpha5", "Machine"),
            Kind::NodeOverlay => ("karpenter.sh", "v1alpha1", "NodeOverlay"),
        }
    }

    /// Whether it is never rejected, save in an audit.
    pub fn is_never_rejected(self) -> bool {
        matches!(self, Kind::Node | Kind::NodeClaim | Kind::Machine)
    }

    /// An object, without `apiVersion` and `kind`.
    pub fn object(self) -> BoxedStrategy<Value> {
        match self {
            Kind::Pod => pod(),
            Kind::Node => node(),
            Kind::NodePool => nodepool(),
            Kind::NodeClaim | Kind::Provisioner | Kind::Machine => claim(),
            Kind::NodeOverlay => overlay(),
        }
    }
}

fn container() -> BoxedStrategy<Value> {
    let distro = word(&["java-community", "golang-community", "opentelemetry-ebpf-instrumentation", "", "é"]);
    let variable = prop_oneof![
        3 => distro.prop_map(|distro| json!({"name": "ODIGOS_DISTRO_NAME", "value": distro})),
        1 => one_of(&[
            json!({"name": "ODIGOS_CONTAINER_NAME", "value": "app"}),
            json!({"name": "ODIGOS_DISTRO_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}),
            json!({"name": "PATH", "value": "/bin"}),
        ]),
    ];
    map(vec![
        always("name", word(&["app", "sidecar", "odigos-agents"])),
        some(50, "env", list(variable.boxed(), 2)),
        some(60, "resources", resources()),
        some(20, "image", word(&["odigos/x", "x@sha256:5", "🦀"])),
        some(10, "ports", one_of(&[json!([{"containerPort": 8080.5}])])),
    ])
}

/// Terms, among them some that are equal once a label is another.
fn node_affinity() -> BoxedStrategy<Value> {
    let required = map(vec![some(95, "nodeSelectorTerms", list(term(), 4))]);
    let preferred =
        map(vec![always("weight", one_of(&[json!(1), json!(100), json!(1.5)])), some(95, "preference", term())]);
    map(vec![
        some(90, "requiredDuringSchedulingIgnoredDuringExecution", required),
        some(40, "preferredDuringSchedulingIgnoredDuringExecution", list(preferred, 3)),
    ])
}

fn pod() -> BoxedStrategy<Value> {
    let hash =
        word(&["odigos.io/agents-meta-hash", "odigos.io/agents-meta-hash", "app", "eks.amazonaws.com/fargate-profile"]);
    let labels = members(hash, word(&["web", "", "a"]), 2);
    let affinity = map(vec![
        some(95, "nodeAffinity", node_affinity()),
        some(10, "podAffinity", one_of(&[json!({}), json!(null)])),
    ]);
    let volumes = one_of(&[
        json!([]),
        json!([{"name": "odigos-agent", "hostPath": {"path": "/var/odigos"}}]),
        json!([{"name": "v"}]),
    ]);
    let spec = map(vec![
        some(97, "containers", list(container(), 3)),
        some(30, "initContainers", list(container(), 2)),
        some(75, "affinity", affinity),
        some(40, "nodeSelector", members(label_key(), label_value(), 2)),
        some(40, "tolerations", list(toleration(), 3)),
        some(30, "volumes", volumes),
        some(10, "resources", resources()),
        some(4, "nodeName", word(&["", "a"])),
        some(4, "schedulerName", word(&["default-scheduler", "fargate-scheduler"])),
        some(4, "os", one_of(&[json!({"name": "linux"}), json!({"name": "windows"})])),
        some(20, "terminationGracePeriodSeconds", one_of(&[json!(30), json!(9_007_199_254_740_993_u64)])),
    ]);
    map(vec![always("metadata", metadata(labels)), always("spec", spec), some(10, "status", one_of(&[json!({})]))])
}

fn node() -> BoxedStrategy<Value> {
    let key = prop_oneof![
        5 => word(&["karpenter.sh/nodepool", "kubernetes.io/os", "karpenter.sh/provisioner-name"]),
        2 => label_key(),
        1 => word(&["karpenter.sh/do-not-sync-taints", "karpenter.sh/initialized", "type", "eks.amazonaws.com/compute-type"]),
    ];
    let value =
        prop_oneof![4 => word(&["linux", "default"]), 1 => label_value(), 1 => word(&["virtual-kubelet", "fargate"])];
    let spec = map(vec![
        some(80, "taints", taints()),
        some(30, "providerID", word(&["aws:///a/i-1"])),
        some(10, "podCIDR", one_of(&[json!(null), json!("10.0.0.0/24")])),
    ]);
    map(vec![
        always("metadata", metadata(members(key.boxed(), value.boxed(), 4))),
        some(95, "spec", prop_oneof![9 => spec, 1 => one_of(&[json!(null)])].boxed()),
        some(10, "status", one_of(&[json!({"capacity": {DEVICE: "1024"}})])),
    ])
}

/// What NodeClaims, Machines, Provisioners and the template of a NodePool share.
fn template() -> Vec<Field> {
    vec![
        some(60, "startupTaints", taints()),
        some(50, "taints", taints()),
        some(60, "requirements", list(requirement(), 3)),
        some(20, "expireAfter", word(&["720h", "43200m", "Never", "x"])),
        some(
            20,
            "nodeClassRef",
            one_of(&[json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"})]),
        ),
        some(10, "kubelet", one_of(&[json!({"maxPods": 58, "x": 1.5}), json!(null)])),
    ]
}

fn requirement() -> BoxedStrategy<Value> {
    let linux = one_of(&[
        json!({"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}),
        json!({"key": "karpenter.sh/capacity-type", "operator": "Exists", "minValues": 2}),
    ]);
    prop_oneof![4 => linux, 1 => expression()].boxed()
}

fn claim() -> BoxedStrategy<Value> {
    let labels = members(
        word(&["karpenter.sh/nodepool", "karpenter.sh/provisioner-name", "team"]),
        word(&["default", "system", "gpu-1"]),
        2,
    );
    let requests = members(word(&[DEVICE, "instrumentation.odigos.io/old", "cpu"]), quantity(), 3);
    let resources = map(vec![some(90, "requests", requests), some(5, "x", one_of(&[json!(null)]))]);
    let spec = map([
        template(),
        vec![some(60, "resources", resources), some(20, "labels", members(label_key(), label_value(), 1))],
    ]
    .concat());
    map(vec![always("metadata", metadata(labels)), always("spec", spec)])
}

fn nodepool() -> BoxedStrategy<Value> {
    let template = map(vec![
        some(30, "metadata", map(vec![some(80, "labels", members(label_key(), label_value(), 2))])),
        some(98, "spec", map(template())),
    ]);
    let spec = map(vec![
        always("template", template),
        some(40, "limits", one_of(&[json!({"cpu": 1000}), json!({"cpu": "1e3", "memory": 1.5})])),
        some(20, "weight", one_of(&[json!(10), json!(null)])),
        some(10, "replicas", one_of(&[json!(3)])),
    ]);
    let labels = members(word(&["team"]), word(&["a"]), 1);
    map(vec![always("metadata", metadata(labels)), always("spec", spec)])
}

fn overlay() -> BoxedStrategy<Value> {
    let spec = map(vec![
        some(90, "capacity", resource_list()),
        some(50, "requirements", list(requirement(), 2)),
        some(30, "weight", one_of(&[json!(10)])),
    ]);
    map(vec![always("metadata", metadata(members(word(&["team"]), word(&["a"]), 1))), always("spec", spec)])
}
