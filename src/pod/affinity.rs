//! Node affinity and node selector on the labels that odiglet sets.
//!
//! Where pods wait for a prepared node by affinity, [`require`] makes sure that they do. Where
//! nothing sets the label, or Karpenter would have to know it, [`strip`] takes it away.

mod require;
mod strip;

use std::collections::{BTreeMap, BTreeSet};

use crate::edit::Edit;
use crate::field::{Field, Unreadable};
use crate::finding::Report;
use crate::json::splice::splice;
use crate::json::view::{Content, View};
use crate::kubernetes::requirement::Requirement;
use crate::odigos::{LABEL_VALUE, MountMethod, odiglet_label};
use crate::path::Path;
use crate::rule::Rule;
use crate::situation::Situation;

/// Where required node affinity is.
pub const REQUIRED: &[&str] = &["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];

/// Where preferred node affinity is.
const PREFERRED: &[&str] = &["spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"];

/// Judges a pod's node affinity and node selector.
pub fn judge(pod: &Field, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    if !situation.installed() || situation.mount_method() == MountMethod::InitContainer {
        strip::judge(pod, Rule::OdigletAffinityOrphaned, report)
    } else if situation.karpenter_enabled() {
        strip::judge(pod, Rule::OdigletAffinityBlocksKarpenter, report)
    } else if situation.mount_method().needs_prepared_node() {
        situation.placement(|odiglet| require::judge(pod, situation.settings.tier, odiglet, report))
    } else {
        Ok(())
    }
}

/// Whether instrumented pods wait for a prepared node by the label.
pub fn waits_for_label(situation: &Situation) -> bool {
    situation.mount_method().needs_prepared_node() && !situation.karpenter_enabled() && situation.installed()
}

/// The odiglet label that an expression requires. All other expressions are the user's own wish.
pub fn required_label(expression: &Requirement) -> Option<&'static str> {
    let requires = match expression.operator {
        "Exists" => true,
        "In" => expression.values.contains(&LABEL_VALUE),
        _ => false,
    };
    odiglet_label(expression.key).filter(|_| requires)
}

/// The odiglet label that an entry of a node selector requires.
pub fn selected_label(key: &str, value: &Field) -> Result<Option<&'static str>, Unreadable> {
    match odiglet_label(key) {
        Some(label) => Ok((value.text()? == Some(LABEL_VALUE)).then_some(label)),
        None => Ok(None),
    }
}

/// A node selector term: its expressions and fields are ANDed, terms are ORed, and one with
/// neither matches nothing.
#[derive(Debug)]
struct Term<'v> {
    path: Path,
    view: Option<&'v View<'v>>,
    expressions: Vec<Requirement<'v>>,
    fields: Vec<Requirement<'v>>,
}

impl<'v> Term<'v> {
    fn read(field: &Field<'v, '_>) -> Result<Self, Unreadable> {
        Ok(Term {
            path: field.path(),
            view: field.view(),
            expressions: Requirement::read_all(&field.at("matchExpressions")?)?,
            fields: Requirement::read_all(&field.at("matchFields")?)?,
        })
    }

    fn read_all(list: &Field<'v, '_>) -> Result<Vec<Self>, Unreadable> {
        list.entries()?.map(|entry| Term::read(&entry)).collect()
    }

    /// The term with edits inside it applied.
    fn edited(&self, edits: &[Edit]) -> Result<String, Unreadable> {
        let mut edited = Vec::new();
        let spliced = self.view.and_then(|view| splice(view, edits, &mut edited));
        spliced.and_then(|()| String::from_utf8(edited).ok()).ok_or_else(|| Unreadable::broken(self.path.clone()))
    }

    /// The expressions and fields of a term that was made of this one, whatever their order.
    fn requirements_of(&self, edited: &str) -> Result<String, Unreadable> {
        let view = View::new(edited.as_bytes());
        let mut requirements = BTreeSet::new();
        for list in ["matchExpressions", "matchFields"] {
            let Some(Content::List(entries)) = view.get(list).map(View::content) else { continue };
            for entry in entries {
                let entry = entry.canonical().ok_or_else(|| Unreadable::broken(self.path.clone()))?;
                requirements.insert(format!("{list}: {entry}\n"));
            }
        }
        for (key, value) in self.others() {
            let value = value.canonical().ok_or_else(|| Unreadable::broken(self.path.clone()))?;
            requirements.insert(format!("{key}: {value}\n"));
        }
        Ok(requirements.into_iter().collect())
    }

    fn is_empty(&self) -> bool {
        self.expressions.is_empty() && self.fields.is_empty()
    }

    /// What it has besides expressions and fields, of a later Kubernetes.
    fn others(&self) -> impl Iterator<Item = (&str, &View<'v>)> {
        let members = match self.view.map(View::content) {
            Some(Content::Map(members)) => members.by_key(),
            _ => BTreeMap::new(),
        };
        members
            .into_iter()
            .filter(|(key, value)| !matches!(*key, "matchExpressions" | "matchFields") && !value.is_null())
    }

    /// Whether it requires odiglet labels and nothing else.
    fn is_odiglet_only(&self) -> bool {
        !self.expressions.is_empty()
            && self.fields.is_empty()
            && self.others().next().is_none()
            && self.expressions.iter().all(|expression| required_label(expression).is_some())
    }

    fn expressions_path(&self) -> Path {
        self.path.clone().key("matchExpressions")
    }
}
