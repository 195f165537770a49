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

/// Odiglet takes the taint away by an update, and NodeRestriction refuses a kubelet's in which taints
/// change: a node is only freed of a taint that nothing removes, and never in an update of a kubelet's.
#[test]
fn an_update_of_a_node_only_frees_it() {
    let user = proptest::bool::ANY.prop_map(|kubelet| if kubelet { "system:nodes" } else { "system:masters" });
    let strategy = (Kind::Node.object(), Kind::Node.object(), user, crate::settings::any());
    hold(3000, strategy, |(object, old, group, settings)| {
        let user = json!({"username": "a", "groups": [group]});
        let request = requests::request(Kind::Node, "UPDATE", object, old, user);
        let answered = ask(&request.into(), &settings.into()).map_err(TestCaseError::fail)?;
        let frees = answered.rules == ["startup-taint-orphaned"] && group != "system:nodes";
        let silent = answered.mutated.is_none() && answered.rules.is_empty();
        require(answered.accepted && answered.warnings.is_empty() && (frees || silent), || format!("{answered:?}"))
    });
}

/// Karpenter's controllers patch the metadata of pools and claims all the time.
#[test]
fn an_update_that_leaves_the_spec_alone_is_let_through() {
    let kind =
        proptest::sample::select(vec![Kind::NodePool, Kind::NodeClaim, Kind::Machine, Kind::Provisioner, Kind::Pod]);
    let strategy = kind.prop_flat_map(|kind| (Just(kind), kind.object(), crate::settings::any()));
    hold(2000, strategy, |(kind, object, settings)| {
        let mut old = object.clone();
        old["metadata"]["finalizers"] = json!(["karpenter.sh/termination"]);
        old["status"] = json!({"conditions": []});
        let request = requests::request(kind, "UPDATE", object, old, requests::user());
        let answered = ask(&request.into(), &settings.into()).map_err(TestCaseError::fail)?;
        require(answered.accepted && answered.mutated.is_none(), || format!("{answered:?}"))
    });
}
