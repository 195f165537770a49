//! The way of the data, from the bytes that the host sends to those that it gets back.
//!
//! Nothing here fails: to the host an error is a rejection, even where a policy's failures are to
//! be ignored (Kubewarden, `policy-evaluator`'s waPC runtime).

use serde::de::IgnoredAny;

use crate::decision::{Decision, decide};
use crate::finding::{Hint, Report};
use crate::json::view::View;
use crate::karpenter::{self, node_overlay};
use crate::kind::Kind;
use crate::message::{Message, WARNING_LIMIT, name};
use crate::request::{Envelope, Request};
use crate::settings::{Settings, SettingsError};
use crate::{node, pod, response};

/// Answers `{"request": …, "settings": …}`, as the host sends it, with a `ValidationResponse`.
pub fn validate(payload: &[u8]) -> Vec<u8> {
    let Some(mut envelope) = Envelope::open(payload) else {
        return answer(unreadable("the request can't be read: ", &why_unreadable(payload)));
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
    let report = find(&request, &settings);
    let decision = decide(report, settings.action_on(kind, request.audit), settings.node_pools.retrofit);
    response::of_decision(decision, Some(&request.object))
}

/// Answers what changes no object.
fn answer(decision: Decision) -> Vec<u8> {
    response::of_decision(decision, None)
}

/// Answers settings with a `SettingsValidationResponse`.
pub fn validate_settings(payload: &[u8]) -> Vec<u8> {
    let errors = match serde_json::from_slice::<IgnoredAny>(payload) {
        Ok(_) => Settings::read(&View::new(payload)).err().unwrap_or_default(),
        Err(error) => {
            vec![SettingsError { path: String::new(), problem: format!("found no JSON, expected a map ({error})") }]
        }
    };
    response::of_settings(&errors)
}

/// All that the rules find in a request's object.
pub fn find<'r>(request: &'r Request<'r>, settings: &Settings) -> Report {
    let mut report = Report::on(request.object());
    let rules = match request.kind {
        Kind::NodePool | Kind::Provisioner => karpenter::judge_pool,
        Kind::NodeClaim | Kind::Machine => karpenter::judge_claim,
        Kind::NodeOverlay => node_overlay::judge,
        Kind::Node => node::judge,
        Kind::Pod => pod::judge,
    };
    match rules(request, settings, &mut report) {
        Ok(()) => report,
        Err(unreadable) => Report { hints: vec![Hint::unreadable(unreadable)], ..Report::on(report.object) },
    }
}

fn why_unreadable(payload: &[u8]) -> String {
    match serde_json::from_slice::<IgnoredAny>(payload) {
        Ok(_) => "it has no kind, or something other than a string where a string belongs".to_owned(),
        Err(error) => format!("it is no JSON: {error}"),
    }
}

/// What can't be read is admitted as it came: something else will say what is wrong with it.
fn unreadable(what: &'static str, why: &str) -> Decision {
    let message = Message::of([what.into(), name(why), "; admitted unchanged".into()]);
    Decision::admit_with(message.within(WARNING_LIMIT))
}
