//! The answer, as the host reads it.

use kubewarden_policy_sdk::settings::SettingsValidationResponse;
use serde::Serialize;

use crate::decision::Decision;
use crate::edit::Edit;
use crate::json::splice::splice;
use crate::json::view::View;
use crate::settings::SettingsError;

/// The `ValidationResponse` of Kubewarden's SDK, but for the object, whose text is spliced in.
#[derive(Debug, Serialize)]
struct Response {
    accepted: bool,
    message: Option<String>,
    /// A rejection has none of its own: the API server's is 400 then, and 500 would be reported as
    /// an error of the policy.
    code: Option<u16>,
    mutated_object: Option<()>,
    audit_annotations: Option<AuditAnnotations>,
    warnings: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct AuditAnnotations {
    rules: String,
}

/// The answer of `validate`, as JSON. `object` is what edits are applied to.
pub fn of_decision(decision: Decision, object: Option<&View>) -> Vec<u8> {
    let mut response = Response {
        accepted: true,
        message: None,
        code: None,
        mutated_object: None,
        audit_annotations: None,
        warnings: None,
    };
    let mut all_edits = Vec::new();
    let warnings = match decision {
        Decision::Admit { warnings } if warnings.is_empty() => return ACCEPTED.to_vec(),
        Decision::Admit { warnings } => warnings,
        Decision::Mutate { edits, rules, warnings } => {
            all_edits = edits;
            response.audit_annotations = Some(AuditAnnotations { rules: rules.join(",") });
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
    match object {
        Some(object) if !all_edits.is_empty() => with_mutated_object(&response, object, &all_edits)
            .unwrap_or_else(|| of_decision(Decision::admit_with(NOT_SPLICED.to_owned()), None)),
        _ => response,
    }
}

/// Said where a field that an edit is in holds what is no JSON.
const NOT_SPLICED: &str = "the object can't be read where it is to be changed; admitted unchanged";

/// Nothing to say.
const ACCEPTED: &[u8] =
    br#"{"accepted":true,"message":null,"code":null,"mutated_object":null,"audit_annotations":null,"warnings":null}"#;

/// A response with the object, its edits applied, in the place of its `null`.
fn with_mutated_object(response: &[u8], object: &View, edits: &[Edit]) -> Option<Vec<u8>> {
    const NULL: &[u8] = br#""mutated_object":null"#;
    let start = response.windows(NULL.len()).position(|window| window == NULL)? + NULL.len() - b"null".len();
    let (before, after) = (response.get(..start)?, response.get(start + b"null".len()..)?);
    let mut whole = Vec::with_capacity(response.len() + object.text().len() + 256);
    whole.extend_from_slice(before);
    splice(object, edits, &mut whole)?;
    whole.extend_from_slice(after);
    Some(whole)
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
