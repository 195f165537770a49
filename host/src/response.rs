//! What is answered: the AdmissionResponse that the API server gets.
//!
//! Follows `admission_response.rs` of Kubewarden's policy-evaluator, which `kwctl run` prints.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use json_patch::Patch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Result, Review};

/// `AdmissionResponse` of `admission.k8s.io/v1`, serialized as `kwctl run` prints it:
/// `auditAnnotations` and `warnings` are always there, the other optional keys only with a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionResponse {
    /// The request's.
    pub uid: String,
    /// Whether the object may be stored, with the patch where there is one.
    pub allowed: bool,
    /// There together with `patch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<PatchType>,
    /// Base64 of a JSON Patch (RFC 6902) with at least one operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Why the request is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// What goes into the API server's audit log.
    pub audit_annotations: Option<BTreeMap<String, String>>,
    /// What the user is told, whether or not the request is allowed.
    pub warnings: Option<Vec<String>>,
}

/// The one way there is to patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum PatchType {
    /// RFC 6902.
    #[serde(rename = "JSONPatch")]
    JsonPatch,
}

/// The part of Kubernetes' `Status` that a policy can fill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// What the user is told of a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The HTTP code of a rejection; 500 where the policy failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
    /// The policy's own words, where the resource has a message that replaces them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// The part of Kubernetes' `StatusDetails` that is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Details {
    /// One for each thing that is wrong.
    pub causes: Vec<Cause>,
}

/// The part of Kubernetes' `StatusCause` that is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// For people.
    pub message: String,
}

/// What a guest returns from `validate`: `ValidationResponse` of Kubewarden's policy SDK.
#[derive(Debug, Deserialize)]
struct ValidationResponse {
    accepted: bool,
    message: Option<String>,
    code: Option<u16>,
    mutated_object: Option<Value>,
    audit_annotations: Option<BTreeMap<String, String>>,
    warnings: Option<Vec<String>>,
}

// === impl AdmissionResponse ===

impl AdmissionResponse {
    /// Makes a response of what the guest operation `validate` returned: the patch is the
    /// difference between the request's object and the policy's, and is left out where there is
    /// none. An answer that can't be read becomes one with code 500.
    pub fn from_guest(review: &Review, answer: &[u8]) -> Self {
        match serde_json::from_slice(answer) {
            Ok(answer) => Self::from_validation(review, answer),
            Err(source) => Self::internal_error(review, &Error::Answer { operation: "validate", source }),
        }
    }

    /// The answer to a request whose policy failed: not allowed, code 500.
    pub fn internal_error(review: &Review, error: &Error) -> Self {
        Self::rejection(review, format!("internal server error: {error}"), Some(500))
    }

    fn from_validation(review: &Review, answer: ValidationResponse) -> Self {
        let patch = match (&review.object, &answer.mutated_object) {
            (Some(before), Some(after)) => encode(&json_patch::diff(before, after)),
            (None, Some(_)) => {
                let message = "the policy changed an object that the request doesn't have; \
                    only a DELETE has none, and it can't be changed";
                return Self::rejection(review, message.to_owned(), None);
            }
            (_, None) => None,
        };
        let status = (answer.message.is_some() || answer.code.is_some()).then_some(Status {
            message: answer.message,
            code: answer.code,
            details: None,
        });
        Self {
            uid: review.uid.clone(),
            allowed: answer.accepted,
            patch_type: patch.as_ref().map(|_| PatchType::JsonPatch),
            patch,
            status,
            audit_annotations: answer.audit_annotations,
            warnings: answer.warnings,
        }
    }

    fn rejection(review: &Review, message: String, code: Option<u16>) -> Self {
        Self {
            uid: review.uid.clone(),
            status: Some(Status { message: Some(message), code, details: None }),
            ..Self::default()
        }
    }

    /// Decodes the patch; empty where there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Patch`] where `patch` is not base64 of a JSON Patch.
    pub fn patch_operations(&self) -> Result<Patch> {
        let Some(patch) = &self.patch else {
            return Ok(Patch::default());
        };
        let json = STANDARD.decode(patch).map_err(|error| Error::Patch(format!("decoded: {error}")))?;
        serde_json::from_slice(&json).map_err(|error| Error::Patch(format!("decoded: {error}")))
    }

    /// The object as it would be stored: `object` with the patch applied.
    ///
    /// # Errors
    ///
    /// [`Error::Patch`] where the patch can't be decoded, or does not fit `object`.
    pub fn patched(&self, object: &Value) -> Result<Value> {
        let mut object = object.clone();
        json_patch::patch(&mut object, &self.patch_operations()?)
            .map_err(|error| Error::Patch(format!("applied: {error}")))?;
        Ok(object)
    }
}

