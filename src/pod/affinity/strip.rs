//! Takes away what requires an odiglet label.

use super::{PREFERRED, REQUIRED, Term, required_label, selected_label};
use crate::edit::Edit;
use crate::field::{Field, Unreadable};
use crate::finding::{Finding, Report};
use crate::message::{Message, Piece};
use crate::path::Path;
use crate::rule::Rule;

/// `odiglet-affinity-blocks-karpenter` or `odiglet-affinity-orphaned`, for each expression and each
/// entry of the node selector. Preferred terms matter only beside a required one: by themselves
/// they keep no pod from a node.
pub fn judge(pod: &Field, rule: Rule, report: &mut Report) -> Result<(), Unreadable> {
    let mut findings = Vec::new();
    for (key, value) in pod.below(&["spec", "nodeSelector"])?.members()? {
        if let Some(label) = selected_label(key, &value)? {
            findings.push(finding(rule, label, value.path(), vec![Edit::Remove(value.path())]));
        }
    }
    let required = pod.below(REQUIRED)?;
    let mut terms = Vec::new();
    for entry in required.at("nodeSelectorTerms")?.entries()? {
        terms.push((entry.path(), Term::read(&entry)?));
    }
    findings.extend(from_terms(rule, &terms, &required.path()));
    if findings.is_empty() {
        return Ok(());
    }
    let preferred = pod.below(PREFERRED)?;
    let mut preferences = Vec::new();
    for entry in preferred.entries()? {
        preferences.push((entry.path(), Term::read(&entry.at("preference")?)?));
    }
    findings.extend(from_terms(rule, &preferences, &preferred.path()));
    report.findings.extend(findings);
    Ok(())
}

/// The findings in a list of terms, each with the path of what goes where the term is emptied.
/// Where only empty terms would be left, `all` goes.
fn from_terms(rule: Rule, terms: &[(Path, Term)], all: &Path) -> Vec<Finding> {
    let none_left = terms.iter().all(|(_, term)| term.is_odiglet_only() || term.is_empty());
    let mut findings = Vec::new();
    for (whole, term) in terms {
        let is_emptied = term.is_odiglet_only();
        for (i, expression) in term.expressions.iter().enumerate() {
            let Some(label) = required_label(expression) else { continue };
            let path = term.expressions_path().index(i);
            let goes = match (is_emptied, none_left) {
                (true, true) => all,
                (true, false) => whole,
                (false, _) => &path,
            };
            let edits = vec![Edit::Remove(goes.clone())];
            findings.push(finding(rule, label, path, edits));
        }
    }
    findings
}

fn finding(rule: Rule, label: &'static str, path: Path, edits: Vec<Edit>) -> Finding {
    let why: Piece = match rule {
        Rule::OdigletAffinityBlocksKarpenter => " is unknown to Karpenter".into(),
        _ => " is set by nothing".into(),
    };
    Finding { rule, path, problem: Message::from([label.into(), why]), remedy: "remove it".into(), edits }
}
