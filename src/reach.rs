//! Where odiglet can run.

use std::borrow::Cow;

use crate::field::{Field, Unreadable};
use crate::kubernetes::requirement::Requirement;
use crate::kubernetes::taint::Taint;
use crate::kubernetes::toleration::Toleration;
use crate::odigos::TAINT_KEY;

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

/// Where the pods of odiglet may run.
#[derive(Clone, Debug, Default)]
pub struct Placement<'o> {
    /// The node selector, by key.
    pub node_selector: Cow<'o, [(&'o str, &'o str)]>,
    /// The tolerations.
    pub tolerations: Cow<'o, [Toleration<'o>]>,
    /// The terms of the required node affinity, one of which must match; `None` where there is none.
    pub terms: Option<Vec<Term<'o>>>,
}

/// A node selector term: all of it must match, and where nothing is in it, nothing does.
#[derive(Clone, Debug)]
pub struct Term<'o> {
    /// `matchExpressions`, on labels.
    pub expressions: Vec<Requirement<'o>>,
    /// `matchFields`, on the node's name.
    pub fields: Vec<Requirement<'o>>,
}

impl Placement<'_> {
    /// Whether its pods may run beside a taint.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.tolerations.iter().any(|toleration| toleration.tolerates(taint))
    }

    fn tolerates_all(&self, taints: &Field, counts: fn(&str) -> bool) -> Result<bool, Unreadable> {
        for entry in taints.entries()? {
            let taint = Taint::read(&entry)?;
            if taint.repels() && taint.key != TAINT_KEY && counts(taint.key) && !self.tolerates(&taint) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether its node selector and its node affinity can match. `label` says whether a label can
    /// be what a requirement asks for, `name` whether the node's name can.
    fn selects(
        &self,
        label: impl Fn(&Requirement) -> Result<bool, Unreadable>,
        name: impl Fn(&Requirement) -> bool,
    ) -> Result<bool, Unreadable> {
        for (key, value) in self.node_selector.iter() {
            if !label(&Requirement { key, operator: "In", values: vec![value] })? {
                return Ok(false);
            }
        }
        let Some(terms) = &self.terms else { return Ok(true) };
        for term in terms {
            let mut matches = !(term.expressions.is_empty() && term.fields.is_empty());
            for expression in &term.expressions {
                matches = matches && label(expression)?;
            }
            if matches && term.fields.iter().all(&name) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

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

impl Template<'_, '_> {
    /// Whether a node launched from it can have the label that a requirement asks for, given what
    /// the template itself requires.
    pub fn can_have(&self, asked: &Requirement, requirements: &[Requirement]) -> Result<bool, Unreadable> {
        let key = asked.key;
        let label = match self.pool {
            Some(pool) if key == NODEPOOL_LABEL => Some(pool),
            _ => self.labels.member(key)?.text()?,
        };
        let required = || requirements.iter().filter(|requirement| requirement.key == key);
        let admitted =
            |value: &str| asked.admits(Some(value)) && required().all(|requirement| requirement.admits(Some(value)));
        if let Some(label) = label {
            return Ok(admitted(label));
        }
        let can_be_absent =
            !is_set_by_itself(key) && required().chain([asked]).all(|requirement| requirement.admits(None));
        if can_be_absent || required().next().is_none() {
            // A label that nothing defines is not there, unless it is set without being defined.
            return Ok(can_be_absent || is_set_by_itself(key) && asked.operator != "DoesNotExist");
        }
        let listed = || required().chain([asked]).filter(|requirement| requirement.operator == "In");
        Ok(match asked.operator {
            "DoesNotExist" => false,
            _ if listed().next().is_some() => {
                listed().flat_map(|requirement| &requirement.values).any(|value| admitted(value))
            }
            // What is excluded always leaves a value, and ranges where they overlap.
            _ => {
                required().all(|requirement| requirement.operator != "DoesNotExist")
                    && overlap(required().chain([asked]))
            }
        })
    }
}

/// Whether a number is in all the ranges that requirements give.
fn overlap<'r>(requirements: impl Iterator<Item = &'r Requirement<'r>>) -> bool {
    let (mut least, mut most) = (i64::MIN, i64::MAX);
    for requirement in requirements {
        let Some(bound) = requirement.values.first().and_then(|bound| bound.parse::<i64>().ok()) else { continue };
        match requirement.operator {
            "Gt" => least = least.max(bound.saturating_add(1)),
            "Gte" => least = least.max(bound),
            "Lt" => most = most.min(bound.saturating_sub(1)),
            "Lte" => most = most.min(bound),
            _ => {}
        }
    }
    least <= most
}

/// Whether odiglet can run on the nodes of a template.
pub fn reaches_template(placement: &Placement, template: &Template) -> Result<bool, Unreadable> {
    if !placement.tolerates_all(&template.taints, |_| true)? {
        return Ok(false);
    }
    let requirements = Requirement::read_all(&template.requirements)?;
    // What its name will be is known of no node yet.
    placement.selects(|asked| template.can_have(asked, &requirements), |name| name.operator != "In")
}

/// Labels that Karpenter, the kubelet or the cloud's controllers set on a node by themselves.
fn is_set_by_itself(key: &str) -> bool {
    SET_BY_KUBELET.contains(&key) || is_set_by_karpenter(key)
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
pub fn reaches_node(placement: &Placement, node: &Node) -> Result<bool, Unreadable> {
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
    let can_have = |asked: &Requirement| {
        Ok(match node.labels.member(asked.key)?.text()? {
            None if SET_BY_KUBELET.contains(&asked.key) => asked.operator != "DoesNotExist",
            label => asked.admits(label),
        })
    };
    placement.selects(can_have, |name| name.admits(Some(node.name)))
}

/// Whether odiglet can start on a node beside the taints that it registers with, but for those
/// that Karpenter and Kubernetes themselves take away.
pub fn may_start_on(placement: &Placement, node: &Node) -> Result<bool, Unreadable> {
    placement.tolerates_all(&node.taints, |key| {
        let domain = key.split_once('/').map(|(domain, _)| domain).unwrap_or_default();
        !domain.starts_with("karpenter.") && domain != "node.kubernetes.io"
    })
}
