//! What of the cluster a policy gets to see.
//!
//! A policy server answers a question only about resources that were granted to the policy by
//! exactly their apiVersion and kind; `can_i` needs no grant (`callback.rs` and
//! `evaluation_context.rs` of Kubewarden's policy-evaluator). The words of the errors are
//! Kubewarden's, for policies and their tests see them.

use std::collections::BTreeSet;

use crate::{
    ContextAwareResource, HostCall, HostCapabilities, KubernetesRequest, Metadata, NoCapabilities, Replay, Result,
};

/// Where it is written which resources a policy may read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Access {
    /// Nowhere: a module without `--allow-context-aware`, and an AdmissionPolicy.
    #[default]
    Nothing,
    /// In the module's own metadata: `--allow-context-aware`.
    OfMetadata,
    /// In `spec.contextAwareResources` of a ClusterAdmissionPolicy.
    To(BTreeSet<ContextAwareResource>),
}

/// The host capability `kubernetes` with what has been granted of it. There is no cluster; what is
/// granted is answered by exchanges.
#[derive(Debug, Default)]
pub struct KubernetesAccess {
    granted: BTreeSet<ContextAwareResource>,
    replay: Option<Replay>,
}

// === impl Access ===

impl Access {
    /// The resources themselves, with the metadata of the module where it has any.
    pub fn granted(&self, metadata: Option<&Metadata>) -> BTreeSet<ContextAwareResource> {
        match self {
            Self::Nothing => BTreeSet::new(),
            Self::OfMetadata => metadata.map(|it| it.context_aware_resources.clone()).unwrap_or_default(),
            Self::To(resources) => resources.clone(),
        }
    }
}

// === impl KubernetesAccess ===

impl KubernetesAccess {
    /// Access to these resources, of which `replay` knows the objects.
    pub fn new(granted: BTreeSet<ContextAwareResource>, replay: Option<Replay>) -> Self {
        Self { granted, replay }
    }

    /// The requests of the exchanges that have not come up.
    pub fn left(&self) -> Vec<KubernetesRequest> {
        self.replay.as_ref().map(Replay::left).unwrap_or_default()
    }

    fn answer(&self, request: &KubernetesRequest) -> Result<Vec<u8>, String> {
        match request.resource() {
            Some(resource) if !self.granted.contains(&resource) => Err(format!(
                "Policy has not been granted access to Kubernetes {}/{} resources. The violation has been reported.",
                resource.api_version, resource.kind
            )),
            _ => self
                .replay
                .as_ref()
                .map_or_else(|| Err("there is no cluster".to_owned()), |replay| replay.answer(request))
                .map_err(|error| format!("Callback evaluation failure: {error}")),
        }
    }
}

impl HostCapabilities for KubernetesAccess {
    fn call(&self, call: &HostCall<'_>) -> Result<Vec<u8>, String> {
        if (call.binding, call.namespace) != ("kubewarden", "kubernetes") {
            return NoCapabilities.call(call);
        }
        match KubernetesRequest::read(call.operation, call.payload) {
            Some(Ok(request)) => self.answer(&request),
            Some(Err(error)) => Err(format!("the payload of {call} can't be read: {error}")),
            None => NoCapabilities.call(call),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::Exchange;

    const LIST: &[u8] = br#"{"api_version": "karpenter.sh/v1", "kind": "NodePool", "label_selector": null}"#;
    const CAN_I: &[u8] = br#"{"subject_access_review": {"user": "u", "resource_attributes": {"resource": "nodepools", "verb": "list"}}, "disable_cache": false}"#;

    fn call<'a>(operation: &'a str, payload: &'a [u8]) -> HostCall<'a> {
        HostCall { binding: "kubewarden", namespace: "kubernetes", operation, payload }
    }

    fn resources(api_version: &str, kind: &str) -> BTreeSet<ContextAwareResource> {
        BTreeSet::from([ContextAwareResource { api_version: api_version.to_owned(), kind: kind.to_owned() }])
    }

    fn replay(call: &HostCall<'_>) -> Replay {
        let request = KubernetesRequest::read(call.operation, call.payload).unwrap().unwrap();
        Replay::new(vec![Exchange { request, response: Ok(b"{}".to_vec()) }])
    }

    #[test]
    fn what_is_granted_is_answered() {
        let list = call("list_resources_all", LIST);
        let access = KubernetesAccess::new(resources("karpenter.sh/v1", "NodePool"), Some(replay(&list)));
        assert_eq!(access.left().len(), 1);
        assert_eq!(access.call(&list), Ok(b"{}".to_vec()));
        assert_eq!(access.left(), []);
        let error = access.call(&list).unwrap_err();
        assert_eq!(error, "Callback evaluation failure: the list of recorded responses is empty");
    }

    #[rstest]
    #[case::nothing(BTreeSet::new())]
    #[case::another_kind(resources("karpenter.sh/v1", "NodeClaim"))]
    #[case::another_version(resources("karpenter.sh/v1beta1", "NodePool"))]
    #[case::any_version(resources("karpenter.sh/*", "NodePool"))]
    fn what_is_not_granted_is_refused(#[case] granted: BTreeSet<ContextAwareResource>) {
        let list = call("list_resources_all", LIST);
        let access = KubernetesAccess::new(granted, Some(replay(&list)));
        let error = access.call(&list).unwrap_err();
        assert!(
            error.starts_with("Policy has not been granted access to Kubernetes karpenter.sh/v1/NodePool resources."),
            "{error}"
        );
        assert_eq!(access.left().len(), 1);
    }

    #[test]
    fn can_i_needs_no_grant() {
        let can_i = call("can_i", CAN_I);
        let access = KubernetesAccess::new(BTreeSet::new(), Some(replay(&can_i)));
        assert_eq!(access.call(&can_i), Ok(b"{}".to_vec()));
    }

    #[rstest]
    #[case::no_cluster(call("can_i", CAN_I), "Callback evaluation failure: there is no cluster")]
    #[case::payload(call("can_i", b"[]"), "the payload of kubewarden/kubernetes/can_i can't be read")]
    #[case::operation(call("delete", b"{}"), "this host has no capability kubewarden/kubernetes/delete")]
    #[case::namespace(HostCall { namespace: "oci", ..call("can_i", CAN_I) }, "this host has no capability kubewarden/oci/can_i")]
    #[case::binding(HostCall { binding: "kube", ..call("can_i", CAN_I) }, "this host has no capability kube/kubernetes/can_i")]
    fn what_is_not_there_is_refused(#[case] call: HostCall<'_>, #[case] error: &str) {
        let refusal = KubernetesAccess::default().call(&call).unwrap_err();
        assert!(refusal.starts_with(error), "{refusal}");
    }

    #[rstest]
    #[case::nothing(Access::Nothing, 0)]
    #[case::of_metadata(Access::OfMetadata, 1)]
    #[case::listed(Access::To(BTreeSet::new()), 0)]
    fn grants(#[case] access: Access, #[case] expected: usize) {
        let metadata = Metadata::from_yaml(
            "{rules: [], mutating: true, contextAwareResources: [{apiVersion: v1, kind: ConfigMap}]}",
        )
        .unwrap();
        assert_eq!(access.granted(Some(&metadata)).len(), expected);
        assert_eq!(access.granted(None), BTreeSet::new());
    }
}
