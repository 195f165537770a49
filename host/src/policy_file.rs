//! ClusterAdmissionPolicies and AdmissionPolicies in a YAML file, as `kwctl run` takes them.
//!
//! Of such a resource `kwctl` honours `spec.settings`, `spec.mutating`, `spec.mode` and
//! `spec.message`, and evaluates it whether or not its rules match the request
//! (`policy_definition.rs` of kwctl, `admission_response_handler.rs` of Kubewarden's
//! policy-evaluator).

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::response::{Cause, Details, Status};
use crate::{AdmissionResponse, Error, Result};

const GROUP: &str = "policies.kubewarden.io/";
const API_VERSION: &str = "policies.kubewarden.io/v1";

/// A ClusterAdmissionPolicy or an AdmissionPolicy.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyResource {
    /// `metadata.name`.
    pub name: String,
    /// `spec.module`, a URI: `registry://…` in what is applied to a cluster, or `file://…`.
    pub module: String,
    /// `spec.settings`; `{}` where there are none.
    pub settings: Value,
    /// `spec.mutating`: whether a patch may leave the policy.
    pub mutating: bool,
    /// `spec.mode`.
    pub mode: Mode,
    /// `spec.message`: what the user is told of a rejection in place of the policy's words.
    pub message: Option<String>,
}

/// Whether a policy's word counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Requests are rejected and changed.
    #[default]
    Protect,
    /// Everything is allowed as it came; only warnings and audit annotations get through.
    Monitor,
}

/// Reads every policy of a file, in order. Unlike kwctl it passes over documents of other API
/// groups, such as a ClusterRole that is applied along with the policies.
///
/// # Errors
///
/// [`Error::Read`] where the file can't be read; [`Error::Contents`] where it is not YAML, has no
/// policy, or has something of Kubewarden's that is no ClusterAdmissionPolicy or AdmissionPolicy.
pub fn read_policy_file(path: impl AsRef<Path>) -> Result<Vec<PolicyResource>> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|reason| Error::Contents { path: path.to_owned(), reason })
}

fn parse(text: &str) -> Result<Vec<PolicyResource>, String> {
    let mut policies = Vec::new();
    for (index, document) in serde_yaml::Deserializer::from_str(text).enumerate() {
        let number = index + 1;
        let document =
            Value::deserialize(document).map_err(|error| format!("document {number} is not YAML: {error}"))?;
        let api_version = document.get("apiVersion").and_then(Value::as_str);
        if api_version.is_some_and(|it| it.starts_with(GROUP)) {
            policies
                .push(PolicyResource::from_value(document).map_err(|reason| format!("document {number} {reason}"))?);
        }
    }
    if policies.is_empty() {
        return Err("has no policy".to_owned());
    }
    Ok(policies)
}

#[derive(Deserialize)]
struct Resource {
    #[serde(default)]
    metadata: Metadata,
    spec: Spec,
}

#[derive(Default, Deserialize)]
struct Metadata {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Spec {
    module: String,
    settings: Option<Value>,
    mutating: bool,
    mode: Option<Mode>,
    message: Option<String>,
}

// === impl PolicyResource ===

impl PolicyResource {
    /// What `kwctl` makes of a module that is named by itself: it protects, and may change what
    /// it likes.
    pub fn of_module(module: impl Into<String>, settings: Value) -> Self {
        let module = module.into();
        Self { name: module.clone(), module, settings, mutating: true, mode: Mode::Protect, message: None }
    }

    fn from_value(document: Value) -> Result<Self, String> {
        let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let known = ["ClusterAdmissionPolicy", "AdmissionPolicy"].contains(&kind);
        if api_version != API_VERSION || !known {
            return Err(format!(
                "is {kind} of {api_version}; what can be run is ClusterAdmissionPolicy and \
                 AdmissionPolicy of {API_VERSION}"
            ));
        }
        let Resource { metadata, spec } =
            serde_json::from_value(document).map_err(|error| format!("is not a whole policy: {error}"))?;
        Ok(Self {
            name: metadata.name.unwrap_or_else(|| "unnamed".to_owned()),
            module: spec.module,
            settings: spec.settings.unwrap_or_else(|| json!({})),
            mutating: spec.mutating,
            mode: spec.mode.unwrap_or_default(),
            message: spec.message,
        })
    }

    /// The path of a module that is a file here.
    pub fn module_path(&self) -> Option<PathBuf> {
        self.module.strip_prefix("file://").map(PathBuf::from)
    }

