//! What makes an object invalid that was valid before.

use k8s_openapi::api::core::v1::{Node, Pod};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::taints::violations;
use crate::words::{DEVICES, KEY};

/// What is wrong with an object that was not wrong with it before, and what is wrong with the startup
/// taint in any case.
pub fn faults(before: &Value, after: &Value) -> Vec<String> {
    let (was, is) = (violations(before), violations(after));
    let mut faults: Vec<String> = is.into_iter().filter(|fault| !was.contains(fault) || fault.contains(KEY)).collect();
    match after["kind"].as_str() {
        Some("Pod") => {
            if is_valid::<Pod>(before) && !is_valid::<Pod>(after) {
                faults.push("no Pod".to_owned());
            }
            let was = pod_faults(before);
            faults.extend(pod_faults(after).into_iter().filter(|fault| !was.contains(fault)));
        }
        Some("Node") if is_valid::<Node>(before) && !is_valid::<Node>(after) => faults.push("no Node".to_owned()),
        _ => {}
    }
    faults
}

fn is_valid<T: DeserializeOwned>(object: &Value) -> bool {
    serde_json::from_value::<T>(object.clone()).is_ok()
}

/// What the API server and Karpenter refuse beyond types.
fn pod_faults(pod: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let entries = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let required = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    if required.is_object() && entries(&required["nodeSelectorTerms"]).is_empty() {
        faults.push("required node affinity without terms".to_owned());
    }
    for term in entries(&required["nodeSelectorTerms"]) {
        if term["matchFields"].as_array().is_some_and(Vec::is_empty) {
            faults.push("empty matchFields, which Karpenter refuses".to_owned());
        }
        for expression in entries(&term["matchExpressions"]) {
            let wants_values = ["In", "NotIn"].iter().any(|operator| expression["operator"] == *operator);
            if wants_values == entries(&expression["values"]).is_empty() {
                faults.push(format!("values of {expression}"));
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for container in entries(&pod["spec"][list]) {
            let of = |kind: &str| container["resources"][kind].as_object().cloned().unwrap_or_default();
            for (resource, limit) in of("limits") {
                if resource.starts_with(DEVICES) && of("requests").get(&resource) != Some(&limit) {
                    faults.push(format!("requests and limits of {resource} differ"));
                }
            }
        }
    }
    faults
}

#[test]
fn faults_are_seen() {
    let pod = |terms: &str, resources: &str| -> Value {
        let affinity = format!(
            r#"{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{{"nodeSelectorTerms":{terms}}}}}}}"#
        );
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{}},"spec":{{"affinity":{affinity},"containers":[{{"name":"a","resources":{resources}}}]}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    let valid = pod(r#"[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]"#, "{}");
    assert_eq!(faults(&valid, &valid), [""; 0]);
    for (terms, resources) in [
        ("[]", "{}"),
        (r#"[{"matchFields":[]}]"#, "{}"),
        (r#"[{"matchExpressions":[{"key":"a","operator":"In","values":[]}]}]"#, "{}"),
        (r#"[{"matchExpressions":{}}]"#, "{}"),
        ("[{}]", r#"{"limits":{"instrumentation.odigos.io/generic":"1"}}"#),
    ] {
        assert!(!faults(&valid, &pod(terms, resources)).is_empty(), "{terms} {resources}");
    }
}
