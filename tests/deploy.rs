//! The overlays in `deploy/`, as `kubectl kustomize` renders them: every policy is one, its settings pass
//! the policy's own check, and each overlay does what its README says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::api::core::v1::{Affinity, Toleration};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use kubewarden_policy_sdk::crd::policies::ClusterAdmissionPolicy;
use kubewarden_policy_sdk::crd::policies::cluster_admission_policy::ClusterAdmissionPolicySpec;
use kubewarden_policy_sdk::crd::policies::common::PolicyMode;
use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::policy::validate_settings;
use odigos_karpenter_policy::settings::{Settings, defaults};
use odigos_karpenter_policy::situation::Situation;
use rstest::rstest;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const POLICY_YAML: &str = include_str!("../policy.yaml");
const METADATA: &str = include_str!("../metadata.yml");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

fn documents(text: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).expect("YAML"))
        .filter(|document| !document.is_null())
        .collect()
}

/// What `kubectl apply -k` would apply.
fn rendered(overlay: &str) -> Vec<Value> {
    let kubectl = std::env::var("KUBECTL").unwrap_or_else(|_| "kubectl".to_owned());
    let output = Command::new(&kubectl).arg("kustomize").arg(folder().join(overlay)).output().unwrap_or_else(|error| {
        panic!("{kubectl} renders deploy/ and can't be run ({error}): install it, or run `make unit-tests`, which does")
    });
    assert!(output.status.success(), "{overlay}: {}", String::from_utf8_lossy(&output.stderr));
    documents(std::str::from_utf8(&output.stdout).expect("UTF-8"))
}

fn of_kind<T: DeserializeOwned>(objects: &[Value], kind: &str) -> Vec<T> {
    objects
        .iter()
        .filter(|object| object["kind"] == kind)
        .map(|object| serde_json::from_value(object.clone()).unwrap_or_else(|error| panic!("{error}: {object}")))
        .collect()
}

/// The specs of the policies, by their names.
fn policies(objects: &[Value]) -> BTreeMap<String, ClusterAdmissionPolicySpec> {
    of_kind::<ClusterAdmissionPolicy>(objects, "ClusterAdmissionPolicy")
        .into_iter()
        .map(|policy| (policy.metadata.name.expect("a name"), policy.spec.expect("a spec")))
        .collect()
}

/// Objects by kind and name, for kustomize has an order of its own.
fn by_name(objects: Vec<Value>) -> BTreeMap<(String, String), Value> {
    objects
        .into_iter()
        .map(|object| {
            let text = |value: &Value| value.as_str().expect("a string").to_owned();
            ((text(&object["kind"]), text(&object["metadata"]["name"])), object)
        })
        .collect()
}

/// Every folder with a kustomization that is no component.
fn overlays() -> Vec<String> {
    let mut overlays = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("deploy/") {
        let path = entry.expect("an entry").path();
        let Ok(text) = std::fs::read_to_string(path.join("kustomization.yaml")) else { continue };
        if documents(&text)[0]["kind"] == "Kustomization" {
            overlays.push(path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned());
        }
    }
    overlays.sort();
    overlays
}

#[test]
fn the_base_is_policy_yaml() {
    let base = std::fs::read_to_string(folder().join("base/policy.yaml")).expect("deploy/base/policy.yaml");
    assert!(base == POLICY_YAML, "deploy/base/policy.yaml is not policy.yaml: run `make deploy`");
}

#[test]
fn every_overlay_is_explained() {
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("deploy/README.md");
    for overlay in overlays() {
        assert!(readme.contains(&format!("| `{overlay}` |")), "{overlay} is not in the table of deploy/README.md");
    }
}

/// What is applied unread must not taint a node, and what is set must be understood.
#[test]
fn all_settings_are_valid_and_harmless() {
    let mut seen = 0;
    for overlay in overlays() {
        for (name, spec) in policies(&rendered(&overlay)) {
            let settings = serde_json::to_vec(&spec.settings.0).expect("JSON");
            let answer: Value = serde_json::from_slice(&validate_settings(&settings)).expect("JSON");
            assert_eq!(answer["valid"], true, "{overlay}, {name}: {answer}");
            let view = View::new(&settings);
            let settings = Settings::read(&view).expect("valid settings");
            assert!(!Situation::of_settings(&settings).gated(), "{overlay}, {name}");
            seen += 1;
        }
    }
    assert!(seen >= 16, "{seen} policies");
}