    /// What the API server gets of a policy's answer, after `mode`, `mutating` and `message`.
    pub fn admit(&self, answer: AdmissionResponse) -> AdmissionResponse {
        if self.mode == Mode::Monitor {
            return AdmissionResponse { allowed: true, patch_type: None, patch: None, status: None, ..answer };
        }
        let mut answer = answer;
        if !self.mutating && answer.patch.is_some() {
            let message = format!(
                "policy {} attempted to mutate the request, but it is configured not to \
                 (mutating: false)",
                self.name
            );
            answer = AdmissionResponse {
                allowed: false,
                // A validating webhook must not answer with a patch.
                patch_type: None,
                patch: None,
                status: Some(Status { message: Some(message), ..Status::default() }),
                ..answer
            };
        }
        if let (false, Some(message)) = (answer.allowed, &self.message) {
            let status = answer.status.take().unwrap_or_default();
            answer.status = Some(Status {
                message: Some(message.clone()),
                details: Some(Details { causes: vec![Cause { message: status.message.unwrap_or_default() }] }),
                ..status
            });
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::PatchType;

    const TWO: &str = "
---
apiVersion: policies.kubewarden.io/v1
kind: ClusterAdmissionPolicy
metadata: {name: first}
spec:
  module: registry://example.com/policies/first:v1.0.0
  rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  mutating: true
  settings: &settings {action: mutate, big: 18446744073709551615}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
---
apiVersion: policies.kubewarden.io/v1
kind: AdmissionPolicy
metadata: {name: second, namespace: default}
spec: {module: 'file:///tmp/second.wasm', mutating: false, mode: monitor, settings: null, message: Ask us.}
";

    #[test]
    fn every_policy_is_read() {
        let policies = parse(TWO).unwrap();
        assert_eq!(
            policies,
            [
                PolicyResource {
                    name: "first".to_owned(),
                    module: "registry://example.com/policies/first:v1.0.0".to_owned(),
                    settings: json!({"action": "mutate", "big": 18_446_744_073_709_551_615_u64}),
                    mutating: true,
                    mode: Mode::Protect,
                    message: None,
                },
                PolicyResource {
                    name: "second".to_owned(),
                    module: "file:///tmp/second.wasm".to_owned(),
                    settings: json!({}),
                    mutating: false,
                    mode: Mode::Monitor,
                    message: Some("Ask us.".to_owned()),
                },
            ]
        );
        assert_eq!(policies[0].module_path(), None);
        assert_eq!(policies[1].module_path(), Some(PathBuf::from("/tmp/second.wasm")));
    }

    #[rstest]
    #[case::empty("", "has no policy")]
    #[case::not_yaml("a: [", "document 1 is not YAML")]
    #[case::something_else("---\nkind: Pod\napiVersion: v1", "has no policy")]
    #[case::group(
        "{}\n---\n{apiVersion: policies.kubewarden.io/v1, kind: AdmissionPolicyGroup}",
        "document 2 is AdmissionPolicyGroup"
    )]
    #[case::older_api("{apiVersion: policies.kubewarden.io/v1alpha2, kind: AdmissionPolicy}", "v1alpha2")]
    #[case::no_spec("{apiVersion: policies.kubewarden.io/v1, kind: AdmissionPolicy}", "missing field `spec`")]
    #[case::no_mutating(
        "{apiVersion: policies.kubewarden.io/v1, kind: AdmissionPolicy, spec: {module: m}}",
        "missing field `mutating`"
    )]
    #[case::unknown_mode(
        "{apiVersion: policies.kubewarden.io/v1, kind: AdmissionPolicy, spec: {module: m, mutating: true, mode: off}}",
        "unknown variant"
    )]
    fn what_is_no_policy_is_an_error(#[case] text: &str, #[case] reason: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    fn policy() -> PolicyResource {
        PolicyResource { name: "p".to_owned(), ..PolicyResource::of_module("file://p.wasm", json!({})) }
    }

    fn mutation() -> AdmissionResponse {
        AdmissionResponse {
            allowed: true,
            patch_type: Some(PatchType::JsonPatch),
            patch: Some("W10=".to_owned()),
            warnings: Some(vec!["w".to_owned()]),
            ..AdmissionResponse::default()
        }
    }

    fn rejection() -> AdmissionResponse {
        AdmissionResponse {
            status: Some(Status { message: Some("no".to_owned()), code: Some(400), details: None }),
            warnings: Some(vec!["w".to_owned()]),
            ..AdmissionResponse::default()
        }
    }

    #[rstest]
    #[case::mutation(mutation())]
    #[case::rejection(rejection())]
    fn a_module_by_itself_is_taken_at_its_word(#[case] answer: AdmissionResponse) {
        assert_eq!(policy().admit(answer.clone()), answer);
    }

    #[test]
    fn a_policy_that_may_not_mutate_is_stopped() {
        let policy = PolicyResource { mutating: false, ..policy() };
        let admitted = policy.admit(mutation());
        assert!(!admitted.allowed);
        assert_eq!((admitted.patch_type, admitted.patch), (None, None));
        assert_eq!(admitted.warnings, mutation().warnings);
        let message = admitted.status.unwrap().message.unwrap();
        assert!(message.contains("policy p attempted to mutate"), "{message}");
        assert_eq!(policy.admit(rejection()), rejection());
    }

    #[rstest]
    #[case::mutation(mutation())]
    #[case::rejection(rejection())]
    fn monitor_lets_only_warnings_through(#[case] answer: AdmissionResponse) {
        let policy =
            PolicyResource { mutating: false, mode: Mode::Monitor, message: Some("ignored".to_owned()), ..policy() };
        let expected =
            AdmissionResponse { allowed: true, warnings: Some(vec!["w".to_owned()]), ..AdmissionResponse::default() };
        assert_eq!(policy.admit(answer), expected);
    }

    #[test]
    fn a_message_replaces_the_policys() {
        let policy = PolicyResource { message: Some("Ask us.".to_owned()), ..policy() };
        let status = policy.admit(rejection()).status.unwrap();
        assert_eq!(
            serde_json::to_value(&status).unwrap(),
            json!({"message": "Ask us.", "code": 400, "details": {"causes": [{"message": "no"}]}})
        );
        assert_eq!(policy.admit(mutation()), mutation());
    }
}
