//! Makes an instrumented pod wait for a node that odiglet has prepared.

use std::collections::{BTreeMap, BTreeSet};

use super::{REQUIRED, Term, required_label, selected_label};
use crate::edit::Edit;
use crate::field::{Field, Unreadable};
use crate::finding::{Finding, Report};
use crate::kubernetes::requirement::Requirement;
use crate::kubernetes::toleration::Toleration;
use crate::message::{Message, name};
use crate::odigos::{LABEL_VALUE, Tier, odiglet_label};
use crate::path::Path;
use crate::reach::Placement;
use crate::rule::Rule;

/// `odiglet-affinity-missing`, `-ored`, `-tier` and `-conflict`.
pub fn judge(pod: &Field, tier: Tier, odiglet: &Placement, report: &mut Report) -> Result<(), Unreadable> {
    let gate = Gate { label: tier.label(), odiglet };
    let selector = pod.below(&["spec", "nodeSelector"])?;
    let conflicts = gate.selector_conflicts(&selector)?;
    if !conflicts.is_empty() {
        report.findings.extend(conflicts);
        return Ok(());
    }
    for (key, value) in selector.members()? {
        if let Some(label) = selected_label(key, &value)?.filter(|label| *label != gate.label) {
            report.findings.push(gate.tier(label, value.path(), vec![Edit::Remove(value.path())], "remove it".into()));
        }
    }
    let required = pod.below(REQUIRED)?;
    let list = required.at("nodeSelectorTerms")?;
    report.findings.extend(gate.terms(&list.path(), &Term::read_all(&list)?)?);
    Ok(())
}

/// What a pod is to wait for.
struct Gate<'g, 'o> {
    /// The label that odiglet of this tier sets.
    label: &'static str,
    odiglet: &'g Placement<'o>,
}

