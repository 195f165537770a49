//! Where odiglet can run.

use crate::field::{Field, Unreadable};
use crate::kubernetes::requirement::Requirement;
use crate::kubernetes::taint::Taint;
use crate::odigos::TAINT_KEY;
use crate::settings::Odiglet;

/// The label with the name of a node's pool (Karpenter, `pkg/apis/v1/labels.go`).
pub const NODEPOOL_LABEL: &str = "karpenter.sh/nodepool";

/// Labels that the kubelet and the cloud's controllers set on a node by themselves.
const SET_BY_KUBELET: &[&str] = &[
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/windows-build",
];

/// Nodes that are to be launched from a template.
#[derive(Debug)]
pub struct Template<'v, 'p> {
    /// The template's labels.
    pub labels: Field<'v, 'p>,
    /// The pool's name, where it is known.
    pub pool: Option<&'v str>,
    /// The template's requirements.
    pub requirements: Field<'v, 'p>,
    /// The template's permanent taints.
    pub taints: Field<'v, 'p>,
}

/// Whether odiglet can run on the nodes of a template.
pub fn reaches_template(odiglet: &Odiglet, template: &Template) -> Result<bool, Unreadable> {
    if !tolerates_all(odiglet, &template.taints, |_| true)? {
        return Ok(false);
    }
    let requirements = Requirement::read_all(&template.requirements)?;
    for (key, value) in &odiglet.node_selector {
        let label = match template.pool {
            Some(pool) if *key == NODEPOOL_LABEL => Some(pool),
            _ => template.labels.member(key)?.text()?,
        };
        let mut required = requirements.iter().filter(|requirement| requirement.key == *key).peekable();
        let matches = match (label, required.peek()) {
            (None, None) => SET_BY_KUBELET.contains(key) || is_set_by_karpenter(key),
            _ => {
                label.is_none_or(|label| label == *value) && required.all(|requirement| requirement.admits(Some(value)))
            }
        };
        if !matches {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Labels that Karpenter sets on a node by itself.
fn is_set_by_karpenter(key: &str) -> bool {
    match key.split_once('/') {
        Some(("karpenter.sh", name)) => matches!(name, "capacity-type" | "nodepool"),
        Some(("eks.amazonaws.com", name)) => name == "compute-type" || name.starts_with("instance-"),
        Some((domain, _)) => domain.starts_with("karpenter."),
        None => false,
    }
}

/// A node as it registers, or as it is.
#[derive(Debug)]
pub struct Node<'v, 'p> {
    /// Its name.
    pub name: &'v str,
    /// Its labels.
    pub labels: Field<'v, 'p>,
    /// Its taints.
    pub taints: Field<'v, 'p>,
}

/// Whether odiglet can run on a node, its taints aside: those that others take away again look no
/// different from those that stay.
pub fn reaches_node(odiglet: &Odiglet, node: &Node) -> Result<bool, Unreadable> {
    let label = |key| node.labels.member(key)?.text();
    if node.name.starts_with("gk3-")
        || label("type")? == Some("virtual-kubelet")
        || label("eks.amazonaws.com/compute-type")? == Some("fargate")
    {
        return Ok(false);
    }
    for entry in node.taints.entries()? {
        if Taint::read(&entry)?.key == "virtual-kubelet.io/provider" {
            return Ok(false);
        }
    }
    for (key, value) in &odiglet.node_selector {
        let matches = match node.labels.member(key)?.text()? {
            Some(label) => label == *value,
            None => SET_BY_KUBELET.contains(key),
        };
        if !matches {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether odiglet can start on a node beside the taints that it registers with, but for those
/// that Karpenter and Kubernetes themselves take away.
pub fn may_start_on(odiglet: &Odiglet, node: &Node) -> Result<bool, Unreadable> {
    tolerates_all(odiglet, &node.taints, |key| {
        let domain = key.split_once('/').map(|(domain, _)| domain).unwrap_or_default();
        !domain.starts_with("karpenter.") && domain != "node.kubernetes.io"
    })
}

fn tolerates_all(odiglet: &Odiglet, taints: &Field, counts: fn(&str) -> bool) -> Result<bool, Unreadable> {
    for entry in taints.entries()? {
        let taint = Taint::read(&entry)?;
        if taint.repels() && taint.key != TAINT_KEY && counts(taint.key) && !odiglet.tolerates(&taint) {
            return Ok(false);
        }
    }
    Ok(true)
}
