//! What becomes of what the rules found.

use std::collections::BTreeSet;

use crate::edit::Edit;
use crate::finding::{Cost, Hint, Report};
use crate::message::{Message, Piece, WARNING_LIMIT};
use crate::settings::Action;

/// The most bytes of a rejection's message, which a terminal shows as a whole.
pub const REJECTION_LIMIT: usize = 4096;

/// The most characters of a line of it, of at most four bytes each.
const LINE_LIMIT: usize = 1000;

/// What is answered to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The object is admitted as it came.
    Admit {
        /// One line each.
        warnings: Vec<String>,
    },
    /// The object is admitted with its findings put right.
    Mutate {
        /// The edits of the findings; none where no finding has one.
        edits: Vec<Edit>,
        /// The rules of the findings, each once, sorted.
        rules: Vec<&'static str>,
        /// One line each.
        warnings: Vec<String>,
    },
    /// The object is rejected.
    Reject {
        /// A line for each finding.
        message: String,
        /// One line each.
        warnings: Vec<String>,
    },
}

impl Decision {
    /// The object is admitted as it came, with nothing to say.
    pub const ACCEPT: Decision = Decision::Admit { warnings: Vec::new() };

    /// The object is admitted as it came, with one thing to say.
    pub fn admit_with(warning: String) -> Self {
        Decision::Admit { warnings: vec![warning] }
    }
}

/// Decides over an object by what was found in it. Under [`Action::Mutate`], `retrofit` says whether
/// a pool may be changed though it drifts.
pub fn decide(mut report: Report, action: Action, retrofit: bool) -> Decision {
    match report.cost {
        Cost::None => {}
        Cost::Silent if action == Action::Mutate => {}
        Cost::Silent => return Decision::ACCEPT,
        Cost::Drift { spec_changes } if action == Action::Mutate && retrofit && spec_changes => {}
        Cost::Drift { .. } => {
            report.hints.extend(drift(&report));
            report.findings.clear();
        }
    }
    let hints = report.hints.iter().map(|hint| report.hint(hint));
    if report.findings.is_empty() {
        return Decision::Admit { warnings: hints.collect() };
    }
    match action {
        Action::Mutate => {
            let without_edit = report.findings.iter().filter(|finding| finding.edits.is_empty());
            let warnings = without_edit.map(|finding| report.line(finding, WARNING_LIMIT)).chain(hints).collect();
            let mut rules = BTreeSet::new();
            for finding in &report.findings {
                rules.insert(finding.rule.name());
            }
            let edits = report.findings.into_iter().flat_map(|finding| finding.edits).collect();
            Decision::Mutate { edits, rules: rules.into_iter().collect(), warnings }
        }
        Action::Reject => Decision::Reject { message: rejection(&report), warnings: hints.collect() },
        Action::Warn => {
            let findings = report.findings.iter().map(|finding| report.line(finding, WARNING_LIMIT));
            Decision::Admit { warnings: findings.chain(hints).collect() }
        }
    }
}

/// A line for each finding, as long as there is room; then how many there are besides.
fn rejection(report: &Report) -> String {
    let mut message = String::new();
    for (index, finding) in report.findings.iter().enumerate() {
        let line = report.line(finding, LINE_LIMIT);
        let more = format!("\nand {} more", report.findings.len() - index);
        if message.len() + 1 + line.len() + more.len() > REJECTION_LIMIT {
            message.push_str(&more);
            break;
        }
        if !message.is_empty() {
            message.push('\n');
        }
        message.push_str(&line);
    }
    message
}

