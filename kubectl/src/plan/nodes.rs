//! Nodes that keep a taint that nobody removes.

use odigos_karpenter_policy::json::view::{Content, View};
use odigos_karpenter_policy::odigos::{LABEL_VALUE, LABELS, TAINT_KEY};

use super::lists::{patch, shell};
use crate::diff;
use crate::item::Item;
use crate::judge::Judged;

/// A node with the startup taint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tainted {
    /// Nobody removes it: the command that does; and where that leaves an entry that odiglet removes, whether
    /// odiglet has to start anew for it.
    Stuck { command: String, rest: Option<bool> },
    /// odiglet has been there before the taint was, and removes it when it starts anew.
    CameLate,
    /// odiglet is on its way, or it ought to be.
    Waits,
}

/// What is to be done about a node; `None` where it has no such taint, or is no business of the rules.
pub fn tainted(item: &Item, judged: &Judged, untainting: bool) -> Option<Tainted> {
    let node = View::new(item.text);
    if !has_key(&node) {
        return None;
    }
    if let Some(after) = diff::changed(item.text, judged) {
        let after = View::new(&after);
        let patch = patch(&node, &after, &["spec"], &["taints"])?;
        let name = shell(&judged.name);
        let command = format!("kubectl patch node {name} --type=json -p {}", shell(&patch));
        return Some(Tainted::Stuck { command, rest: has_key(&after).then(|| is_prepared(&node)) });
    }
    untainting.then(|| if is_prepared(&node) { Tainted::CameLate } else { Tainted::Waits })
}

/// Whether a Node, a NodePool or a Provisioner has the key of the startup taint in a list of taints.
pub fn has_key(object: &View) -> bool {
    let is_key = |taint: &View| taint.get("key").and_then(View::as_str) == Some(TAINT_KEY);
    let is_in = |spec: &View, list| matches!(spec.get(list).map(View::content), Some(Content::List(taints)) if taints.iter().any(is_key));
    let spec = object.get("spec");
    let of_template = spec.and_then(|spec| spec.get("template")).and_then(|template| template.get("spec"));
    [spec, of_template].into_iter().flatten().any(|spec| is_in(spec, "taints") || is_in(spec, "startupTaints"))
}

fn is_prepared(node: &View) -> bool {
    let labels = node.get("metadata").and_then(|metadata| metadata.get("labels"));
    let label = |key| labels.and_then(|labels| labels.get(key)).and_then(View::as_str);
    LABELS.iter().any(|key| label(key) == Some(LABEL_VALUE))
}

/// The pool that a node or a claim is of.
pub fn pool_of(object: &View) -> Option<String> {
    let labels = object.get("metadata")?.get("labels")?;
    let pool = labels.get("karpenter.sh/nodepool").or(labels.get("karpenter.sh/provisioner-name"))?;
    pool.as_str().map(str::to_owned)
}
