//! Clusters: their generators, and how nodes come to be under the policy.

use std::collections::BTreeMap;

use odigos_karpenter_policy::cluster::NoCluster;
use odigos_karpenter_policy::policy;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::karpenter::{claim, node_object, possible_labels, registered};
use crate::kubernetes::{Node, entries};
use crate::odigos::Odigos;
use crate::words::{KEY, ODIGLET_LABELS, map, one_of, some};

/// The object after the policy, under `mutate`.
pub fn admitted(object: &Value, old: &Value, user: Value, odigos: &Odigos) -> Value {
    let (group, version) = object["apiVersion"].as_str().unwrap().split_once('/').unwrap_or(("", "v1"));
    let request = json!({
        "kind": {"group": group, "version": version, "kind": object["kind"]},
        "operation": if old.is_null() { "CREATE" } else { "UPDATE" },
        "namespace": object["metadata"]["namespace"],
        "userInfo": user,
        "object": object,
        "oldObject": old,
    });
    let payload = json!({"request": request, "settings": odigos.settings()}).to_string();
    let mut answer: Value = serde_json::from_slice(&policy::validate(payload.as_bytes(), &NoCluster)).unwrap();
    assert_eq!(answer["accepted"], true, "{answer} to {payload}");
    match answer["mutated_object"].take() {
        Value::Null => object.clone(),
        mutated => mutated,
    }
}

pub fn created(object: &Value, odigos: &Odigos) -> Value {
    admitted(object, &Value::Null, json!({"username": "alice"}), odigos)
}

pub fn odigos(methods: &'static [&'static str], karpenter: Option<bool>, installed: bool) -> BoxedStrategy<Odigos> {
    let node_selector = one_of(&[
        json!({"kubernetes.io/os": "linux"}),
        json!({"kubernetes.io/os": "linux"}),
        json!({"kubernetes.io/os": "linux", "team": "a"}),
    ]);
    let exists = |key: &str| json!({"key": key, "operator": "Exists"});
    let tolerations = one_of(&[
        json!([{"operator": "Exists"}]),
        json!([exists(KEY)]),
        json!([exists(KEY), exists("dedicated")]),
        json!([exists("dedicated")]),
    ]);
    let karpenter = karpenter.map_or(any::<bool>().boxed(), |karpenter| Just(karpenter).boxed());
    let tier = proptest::sample::select(vec!["community", "cloud", "onprem"]);
    let excluded = prop_oneof![3 => Just(vec![]), 1 => Just(vec!["p1"])];
    (proptest::sample::select(methods), karpenter, tier, node_selector, tolerations, any::<bool>(), excluded)
        .prop_map(move |(method, karpenter, tier, node_selector, tolerations, all_nodes, excluded)| Odigos {
            method,
            karpenter,
            tier,
            installed,
            node_selector,
            tolerations,
            all_nodes,
            excluded,
        })
        .boxed()
}