/// The one hint that stands for findings in a pool that is not to drift.
fn drift(report: &Report) -> Option<Hint> {
    let first = report.findings.first()?;
    let others = report.findings.len() - 1;
    let mut problem = Message::of([Piece::from("left as it is")]);
    if others > 0 {
        problem.push(Piece::Text(format!(" (and {others} more)").into()));
    }
    problem.push(", for the edit would replace every node of the pool (drift)");
    Some(Hint {
        rule: Some(first.rule),
        path: first.path.clone(),
        problem,
        remedy: "make it with the next change of spec.template".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, Object};
    use crate::path::Path;
    use crate::rule::Rule;
    use rstest::rstest;

    fn report(edits: Vec<Edit>, hints: usize, cost: Cost) -> Report {
        let path = Path::of(&["spec", "a"]);
        let (problem, remedy) = (Message::from("is wrong"), Message::from("mend it"));
        let object = Object { kind: "NodePool", namespace: String::new(), name: "p".into() };
        let hint = Hint { rule: None, path: path.clone(), problem: "is odd".into(), remedy: "look at it".into() };
        let finding = Finding { rule: Rule::StartupTaintMissing, path, problem, remedy, edits };
        Report { object, findings: vec![finding], hints: vec![hint; hints], cost }
    }

    fn set() -> Vec<Edit> {
        vec![Edit::Set(Path::of(&["spec", "a"]), "2".into())]
    }

    const FINDING: &str = "startup-taint-missing: NodePool p: spec.a: is wrong; mend it";
    const HINT: &str = "NodePool p: spec.a: is odd; look at it";
    const DRIFT: &str = "startup-taint-missing: NodePool p: spec.a: left as it is, for the edit would replace every \
                         node of the pool (drift); make it with the next change of spec.template";

    fn admitted(warnings: &[&str]) -> Decision {
        Decision::Admit { warnings: warnings.iter().map(ToString::to_string).collect() }
    }

    fn mutated(edits: Vec<Edit>, warnings: &[&str]) -> Decision {
        let warnings = warnings.iter().map(ToString::to_string).collect();
        Decision::Mutate { edits, rules: vec!["startup-taint-missing"], warnings }
    }

    fn rejected(warnings: &[&str]) -> Decision {
        Decision::Reject { message: FINDING.into(), warnings: warnings.iter().map(ToString::to_string).collect() }
    }

    #[rstest]
    #[case::mutate(report(set(), 1, Cost::None), Action::Mutate, mutated(set(), &[HINT]))]
    #[case::no_edit(report(vec![], 0, Cost::None), Action::Mutate, mutated(vec![], &[FINDING]))]
    #[case::reject(report(set(), 1, Cost::None), Action::Reject, rejected(&[HINT]))]
    #[case::warn(report(set(), 1, Cost::None), Action::Warn, admitted(&[FINDING, HINT]))]
    #[case::drift(report(set(), 0, Cost::Drift { spec_changes: true }), Action::Mutate, admitted(&[DRIFT]))]
    #[case::drift_under_reject(report(set(), 0, Cost::Drift { spec_changes: true }), Action::Reject, admitted(&[DRIFT]))]
    #[case::silent(report(set(), 0, Cost::Silent), Action::Mutate, mutated(set(), &[]))]
    #[case::silent_under_reject(report(set(), 0, Cost::Silent), Action::Reject, admitted(&[]))]
    #[case::silent_under_warn(report(set(), 0, Cost::Silent), Action::Warn, admitted(&[]))]
    fn decided(#[case] report: Report, #[case] action: Action, #[case] expected: Decision) {
        assert_eq!(decide(report, action, false), expected);
    }

    #[rstest]
    #[case::changes_spec(Action::Mutate, true, true)]
    #[case::changes_nothing(Action::Mutate, false, false)]
    #[case::never_under_reject(Action::Reject, true, false)]
    #[case::never_under_warn(Action::Warn, true, false)]
    fn retrofit(#[case] action: Action, #[case] spec_changes: bool, #[case] expected: bool) {
        let decision = decide(report(set(), 0, Cost::Drift { spec_changes }), action, true);
        assert_eq!(matches!(decision, Decision::Mutate { .. }), expected);
        assert_eq!(decision == admitted(&[DRIFT]), !expected);
    }

    #[test]
    fn nothing_found_is_nothing_said() {
        let mut report = report(vec![], 0, Cost::Drift { spec_changes: true });
        report.findings.clear();
        assert_eq!(decide(report, Action::Mutate, true), Decision::ACCEPT);
    }
}
