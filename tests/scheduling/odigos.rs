//! What odiglet does, and how Odigos is set up.

use serde_json::{Value, json};

use crate::kubernetes::{Node, lands};
use crate::words::{DEVICE, KEY, ODIGLET_LABELS};

/// How Odigos is set up: the policy's settings.
#[derive(Clone, Debug)]
pub struct Odigos {
    pub method: &'static str,
    pub karpenter: bool,
    pub tier: &'static str,
    pub installed: bool,
    pub node_selector: Value,
    pub tolerations: Value,
    /// Whether nodes that Karpenter did not launch are judged too.
    pub all_nodes: bool,
    /// The pools that no rule touches.
    pub excluded: Vec<&'static str>,
}

impl Odigos {
    pub fn settings(&self) -> Value {
        json!({
            "mountMethod": self.method,
            "karpenterEnabled": self.karpenter,
            "tier": self.tier,
            "nodes": {"include": if self.all_nodes { "all" } else { "karpenter" }},
            "nodePools": {"exclude": self.excluded},
            "odiglet": {"installed": self.installed, "nodeSelector": self.node_selector, "tolerations": self.tolerations},
        })
    }

    /// The label that odiglet of this tier sets.
    pub fn label(&self) -> &'static str {
        ODIGLET_LABELS[usize::from(self.tier == "onprem")]
    }

    /// Whether odiglet runs on a node: it is a pod of a DaemonSet like any other.
    pub fn runs_on(&self, node: &Node) -> bool {
        self.installed
            && lands(&json!({"spec": {"nodeSelector": self.node_selector, "tolerations": self.tolerations}}), node)
    }

    /// What odiglet makes of a node once it starts there; true where it does.
    pub fn prepare(&self, node: &mut Node) -> bool {
        if !self.runs_on(node) || self.method == "k8s-init-container" {
            return false;
        }
        node.taints.retain(|taint| !(taint["key"] == KEY && taint["effect"] == "NoSchedule"));
        node.labels.retain(|key, _| !ODIGLET_LABELS.contains(&key.as_str()));
        node.labels.insert(self.label().to_owned(), "true".to_owned());
        if self.method == "k8s-virtual-device" {
            node.allocatable.insert(DEVICE.to_owned(), 1024);
        }
        true
    }

    /// Whether odiglet of this tier has been on a node.
    pub fn has_prepared(&self, node: &Node) -> bool {
        node.labels.get(self.label()).is_some_and(|value| value == "true")
    }
}
