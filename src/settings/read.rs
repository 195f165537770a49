//! From JSON to settings, with every error.

use super::errors::{Errors, SettingsError};
use super::{Action, FromCluster, Include, NodeClaims, NodePools, Nodes, Odiglet, Pods, Settings, check};
use crate::field::Field;
use crate::json::view::View;
use crate::kubernetes::names::{is_dns_label, is_dns_subdomain};
use crate::odigos::{MountMethod, Tier};

/// The keys of the settings.
const KNOWN: &[&str] = &[
    "mountMethod",
    "karpenterEnabled",
    "tier",
    "action",
    "nodePools",
    "nodeClaims",
    "nodes",
    "pods",
    "odiglet",
    "fromCluster",
];

/// Said where an action is refused.
const NEVER_BLOCKED: &str = " (a rejected Node can't join, a rejected NodeClaim can't launch)";

/// Reads the settings as a whole.
pub fn settings<'s>(value: &'s View<'s>) -> Result<Settings<'s>, Vec<SettingsError>> {
    let mut errors = Errors::default();
    let root = Field::root(value);
    errors.map(&root);
    let settings = Settings {
        mount_method: errors.choice(&root.get("mountMethod"), MountMethod::ALL, "").unwrap_or_default(),
        karpenter_enabled: errors.boolean(&root.get("karpenterEnabled"), false),
        tier: errors.choice(&root.get("tier"), Tier::ALL, "").unwrap_or_default(),
        action: errors.choice(&root.get("action"), Action::ALL, "").unwrap_or_default(),
        node_pools: node_pools(&root.get("nodePools"), &mut errors),
        node_claims: node_claims(&root.get("nodeClaims"), &mut errors),
        nodes: nodes(&root.get("nodes"), &mut errors),
        pods: pods(&root.get("pods"), &mut errors),
        odiglet: odiglet(&root.get("odiglet"), &mut errors),
        from_cluster: from_cluster(&root.get("fromCluster"), &mut errors),
    };
    errors.unknown_keys(&root, KNOWN);
    if errors.is_empty() {
        useless_look_ups(&root.get("fromCluster"), &settings, &mut errors);
    }
    if errors.is_empty() { Ok(settings) } else { Err(errors.into()) }
}

fn node_pools<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> NodePools<'s> {
    errors.map(field);
    let node_pools = NodePools {
        action: errors.choice(&field.get("action"), Action::ALL, ""),
        retrofit: errors.boolean(&field.get("retrofit"), false),
        exclude: errors.texts(&field.get("exclude")),
    };
    errors.unknown_keys(field, &["action", "retrofit", "exclude"]);
    node_pools
}

fn node_claims(field: &Field, errors: &mut Errors) -> NodeClaims {
    errors.map(field);
    let node_claims = NodeClaims { action: errors.choice(&field.get("action"), Action::NEVER_BLOCKING, NEVER_BLOCKED) };
    errors.unknown_keys(field, &["action"]);
    node_claims
}

fn nodes(field: &Field, errors: &mut Errors) -> Nodes {
    errors.map(field);
    let nodes = Nodes {
        action: errors.choice(&field.get("action"), Action::NEVER_BLOCKING, NEVER_BLOCKED),
        include: errors.choice(&field.get("include"), Include::ALL, "").unwrap_or_default(),
    };
    errors.unknown_keys(field, &["action", "include"]);
    nodes
}

fn pods<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Pods<'s> {
    errors.map(field);
    let pods = Pods {
        action: errors.choice(&field.get("action"), Action::ALL, ""),
        selector: check::label_selector(&field.get("selector"), errors),
        containers: errors.texts(&field.get("containers")),
    };
    errors.unknown_keys(field, &["action", "selector", "containers"]);
    pods
}

fn odiglet<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Odiglet<'s> {
    errors.map(field);
    let defaults = Odiglet::default();
    let odiglet = Odiglet {
        installed: errors.boolean(&field.get("installed"), defaults.installed),
        namespace: namespace(&field.get("namespace"), errors).unwrap_or(defaults.namespace),
        daemon_set: daemon_set(&field.get("daemonSet"), errors).unwrap_or(defaults.daemon_set),
        node_selector: check::node_selector(&field.get("nodeSelector"), errors).unwrap_or(defaults.node_selector),
        tolerations: check::tolerations(&field.get("tolerations"), errors).unwrap_or(defaults.tolerations),
    };
    errors.unknown_keys(field, &["installed", "namespace", "daemonSet", "nodeSelector", "tolerations"]);
    odiglet
}

