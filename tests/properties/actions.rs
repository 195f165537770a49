//! That the actions differ only in what becomes of what is found.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use crate::answer::{Answer, ask, rule_of};
use crate::lines::is_of;
use crate::objects::Kind;
use crate::requests;
use crate::rules::outcomes;
use crate::run::{hold, require};
use crate::settings::{with_action, without_actions};

fn answer(request: &Value, settings: &Value, action: &str) -> Result<Answer, TestCaseError> {
    ask(&request.clone().into(), &with_action(settings, action).into()).map_err(TestCaseError::fail)
}

/// Requests that may be rejected: of nodes and claims only audits.
fn judged() -> BoxedStrategy<(Value, Value)> {
    let request = requests::any().prop_map(|(kind, mut request)| {
        if kind.is_never_rejected() {
            request["userInfo"] = json!({});
        }
        request
    });
    (request, without_actions()).boxed()
}

fn rules(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| rule_of(line)).collect()
}

/// The findings of a rejection, whose last line may say how many are left out, and its hints are what
/// a warning consists of.
#[test]
fn warn_and_reject_report_the_same() {
    hold(2000, judged(), |(request, settings)| {
        let (warned, rejected) = (answer(&request, &settings, "warn")?, answer(&request, &settings, "reject")?);
        let context = || format!("{warned:#?} but {rejected:#?}");
        require(warned.accepted, context)?;
        let hints = rejected.warnings.len();
        require(warned.warnings.len() >= hints, context)?;
        let (findings, warned_hints) = warned.warnings.split_at(warned.warnings.len() - hints);
        require(warned_hints == rejected.warnings, context)?;
        require(rejected.accepted == findings.is_empty(), context)?;
        let listed = if rejected.message.len() < findings.len() { rejected.message.len() - 1 } else { findings.len() };
        let left_out = findings.len() - listed;
        let (lines, rest) = rejected.message.split_at(listed);
        let says_so = |rest: &[String]| rest.len() == 1 && rest[0].contains(&left_out.to_string());
        require(if left_out > 0 { says_so(rest) } else { rest.is_empty() }, context)?;
        require(lines.iter().zip(findings).all(|(line, finding)| is_of(line, finding)), context)
    });
}

#[test]
fn hints_never_reject() {
    let outcomes = outcomes();
    hold(2000, judged(), |(request, settings)| {
        let rejected = answer(&request, &settings, "reject")?;
        for rule in rules(&rejected.message) {
            let outcome = outcomes.get(&rule).map(String::as_str);
            require(outcome.is_some_and(|outcome| outcome != "hint"), || format!("{rule} rejects: {rejected:?}"))?;
        }
        require(rejected.accepted || !rules(&rejected.message).is_empty(), || {
            format!("no finding rejects: {rejected:?}")
        })
    });
}

/// Where something is changed: the annotation names the rules of the findings, and the warnings are
/// those findings that have no edit, and the hints.
#[test]
fn mutate_tells_of_what_it_finds() {
    let outcomes = outcomes();
    hold(2000, (requests::rejectable(), without_actions()), |((_, request), settings)| {
        let (mutated, rejected) = (answer(&request, &settings, "mutate")?, answer(&request, &settings, "reject")?);
        let context = || format!("{mutated:#?} but {rejected:#?}");
        require(mutated.accepted, context)?;
        if rejected.message.last().is_some_and(|line| rule_of(line).is_none()) {
            // Some findings are left out.
            return Ok(());
        }
        let found = rules(&rejected.message);
        let once: BTreeSet<&String> = found.iter().collect();
        require(mutated.rules.iter().eq(once.iter().copied()), context)?;
        let without_edit = found.iter().filter(|rule| outcomes[*rule] == "no edit").count();
        let hints = rejected.warnings.len();
        require(mutated.warnings.len() == without_edit + hints, context)?;
        require(mutated.warnings[without_edit..] == rejected.warnings, context)?;
        require(mutated.mutated.is_some() == (without_edit < found.len()), context)
    });
}

/// A Node that is rejected can't join, and a NodeClaim can't launch.
#[test]
fn nodes_and_claims_are_never_rejected_outside_an_audit() {
    let kind = proptest::sample::select(vec![Kind::Node, Kind::NodeClaim, Kind::Machine]);
    let strategy = kind.prop_flat_map(|kind| (Just(kind), kind.object(), without_actions()));
    hold(1500, strategy, |(kind, object, settings)| {
        let request = requests::request(kind, "CREATE", object, Value::Null, requests::user());
        let answered = answer(&request, &settings, "reject")?;
        require(answered.accepted && answered.mutated.is_none(), || format!("{answered:?}"))
    });
}
