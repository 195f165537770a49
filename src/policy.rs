//! The way of the data, from the bytes that the host sends to those that it gets back.
//!
//! Nothing here fails: to the host an error is a rejection, even where a policy's failures are to
//! be ignored (Kubewarden, `policy-evaluator`'s waPC runtime).

use serde_json::Value;

use crate::decision::{Decision, decide};
use crate::field::Unreadable;
use crate::finding::{Hint, Report};
use crate::karpenter::{self, node_overlay};
use crate::request::{Kind, Request};
use crate::settings::{Settings, SettingsError};
use crate::{node, pod, response};

/// Answers `{"request": …, "settings": …}`, as the host sends it, with a `ValidationResponse`.
pub fn validate(payload: &[u8]) -> Vec<u8> {
    response::of_decision(judge(payload))
}

/// Answers settings with a `SettingsValidationResponse`.
pub fn validate_settings(payload: &[u8]) -> Vec<u8> {
    let errors = match serde_json::from_slice::<Value>(payload) {
        Ok(settings) => Settings::read(&settings).err().unwrap_or_default(),
        Err(error) => {
            vec![SettingsError { path: String::new(), problem: format!("found no JSON, expected a map ({error})") }]
        }
    };
    response::of_settings(&errors)
}

fn judge(payload: &[u8]) -> Decision {
    let payload: Value = match serde_json::from_slice(payload) {
        Ok(payload) => payload,
        Err(error) => {
            return Decision::admit_with(format!("admitted unchanged, for the request can't be read as JSON: {error}"));
        }
    };
    let request = match Request::read(payload.get("request").unwrap_or(&Value::Null)) {
        Ok(Some(request)) => request,
        Ok(None) => return Decision::ACCEPT,
        Err(error) => return Decision::admit_with(unreadable_request(&error)),
    };
    let settings = match Settings::read(payload.get("settings").unwrap_or(&Value::Null)) {
        Ok(settings) => settings,
        Err(errors) => return Decision::admit_with(unreadable_settings(&errors)),
    };
    let action = settings.action_on(request.kind, request.audit);
    decide(request.object, find(&request, &settings), action, settings.node_pools.retrofit)
}

/// All that the rules find in a request's object.
pub fn find(request: &Request, settings: &Settings) -> Report {
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

fn unreadable_request(error: &Unreadable) -> String {
    format!(
        "admitted unchanged, for the request can't be read: {} where {} belongs at {}",
        error.found, error.expected, error.path
    )
}

fn unreadable_settings(errors: &[SettingsError]) -> String {
    let first = errors.first().map(ToString::to_string).unwrap_or_default();
    format!("admitted unchanged, for the policy's settings have {} error(s), the first at {first}", errors.len())
}
