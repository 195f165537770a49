//! The cluster behind Kubewarden's host capabilities (Kubewarden, policy SDK,
//! `host_capabilities/kubernetes.rs`, and `callback_handler` of its policy-evaluator).

use serde::Serialize;

use super::{Cluster, LookUpError, Resource};
use crate::json::view::{Content, View};

/// Who asks the cluster: the policy server's service account, as Kubewarden's charts name it
/// (`policy-server` in the namespace `kubewarden`).
const SERVICE_ACCOUNT: &str = "system:serviceaccount:kubewarden:policy-server";

/// How waPC begins what the host says went wrong (`wapc-guest`, `errors.rs`).
const GUEST_PREFIX: &str = "Host error: ";

/// How a failure of the host's own begins, before its cause.
const FAILURE: &str = "Callback evaluation failure: ";

/// The cluster that the host calls of `call` reach: it is told an operation of the namespace
/// `kubernetes` and the payload, and returns the answer or what went wrong.
pub struct HostCluster<C>(pub C);

impl<C: Fn(&str, &[u8]) -> Result<Vec<u8>, String>> Cluster for HostCluster<C> {
    fn get(&self, resource: Resource, namespace: &str, name: &str) -> Result<Vec<u8>, LookUpError> {
        let request = Get {
            api_version: resource.api_version(),
            kind: resource.kind(),
            name,
            namespace: Some(namespace),
            disable_cache: false,
            field_masks: resource.fields(),
        };
        self.call("get_resource", &request).map_err(|error| {
            let not_found = format!("Cannot find {}/{} named '{name}'", resource.api_version(), resource.kind());
            if error.contains(&not_found) { LookUpError::NotFound } else { LookUpError::Failed(error) }
        })
    }

    /// A list that the host has no right to never returns, so it is asked for first whether it has.
    fn list(&self, resource: Resource) -> Result<Vec<u8>, LookUpError> {
        let plural = resource.kind().to_ascii_lowercase() + "s";
        let (group, version) = resource.api_version().split_once('/').unwrap_or(("", resource.api_version()));
        let review = CanI {
            subject_access_review: SubjectAccessReview {
                groups: None,
                resource_attributes: ResourceAttributes {
                    group: Some(group),
                    name: None,
                    namespace: None,
                    resource: &plural,
                    subresource: None,
                    verb: "list",
                    version: Some(version),
                },
                user: SERVICE_ACCOUNT,
            },
            disable_cache: false,
        };
        let answer = self.call("can_i", &review).map_err(LookUpError::Failed)?;
        if !matches!(View::new(&answer).get("allowed").map(View::content), Some(Content::Boolean(true))) {
            return Err(LookUpError::Failed(format!("the policy server may not list {plural}")));
        }
        let request = List {
            api_version: resource.api_version(),
            kind: resource.kind(),
            label_selector: None,
            field_selector: None,
            field_masks: resource.fields(),
        };
        self.call("list_resources_all", &request).map_err(LookUpError::Failed)
    }
}

impl<C: Fn(&str, &[u8]) -> Result<Vec<u8>, String>> HostCluster<C> {
    fn call(&self, operation: &str, request: &impl Serialize) -> Result<Vec<u8>, String> {
        let payload = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        (self.0)(operation, &payload).map_err(|error| {
            // What comes after the first line is a backtrace, or the same in other words.
            let cause = error.strip_prefix(GUEST_PREFIX).unwrap_or(&error);
            let cause = cause.strip_prefix(FAILURE).unwrap_or(cause);
            cause.lines().next().unwrap_or_default().trim().to_owned()
        })
    }
}

/// `GetResourceRequest` of the SDK.
#[derive(Serialize)]
struct Get<'r> {
    api_version: &'static str,
    kind: &'static str,
    name: &'r str,
    namespace: Option<&'r str>,
    disable_cache: bool,
    field_masks: &'static [&'static str],
}

/// `ListAllResourcesRequest` of the SDK. Each different one is a watch that the host keeps for ever.
#[derive(Serialize)]
struct List {
    api_version: &'static str,
    kind: &'static str,
    label_selector: Option<&'static str>,
    field_selector: Option<&'static str>,
    field_masks: &'static [&'static str],
}