impl Gate<'_, '_> {
    /// The expression that makes a pod wait, exactly as Odigos' webhook looks for it
    /// (Odigos, `instrumentor/internal/pod/pod.go`).
    fn expression(&self) -> String {
        format!(r#"{{"key":"{}","operator":"In","values":["{LABEL_VALUE}"]}}"#, self.label)
    }

    fn is_in(&self, term: &Term) -> bool {
        let is_it = |expression: &Requirement| {
            expression.key == self.label && expression.operator == "In" && expression.values.contains(&LABEL_VALUE)
        };
        term.expressions.iter().any(is_it)
    }

    /// The value that a label must have on a node that odiglet prepares, where one is known.
    fn value_of(&self, key: &str) -> Option<&str> {
        let selected =
            || self.odiglet.node_selector.iter().find(|(selected, _)| *selected == key).map(|(_, value)| *value);
        if key == self.label { Some(LABEL_VALUE) } else { selected() }
    }

    fn selector_conflicts(&self, selector: &Field) -> Result<Vec<Finding>, Unreadable> {
        let mut conflicts = Vec::new();
        for (key, field) in selector.members()? {
            if let Some(needed) = self.value_of(key)
                && field.text()? != Some(needed)
            {
                conflicts.push(conflict(key, field.path()));
            }
        }
        Ok(conflicts)
    }

    /// Where a term forbids every node that odiglet prepares.
    fn conflict_in(&self, term: &Term) -> Option<Finding> {
        let forbids = |expression: &Requirement| {
            self.value_of(expression.key).is_some_and(|needed| !expression.admits(Some(needed)))
        };
        let (i, expression) = term.expressions.iter().enumerate().find(|(_, expression)| forbids(expression))?;
        Some(conflict(expression.key, term.expressions_path().index(i)))
    }

    /// Whether a DaemonSet's pod is pinned by a term to a node where odiglet may never come.
    fn may_strand(&self, term: &Term) -> bool {
        let pinned = term.fields.iter().any(|field| field.key == "metadata.name" && field.operator == "In");
        let anywhere = self.odiglet.node_selector.iter().all(|(key, _)| *key == "kubernetes.io/os")
            && self.odiglet.tolerations.contains(&Toleration::EVERYTHING)
            && self.odiglet.terms.is_none();
        pinned && !anywhere
    }

    fn terms(&self, list: &Path, terms: &[Term]) -> Result<Vec<Finding>, Unreadable> {
        if terms.is_empty() {
            let term = format!(r#"{{"matchExpressions":[{}]}}"#, self.expression());
            return Ok(vec![self.missing(list.clone(), Edit::Append(list.clone(), term.into()))]);
        }
        let conflicts: Vec<Option<Finding>> = terms.iter().map(|term| self.conflict_in(term)).collect();
        let is_own = |(term, conflict): (&Term, &Option<Finding>)| {
            conflict.is_none() && !term.is_empty() && !term.is_odiglet_only()
        };
        let escapes = terms.iter().zip(&conflicts).any(is_own);
        let mut verdicts: Vec<Verdict> = Vec::new();
        for (term, conflict) in terms.iter().zip(conflicts) {
            let mut verdict = Verdict { term, findings: Vec::new(), edits: Vec::new() };
            if let Some(conflict) = conflict {
                verdict.findings.push(conflict);
            } else if escapes && term.is_odiglet_only() {
                verdict.findings.push(self.ored(term));
            } else {
                self.tiers(&mut verdict);
            }
            verdicts.push(verdict);
        }
        self.gate(&mut verdicts, list)?;
        drop_equal_terms(&mut verdicts)?;
        Ok(verdicts.into_iter().flat_map(|verdict| verdict.findings).collect())
    }

    /// `odiglet-affinity-missing` for each term that is to stay and lacks the expression.
    fn gate(&self, verdicts: &mut [Verdict], list: &Path) -> Result<(), Unreadable> {
        let mut present = BTreeSet::new();
        for index in 0..verdicts.len() {
            let lacking = |verdict: &&Verdict| {
                verdict.findings.is_empty() && !verdict.term.is_empty() && !self.is_in(verdict.term)
            };
            let Some(term) = verdicts.get(index).filter(lacking).map(|verdict| verdict.term) else { continue };
            let add = Edit::Append(Path::of(&["matchExpressions"]), self.expression().into());
            let (finding, edit) = if self.may_strand(term) {
                let copy = term.edited(&[add])?;
                if present.is_empty() {
                    for verdict in verdicts.iter() {
                        present.insert(verdict.text()?);
                    }
                }
                if !present.insert(term.requirements_of(&copy)?) {
                    continue;
                }
                (self.missing(term.path.clone(), Edit::Append(list.clone(), copy.into())), None)
            } else {
                (self.missing(term.path.clone(), add.clone().below(&term.path)), Some(add))
            };
            if let Some(verdict) = verdicts.get_mut(index) {
                verdict.findings.push(finding);
                verdict.edits.extend(edit);
            }
        }
        Ok(())
    }

    fn missing(&self, path: Path, edit: Edit) -> Finding {
        Finding {
            rule: Rule::OdigletAffinityMissing,
            path,
            problem: Message::from(["lacks ".into(), self.label.into(), " In [\"true\"]".into()]),
            remedy: "add it to matchExpressions".into(),
            edits: vec![edit],
        }
    }

    /// `odiglet-affinity-tier` for each expression on a label of another tier. The first becomes
    /// the expression on this tier's, where the term has none.
    fn tiers(&self, verdict: &mut Verdict) {
        let term = verdict.term;
        let mut present = self.is_in(term);
        for (i, expression) in term.expressions.iter().enumerate() {
            let Some(label) = required_label(expression).filter(|label| *label != self.label) else { continue };
            let place = Path::of(&["matchExpressions"]).index(i);
            let (edit, remedy) = if present {
                (Edit::Remove(place), "remove it".into())
            } else {
                let remedy = Message::from(["require ".into(), self.label.into()]);
                (Edit::Set(place, self.expression().into()), remedy)
            };
            present = true;
            let path = term.expressions_path().index(i);
            verdict.findings.push(self.tier(label, path, vec![edit.clone().below(&term.path)], remedy));
            verdict.edits.push(edit);
        }
    }

    fn tier(&self, label: &'static str, path: Path, edits: Vec<Edit>, remedy: Message) -> Finding {
        Finding {
            rule: Rule::OdigletAffinityTier,
            path,
            problem: Message::from([label.into(), " is set by no odiglet of this tier".into()]),
            remedy,
            edits,
        }
    }

    fn ored(&self, term: &Term) -> Finding {
        let label = term.expressions.first().and_then(|expression| odiglet_label(expression.key)).unwrap_or(self.label);
        Finding {
            rule: Rule::OdigletAffinityOred,
            path: term.path.clone(),
            problem: Message::from([label.into(), " stands alone, and terms are ORed".into()]),
            remedy: "drop this term, and require it in the others".into(),
            edits: vec![Edit::Remove(term.path.clone())],
        }
    }
}

fn conflict(label: &str, path: Path) -> Finding {
    Finding {
        rule: Rule::OdigletAffinityConflict,
        path,
        problem: Message::from([name(label), " forbids nodes that odiglet prepares".into()]),
        remedy: "drop it or don't instrument the pod".into(),
        edits: Vec::new(),
    }
}

/// What becomes of a term.
struct Verdict<'t, 'v> {
    term: &'t Term<'v>,
    findings: Vec<Finding>,
    /// The edits inside the term, whose paths begin at the term.
    edits: Vec<Edit>,
}

impl Verdict<'_, '_> {
    fn tier_finding(&mut self) -> Option<&mut Finding> {
        self.findings.iter_mut().find(|finding| finding.rule == Rule::OdigletAffinityTier)
    }

    /// What the term will require, the same for all terms that require the same.
    fn text(&self) -> Result<String, Unreadable> {
        self.term.requirements_of(&self.term.edited(&self.edits)?)
    }
}

/// Where a change of tier makes terms equal, all but the first go.
fn drop_equal_terms(verdicts: &mut [Verdict]) -> Result<(), Unreadable> {
    if !verdicts.iter_mut().any(|verdict| verdict.tier_finding().is_some()) {
        return Ok(());
    }
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for later in 0..verdicts.len() {
        let Some(verdict) = verdicts.get(later).filter(|verdict| !verdict.term.is_empty()) else { continue };
        let removal = Edit::Remove(verdict.term.path.clone());
        let earlier = *first.entry(verdict.text()?).or_insert(later);
        if earlier == later {
            continue;
        }
        for index in [later, earlier] {
            if let Some(finding) = verdicts.get_mut(index).and_then(Verdict::tier_finding) {
                finding.edits.push(removal);
                break;
            }
        }
    }
    Ok(())
}
