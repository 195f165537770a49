//! The way of the data, from the bytes that the host sends to those that it gets back.
//!
//! Nothing here fails: to the host an error is a rejection, even where a policy's failures are to
//! be ignored (Kubewarden, `policy-evaluator`'s waPC runtime).

use crate::cluster::Cluster;
use crate::decision::{Decision, decide};
use crate::finding::{Hint, Report};
use crate::json::view::View;
use crate::karpenter::{self, node_overlay};
use crate::kind::Kind;
use crate::message::{Message, WARNING_LIMIT, name};
use crate::request::{Envelope, Request};
use crate::settings::{Action, Settings, SettingsError};
use crate::situation::Situation;
use crate::{node, pod, response};

/// Answers `{"request": …, "settings": …}`, as the host sends it, with a `ValidationResponse`. The
/// settings say what of the cluster is looked up.
pub fn validate(payload: &[u8], cluster: &dyn Cluster) -> Vec<u8> {
    let Some(mut envelope) = Envelope::open(payload) else {
        return answer(unreadable("the request can't be read: ", why_unreadable(payload)));
    };
    let Some((kind, operation)) = envelope.subject() else { return answer(Decision::ACCEPT) };
    let settings = envelope.settings.take().unwrap_or(View::new(b"null"));
    let settings = match Settings::read(&settings) {
        Ok(settings) => settings,
        Err(errors) => {
            let first = errors.first().map(ToString::to_string).unwrap_or_default();
            return answer(unreadable("the policy's settings can't be used: ", &first));
        }
    };
    if kind == Kind::Pod && pod::is_none_of_odigos(&envelope, &settings) {
        return answer(Decision::ACCEPT);
    }
    let request = match Request::read(envelope, kind, operation) {
        Ok(Some(request)) => request,
        Ok(None) => return answer(Decision::ACCEPT),
        Err(error) => return answer(unreadable("the request can't be read: ", &error)),
    };
    let situation = Situation::in_cluster(&settings, cluster, kind);
    let report = find(&request, &situation);
    let action = settings.action_on(kind, request.audit);
    let retrofit = settings.node_pools.retrofit;
    // What is learnt from the cluster rejects nothing that the settings alone would not.
    let rejects = |report| matches!(decide(report, action, retrofit), Decision::Reject { .. });
    let action = match action {
        Action::Reject if situation.has_asked() && !rejects(find(&request, &Situation::of_settings(&settings))) => {
            Action::Warn
        }
        action => action,
    };
    response::of_decision(decide(report, action, retrofit), Some(&request.object))
}

/// Answers what changes no object.
fn answer(decision: Decision) -> Vec<u8> {
    response::of_decision(decision, None)
}

/// Answers settings with a `SettingsValidationResponse`.
pub fn validate_settings(payload: &[u8]) -> Vec<u8> {
    let settings = View::new(payload);
    let errors = match settings.canonical() {
        Some(_) => Settings::read(&settings).err().unwrap_or_default(),
        None => vec![SettingsError { path: String::new(), problem: "found no JSON, expected a map".to_owned() }],
    };
    response::of_settings(&errors)
}

/// All that the rules find in a request's object.
pub fn find<'r>(request: &'r Request<'r>, situation: &Situation) -> Report {
    let mut report = Report::on(request.object());
    let rules = match request.kind {
        Kind::NodePool | Kind::Provisioner => karpenter::judge_pool,
        Kind::NodeClaim | Kind::Machine => karpenter::judge_claim,
        Kind::NodeOverlay => node_overlay::judge,
        Kind::Node => node::judge,
        Kind::Pod => pod::judge,
    };
    if let Err(unreadable) = rules(request, situation, &mut report) {
        report = Report { hints: vec![Hint::unreadable(unreadable)], ..Report::on(report.object) };
    }
    if matches!(request.kind, Kind::NodePool | Kind::Provisioner | Kind::NodeOverlay) {
        report.hints.extend(situation.failures());
    }
    report
}

fn why_unreadable(payload: &[u8]) -> &'static str {
    match View::new(payload).canonical() {
        Some(_) => "it has no kind, or something other than a string where a string belongs",
        None => "it is no JSON",
    }
}

/// What can't be read is admitted as it came: something else will say what is wrong with it.
fn unreadable(what: &'static str, why: &str) -> Decision {
    let message = Message::of([what.into(), name(why), "; admitted unchanged".into()]);
    Decision::admit_with(message.within(WARNING_LIMIT))
}
