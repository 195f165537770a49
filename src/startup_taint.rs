//! The startup taint in an object's lists of taints.

use crate::edit::Edit;
use crate::field::{Field, Unreadable};
use crate::finding::Finding;
use crate::json::view::quoted;
use crate::kubernetes::taint::Taint;
use crate::message::{Message, name};
use crate::odigos::{TAINT, TAINT_EFFECT, TAINT_KEY};
use crate::path::Path;
use crate::rule::Rule;

/// The startup taint as it is written into an object: exactly key and effect, for Karpenter's CRD
/// refuses an empty `value` (Karpenter, `pkg/apis/crds/karpenter.sh_nodepools.yaml`).
pub fn startup_taint() -> String {
    format!(r#"{{"effect":"{TAINT_EFFECT}","key":"{TAINT_KEY}"}}"#)
}

/// The entries with the key of the startup taint, in the lists where it may stand.
#[derive(Debug)]
pub struct Occurrences<'v> {
    /// The list where it belongs.
    startup_list: Path,
    startup: Vec<Occurrence<'v>>,
    permanent: Vec<Occurrence<'v>>,
}

#[derive(Debug)]
struct Occurrence<'v> {
    path: Path,
    effect: &'v str,
}

impl<'v> Occurrences<'v> {
    /// Reads the list where the startup taint belongs, and the one where it does not, if there is
    /// such a one.
    pub fn read(startup: &Field<'v, '_>, permanent: Option<&Field<'v, '_>>) -> Result<Self, Unreadable> {
        Ok(Occurrences {
            startup_list: startup.path(),
            startup: occurrences(startup)?,
            permanent: permanent.map(occurrences).transpose()?.unwrap_or_default(),
        })
    }

    /// Whether the key is in neither list.
    pub fn is_empty(&self) -> bool {
        self.startup.is_empty() && self.permanent.is_empty()
    }

    /// `startup-taint-missing`, for an object that lacks the key.
    pub fn missing(&self) -> Finding {
        Finding {
            rule: Rule::StartupTaintMissing,
            path: self.startup_list.clone(),
            problem: Message::from(["lacks ".into(), TAINT.into(), ", so pods start before odiglet is ready".into()]),
            remedy: "add {key: odigos.io/needs-init, effect: NoSchedule}".into(),
            edits: vec![self.append()],
        }
    }

    /// `startup-taint-orphaned`, for each entry with the key: no odiglet takes it away.
    pub fn orphaned(&self) -> Vec<Finding> {
        let orphaned = |occurrence: &Occurrence| Finding {
            rule: Rule::StartupTaintOrphaned,
            path: occurrence.path.clone(),
            problem: Message::from([
                TAINT_KEY.into(),
                ":".into(),
                name(occurrence.effect),
                " is never removed, for no odiglet untaints here".into(),
            ]),
            remedy: "remove it".into(),
            edits: vec![Edit::Remove(occurrence.path.clone())],
        };
        self.startup.iter().chain(&self.permanent).map(orphaned).collect()
    }

    /// `startup-taint-effect`, `-duplicate` and `-permanent`, for what keeps odiglet from taking
    /// the taint away or Karpenter from knowing it for a startup taint.
    ///
    /// Their edits leave one entry: the first with the effect that odiglet removes, or else the
    /// first, with its effect put right, or else a new one.
    pub fn misplaced(&self) -> Vec<Finding> {
        let kept = self.startup.iter().position(|taint| taint.effect == TAINT_EFFECT).unwrap_or(0);
        let mut findings = Vec::new();
        for (i, taint) in self.startup.iter().enumerate() {
            if taint.effect != TAINT_EFFECT {
                let edit = if i == kept {
                    Edit::Set(taint.path.clone().key("effect"), quoted(TAINT_EFFECT).into())
                } else {
                    Edit::Remove(taint.path.clone())
                };
                findings.push(Finding {
                    rule: Rule::StartupTaintEffect,
                    path: taint.path.clone(),
                    problem: Message::from([
                        TAINT_KEY.into(),
                        " with effect ".into(),
                        if taint.effect.is_empty() { "missing".into() } else { name(taint.effect) },
                        ", which odiglet never removes".into(),
                    ]),
                    remedy: if i == kept { "set effect: NoSchedule".into() } else { "remove it".into() },
                    edits: vec![edit],
                });
            } else if i != kept {
                findings.push(Finding {
                    rule: Rule::StartupTaintDuplicate,
                    path: taint.path.clone(),
                    problem: Message::from([
                        TAINT.into(),
                        " is there twice, which Karpenter and the API server refuse".into(),
                    ]),
                    remedy: "remove this one".into(),
                    edits: vec![Edit::Remove(taint.path.clone())],
                });
            }
        }
        for (i, taint) in self.permanent.iter().enumerate() {
            let moves = i == 0 && self.startup.is_empty();
            let mut edits = vec![Edit::Remove(taint.path.clone())];
            if moves {
                edits.push(self.append());
            }
            findings.push(Finding {
                rule: Rule::StartupTaintPermanent,
                path: taint.path.clone(),
                problem: Message::from([
                    TAINT_KEY.into(),
                    " is permanent here, so pods must tolerate it for ever".into(),
                ]),
                remedy: if moves { "move it to startupTaints".into() } else { "remove it".into() },
                edits,
            });
        }
        findings
    }

