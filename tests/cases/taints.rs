//! What Karpenter and the API server demand of taints.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

/// What Karpenter's CRD demands of the key and of the value of a taint
/// (Karpenter, `pkg/apis/crds/karpenter.sh_nodepools.yaml`).
const NAME: &str =
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";

/// What is wrong with the taints of a NodePool, a NodeClaim or a Node. Both lists together must not
/// have one key and effect twice (Karpenter, `validateTaints` in `pkg/apis/v1/nodeclaim_validation.go`).
pub fn violations(object: &Value) -> BTreeSet<String> {
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

#[test]
fn violations_are_seen() {
    let taints = serde_json::json!([{"key": "a/b/c", "effect": "NoSchedule"}, {"key": "a", "value": "", "effect": "NoExecute"}, {"key": "b"}]);
    let twice = serde_json::json!([{"key": "c", "effect": "NoSchedule"}]);
    let object = serde_json::json!({"spec": {"template": {"spec": {"taints": taints, "startupTaints": twice}}}});
    assert_eq!(violations(&object).len(), 3);
    let object = serde_json::json!({"spec": {"template": {"spec": {"taints": twice, "startupTaints": twice}}}});
    assert_eq!(violations(&object).len(), 1);
}
