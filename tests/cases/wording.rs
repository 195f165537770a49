//! That warnings fit the API server, and say what there is to say.

use odigos_karpenter_policy::cluster::NoCluster;
use odigos_karpenter_policy::decision::REJECTION_LIMIT;
use odigos_karpenter_policy::message::WARNING_LIMIT;
use odigos_karpenter_policy::policy;
use odigos_karpenter_policy::rule::Rule;
use serde_json::{Value, json};

use super::all_cases;

/// The warnings of all cases under `warn`, with names as long as the API server allows them.
fn warnings() -> Vec<(String, String)> {
    let mut warnings = Vec::new();
    for case in all_cases() {
        let (Some(request), Value::Object(mut settings)) = (&case.request, case.settings.clone()) else { continue };
        settings.insert("action".into(), json!("warn"));
        for section in ["nodePools", "nodeClaims", "nodes", "pods"] {
            if let Some(Value::Object(section)) = settings.get_mut(section) {
                section.remove("action");
            }
        }
        let mut request = request.admission_request();
        if let Some(Value::Object(metadata)) = request.pointer_mut("/object/metadata") {
            metadata.insert("name".into(), json!("n".repeat(253)));
            request["namespace"] = json!("s".repeat(63));
        }
        let payload = json!({"request": request, "settings": settings}).to_string();
        let answer: Value =
            serde_json::from_slice(&policy::validate(payload.as_bytes(), &case.cluster.native())).unwrap();
        for warning in answer["warnings"].as_array().into_iter().flatten() {
            warnings.push((format!("{}: {}", case.file, case.name), warning.as_str().unwrap().to_owned()));
        }
    }
    warnings
}

#[test]
fn a_warning_is_one_line_that_fits() {
    for (name, warning) in warnings() {
        assert!(warning.chars().count() <= WARNING_LIMIT, "{name}: {} characters: {warning}", warning.chars().count());
        assert!(!warning.contains(char::is_control), "{name}: {warning}");
    }
}

/// Whatever is shortened, it is no word of Odigos', and the remedy is whole.
#[test]
fn words_are_not_shortened() {
    let mut seen = 0;
    for (name, warning) in warnings() {
        let (_, remedy) = warning.rsplit_once("; ").unwrap_or_else(|| panic!("{name}: no remedy: {warning}"));
        assert!(!remedy.contains('…'), "{name}: {warning}");
        assert!(
            !warning.contains("odigos.io/odiglet-…") && !warning.contains("instrumentation.…"),
            "{name}: {warning}"
        );
        seen += usize::from(warning.contains('…'));
    }
    assert!(seen > 50, "only {seen} warnings were long");
}

#[test]
fn every_rule_is_heard() {
    let warnings = warnings();
    for rule in Rule::ALL {
        let prefix = format!("{}: ", rule.name());
        assert!(
            warnings.iter().any(|(_, warning)| warning.starts_with(&prefix)),
            "nothing is found by {}",
            rule.name()
        );
    }
}

/// Names are checked only after mutation, so a name may come that is as long as a request.
#[test]
fn a_long_name_does_not_multiply() {
    let conflict = json!({"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}]});
    let affinity =
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": vec![conflict; 100]}});
    let request = json!({
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "userInfo": {"username": "a"},
        "object": {
            "metadata": {"name": "n".repeat(100_000), "labels": {"odigos.io/agents-meta-hash": ""}},
            "spec": {"containers": [], "affinity": {"nodeAffinity": affinity}},
        },
    });
    let settings = json!({"mountMethod": "k8s-host-path", "action": "reject"});
    let payload = json!({"request": request, "settings": settings}).to_string();
    let answer = policy::validate(payload.as_bytes(), &NoCluster);
    let rejection: Value = serde_json::from_slice(&answer).unwrap();
    let message = rejection["message"].as_str().unwrap();
    assert!(message.len() <= REJECTION_LIMIT, "{} bytes", message.len());
    let (told, more) = message.rsplit_once('\n').unwrap();
    assert_eq!(more, format!("and {} more", 100 - told.lines().count()));
}
