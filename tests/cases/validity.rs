//! That what is put right is valid.

use k8s_openapi::api::core::v1::{Node, Pod};
use odigos_karpenter_policy::odigos::TAINT_KEY;
use odigos_karpenter_policy::policy;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::all_cases;
use super::taints::violations;

/// The objects before and after each patch of a case.
fn patched() -> Vec<(String, Value, Value)> {
    let mut patched = Vec::new();
    for case in all_cases() {
        let Some(request) = &case.request else { continue };
        let payload = json!({"request": request.admission_request(), "settings": case.settings}).to_string();
        let mut answer: Value =
            serde_json::from_slice(&policy::validate(payload.as_bytes(), &case.cluster.native())).unwrap();
        if let (Some(before), after @ Value::Object(_)) = (&request.object, answer["mutated_object"].take()) {
            patched.push((format!("{}: {}", case.file, case.name), before.clone(), after));
        }
    }
    patched
}

#[test]
fn no_patch_leaves_a_taint_that_karpenter_or_the_api_server_refuses() {
    let mut seen = 0;
    for (name, before, after) in patched() {
        let (before, after) = (violations(&before), violations(&after));
        let new: Vec<_> = after.difference(&before).collect();
        assert!(new.is_empty(), "{name}: {new:?}");
        assert!(!after.iter().any(|violation| violation.contains(TAINT_KEY)), "{name}: {after:?}");
        seen += 1;
    }
    assert!(seen > 100, "only {seen} patches");
}

#[test]
fn patched_pods_and_nodes_are_pods_and_nodes() {
    let (mut pods, mut nodes) = (0, 0);
    for (name, before, after) in patched() {
        let (valid_before, valid_after, seen) = match after["kind"].as_str() {
            Some("Pod") => (is::<Pod>(&before), is::<Pod>(&after), &mut pods),
            Some("Node") => (is::<Node>(&before), is::<Node>(&after), &mut nodes),
            _ => continue,
        };
        // What was no Pod or Node before is the API server's to refuse.
        if valid_before {
            assert!(valid_after, "{name}: {after}");
            *seen += 1;
        }
    }
    assert!(pods > 50 && nodes > 15, "only {pods} pods and {nodes} nodes");
}

fn is<T: DeserializeOwned>(object: &Value) -> bool {
    serde_json::from_value::<T>(object.clone()).is_ok()
}