fn encode(patch: &Patch) -> Option<String> {
    // A patch's text is its JSON.
    (!patch.0.is_empty()).then(|| STANDARD.encode(patch.to_string()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn review(object: Value) -> Review {
        Review::from_value(&json!({
            "uid": "u-1",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "userInfo": {},
            "object": object,
        }))
        .unwrap()
    }

    fn respond(object: Value, answer: Value) -> AdmissionResponse {
        AdmissionResponse::from_guest(&review(object), answer.to_string().as_bytes())
    }

    #[rstest]
    #[case::accepted(
        json!({"accepted": true}),
        r#"{"uid":"u-1","allowed":true,"auditAnnotations":null,"warnings":null}"#
    )]
    #[case::every_key_null(
        json!({"accepted": true, "message": null, "code": null, "mutated_object": null, "audit_annotations": null, "warnings": null}),
        r#"{"uid":"u-1","allowed":true,"auditAnnotations":null,"warnings":null}"#
    )]
    #[case::the_same_object(
        json!({"accepted": true, "mutated_object": {"a": 1}}),
        r#"{"uid":"u-1","allowed":true,"auditAnnotations":null,"warnings":null}"#
    )]
    #[case::changed(
        json!({"accepted": true, "mutated_object": {"a": 2}, "audit_annotations": {"rules": "r"}}),
        r#"{"uid":"u-1","allowed":true,"patchType":"JSONPatch","patch":"W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9hIiwidmFsdWUiOjJ9XQ==","auditAnnotations":{"rules":"r"},"warnings":null}"#
    )]
    #[case::rejected(
        json!({"accepted": false, "message": "no", "code": 400, "warnings": ["w"]}),
        r#"{"uid":"u-1","allowed":false,"status":{"message":"no","code":400},"auditAnnotations":null,"warnings":["w"]}"#
    )]
    #[case::code_alone(
        json!({"accepted": false, "code": 403}),
        r#"{"uid":"u-1","allowed":false,"status":{"code":403},"auditAnnotations":null,"warnings":null}"#
    )]
    fn printed_as_kwctl_prints_it(#[case] answer: Value, #[case] line: &str) {
        let response = respond(json!({"a": 1}), answer);
        assert_eq!(serde_json::to_string(&response).unwrap(), line);
    }

    #[rstest]
    #[case::added(json!({}), json!({"b": [1, null]}))]
    #[case::removed(json!({"b": {}, "c": null}), json!({"c": null}))]
    #[case::appended(json!({"l": [1]}), json!({"l": [1, 2]}))]
    #[case::emptied(json!({"l": [1, 2]}), json!({}))]
    #[case::keys_to_be_escaped(json!({"a/b": 1, "c~d": 2}), json!({"a/b": 2}))]
    #[case::big_numbers(json!({"n": 18_446_744_073_709_551_615_u64}), json!({"n": 18_446_744_073_709_551_615_u64, "m": 1}))]
    fn the_patch_leads_from_one_object_to_the_other(#[case] before: Value, #[case] after: Value) {
        let response = respond(before.clone(), json!({"accepted": true, "mutated_object": after}));
        assert_eq!(response.patch_type, Some(PatchType::JsonPatch));
        assert_eq!(response.patched(&before).unwrap(), after);
    }

    #[test]
    fn a_patch_that_is_not_there_changes_nothing() {
        let response = respond(json!({"a": 1}), json!({"accepted": true}));
        assert!(response.patch_operations().unwrap().0.is_empty());
        assert_eq!(response.patched(&json!({"a": 1})).unwrap(), json!({"a": 1}));
    }

    #[test]
    fn an_object_that_is_not_there_can_not_be_changed() {
        let response = respond(Value::Null, json!({"accepted": true, "mutated_object": {}}));
        assert!(!response.allowed);
        assert_eq!(response.patch, None);
        assert_eq!(response.status.unwrap().code, None);
    }

    #[rstest]
    #[case::not_json(b"nonsense".as_slice())]
    #[case::empty(b"".as_slice())]
    #[case::another_shape(br#"{"allowed": true}"#.as_slice())]
    fn an_answer_that_can_not_be_read_is_code_500(#[case] answer: &[u8]) {
        let status = AdmissionResponse::from_guest(&review(json!({})), answer).status.unwrap();
        assert_eq!(status.code, Some(500));
        let message = status.message.unwrap();
        assert!(message.starts_with("internal server error: "), "{message}");
    }

    #[rstest]
    #[case::not_base64("%%%")]
    #[case::not_json("bm8=")]
    fn a_patch_that_is_none_is_an_error(#[case] patch: &str) {
        let response = AdmissionResponse { patch: Some(patch.to_owned()), ..AdmissionResponse::default() };
        assert!(matches!(response.patched(&json!({})), Err(Error::Patch(_))));
    }
}
