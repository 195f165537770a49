//! What the cluster of a case answers.
//!
//! A case's `cluster` maps a part of a host call's payload to the answer. The payload is JSON without
//! white space, its keys in the order in which they are declared in `host_capabilities::kubernetes` of
//! Kubewarden's policy SDK, absent values as `null`:
//!
//! ```json
//! {"api_version":"v1","kind":"ConfigMap","name":"effective-config","namespace":"odigos-system","disable_cache":false,"field_masks":null}
//! ```
//!
//! A key is any part of that text, such as `effective-config`, `'"kind":"NodeOverlay"'`, or
//! `'"resource":"nodeoverlays"'` for `can_i`. Where several match, the longest does. The answer to a
//! `get_resource` is the object, to a list `{items: […]}` with what else a list has, to `can_i`
//! `{allowed: true}`; `{error: …}` makes the call fail. A call that no key matches fails as one for
//! which the policy has no grant.

use std::collections::BTreeMap;

use odigos_karpenter_host::{HostCall, HostCapabilities};
use odigos_karpenter_policy::cluster as policy;
use odigos_karpenter_policy::cluster::host::HostCluster;
use serde::Deserialize;
use serde_json::Value;

/// Answers by parts of the payload; one without answers refuses everything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Cluster(BTreeMap<String, Value>);

// === impl Cluster ===

impl Cluster {
    /// The cluster as the library asks it, with the same payloads as the module.
    pub fn native(&self) -> impl policy::Cluster + '_ {
        HostCluster(|_: &str, payload: &[u8]| self.answer(payload))
    }

    /// The answer to a host call with this payload, or its error.
    pub fn answer(&self, payload: &[u8]) -> Result<Vec<u8>, String> {
        let text = String::from_utf8_lossy(payload);
        let matching = self.0.iter().filter(|(part, _)| text.contains(part.as_str()));
        let Some((_, answer)) = matching.max_by_key(|(part, _)| part.len()) else {
            return Err(not_granted(payload));
        };
        match error(answer) {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer.to_string().into_bytes()),
        }
    }
}

impl HostCapabilities for Cluster {
    fn call(&self, call: &HostCall<'_>) -> Result<Vec<u8>, String> {
        match (call.binding, call.namespace) {
            ("kubewarden", "kubernetes") => self.answer(call.payload),
            _ => Err(format!("a case answers no {call}")),
        }
    }
}

/// The message of `{error: …}`, which no object of Kubernetes looks like.
fn error(answer: &Value) -> Option<&str> {
    let answer = answer.as_object().filter(|answer| answer.len() == 1)?;
    answer.get("error")?.as_str()
}

/// What a policy server says to a policy that asks for a resource without a grant (`callback.rs` of
/// Kubewarden's policy-evaluator), and where no resource is asked for, that the call failed.
fn not_granted(payload: &[u8]) -> String {
    let payload: Value = serde_json::from_slice(payload).unwrap_or_default();
    match (payload["api_version"].as_str(), payload["kind"].as_str()) {
        (Some(api_version), Some(kind)) => format!(
            "Policy has not been granted access to Kubernetes {api_version}/{kind} resources. The violation has been reported."
        ),
        _ => "Callback evaluation failure: forbidden".to_owned(),
    }
}

mod tests {
    use rstest::rstest;

    use super::*;

    const CLUSTER: &str = r#"
effective-config: {kind: ConfigMap, data: {a: b}}
'"name":"effective-config","namespace":"elsewhere"': {error: not found}
'"resource":"nodeoverlays"': {allowed: true}
"#;

    #[rstest]
    #[case::answer(r#"{"kind":"ConfigMap","name":"effective-config"}"#, Ok(r#"{"data":{"a":"b"},"kind":"ConfigMap"}"#))]
    #[case::longest(r#"{"name":"effective-config","namespace":"elsewhere"}"#, Err("not found"))]
    #[case::can_i(r#"{"resource":"nodeoverlays","verb":"list"}"#, Ok(r#"{"allowed":true}"#))]
    #[case::not_granted(
        r#"{"api_version":"apps/v1","kind":"DaemonSet"}"#,
        Err(
            "Policy has not been granted access to Kubernetes apps/v1/DaemonSet resources. The violation has been reported."
        )
    )]
    #[case::forbidden(r#"{"resource":"nodes"}"#, Err("Callback evaluation failure: forbidden"))]
    #[case::not_json("nonsense", Err("Callback evaluation failure: forbidden"))]
    fn answers(#[case] payload: &str, #[case] expected: Result<&str, &str>) {
        let cluster: Cluster = serde_yaml::from_str(CLUSTER).unwrap();
        let call = |namespace, payload| HostCall { binding: "kubewarden", namespace, operation: "any", payload };
        let answer = cluster.call(&call("kubernetes", payload.as_bytes()));
        assert_eq!(answer, expected.map(|json| json.as_bytes().to_vec()).map_err(str::to_owned));
        assert!(cluster.call(&call("oci", payload.as_bytes())).is_err());
    }
}