#[test]
fn nothing_in_an_overlay_is_unknown_to_the_custom_resource() {
    for overlay in overlays() {
        let objects = rendered(&overlay);
        for object in objects.iter().filter(|object| object["kind"] == "ClusterAdmissionPolicy") {
            let policy: ClusterAdmissionPolicy = serde_json::from_value(object.clone()).expect("a policy");
            let known = json!(policy.spec);
            for key in object["spec"].as_object().expect("a spec").keys() {
                assert!(known.get(key).is_some(), "{overlay}: {key}");
            }
        }
    }
}

#[test]
fn mutate_is_policy_yaml() {
    let shipped = by_name(documents(POLICY_YAML));
    assert_eq!(by_name(rendered("mutate")), shipped);
}

#[test]
fn observe_changes_and_refuses_nothing() {
    let objects = rendered("observe");
    let policies = policies(&objects);
    assert_eq!(policies.keys().collect::<Vec<_>>(), ["odigos-karpenter-audit", "odigos-pods-and-nodes-audit"]);
    for (name, spec) in policies {
        assert!(!spec.mutating, "{name}");
        assert_eq!(spec.mode, Some(PolicyMode::Monitor), "{name}");
        assert_eq!(spec.settings.0["action"], "reject", "{name}: 'warn' audits as 'pass'");
    }
    let (observed, mutated) = (by_name(objects), by_name(rendered("mutate")));
    for (name, object) in observed {
        assert_eq!(mutated.get(&name), Some(&object), "from observe to mutate {name:?} must not change");
    }
}

#[test]
fn context_aware_looks_everything_up_and_changes_nothing_else() {
    let metadata: Value = serde_yaml::from_str(METADATA).expect("YAML");
    let shipped = policies(&rendered("mutate"));
    let switches = defaults()["fromCluster"].as_object().expect("switches").clone();
    for (name, spec) in policies(&rendered("context-aware")) {
        let mut spec = json!(spec);
        let from_cluster = spec["settings"].as_object_mut().expect("settings").remove("fromCluster").expect("switches");
        let from_cluster = from_cluster.as_object().expect("switches");
        assert!(from_cluster.keys().eq(switches.keys()), "{name}: {from_cluster:?}");
        assert!(from_cluster.values().all(|on| *on == true), "{name}: {from_cluster:?}");
        let granted = std::mem::replace(&mut spec["contextAwareResources"], json!([]));
        assert_eq!(granted, metadata["contextAwareResources"], "{name}");
        let mut shipped = json!(shipped[&name]);
        shipped["contextAwareResources"] = json!([]);
        assert_eq!(spec, shipped, "{name}");
    }
}

/// Group, resource and verb of RBAC rules.
fn granted(rules: Option<Vec<k8s_openapi::api::rbac::v1::PolicyRule>>) -> BTreeSet<String> {
    let mut granted = BTreeSet::new();
    for rule in rules.unwrap_or_default() {
        let names = rule.resource_names.unwrap_or_default().join(",");
        for (group, resource) in rule.api_groups.iter().flatten().zip(rule.resources.iter().flatten()) {
            granted.insert(format!("{group}/{resource} {names} {}", rule.verbs.join(",")));
        }
    }
    granted
}

#[test]
fn the_policy_server_may_do_what_is_looked_up_and_no_more() {
    let objects = rendered("context-aware");
    let settings = Settings::default();
    let name = "odigos-karpenter-policy";

    let roles: Vec<ClusterRole> = of_kind(&objects, "ClusterRole");
    let role = roles.into_iter().find(|role| role.metadata.name.as_deref() == Some(name)).expect("a role");
    assert_eq!(
        granted(role.rules),
        BTreeSet::from([
            "authorization.k8s.io/subjectaccessreviews  create".to_owned(),
            "karpenter.sh/nodeoverlays  get,list,watch".to_owned(),
            "odigos.io/instrumentationconfigs  get".to_owned(),
        ])
    );
    let role: Role = of_kind(&objects, "Role").remove(0);
    assert_eq!(role.metadata.namespace.as_deref(), Some(settings.odiglet.namespace));
    assert_eq!(
        granted(role.rules),
        BTreeSet::from([
            "/configmaps effective-config get".to_owned(),
            format!("apps/daemonsets {} get", settings.odiglet.daemon_set),
        ])
    );

    let subject = json!([{"kind": "ServiceAccount", "name": "policy-server", "namespace": "kubewarden"}]);
    let binding: ClusterRoleBinding = of_kind(&objects, "ClusterRoleBinding").remove(0);
    assert_eq!((binding.role_ref.name.as_str(), json!(binding.subjects)), (name, subject.clone()));
    let binding: RoleBinding = of_kind(&objects, "RoleBinding").remove(0);
    assert_eq!((binding.role_ref.name.as_str(), json!(binding.subjects)), (name, subject));
    assert_eq!(binding.metadata.namespace.as_deref(), Some(settings.odiglet.namespace));
}