    fn append(&self) -> Edit {
        Edit::Append(self.startup_list.clone(), startup_taint().into())
    }
}

fn occurrences<'v>(list: &Field<'v, '_>) -> Result<Vec<Occurrence<'v>>, Unreadable> {
    let mut occurrences = Vec::new();
    for entry in list.entries()? {
        let taint = Taint::read(&entry)?;
        if taint.key == TAINT_KEY {
            occurrences.push(Occurrence { path: entry.path(), effect: taint.effect });
        }
    }
    Ok(occurrences)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::splice::splice;
    use crate::json::view::View;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn taints(effects: &[&str]) -> Value {
        effects.iter().map(|effect| json!({"key": TAINT_KEY, "effect": effect})).collect()
    }

    #[rstest]
    #[case::as_it_should_be(&["NoSchedule"], &[], &[])]
    #[case::another_effect(&["NoExecute"], &[], &["startup-taint-effect"])]
    #[case::other_effects(&["NoExecute", "PreferNoSchedule"], &[], &["startup-taint-effect", "startup-taint-effect"])]
    #[case::other_effect_first(&["NoExecute", "NoSchedule"], &[], &["startup-taint-effect"])]
    #[case::twice(&["NoSchedule", "NoSchedule"], &[], &["startup-taint-duplicate"])]
    #[case::three_times_and_an_effect(
        &["NoSchedule", "NoExecute", "NoSchedule", "NoSchedule"], &[],
        &["startup-taint-effect", "startup-taint-duplicate", "startup-taint-duplicate"]
    )]
    #[case::permanent(&[], &["NoSchedule"], &["startup-taint-permanent"])]
    #[case::permanent_twice(&[], &["NoSchedule", "NoExecute"], &["startup-taint-permanent", "startup-taint-permanent"])]
    #[case::both(&["NoSchedule"], &["NoSchedule"], &["startup-taint-permanent"])]
    #[case::both_wrong(&["NoExecute"], &["NoExecute"], &["startup-taint-effect", "startup-taint-permanent"])]
    fn what_is_misplaced_ends_in_one_place(
        #[case] startup: &[&str],
        #[case] permanent: &[&str],
        #[case] rules: &[&str],
    ) {
        let before = json!({"spec": {"startupTaints": taints(startup), "taints": taints(permanent)}}).to_string();
        let before = View::new(before.as_bytes());
        let root = Field::root(&before);
        let (startup, permanent) =
            (root.below(&["spec", "startupTaints"]).unwrap(), root.below(&["spec", "taints"]).unwrap());
        let findings = Occurrences::read(&startup, Some(&permanent)).unwrap().misplaced();
        assert_eq!(findings.iter().map(|finding| finding.rule.name()).collect::<Vec<_>>(), rules);
        let edits: Vec<Edit> = findings.into_iter().flat_map(|finding| finding.edits).collect();
        let mut spliced = Vec::new();
        splice(&before, &edits, &mut spliced).unwrap();
        let object: Value = serde_json::from_slice(&spliced).unwrap();
        assert_eq!(object["spec"]["startupTaints"], json!([{"key": TAINT_KEY, "effect": TAINT_EFFECT}]));
        assert_eq!(object["spec"].get("taints").and_then(|taints| taints.get(0)), None);
    }
}
