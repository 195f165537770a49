//! What a policy can ask of the cluster: the host calls of the namespace `kubernetes`.
//!
//! A policy sends them as the functions of `host_capabilities::kubernetes` in Kubewarden's policy
//! SDK do. A policy server makes one type of all of them (`callback_requests.rs` of Kubewarden's
//! policy-evaluator), and a file of exchanges has that type.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A kind of objects that a policy may read: one of `contextAwareResources` in a policy's metadata
/// and in a ClusterAdmissionPolicy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextAwareResource {
    /// `v1` in the core group, else group and version, such as `apps/v1`.
    pub api_version: String,
    /// Such as `ConfigMap`.
    pub kind: String,
}

/// A question to the cluster. The names are those of a file of exchanges, which tells the questions
/// apart by YAML tags: `!KubernetesGetResource`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[allow(clippy::enum_variant_names, reason = "the tags of a file of exchanges")]
pub enum KubernetesRequest {
    /// `get_resource`: one object.
    KubernetesGetResource {
        /// See [`ContextAwareResource`].
        api_version: String,
        /// See [`ContextAwareResource`].
        kind: String,
        /// `metadata.name`.
        name: String,
        /// `metadata.namespace`; absent for what has none.
        namespace: Option<String>,
        /// Whether an answer of the last seconds won't do.
        disable_cache: bool,
        /// The paths of what is wanted of the object; absent: all of it.
        field_masks: Option<BTreeSet<String>>,
    },
    /// `list_resources_by_namespace`: the objects in a namespace.
    KubernetesListResourceNamespace {
        /// See [`ContextAwareResource`].
        api_version: String,
        /// See [`ContextAwareResource`].
        kind: String,
        /// The namespace.
        namespace: String,
        /// As `kubectl get -l` takes it.
        label_selector: Option<String>,
        /// As `kubectl get --field-selector` takes it.
        field_selector: Option<String>,
        /// The paths of what is wanted of the objects; absent: all of them.
        field_masks: Option<BTreeSet<String>>,
    },
    /// `list_resources_all`: the objects in the cluster.
    KubernetesListResourceAll {
        /// See [`ContextAwareResource`].
        api_version: String,
        /// See [`ContextAwareResource`].
        kind: String,
        /// As `kubectl get -l` takes it.
        label_selector: Option<String>,
        /// As `kubectl get --field-selector` takes it.
        field_selector: Option<String>,
        /// The paths of what is wanted of the objects; absent: all of them.
        field_masks: Option<BTreeSet<String>>,
    },
    /// `can_i`: whether somebody may do something.
    KubernetesCanI {
        /// Who, and what. A policy calls it `subject_access_review`.
        #[serde(alias = "subject_access_review")]
        request: SubjectAccessReview,
        /// Whether an answer of the last seconds won't do.
        disable_cache: bool,
    },
}

/// `SubjectAccessReviewSpec` of `authorization.k8s.io/v1`, in the words of Kubewarden's policy SDK.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SubjectAccessReview {
    /// The groups that are asked for.
    pub groups: Option<Vec<String>>,
    /// What they want to do.
    pub resource_attributes: ResourceAttributes,
    /// The user that is asked for.
    pub user: String,
}

/// `ResourceAttributes` of `authorization.k8s.io/v1`, in the words of Kubewarden's policy SDK.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ResourceAttributes {
    /// Empty for the core group, `*` for all.
    pub group: Option<String>,
    /// The name of the object; absent: any.
    pub name: Option<String>,
    /// Absent for what has none, and for all of them.
    pub namespace: Option<String>,
    /// The plural name, such as `pods`.
    pub resource: String,
    /// Such as `status`.
    pub subresource: Option<String>,
    /// Such as `list`.
    pub verb: String,
    /// Such as `v1`.
    pub version: Option<String>,
}

/// The operations of the namespace, and what a file of exchanges calls them.
const OPERATIONS: [(&str, &str); 4] = [
    ("get_resource", "KubernetesGetResource"),
    ("list_resources_by_namespace", "KubernetesListResourceNamespace"),
    ("list_resources_all", "KubernetesListResourceAll"),
    ("can_i", "KubernetesCanI"),
];

// === impl KubernetesRequest ===