/// A node that Karpenter did not launch, as its kubelet registers it.
fn static_node() -> BoxedStrategy<Node> {
    let taints = proptest::collection::vec(prop_oneof![1 => taint_of(KEY), 1 => taint_of("dedicated")], 0..=2);
    let pick = |values: &[&'static str]| proptest::sample::select(values.to_vec());
    (
        pick(&["linux", "linux", "windows"]),
        pick(&["amd64", "arm64"]),
        pick(&["a", "b"]),
        pick(&["", "a", "b"]),
        pick(&["", "2", "8"]),
        taints,
    )
        .prop_map(|(os, arch, zone, team, cpus, mut taints)| {
            let all = [
                ("kubernetes.io/os", os),
                ("kubernetes.io/arch", arch),
                ("topology.kubernetes.io/zone", zone),
                ("team", team),
                ("cpus", cpus),
            ];
            let labels = all
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            taints.dedup();
            let fuse = ("example.com/fuse".to_owned(), 4);
            Node {
                name: String::new(),
                labels: labels.collect(),
                taints,
                allocatable: [fuse].into(),
                brings_taints: true,
            }
        })
        .boxed()
}

fn taint_of(key: &'static str) -> BoxedStrategy<Value> {
    one_of(&[json!({"key": key, "effect": "NoSchedule"}), json!({"key": key, "effect": "NoExecute"})])
}

/// What befalls a node: whether odiglet has started there already, whether it was of another tier
/// before, and for Karpenter's: whether its pool was there before the policy, whether it registers
/// with the taints of its claim, and which of the labels that the pool allows it gets.
#[derive(Clone, Debug)]
pub struct Fate {
    started: bool,
    other_tier: bool,
    old_pool: bool,
    brings_taints: bool,
    pick: usize,
}

fn fate() -> BoxedStrategy<Fate> {
    (any::<(bool, bool, bool, bool)>(), 0..4_usize)
        .prop_map(|((started, other_tier, old_pool, brings_taints), pick)| Fate {
            started,
            other_tier,
            old_pool,
            brings_taints,
            pick,
        })
        .boxed()
}

/// A NodePool as somebody writes it.
pub fn pool(name: &'static str) -> BoxedStrategy<Value> {
    let requirement = one_of(&[
        json!({"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}),
        json!({"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}),
        json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}),
        json!({"key": "team", "operator": "In", "values": ["a", "b"]}),
        json!({"key": "team", "operator": "In", "values": ["b"]}),
        json!({"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["arm64"]}),
    ]);
    let labels = one_of(&[json!({"team": "a"}), json!({"team": "b"})]);
    let value = one_of(&[
        json!({"key": KEY, "value": "true", "effect": "NoSchedule"}),
        json!({"key": KEY, "effect": "PreferNoSchedule"}),
    ]);
    let startup = prop_oneof![taint_of(KEY), value, taint_of("node.cilium.io/agent-not-ready")];
    let startup = proptest::collection::vec(startup, 0..=3).prop_map(Value::from).boxed();
    let permanent = proptest::collection::vec(prop_oneof![2 => taint_of("dedicated"), 1 => taint_of(KEY)], 0..=1)
        .prop_map(Value::from)
        .boxed();
    let spec = map(vec![
        some(60, "requirements", proptest::collection::vec(requirement, 0..=2).prop_map(Value::from).boxed()),
        some(50, "startupTaints", startup),
        some(50, "taints", permanent),
    ]);
    (spec, proptest::option::weighted(0.3, labels))
        .prop_map(move |(spec, labels)| {
            let metadata = json!({"labels": labels.unwrap_or_else(|| json!({}))});
            json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": {"template": {"metadata": metadata, "spec": spec}}})
        })
        .boxed()
}

/// Nodes to be, and pools.
#[derive(Clone, Debug)]
pub struct Plan {
    static_nodes: Vec<(Node, Fate)>,
    pub pools: Vec<Value>,
    launched: Vec<(usize, Fate)>,
}

pub fn plan() -> BoxedStrategy<Plan> {
    let launched = proptest::collection::vec((0..2_usize, fate()), 0..=4);
    (proptest::collection::vec((static_node(), fate()), 0..=3), [pool("p0"), pool("p1")], launched)
        .prop_map(|(static_nodes, pools, launched)| Plan { static_nodes, pools: pools.into(), launched })
        .boxed()
}

impl Plan {
    /// The nodes as they are once all of this has happened, and all that odiglet has done by then;
    /// those that it will still get to too where `settled`.
    pub fn nodes(&self, odigos: &Odigos, settled: bool) -> Vec<Node> {
        let statics = self.static_nodes.iter().map(|(node, fate)| (registered_static(node.clone(), odigos), fate));
        let launched =
            self.launched.iter().filter_map(|(pool, fate)| Some((launch(&self.pools[*pool], fate, odigos)?, fate)));
        let mut nodes = Vec::new();
        for (i, (mut node, fate)) in statics.chain(launched).enumerate() {
            node.name = format!("n{i}");
            if fate.other_tier {
                let other = ODIGLET_LABELS[usize::from(odigos.tier != "onprem")];
                node.labels.insert(other.to_owned(), "true".to_owned());
            }
            if fate.started || settled {
                let before = node_object(&node);
                if odigos.prepare(&mut node) {
                    // The policy sees that too.
                    let odiglet = json!({"username": "system:serviceaccount:odigos-system:odiglet"});
                    let after = admitted(&node_object(&node), &before, odiglet, odigos);
                    assert_eq!(after, node_object(&node), "what odiglet does is undone");
                }
            }
            nodes.push(node);
        }
        nodes
    }
}

impl Plan {
    /// The claims of the nodes that are launched, each with its node as it would be without startup
    /// taints.
    pub fn claims(&self, odigos: &Odigos) -> Vec<(Value, Node)> {
        let claims = self.launched.iter().filter_map(|(pool, fate)| claimed(&self.pools[*pool], fate, odigos));
        let with_node = |(claim, labels): (Value, _)| {
            let taints = entries(&claim, "/spec/taints").to_vec();
            (claim, Node { name: String::new(), labels, taints, allocatable: BTreeMap::new(), brings_taints: true })
        };
        claims.map(with_node).collect()
    }
}

fn with_taints_of(object: &Value, mut node: Node) -> Node {
    node.taints = entries(object, "/spec/taints").to_vec();
    node
}

fn registered_static(node: Node, odigos: &Odigos) -> Node {
    let kubelet = json!({"username": "system:node:n", "groups": ["system:nodes"]});
    with_taints_of(&admitted(&node_object(&node), &Value::Null, kubelet, odigos), node)
}

/// A claim of a pool, and the labels of its node to be; `None` where the pool allows of none.
fn claimed(pool: &Value, fate: &Fate, odigos: &Odigos) -> Option<(Value, BTreeMap<String, String>)> {
    let pool = if fate.old_pool { pool.clone() } else { created(pool, odigos) };
    let labels = possible_labels(&pool, fate.pick)?;
    Some((created(&claim(&pool, &labels), odigos), labels))
}

/// Launches a node of a pool, as Karpenter and the kubelet do.
fn launch(pool: &Value, fate: &Fate, odigos: &Odigos) -> Option<Node> {
    let (claim, labels) = claimed(pool, fate, odigos)?;
    let unregistered = json!({"key": "karpenter.sh/unregistered", "effect": "NoExecute"});
    let mut taints = vec![unregistered];
    if fate.brings_taints {
        taints.extend([entries(&claim, "/spec/taints"), entries(&claim, "/spec/startupTaints")].concat());
        taints.dedup();
    }
    let fuse = ("example.com/fuse".to_owned(), 4);
    let mut node = registered_static(
        Node { name: "n".to_owned(), labels, taints, allocatable: [fuse].into(), brings_taints: fate.brings_taints },
        odigos,
    );
    let before = node_object(&node);
    node.taints = registered(node.taints, &claim);
    let karpenter = json!({"username": "system:serviceaccount:kube-system:karpenter"});
    let mut node = with_taints_of(&admitted(&node_object(&node), &before, karpenter, odigos), node);
    // Whoever brought the other startup taints takes them away, before odiglet gets to the node.
    let permanent = entries(&claim, "/spec/taints");
    node.taints.retain(|taint| taint["key"] == KEY || permanent.contains(taint));
    Some(node)
}