fn daemon_set<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<&'s str> {
    let name = errors.text(field)?;
    if !is_dns_subdomain(name) {
        errors.add(field, "the name of a DaemonSet (at most 253 of a-z, 0-9, - and .)");
    }
    Some(name)
}

fn from_cluster(field: &Field, errors: &mut Errors) -> FromCluster {
    errors.map(field);
    let from_cluster = FromCluster {
        effective_config: errors.boolean(&field.get("effectiveConfig"), false),
        odiglet: errors.boolean(&field.get("odiglet"), false),
        instrumentation_configs: errors.boolean(&field.get("instrumentationConfigs"), false),
        node_overlays: errors.boolean(&field.get("nodeOverlays"), false),
    };
    errors.unknown_keys(field, &["effectiveConfig", "odiglet", "instrumentationConfigs", "nodeOverlays"]);
    from_cluster
}

/// Look-ups that nothing would come of: the settings alone say that no rule asks for them.
fn useless_look_ups(field: &Field, settings: &Settings, errors: &mut Errors) {
    let from_cluster = &settings.from_cluster;
    if from_cluster.effective_config {
        return;
    }
    let waits_for_label = settings.mount_method.needs_prepared_node() && !settings.karpenter_enabled;
    if from_cluster.instrumentation_configs && !waits_for_label {
        errors.add(
            &field.get("instrumentationConfigs"),
            "false, for it needs mountMethod k8s-host-path or k8s-csi-driver with karpenterEnabled false, or effectiveConfig",
        );
    }
    let needs_overlay = settings.mount_method == MountMethod::VirtualDevice && settings.karpenter_enabled;
    if from_cluster.node_overlays && !needs_overlay {
        errors.add(
            &field.get("nodeOverlays"),
            "false, for it needs mountMethod k8s-virtual-device with karpenterEnabled true, or effectiveConfig",
        );
    }
}

fn namespace<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<&'s str> {
    let namespace = errors.text(field)?;
    if !is_dns_label(namespace) {
        errors.add(field, "the name of a namespace (at most 63 of a-z, 0-9 and -)");
    }
    Some(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn errors(value: Value) -> Vec<String> {
        let value = value.to_string();
        settings(&View::new(value.as_bytes())).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[rstest]
    #[case::not_a_map(json!(["mountMethod"]), "settings: found [\"mountMethod\"], expected a map")]
    #[case::choice(json!({"tier": "pro"}), "tier: found \"pro\", expected one of community, cloud, onprem")]
    #[case::boolean(json!({"nodePools": {"retrofit": "yes"}}), "nodePools.retrofit: found \"yes\", expected true or false")]
    #[case::never_rejected(
        json!({"nodeClaims": {"action": "reject"}}),
        "nodeClaims.action: found \"reject\", expected one of mutate, warn (a rejected Node can't join, a rejected NodeClaim can't launch)"
    )]
    #[case::null_entry(json!({"nodePools": {"exclude": ["a", null]}}), "nodePools.exclude[1]: found null, expected a string")]
    #[case::list(json!({"pods": {"containers": "app"}}), "pods.containers: found \"app\", expected a list")]
    #[case::null_is_unknown_too(
        json!({"odiglet": {"instaled": null}}),
        "odiglet.instaled: unknown key (value null); did you mean installed? Known here: installed, namespace, daemonSet, nodeSelector, tolerations"
    )]
    #[case::namespace(
        json!({"odiglet": {"namespace": "Odigos"}}),
        "odiglet.namespace: found \"Odigos\", expected the name of a namespace (at most 63 of a-z, 0-9 and -)"
    )]
    #[case::long_values_are_cut(
        json!({"tier": "x".repeat(100)}),
        &format!("tier: found \"{}…, expected one of community, cloud, onprem", "x".repeat(59))
    )]
    fn one_error(#[case] value: Value, #[case] expected: &str) {
        assert_eq!(errors(value), [expected]);
    }

    #[test]
    fn all_errors_in_the_order_of_the_fields() {
        let value = json!({
            "zz": 1, "odiglet": {"installed": 1}, "action": "x", "mountMethod": 5,
            "nodePools": {"exclud": [], "action": "x"}, "pods": 3
        });
        let value = value.to_string();
        let view = View::new(value.as_bytes());
        let paths: Vec<String> = settings(&view).err().unwrap().into_iter().map(|error| error.path).collect();
        assert_eq!(
            paths,
            ["mountMethod", "action", "nodePools.action", "nodePools.exclud", "pods", "odiglet.installed", "zz"]
        );
    }
}
