//! That what is put right is valid.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Node, Pod};
use odigos_karpenter_policy::odigos::TAINT_KEY;
use odigos_karpenter_policy::policy;
use regex::Regex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::all_cases;

/// What Karpenter's CRD demands of the key and of the value of a taint
/// (Karpenter, `pkg/apis/crds/karpenter.sh_nodepools.yaml`).
const NAME: &str =
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";

/// What is wrong with the taints of a NodePool, a NodeClaim or a Node. Both lists together must not
/// have one key and effect twice (Karpenter, `validateTaints` in `pkg/apis/v1/nodeclaim_validation.go`).
fn violations(object: &Value) -> BTreeSet<String> {
    let name = Regex::new(NAME).unwrap();
    let mut violations = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for list in
        ["/spec/taints", "/spec/startupTaints", "/spec/template/spec/taints", "/spec/template/spec/startupTaints"]
    {
        for taint in object.pointer(list).and_then(Value::as_array).into_iter().flatten() {
            let text = |field: &str| taint.get(field).map(|value| value.as_str().unwrap_or_default());
            let (key, effect) = (text("key").unwrap_or_default(), text("effect").unwrap_or_default());
            if !name.is_match(key) || text("value").is_some_and(|value| !name.is_match(value)) {
                violations.insert(format!("{list}: key or value of {taint}"));
            }
            if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
                violations.insert(format!("{list}: effect of {taint}"));
            }
            if !seen.insert((key.to_owned(), effect.to_owned())) {
                violations.insert(format!("{key}:{effect} twice"));
            }
        }
    }
    violations
}

/// The objects before and after each patch of a case.
fn patched() -> Vec<(String, Value, Value)> {
    let mut patched = Vec::new();
    for case in all_cases() {
        let Some(request) = &case.request else { continue };
        let payload = json!({"request": request.admission_request(), "settings": case.settings}).to_string();
        let mut answer: Value = serde_json::from_slice(&policy::validate(payload.as_bytes())).unwrap();
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
fn violations_are_seen() {
    let taints = json!([{"key": "a/b/c", "effect": "NoSchedule"}, {"key": "a", "value": "", "effect": "NoExecute"}, {"key": "b"}]);
    let twice = json!([{"key": "c", "effect": "NoSchedule"}]);
    let object = json!({"spec": {"template": {"spec": {"taints": taints, "startupTaints": twice}}}});
    assert_eq!(violations(&object).len(), 3);
    let object = json!({"spec": {"template": {"spec": {"taints": twice, "startupTaints": twice}}}});
    assert_eq!(violations(&object).len(), 1);
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