impl KubernetesRequest {
    /// Reads the payload of an operation; `None` where there is no such operation.
    pub fn read(operation: &str, payload: &[u8]) -> Option<Result<Self, serde_json::Error>> {
        let (_, tag) = OPERATIONS.iter().find(|(name, _)| *name == operation)?;
        let tagged = |payload: Value| serde_json::from_value(json!({ *tag: payload }));
        Some(serde_json::from_slice(payload).and_then(tagged))
    }

    /// What has to be granted for it: nothing for `can_i`, which reads no object.
    pub fn resource(&self) -> Option<ContextAwareResource> {
        match self {
            Self::KubernetesGetResource { api_version, kind, .. }
            | Self::KubernetesListResourceNamespace { api_version, kind, .. }
            | Self::KubernetesListResourceAll { api_version, kind, .. } => {
                Some(ContextAwareResource { api_version: api_version.clone(), kind: kind.clone() })
            }
            Self::KubernetesCanI { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// What the SDK sends, and the same in a file of exchanges.
    #[rstest]
    #[case::get(
        "get_resource",
        r#"{"api_version":"apps/v1","kind":"DaemonSet","name":"d","namespace":"n","disable_cache":false,"field_masks":["a","b"]}"#,
        "!KubernetesGetResource {api_version: apps/v1, kind: DaemonSet, name: d, namespace: n, disable_cache: false, field_masks: [b, a]}"
    )]
    #[case::get_of_the_cluster(
        "get_resource",
        r#"{"api_version":"v1","kind":"Node","name":"d","namespace":null,"disable_cache":true,"field_masks":null}"#,
        "!KubernetesGetResource {api_version: v1, kind: Node, name: d, disable_cache: true}"
    )]
    #[case::list_in_a_namespace(
        "list_resources_by_namespace",
        r#"{"api_version":"v1","kind":"Pod","namespace":"n","label_selector":"a=b","field_selector":null,"field_masks":null}"#,
        "!KubernetesListResourceNamespace {api_version: v1, kind: Pod, namespace: n, label_selector: a=b, field_selector: null}"
    )]
    #[case::list(
        "list_resources_all",
        r#"{"api_version":"karpenter.sh/v1alpha1","kind":"NodeOverlay","label_selector":null,"field_selector":"a=b","field_masks":null}"#,
        "!KubernetesListResourceAll {api_version: karpenter.sh/v1alpha1, kind: NodeOverlay, label_selector: null, field_selector: a=b}"
    )]
    #[case::can_i(
        "can_i",
        r#"{"subject_access_review":{"groups":null,"resource_attributes":{"group":"g","name":null,"namespace":null,"resource":"r","subresource":null,"verb":"list","version":null},"user":"u"},"disable_cache":false}"#,
        "!KubernetesCanI {request: {groups: null, resource_attributes: {group: g, resource: r, verb: list}, user: u}, disable_cache: false}"
    )]
    fn a_call_is_what_a_file_says(#[case] operation: &str, #[case] payload: &str, #[case] yaml: &str) {
        let request = KubernetesRequest::read(operation, payload.as_bytes()).unwrap().unwrap();
        assert_eq!(request, serde_yaml::from_str(yaml).unwrap());
        let granted = request.resource().map(|resource| format!("{}/{}", resource.api_version, resource.kind));
        let payload: Value = serde_json::from_str(payload).unwrap();
        let expected =
            payload["kind"].as_str().map(|kind| format!("{}/{kind}", payload["api_version"].as_str().unwrap()));
        assert_eq!(granted, expected);
    }

    #[rstest]
    #[case::not_json("get_resource", "nonsense")]
    #[case::missing("get_resource", r#"{"api_version": "v1", "kind": "Pod"}"#)]
    #[case::another_operations("can_i", r#"{"api_version": "v1", "kind": "Pod"}"#)]
    fn a_payload_that_can_not_be_read(#[case] operation: &str, #[case] payload: &str) {
        assert!(KubernetesRequest::read(operation, payload.as_bytes()).unwrap().is_err());
    }

    #[test]
    fn an_operation_that_there_is_not() {
        assert!(KubernetesRequest::read("delete_resource", b"{}").is_none());
    }
}
