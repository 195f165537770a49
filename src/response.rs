//! The answer, as the host reads it.

use kubewarden_policy_sdk::response::ValidationResponse;
use kubewarden_policy_sdk::settings::SettingsValidationResponse;
use serde::Serialize;

use crate::decision::Decision;
use crate::json::splice::splice;
use crate::settings::SettingsError;

/// The answer of `validate`: a `ValidationResponse` of Kubewarden's SDK as JSON. `object` is the text
/// that edits are spliced into.
///
/// A rejection has no code of its own: the API server's is 400 then, and 500 would be reported as an
/// error of the policy.
pub fn of_decision(decision: Decision, object: &[u8]) -> Vec<u8> {
    let mut response = ValidationResponse {
        accepted: true,
        message: None,
        code: None,
        mutated_object: None,
        audit_annotations: None,
        warnings: None,
    };
    let mut mutated = None;
    let warnings = match decision {
        Decision::Admit { warnings } if warnings.is_empty() => return ACCEPTED.to_vec(),
        Decision::Admit { warnings } => warnings,
        Decision::Mutate { edits, rules, warnings } => {
            if !edits.is_empty() {
                mutated = splice(object, edits);
                if mutated.is_none() {
                    return of_decision(Decision::admit_with(NOT_SPLICED.to_owned()), object);
                }
            }
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
    let response = encode(&response, ACCEPTED);
    match mutated {
        Some(object) => with_mutated_object(&response, &object).unwrap_or(response),
        None => response,
    }
}

/// Said where a field that an edit is in holds what is no JSON to us, such as a number beyond all.
const NOT_SPLICED: &str = "the object can't be read where it is to be changed; admitted unchanged";

/// Nothing to say.
const ACCEPTED: &[u8] =
    br#"{"accepted":true,"message":null,"code":null,"mutated_object":null,"audit_annotations":null,"warnings":null}"#;

/// A response with the object's text in the place of its `null`.
fn with_mutated_object(response: &[u8], object: &[u8]) -> Option<Vec<u8>> {
    const NULL: &[u8] = br#""mutated_object":null"#;
    let start = response.windows(NULL.len()).position(|window| window == NULL)? + NULL.len() - b"null".len();
    let (before, after) = (response.get(..start)?, response.get(start + b"null".len()..)?);
    Some([before, object, after].concat())
}

/// The answer of `validate_settings`: a `SettingsValidationResponse` of Kubewarden's SDK as JSON,
/// whose message has a line for each error.
pub fn of_settings(errors: &[SettingsError]) -> Vec<u8> {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let response = SettingsValidationResponse {
        valid: errors.is_empty(),
        message: (!errors.is_empty()).then(|| lines.join("\n")),
    };
    encode(&response, br#"{"valid":false}"#)
}

/// JSON; `fallback` stands in for what has no JSON, which none of the answers is.
fn encode(response: &impl Serialize, fallback: &[u8]) -> Vec<u8> {
    serde_json::to_vec(response).unwrap_or_else(|_| fallback.to_vec())
}
