//! Generators of settings.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::words::*;

/// The mount methods.
pub const METHODS: &[&str] = &["k8s-virtual-device", "k8s-host-path", "k8s-csi-driver", "k8s-init-container"];

fn action() -> BoxedStrategy<Value> {
    word(&["mutate", "reject", "warn"])
}

/// Settings that are valid, without any action.
pub fn without_actions() -> BoxedStrategy<Value> {
    let exists = |key: &str| json!({"key": key, "operator": "Exists"});
    let tolerations = one_of(&[
        json!([{"operator": "Exists"}]),
        json!([]),
        json!([exists(KEY)]),
        json!([exists(KEY), exists("dedicated")]),
        json!([{"key": KEY, "value": "x"}, {"operator": "Exists", "effect": "NoSchedule"}]),
    ]);
    let node_selector = one_of(&[
        json!({"kubernetes.io/os": "linux"}),
        json!({}),
        json!({"kubernetes.io/os": "linux", "team": "a"}),
        json!({"karpenter.sh/nodepool": "default"}),
    ]);
    let odiglet = map(vec![
        some(15, "installed", one_of(&[json!(false), json!(true), json!(null)])),
        some(30, "tolerations", tolerations),
        some(30, "nodeSelector", node_selector),
        some(10, "namespace", word(&["odigos-system", "shop"])),
    ]);
    let selector = one_of(&[
        json!({}),
        json!(null),
        json!({"matchLabels": {"app": "web"}}),
        json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}),
    ]);
    let pods = map(vec![some(60, "selector", selector), some(20, "containers", one_of(&[json!([]), json!(["app"])]))]);
    let pools = map(vec![
        some(50, "retrofit", one_of(&[json!(true), json!(false)])),
        some(30, "exclude", one_of(&[json!(["system"]), json!(["gpu-*"]), json!([])])),
    ]);
    map(vec![
        some(90, "mountMethod", word(METHODS)),
        some(80, "karpenterEnabled", one_of(&[json!(true), json!(true), json!(false), json!(null)])),
        some(50, "tier", word(&["community", "cloud", "onprem"])),
        some(40, "odiglet", odiglet),
        some(30, "pods", pods),
        some(30, "nodePools", pools),
        some(40, "nodes", one_of(&[json!({"include": "all"}), json!({"include": "karpenter"}), json!({})])),
    ])
}

/// Settings with this action for all kinds. Nodes and claims have none of their own: they are never
/// rejected, but in an audit they follow it.
pub fn with_action(settings: &Value, action: &str) -> Value {
    let mut settings = settings.clone();
    settings["action"] = action.into();
    settings
}

/// Settings that are valid, each kind with an action of its own perhaps.
pub fn any() -> BoxedStrategy<Value> {
    let own =
        (proptest::option::of(action()), proptest::option::of(action()), proptest::option::of(action()), 0..4_usize);
    (without_actions(), own)
        .prop_map(|(mut settings, (general, pools, pods, never_rejected))| {
            let mut set = |pointer: [&str; 2], action: Option<Value>| {
                if let Some(action) = action {
                    match pointer {
                        ["", key] => settings[key] = action,
                        [section, key] => settings[section][key] = action,
                    }
                }
            };
            set(["", "action"], general);
            set(["nodePools", "action"], pools);
            set(["pods", "action"], pods);
            set(
                ["nodeClaims", "action"],
                [None, Some(json!("mutate")), Some(json!("warn")), None][never_rejected].clone(),
            );
            set(["nodes", "action"], [None, Some(json!("warn")), Some(json!("mutate")), None][never_rejected].clone());
            settings
        })
        .boxed()
}
