//! The policy's answers, and what every one of them must keep.

use std::panic::{AssertUnwindSafe, catch_unwind};

use odigos_karpenter_policy::cluster::NoCluster;
use odigos_karpenter_policy::policy;
use serde_json::Value;

use crate::json::Json;

/// A `ValidationResponse`.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub accepted: bool,
    /// The lines of the message.
    pub message: Vec<String>,
    pub warnings: Vec<String>,
    pub mutated: Option<Json>,
    /// The annotation `rules`.
    pub rules: Vec<String>,
}

impl Answer {
    /// The rules that are named, each as often as it is.
    pub fn heard(&self) -> Vec<String> {
        self.message.iter().chain(&self.warnings).filter_map(|line| rule_of(line)).collect()
    }
}

/// The rule that a line names.
pub fn rule_of(line: &str) -> Option<String> {
    let (rule, _) = line.split_once(": ")?;
    let is_rule = !rule.is_empty() && rule.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_rule.then(|| rule.to_owned())
}

/// What the host sends.
pub fn payload(request: &Json, settings: &Json) -> String {
    format!(r#"{{"request":{},"settings":{}}}"#, request.write(), settings.write())
}

/// Asks natively. A panic, or what is no answer, is an error.
pub fn ask(request: &Json, settings: &Json) -> Result<Answer, String> {
    ask_text(&payload(request, settings))
}

pub fn ask_text(payload: &str) -> Result<Answer, String> {
    let answer = catch_unwind(AssertUnwindSafe(|| policy::validate(payload.as_bytes(), &NoCluster)));
    read(&answer.map_err(|_| format!("a panic, over {payload}"))?).map_err(|error| format!("{error}, over {payload}"))
}

/// Whether settings are valid, natively.
pub fn ask_settings(settings: &str) -> Result<bool, String> {
    let answer = catch_unwind(AssertUnwindSafe(|| policy::validate_settings(settings.as_bytes())));
    let answer = answer.map_err(|_| format!("a panic, over {settings}"))?;
    read_settings(&answer).map_err(|error| format!("{error}, over {settings}"))
}

/// Reads a `SettingsValidationResponse`.
pub fn read_settings(answer: &[u8]) -> Result<bool, String> {
    let answer: Value = serde_json::from_slice(answer).map_err(|error| format!("no answer: {error}"))?;
    let valid = answer["valid"].as_bool().ok_or("no `valid`")?;
    match (valid, answer["message"].as_str()) {
        (true, None) => Ok(true),
        (false, Some(message)) if !message.is_empty() => Ok(false),
        _ => Err(format!("valid without, or invalid with a message: {answer}")),
    }
}

/// Reads a `ValidationResponse` as the host does, and holds it to what every answer must keep.
pub fn read(answer: &[u8]) -> Result<Answer, String> {
    let text = std::str::from_utf8(answer).map_err(|_| "an answer that is no text")?;
    // First as the host does it.
    let host: Value =
        serde_json::from_str(text).map_err(|error| format!("an answer that the host can't read: {error}: {text}"))?;
    let fault = |what: &str| Err(format!("{what}: {text}"));
    let Some(accepted) = host["accepted"].as_bool() else { return fault("no `accepted`") };
    if !host["code"].is_null() {
        return fault("a code");
    }
    let lines = |value: &Value| -> Option<Vec<String>> {
        match value {
            Value::Null => Some(Vec::new()),
            Value::Array(lines) => lines.iter().map(|line| Some(line.as_str()?.to_owned())).collect(),
            Value::String(text) => Some(text.split('\n').map(str::to_owned).collect()),
            _ => None,
        }
    };
    let (Some(message), Some(warnings)) = (lines(&host["message"]), lines(&host["warnings"])) else {
        return fault("a message or warnings of a wrong type");
    };
    let rules = match &host["audit_annotations"] {
        Value::Null => Vec::new(),
        annotations => match annotations["rules"].as_str() {
            Some(rules) => rules.split(',').map(str::to_owned).collect(),
            None => return fault("annotations without rules"),
        },
    };
    let mutated = Json::read(text)?.get("mutated_object").filter(|object| **object != Json::Null).cloned();
    if accepted != message.is_empty() {
        return fault("accepted with, or rejected without a message");
    }
    if mutated.is_some() && (!accepted || rules.is_empty()) {
        return fault("a mutated object in a rejection, or without rules");
    }
    if !rules.is_sorted_by(|a, b| a < b) {
        return fault("rules that are not sorted, or there twice");
    }
    Ok(Answer { accepted, message, warnings, mutated, rules })
}
