//! What is asked: the request of an AdmissionReview.
//!
//! The shape is `AdmissionRequest` of Kubernetes' `admission.k8s.io/v1`. A policy server reads it
//! into a typed value and serializes that for the policy (`admission_request.rs` of Kubewarden's
//! policy-evaluator), so a policy never sees a key that is not in here, and never one with `null`.
//! What the objects hold is passed on untouched.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Error, Result};

/// An AdmissionRequest. Absent and `null` are the same, and neither reaches the policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// Identifies the request; the response repeats it.
    pub uid: String,
    /// The type of the object, after conversion to a version that the webhook asks for.
    pub kind: GroupVersionKind,
    /// The resource that is requested. Audits have the kind in place of the plural name.
    pub resource: GroupVersionResource,
    /// The subresource, such as `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_resource: Option<String>,
    /// The type of the object before conversion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource before conversion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_resource: Option<GroupVersionResource>,
    /// The subresource before conversion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_sub_resource: Option<String>,
    /// The object's name; empty or absent where the API server is yet to generate it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The object's namespace; absent for what has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: String,
    /// Who asks; empty in an audit.
    pub user_info: UserInfo,
    /// The object as it shall be; absent in a DELETE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// The object as it is; only in an UPDATE and a DELETE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_object: Option<Value>,
    /// Whether nothing will be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// `CreateOptions`, `UpdateOptions` and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Value>,
}

/// A type of the Kubernetes API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupVersionKind {
    /// Empty for the core group.
    pub group: String,
    /// Such as `v1`.
    pub version: String,
    /// Such as `Pod`.
    pub kind: String,
}

/// A resource of the Kubernetes API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupVersionResource {
    /// Empty for the core group.
    pub group: String,
    /// Such as `v1`.
    pub version: String,
    /// The plural name, such as `pods`.
    pub resource: String,
}

/// `UserInfo` of `authentication.k8s.io/v1`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UserInfo {
    /// What the authenticator knows besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
    /// The groups of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// Tells apart users of one name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// The name of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
}

// === impl Review ===

impl Review {
    /// Reads an AdmissionReview (`{"request": …}`), or a bare AdmissionRequest.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] where it is neither, or a key that the API server always sends (`uid`,
    /// `kind`, `resource`, `operation`, `userInfo`) is missing.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        serde_json::from_slice::<Value>(json).map_err(Error::Request).and_then(|value| Self::from_value(&value))
    }

    /// As [`Review::from_json`], from a value.
    ///
    /// # Errors
    ///
    /// See there.
    pub fn from_value(value: &Value) -> Result<Self> {
        let request = value.get("request").unwrap_or(value);
        Self::deserialize(request).map_err(Error::Request)
    }

    /// What the guest operation `validate` takes: `{"request": …, "settings": …}`.
    pub fn payload(&self, settings: &Value) -> Vec<u8> {
        // A value's text is that value's JSON, and unlike a writer's it can't fail.
        json!({ "request": self, "settings": settings }).to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn request() -> Value {
        json!({
            "uid": "1",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "operation": "CREATE",
            "userInfo": {"username": "alice"},
            "object": {"a": null, "n": 18_446_744_073_709_551_615_u64},
        })
    }

    fn with(key: &str, value: Value) -> Value {
        let mut request = request();
        request[key] = value;
        request
    }

    #[rstest]
    #[case::bare(request())]
    #[case::review(json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request()}))]
    #[case::null_name(with("name", Value::Null))]
    #[case::null_dry_run(with("dryRun", Value::Null))]
    #[case::null_options(with("options", Value::Null))]
    #[case::null_old_object(with("oldObject", Value::Null))]
    #[case::null_sub_resource(with("subResource", Value::Null))]
    #[case::unknown_key(with("clusterName", json!("c1")))]
    #[case::unknown_user_key(with("userInfo", json!({"username": "alice", "uid": null, "shoe": 43})))]
    fn the_policy_gets_what_is_known_and_not_null(#[case] input: Value) {
        let review = Review::from_value(&input).unwrap();
        let payload: Value = serde_json::from_slice(&review.payload(&json!({"a": 1}))).unwrap();
        assert_eq!(payload, json!({"request": request(), "settings": {"a": 1}}));
    }

    #[rstest]
    #[case::name("name", json!("p"))]
    #[case::namespace("namespace", json!("default"))]
    #[case::sub_resource("subResource", json!("status"))]
    #[case::request_kind("requestKind", json!({"group": "", "version": "v1", "kind": "Pod"}))]
    #[case::request_resource("requestResource", json!({"group": "", "version": "v1", "resource": "pods"}))]
    #[case::request_sub_resource("requestSubResource", json!("status"))]
    #[case::old_object("oldObject", json!({"x": [null, 0.1]}))]
    #[case::dry_run("dryRun", json!(true))]
    #[case::options("options", json!({"kind": "CreateOptions", "fieldManager": null}))]
    #[case::empty_user("userInfo", json!({}))]
    #[case::whole_user("userInfo", json!({"username": "a", "uid": "u", "groups": [], "extra": {"k": ["v"]}}))]
    fn every_known_key_gets_there(#[case] key: &str, #[case] value: Value) {
        let input = with(key, value);
        let review = Review::from_value(&input).unwrap();
        assert_eq!(serde_json::to_value(&review).unwrap(), input);
    }

    #[rstest]
    #[case::not_an_object(json!([1]))]
    #[case::empty_review(json!({"request": null}))]
    #[case::an_object_instead(json!({"apiVersion": "v1", "kind": "Pod"}))]
    #[case::no_user(with("userInfo", Value::Null))]
    fn anything_else_is_an_error(#[case] input: Value) {
        assert!(matches!(Review::from_value(&input), Err(Error::Request(_))));
    }

    #[test]
    fn a_missing_key_is_named() {
        let error = Review::from_json(b"{}").unwrap_err().to_string();
        assert!(error.contains("missing field `uid`"), "{error}");
    }
}