/// `CanIRequest` of the SDK.
#[derive(Serialize)]
struct CanI<'r> {
    subject_access_review: SubjectAccessReview<'r>,
    disable_cache: bool,
}

#[derive(Serialize)]
struct SubjectAccessReview<'r> {
    groups: Option<&'static [&'static str]>,
    resource_attributes: ResourceAttributes<'r>,
    user: &'static str,
}

#[derive(Serialize)]
struct ResourceAttributes<'r> {
    group: Option<&'r str>,
    name: Option<&'static str>,
    namespace: Option<&'static str>,
    resource: &'r str,
    subresource: Option<&'static str>,
    verb: &'static str,
    version: Option<&'r str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::cell::RefCell;

    /// An operation and its payload.
    type Call = (String, String);

    /// What a list comes to, and the calls that were made for it.
    fn listed(allowed: &'static str) -> (Result<Vec<u8>, LookUpError>, Vec<Call>) {
        let calls = RefCell::new(Vec::new());
        let cluster = HostCluster(|operation: &str, payload: &[u8]| {
            calls.borrow_mut().push((operation.to_owned(), String::from_utf8(payload.to_vec()).unwrap()));
            Ok(if operation == "can_i" { allowed.into() } else { b"{}".to_vec() })
        });
        let answer = cluster.list(Resource::NodeOverlay);
        (answer, calls.into_inner())
    }

    #[test]
    fn a_list_is_asked_for_where_it_may_be_had() {
        let (answer, calls) = listed(r#"{"allowed":true}"#);
        assert_eq!(answer, Ok(b"{}".to_vec()));
        assert_eq!(calls.iter().map(|(operation, _)| operation).collect::<Vec<_>>(), ["can_i", "list_resources_all"]);
        assert_eq!(
            calls[0].1,
            r#"{"subject_access_review":{"groups":null,"resource_attributes":{"group":"karpenter.sh","name":null,"namespace":null,"resource":"nodeoverlays","subresource":null,"verb":"list","version":"v1alpha1"},"user":"system:serviceaccount:kubewarden:policy-server"},"disable_cache":false}"#
        );
        assert_eq!(
            calls[1].1,
            r#"{"api_version":"karpenter.sh/v1alpha1","kind":"NodeOverlay","label_selector":null,"field_selector":null,"field_masks":["spec.capacity","spec.requirements","status.conditions"]}"#
        );
    }

    #[rstest]
    #[case(r#"{"allowed":false,"denied":true}"#)]
    #[case(r#"{"allowed":"true"}"#)]
    #[case("true")]
    #[case("")]
    fn anything_but_yes_is_no(#[case] answer: &'static str) {
        let (answer, calls) = listed(answer);
        assert_eq!(answer, Err(LookUpError::Failed("the policy server may not list nodeoverlays".into())));
        assert_eq!(calls.len(), 1);
    }

    #[rstest]
    #[case::not_found(
        "Host error: Callback evaluation failure: Cannot find v1/ConfigMap named 'a' inside of namespace 'Some(\"b\")'",
        LookUpError::NotFound
    )]
    #[case::another("Cannot find v1/ConfigMap named 'other' inside of namespace 'Some(\"b\")'",
        LookUpError::Failed("Cannot find v1/ConfigMap named 'other' inside of namespace 'Some(\"b\")'".into()))]
    #[case::discovery("Cannot find resource v1/ConfigMap", LookUpError::Failed("Cannot find resource v1/ConfigMap".into()))]
    #[case::one_line("Host error: Callback evaluation failure: timed out\n\nCaused by:\n    0: x", LookUpError::Failed("timed out".into()))]
    fn what_went_wrong(#[case] error: &str, #[case] expected: LookUpError) {
        let cluster = HostCluster(|_: &str, _: &[u8]| Err(error.to_owned()));
        assert_eq!(cluster.get(Resource::ConfigMap, "b", "a"), Err(expected));
    }
}
