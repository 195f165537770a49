//! ClusterAdmissionPolicies and AdmissionPolicies in a YAML file, as `kwctl run` takes them.
//!
//! Of such a resource `kwctl` honours `spec.settings`, `spec.mutating`, `spec.mode`, `spec.message`
//! and `spec.contextAwareResources`, and evaluates it whether or not its rules match the request
//! (`policy_definition.rs` of kwctl).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Access, ContextAwareResource, Error, Result};

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
    /// `spec.contextAwareResources`: what of the cluster the policy may read.
    pub access: Access,
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
#[serde(rename_all = "camelCase")]
struct Spec {
    module: String,
    settings: Option<Value>,
    mutating: bool,
    mode: Option<Mode>,
    message: Option<String>,
    #[serde(default)]
    context_aware_resources: BTreeSet<ContextAwareResource>,
}

// === impl PolicyResource ===

impl PolicyResource {
    /// What `kwctl` makes of a module that is named by itself: it protects, may change what it
    /// likes, and may read nothing in the cluster.
    pub fn of_module(module: impl Into<String>, settings: Value) -> Self {
        let module = module.into();
        Self {
            name: module.clone(),
            module,
            settings,
            mutating: true,
            mode: Mode::Protect,
            message: None,
            access: Access::Nothing,
        }
    }

    fn from_value(document: Value) -> Result<Self, String> {
        let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let of_the_cluster = kind == "ClusterAdmissionPolicy";
        let known = of_the_cluster || kind == "AdmissionPolicy";
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
            // There is no such field in an AdmissionPolicy.
            access: if of_the_cluster { Access::To(spec.context_aware_resources) } else { Access::Nothing },
        })
    }

    /// The path of a module that is a file here.
    pub fn module_path(&self) -> Option<PathBuf> {
        self.module.strip_prefix("file://").map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const TWO: &str = "
---
apiVersion: policies.kubewarden.io/v1
kind: ClusterAdmissionPolicy
metadata: {name: first}
spec:
  module: registry://example.com/policies/first:v1.0.0
  rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
  mutating: true
  contextAwareResources: [{apiVersion: v1, kind: ConfigMap}]
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
                    access: Access::To(BTreeSet::from([ContextAwareResource {
                        api_version: "v1".to_owned(),
                        kind: "ConfigMap".to_owned(),
                    }])),
                },
                PolicyResource {
                    name: "second".to_owned(),
                    module: "file:///tmp/second.wasm".to_owned(),
                    settings: json!({}),
                    mutating: false,
                    mode: Mode::Monitor,
                    message: Some("Ask us.".to_owned()),
                    access: Access::Nothing,
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
}