#[test]
fn after_odigos_comes_after_odigos_and_blocks_nothing() {
    let configuration: MutatingWebhookConfiguration =
        of_kind(&rendered("after-odigos"), "MutatingWebhookConfiguration").remove(0);
    let name = configuration.metadata.name.expect("a name");
    assert!(*name > *"odigos-pod-mutating-webhook-configuration", "{name}");
    let webhook = configuration.webhooks.expect("webhooks").remove(0);
    assert_eq!(webhook.failure_policy.as_deref(), Some("Ignore"));
    assert_eq!(webhook.side_effects, "None");

    let shipped = policies(&documents(POLICY_YAML));
    let (policy, spec) = shipped.get_key_value("odigos-pods-and-nodes").expect("the policy");
    let service = webhook.client_config.service.expect("a service");
    assert_eq!(service.path, Some(format!("/validate/clusterwide-{policy}")));
    assert_eq!(service.name, format!("policy-server-{}", spec.policy_server));
    assert_eq!(webhook.timeout_seconds, spec.timeout_seconds.clone().map(Into::into));
    let pods = spec.rules.iter().flatten().find(|rule| rule.resources == Some(vec!["pods".to_owned()]));
    let rules = webhook.rules.expect("rules");
    let (ours, theirs) = (&rules[0], pods.expect("a rule"));
    assert_eq!(rules.len(), 1);
    assert_eq!(
        (&ours.api_groups, &ours.api_versions, &ours.resources, &ours.operations),
        (&theirs.api_groups, &theirs.api_versions, &theirs.resources, &theirs.operations)
    );
}

#[rstest]
#[case("policy-server", true)]
#[case("dedicated", true)]
#[case("policy-server-on-karpenter", false)]
#[case("dedicated-on-karpenter", false)]
fn a_policy_server_of_its_own(#[case] overlay: &str, #[case] other_nodes: bool) {
    let server: Value = of_kind(&rendered(overlay), "PolicyServer").remove(0);
    let (name, spec) = (&server["metadata"]["name"], &server["spec"]);
    assert_eq!(server["apiVersion"], "policies.kubewarden.io/v1");
    assert_eq!((&spec["replicas"], &spec["minAvailable"]), (&json!(2), &json!(1)));
    assert_eq!(spec["serviceAccountName"], "policy-server");

    let affinity: Affinity = serde_json::from_value(spec["affinity"].clone()).expect("an affinity");
    let apart = affinity.pod_anti_affinity.and_then(|it| it.preferred_during_scheduling_ignored_during_execution);
    for term in apart.expect("terms") {
        let labels = term.pod_affinity_term.label_selector.and_then(|selector| selector.match_labels);
        assert_eq!(labels.expect("labels").get("kubewarden/policy-server").map(String::as_str), name.as_str());
    }

    let term = json!({"matchExpressions": [{"key": "karpenter.sh/nodepool", "operator": "DoesNotExist"}]});
    let node_affinity = affinity.node_affinity.map(|affinity| json!(affinity));
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}});
    assert_eq!(node_affinity, other_nodes.then_some(required));

    let tolerations: Vec<Toleration> =
        serde_json::from_value(spec.get("tolerations").cloned().unwrap_or(json!([]))).expect("tolerations");
    let tolerated = json!([{"key": "odigos.io/needs-init", "operator": "Exists", "effect": "NoSchedule"}]);
    assert_eq!(json!(tolerations), if other_nodes { json!([]) } else { tolerated });
}

#[rstest]
#[case("dedicated")]
#[case("dedicated-on-karpenter")]
fn mutate_on_that_policy_server(#[case] overlay: &str) {
    let objects = rendered(overlay);
    let server: Value = of_kind(&objects, "PolicyServer").remove(0);
    let shipped = policies(&rendered("mutate"));
    let dedicated = policies(&objects);
    assert!(dedicated.keys().eq(shipped.keys()));
    for (name, mut spec) in dedicated {
        assert_eq!(server["metadata"]["name"], spec.policy_server, "{name}");
        spec.policy_server.clone_from(&shipped[&name].policy_server);
        assert_eq!(json!(spec), json!(shipped[&name]), "{name}");
    }
}
