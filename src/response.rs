//! The answer, as the host reads it.

use kubewarden_policy_sdk::response::ValidationResponse;
use kubewarden_policy_sdk::settings::SettingsValidationResponse;
use serde::Serialize;

use crate::decision::Decision;
use crate::settings::SettingsError;

/// The answer of `validate`: a `ValidationResponse` of Kubewarden's SDK as JSON.
///
/// A rejection has no code of its own: the API server's is 400 then, and 500 would be reported as an
/// error of the policy.
pub fn of_decision(decision: Decision) -> Vec<u8> {
    let mut response = ValidationResponse {
        accepted: true,
        message: None,
        code: None,
        mutated_object: None,
        audit_annotations: None,
        warnings: None,
    };
    let warnings = match decision {
        Decision::Admit { warnings } => warnings,
        Decision::Mutate { object, rules, warnings } => {
            response.mutated_object = object;
            response.audit_annotations = Some([("rules".to_owned(), rules.join(","))].into());
            warnings
        }
        Decision::Reject { message, warnings } => {
            response.accepted = false;
            response.message = Some(message);
            warnings
        }
    };
    response.warnings = (!warnings.is_empty()).then_some(warnings);
    encode(&response, b"{\"accepted\":true}")
}

/// The answer of `validate_settings`: a `SettingsValidationResponse` of Kubewarden's SDK as JSON,
/// whose message has a line for each error.
pub fn of_settings(errors: &[SettingsError]) -> Vec<u8> {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let response = SettingsValidationResponse {
        valid: errors.is_empty(),
        message: (!errors.is_empty()).then(|| lines.join("\n")),
    };
    encode(&response, b"{\"valid\":false}")
}

/// JSON; `fallback` stands in for what has no JSON, which none of the answers is.
fn encode(response: &impl Serialize, fallback: &[u8]) -> Vec<u8> {
    serde_json::to_vec(response).unwrap_or_else(|_| fallback.to_vec())
}
