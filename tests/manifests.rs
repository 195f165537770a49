//! What is shipped beside the module says the same as the module: `policy.yaml`, `metadata.yml`,
//! `artifacthub-pkg.yml`, `questions-ui.yml` and the README.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding};
use kubewarden_policy_sdk::crd::policies::ClusterAdmissionPolicy;
use kubewarden_policy_sdk::crd::policies::cluster_admission_policy::ClusterAdmissionPolicySpec;
use kubewarden_policy_sdk::crd::policies::common::{BackgroundAudit, FailurePolicy, PolicyMode};
use odigos_karpenter_host::{ArtifactHubPackage, Metadata};
use odigos_karpenter_policy::cluster::{Cluster, LookUpError, NoCluster, Resource, effective_config};
use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::odigos::{MountMethod, Tier};
use odigos_karpenter_policy::policy::{validate, validate_settings};
use odigos_karpenter_policy::rule::Rule;
use odigos_karpenter_policy::settings::{Action, Include, Settings, defaults};
use odigos_karpenter_policy::situation::Situation;
use rstest::rstest;
use serde::Deserialize;
use serde_json::{Value, json};

const POLICY_YAML: &str = include_str!("../policy.yaml");
const METADATA: &str = include_str!("../metadata.yml");
const ARTIFACTHUB_PKG: &str = include_str!("../artifacthub-pkg.yml");
const QUESTIONS_UI: &str = include_str!("../questions-ui.yml");
const README: &str = include_str!("../README.md");

const TWINS: [(&str, &str); 2] =
    [("odigos-karpenter", "odigos-karpenter-audit"), ("odigos-pods-and-nodes", "odigos-pods-and-nodes-audit")];
const NODE_OVERLAYS: &str = "odigos-nodeoverlays";

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).expect("YAML")
}

fn documents(text: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).expect("YAML")).collect()
}

/// `policy.yaml` after the `sed` that it recommends, which switches NodeOverlays on.
fn with_node_overlays() -> String {
    let (on, off) = POLICY_YAML.split_once("\n# ---\n").expect("a policy that is commented out");
    let off: Vec<&str> = off
        .lines()
        .map(|line| line.strip_prefix("# ").unwrap_or_else(|| panic!("not commented out: {line}")))
        .collect();
    format!("{on}\n---\n{}\n", off.join("\n"))
}

/// A file after the `sed` that switches on what it has commented out by `#cluster`.
fn reading_the_cluster(text: &str) -> String {
    let switched_on = |line: &str| match line.split_once("#cluster ") {
        Some((before, rest)) if before.chars().all(|c| matches!(c, '#' | ' ')) => format!("{before}{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(switched_on).collect()
}

/// The specs of the policies in a file, by the names of the policies.
fn policies(text: &str) -> BTreeMap<String, ClusterAdmissionPolicySpec> {
    let policies: Vec<ClusterAdmissionPolicy> = documents(text)
        .into_iter()
        .filter(|document| document["kind"] == "ClusterAdmissionPolicy")
        .map(|document| serde_json::from_value(document).expect("a ClusterAdmissionPolicy"))
        .collect();
    policies.into_iter().map(|policy| (policy.metadata.name.expect("a name"), policy.spec.expect("a spec"))).collect()
}

fn all_policies() -> BTreeMap<String, ClusterAdmissionPolicySpec> {
    policies(&with_node_overlays())
}

type GroupVersionResource = (String, String, String);

/// The operations of rules, by what they are done to.
fn operations(rules: &[RuleWithOperations]) -> BTreeMap<GroupVersionResource, BTreeSet<String>> {
    fn only(values: &Option<Vec<String>>) -> String {
        match values.as_deref() {
            Some([value]) => value.clone(),
            other => panic!("one group, version and resource in each rule, not {other:?}"),
        }
    }
    let mut operations = BTreeMap::new();
    for rule in rules {
        let what = (only(&rule.api_groups), only(&rule.api_versions), only(&rule.resources));
        let names = rule.operations.iter().flatten().cloned().collect();
        assert!(operations.insert(what.clone(), names).is_none(), "{what:?} is there twice");
    }
    operations
}

fn rules(spec: &ClusterAdmissionPolicySpec) -> BTreeMap<GroupVersionResource, BTreeSet<String>> {
    operations(spec.rules.as_deref().expect("rules"))
}

#[test]
fn policy_yaml_has_the_policies_that_it_names() {
    let shipped: Vec<String> = policies(POLICY_YAML).into_keys().collect();
    let mut expected: Vec<&str> = TWINS.iter().flat_map(|(policy, twin)| [*policy, *twin]).collect();
    assert_eq!(shipped, expected);
    expected.push(NODE_OVERLAYS);
    expected.sort_unstable();
    assert_eq!(all_policies().into_keys().collect::<Vec<_>>(), expected);
}

#[test]
fn a_policy_server_that_is_away_stops_nothing() {
    for (name, spec) in all_policies() {
        assert_eq!(spec.failure_policy, Some(FailurePolicy::Ignore), "{name}");
        let timeout: i32 = spec.timeout_seconds.expect("a timeout").into();
        assert!((2..=5).contains(&timeout), "{name}: {timeout}");
    }
}

#[test]
fn no_policy_mixes_groups_or_versions() {
    for (name, spec) in all_policies() {
        let served: BTreeSet<_> = rules(&spec).into_keys().map(|(group, version, _)| (group, version)).collect();
        assert_eq!(served.len(), 1, "{name}: {served:?}");
    }
}

#[test]
fn audits_can_use_every_rule() {
    for (name, spec) in all_policies() {
        for (what, operations) in rules(&spec) {
            assert!(operations.contains("CREATE"), "{name}: audits drop a rule without CREATE, as that of {what:?}");
        }
    }
}

#[test]
fn nothing_is_asked_about_what_must_not_be_touched() {
    for (name, spec) in all_policies() {
        for ((_, _, resource), operations) in rules(&spec) {
            assert!(!resource.contains('/'), "{name}: the subresource {resource}");
            assert!(
                !operations.contains("DELETE") && !operations.contains("*"),
                "{name}: {operations:?} of {resource}"
            );
            if resource == "nodeclaims" || resource == "pods" {
                assert!(!operations.contains("UPDATE"), "{name}: {resource} are immutable");
            }
        }
    }
}

#[test]
fn a_twin_sees_what_its_original_changes_and_blocks_nothing() {
    let policies = policies(POLICY_YAML);
    for (name, twin_name) in TWINS {
        let (original, twin) = (&policies[name], &policies[twin_name]);
        assert!(original.mutating, "{name}");
        assert_eq!(original.mode.clone().unwrap_or_default(), PolicyMode::Protect, "{name}");
        assert_eq!(json!(original.background_audit), json!(false), "{name}: an audit of it always says 'pass'");
        assert!(!twin.mutating, "{twin_name}");
        assert_eq!(twin.mode, Some(PolicyMode::Monitor), "{twin_name}");
        assert_eq!(twin.background_audit, Some(BackgroundAudit::default()), "{twin_name}");
        assert_eq!(twin.settings.0["action"], "reject", "{twin_name}: 'warn' audits as 'pass'");

        let mut expected = rules(original);
        for ((_, _, resource), operations) in &mut expected {
            // In an update of a Node only a policy that mutates does anything.
            if resource == "nodes" {
                operations.remove("UPDATE");
            }
        }
        assert_eq!(rules(twin), expected, "{twin_name}");

        let conditions = |spec: &ClusterAdmissionPolicySpec| spec.match_conditions.clone().unwrap_or_default();
        for condition in conditions(twin) {
            assert!(conditions(original).contains(&condition), "{twin_name}: {condition:?}");
        }
    }
}

#[test]
fn node_overlays_are_judged_and_never_changed() {
    let spec = &all_policies()[NODE_OVERLAYS];
    assert!(!spec.mutating);
    assert_eq!(spec.settings.0["action"], "reject");
    assert_eq!(
        rules(spec).into_keys().collect::<Vec<_>>(),
        [("karpenter.sh".to_owned(), "v1alpha1".to_owned(), "nodeoverlays".to_owned())]
    );
}

#[test]
fn all_policies_say_the_same_of_odigos_and_run_the_same_module() {
    let policies = all_policies();
    let of_odigos = |spec: &ClusterAdmissionPolicySpec| {
        let mut settings = spec.settings.0.clone();
        settings.as_object_mut().expect("settings").remove("action");
        (settings, spec.module.clone(), spec.policy_server.clone())
    };
    let first = of_odigos(&policies["odigos-karpenter"]);
    for (name, spec) in &policies {
        assert_eq!(of_odigos(spec), first, "{name}");
    }
}

/// What is applied unread must not taint a node.
#[test]
fn the_settings_of_policy_yaml_are_valid_and_harmless() {
    for (name, spec) in all_policies() {
        let settings = serde_json::to_vec(&spec.settings.0).expect("JSON");
        let answer: Value = serde_json::from_slice(&validate_settings(&settings)).expect("JSON");
        assert_eq!(answer["valid"], true, "{name}: {answer}");
        let settings = View::new(&settings);
        let settings = Settings::read(&settings).expect("valid settings");
        assert!(!Situation::of_settings(&settings).gated(), "{name}");
    }
}

#[test]
fn the_audit_scanner_may_read_what_the_policies_judge() {
    let role =
        documents(POLICY_YAML).into_iter().find(|document| document["kind"] == "ClusterRole").expect("a ClusterRole");
    let role: ClusterRole = serde_json::from_value(role).expect("a ClusterRole");
    let labels = role.metadata.labels.expect("labels");
    assert_eq!(labels["rbac.authorization.k8s.io/aggregate-to-view"], "true");
    let granted = role.rules.expect("rules");
    for (name, spec) in all_policies() {
        for (group, _, resource) in rules(&spec).into_keys() {
            // Pods are part of the role `view`.
            let found = resource == "pods"
                || granted.iter().any(|rule| {
                    rule.api_groups.iter().flatten().any(|known| *known == group)
                        && rule.resources.iter().flatten().any(|known| *known == resource)
                        && ["get", "list"].iter().all(|verb| rule.verbs.iter().any(|known| known == verb))
                });
            assert!(found, "{name}: {group} {resource}");
        }
    }
}

/// All that reads the cluster in the policies.
const FROM_CLUSTER: &str =
    r#"{"effectiveConfig": true, "odiglet": true, "instrumentationConfigs": true, "nodeOverlays": true}"#;

#[test]
fn as_shipped_nothing_is_read_in_the_cluster() {
    for (name, spec) in all_policies() {
        assert!(spec.context_aware_resources.is_empty(), "{name}");
        assert_eq!(spec.settings.0.get("fromCluster"), None, "{name}");
    }
}

#[test]
fn switched_on_everything_is_read_in_the_cluster_and_all_else_stays() {
    let from_cluster: Value = serde_json::from_str(FROM_CLUSTER).expect("JSON");
    let resources = yaml(METADATA)["contextAwareResources"].clone();
    let shipped = all_policies();
    let switched_on = policies(&reading_the_cluster(&with_node_overlays()));
    assert_eq!(switched_on.len(), shipped.len());
    for (name, spec) in switched_on {
        let settings = serde_json::to_vec(&spec.settings.0).expect("JSON");
        let answer: Value = serde_json::from_slice(&validate_settings(&settings)).expect("JSON");
        assert_eq!(answer["valid"], true, "{name}: {answer}");
        let mut spec = json!(spec);
        assert_eq!(spec["settings"]["fromCluster"], from_cluster, "{name}");
        assert_eq!(spec["contextAwareResources"], resources, "{name}");
        spec["settings"].as_object_mut().expect("settings").remove("fromCluster");
        spec["contextAwareResources"] = json!(shipped[&name].context_aware_resources);
        assert_eq!(spec, json!(shipped[&name]), "{name}");
    }
}

#[test]
fn what_is_switched_on_first_makes_no_difference() {
    let (on, off) = POLICY_YAML.split_once("\n# ---\n").expect("a policy that is commented out");
    let overlays_last = reading_the_cluster(POLICY_YAML);
    let (on_last, off_last) = overlays_last.split_once("\n# ---\n").expect("a policy that is commented out");
    assert_eq!(format!("{on_last}\n"), reading_the_cluster(on));
    assert_eq!(off_last, reading_the_cluster(off));
    assert!(off_last.lines().all(|line| line.starts_with("# ")));
}

/// The `sed`s of `policy.yaml` are what the tests do.
#[test]
fn policy_yaml_says_how_to_switch_on() {
    for sed in [r"sed -i 's/^\([# ]*\)#cluster /\1/' policy.yaml", "sed -i '/^# ---$/,$ s/^# //' policy.yaml"] {
        assert!(POLICY_YAML.contains(&format!("\n#   {sed} ")), "{sed}");
    }
}

/// An object of `policy.yaml` where it reads the cluster.
fn object<T: serde::de::DeserializeOwned>(kind: &str, name: &str) -> T {
    let object = documents(&reading_the_cluster(POLICY_YAML))
        .into_iter()
        .find(|document| document["kind"] == kind && document["metadata"]["name"] == name)
        .unwrap_or_else(|| panic!("no {kind} {name}"));
    serde_json::from_value(object).unwrap_or_else(|error| panic!("{kind} {name}: {error}"))
}

/// What rules of RBAC grant: group, resource, name and verb. No name is all of them.
fn granted(rules: Option<Vec<PolicyRule>>) -> BTreeSet<[String; 4]> {
    let mut granted = BTreeSet::new();
    for rule in rules.unwrap_or_default() {
        let names = rule.resource_names.filter(|names| !names.is_empty()).unwrap_or(vec![String::new()]);
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                for (name, verb) in names.iter().flat_map(|name| rule.verbs.iter().map(move |verb| (name, verb))) {
                    granted.insert([group.clone(), resource.clone(), name.clone(), verb.clone()]);
                }
            }
        }
    }
    granted
}

fn grants(grants: &[[&str; 4]]) -> BTreeSet<[String; 4]> {
    grants.iter().map(|grant| grant.map(str::to_owned)).collect()
}

#[test]
fn the_policy_server_may_read_what_the_policies_look_up() {
    const NAME: &str = "odigos-karpenter-policy";
    let Settings { odiglet, .. } = Settings::default();
    let cluster_role: ClusterRole = object("ClusterRole", NAME);
    assert_eq!(
        granted(cluster_role.rules),
        grants(&[
            ["odigos.io", "instrumentationconfigs", "", "get"],
            ["karpenter.sh", "nodeoverlays", "", "get"],
            ["karpenter.sh", "nodeoverlays", "", "list"],
            ["karpenter.sh", "nodeoverlays", "", "watch"],
            ["authorization.k8s.io", "subjectaccessreviews", "", "create"],
        ])
    );
    let role: Role = object("Role", NAME);
    assert_eq!(role.metadata.namespace.as_deref(), Some(odiglet.namespace));
    assert_eq!(
        granted(role.rules),
        grants(
            &[["", "configmaps", effective_config::NAME, "get"], ["apps", "daemonsets", odiglet.daemon_set, "get"],]
        )
    );

    let subject = json!([{"kind": "ServiceAccount", "name": "policy-server", "namespace": "kubewarden"}]);
    let role_ref = |kind: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": NAME});
    let binding: ClusterRoleBinding = object("ClusterRoleBinding", NAME);
    assert_eq!((json!(binding.subjects), json!(binding.role_ref)), (subject.clone(), role_ref("ClusterRole")));
    let binding: RoleBinding = object("RoleBinding", NAME);
    assert_eq!(binding.metadata.namespace.as_deref(), Some(odiglet.namespace));
    assert_eq!((json!(binding.subjects), json!(binding.role_ref)), (subject, role_ref("Role")));
}

fn metadata_rules() -> Vec<RuleWithOperations> {
    serde_json::from_value(yaml(METADATA)["rules"].clone()).expect("rules")
}

#[test]
fn the_metadata_cover_the_rules_of_policy_yaml() {
    let known = operations(&metadata_rules());
    for (name, spec) in policies(POLICY_YAML) {
        for (what, operations) in rules(&spec) {
            let known = known.get(&what).unwrap_or_else(|| panic!("{name}: {what:?} is not in metadata.yml"));
            assert!(operations.is_subset(known), "{name}: {what:?} {operations:?}");
        }
    }
}

#[test]
fn the_metadata_are_what_kwctl_wants() {
    let metadata = yaml(METADATA);
    assert_eq!(metadata["mutating"], true);
    assert_eq!(metadata["backgroundAudit"], true);
    assert_eq!(metadata["executionMode"], "kubewarden-wapc");
    assert_eq!(metadata["policyType"], "kubernetes");
    for annotation in [
        "io.kubewarden.policy.title",
        "io.kubewarden.policy.description",
        "io.kubewarden.policy.ociUrl",
        "io.kubewarden.policy.author",
        "io.kubewarden.policy.license",
        "io.kubewarden.policy.source",
        "io.kubewarden.policy.url",
        "io.kubewarden.policy.severity",
        "io.kubewarden.policy.category",
        "io.artifacthub.displayName",
        "io.artifacthub.keywords",
        "io.artifacthub.resources",
    ] {
        assert!(metadata["annotations"][annotation].is_string(), "{annotation}");
    }
}

#[test]
fn the_version_is_the_same_everywhere() {
    let version = env!("CARGO_PKG_VERSION");
    let annotations = &yaml(METADATA)["annotations"];
    assert_eq!(annotations["io.kubewarden.policy.version"], version);
    assert_eq!(yaml(ARTIFACTHUB_PKG)["version"], version);
    let oci_url = annotations["io.kubewarden.policy.ociUrl"].as_str().expect("a URL");
    for (name, spec) in all_policies() {
        assert_eq!(spec.module, format!("registry://{oci_url}:v{version}"), "{name}");
    }
    for page in [README, include_str!("../docs/operations.md")] {
        let tags: Vec<&str> = page.split("/odigos-karpenter-policy:v").skip(1).collect();
        assert!(!tags.is_empty() && tags.iter().all(|tag| tag.starts_with(version)), "{tags:?}");
    }
    let lock = include_str!("../fuzz/Cargo.lock");
    assert!(lock.contains(&format!("name = \"odigos-karpenter-policy\"\nversion = \"{version}\"\n")));
}

#[test]
fn the_package_of_artifact_hub_is_made_of_the_metadata() {
    let (package, metadata) = (yaml(ARTIFACTHUB_PKG), yaml(METADATA));
    let annotations = &metadata["annotations"];
    let annotation = |name: &str| annotations[name].as_str().expect("an annotation").to_owned();
    let version = env!("CARGO_PKG_VERSION");
    let image = format!("{}:v{version}", annotation("io.kubewarden.policy.ociUrl"));

    for (field, name) in [
        ("name", "io.kubewarden.policy.title"),
        ("displayName", "io.artifacthub.displayName"),
        ("description", "io.kubewarden.policy.description"),
        ("license", "io.kubewarden.policy.license"),
        ("homeURL", "io.kubewarden.policy.url"),
    ] {
        assert_eq!(package[field], annotation(name), "{field}");
    }
    assert!(package["createdAt"].is_string());
    assert_eq!(package["containersImages"], json!([{"name": "policy", "image": image}]));
    assert!(package["install"].as_str().expect("install").contains(&image));
    let keywords: Vec<Value> =
        annotation("io.artifacthub.keywords").split(',').map(|keyword| json!(keyword.trim())).collect();
    assert_eq!(package["keywords"], json!(keywords));
    let source = annotation("io.kubewarden.policy.source");
    assert_eq!(
        package["links"],
        json!([
            {"name": "policy", "url": format!("{source}/releases/download/v{version}/policy.wasm")},
            {"name": "source", "url": source},
        ])
    );
    let maintainer = format!(
        "{} <{}>",
        package["maintainers"][0]["name"].as_str().expect("a name"),
        package["maintainers"][0]["email"].as_str().expect("an address")
    );
    assert_eq!(maintainer, annotation("io.kubewarden.policy.author"));
    assert!(package["provider"]["name"].is_string());
    assert!(package["recommendations"][0]["url"].is_string());

    let of_kubewarden = &package["annotations"];
    assert_eq!(of_kubewarden["kubewarden/mutation"], "true");
    assert_eq!(of_kubewarden["kubewarden/resources"], annotation("io.artifacthub.resources"));
    assert_eq!(yaml(of_kubewarden["kubewarden/rules"].as_str().expect("rules")), metadata["rules"]);
    let resources = of_kubewarden["kubewarden/contextAwareResources"].as_str().expect("resources");
    assert_eq!(yaml(resources), metadata["contextAwareResources"]);
    assert_eq!(of_kubewarden["kubewarden/questions-ui"], QUESTIONS_UI);
}

#[test]
fn the_package_of_artifact_hub_is_current() {
    let metadata = Metadata::from_yaml(METADATA).expect("metadata");
    let created_at = yaml(ARTIFACTHUB_PKG)["createdAt"].as_str().expect("a time").to_owned();
    let package = ArtifactHubPackage::new(&metadata, Some(QUESTIONS_UI), &created_at).expect("a package");
    assert_eq!(package.to_yaml().as_deref(), Ok(ARTIFACTHUB_PKG), "run `make artifacthub-pkg.yml`");
}

/// The questions by the setting that each asks for, without the description at their head.
fn questions() -> BTreeMap<String, Value> {
    let questions = yaml(QUESTIONS_UI);
    let mut questions = questions["questions"].as_array().expect("questions").clone();
    let description = questions.remove(0);
    assert_eq!((&description["variable"], &description["hide_input"]), (&json!("description"), &json!(true)));
    questions
        .into_iter()
        .map(|question| (question["variable"].as_str().expect("a variable").to_owned(), question))
        .collect()
}

/// The settings of an object by their dotted paths, as deep as there are questions.
fn leaves(path: &str, value: &Value, questions: &BTreeMap<String, Value>, out: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(members) if !questions.contains_key(path) => {
            for (key, member) in members {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(&path, member, questions, out);
            }
        }
        _ => {
            out.insert(path.to_owned(), value.clone());
        }
    }
}

#[test]
fn there_is_a_question_for_every_setting_with_its_default() {
    let questions = questions();
    let mut settings = BTreeMap::new();
    leaves("", &defaults(), &questions, &mut settings);
    // A label selector is no scalar and no list, and an empty one, which a form leaves behind,
    // selects every pod.
    assert_eq!(settings.remove("pods.selector"), Some(Value::Null));
    // Where the default follows from another setting there is none in the form.
    let asked: BTreeMap<String, Value> =
        questions.iter().map(|(variable, question)| (variable.clone(), question["default"].clone())).collect();
    assert_eq!(asked, settings);
}

#[test]
fn the_form_as_it_opens_is_the_defaults() {
    let mut settings = json!({});
    for (variable, question) in questions() {
        if let Some(default) = question.get("default") {
            let pointer = variable.split('.').fold(&mut settings, |value, key| &mut value[key]);
            *pointer = default.clone();
        }
    }
    let settings = settings.to_string();
    assert_eq!(Settings::read(&View::new(settings.as_bytes())), Ok(Settings::default()));
}

fn names<T>(all: &[(&str, T)]) -> Vec<String> {
    all.iter().map(|(name, _)| (*name).to_owned()).collect()
}

#[rstest]
#[case("mountMethod", names(MountMethod::ALL))]
#[case("tier", names(Tier::ALL))]
#[case("action", names(Action::ALL))]
#[case("nodePools.action", names(Action::ALL))]
#[case("nodeClaims.action", names(Action::NEVER_BLOCKING))]
#[case("nodes.action", names(Action::NEVER_BLOCKING))]
#[case("nodes.include", names(Include::ALL))]
#[case("pods.action", names(Action::ALL))]
fn the_form_offers_what_there_is(#[case] variable: &str, #[case] expected: Vec<String>) {
    let question = &questions()[variable];
    assert_eq!(question["type"], "enum");
    assert_eq!(question["options"], json!(expected));
}

/// The lines of a section of the README, up to the next heading of its level.
fn section(heading: &str) -> String {
    let (_, rest) = README.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

#[test]
fn the_readme_has_the_settings_with_their_defaults() {
    let section = section("Settings");
    let block = section.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a YAML block");
    assert_eq!(yaml(block), defaults());
}

/// A cluster in which one NodeOverlay is all that there is.
struct OneOverlay(Value);

impl Cluster for OneOverlay {
    fn get(&self, _: Resource, _: &str, _: &str) -> Result<Vec<u8>, LookUpError> {
        Err(LookUpError::NotFound)
    }

    fn list(&self, _: Resource) -> Result<Vec<u8>, LookUpError> {
        Ok(json!({"items": [self.0]}).to_string().into_bytes())
    }
}

/// The answer to an AdmissionReview of `test_data`, its object replaced.
fn answer(review: &str, object: Option<&Value>, settings: &Value, cluster: &dyn Cluster) -> Value {
    let mut request = yaml(review)["request"].clone();
    if let Some(object) = object {
        request["object"] = object.clone();
    }
    let payload = json!({"request": request, "settings": settings}).to_string();
    serde_json::from_slice(&validate(payload.as_bytes(), cluster)).expect("JSON")
}

#[test]
fn the_overlay_of_the_readme_is_right_and_gives_its_pool_the_device() {
    let section = section("Rules");
    let block = section.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a YAML block");
    let overlay = yaml(block);
    let settings = json!({"karpenterEnabled": true, "action": "reject", "fromCluster": {"nodeOverlays": true}});
    let silent = |answer: &Value| answer["accepted"] == true && answer["warnings"].is_null();
    let created = answer(include_str!("../test_data/nodeoverlay-create.json"), Some(&overlay), &settings, &NoCluster);
    assert!(silent(&created), "{created}");
    let pool = include_str!("../test_data/nodepool-create.json");
    let covered = answer(pool, None, &settings, &OneOverlay(overlay.clone()));
    assert!(silent(&covered), "{covered}");

    let mut of_another = overlay;
    of_another["spec"]["requirements"][0]["values"] = json!(["another"]);
    assert!(!silent(&answer(pool, None, &settings, &OneOverlay(of_another))));
}

/// The rows of the table of rules in the README.
fn table_of_rules() -> Vec<String> {
    section("Rules")
        .lines()
        .skip_while(|line| !line.starts_with("| rule |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_readme_has_the_table_of_rules() {
    let expected: Vec<String> = Rule::ALL
        .iter()
        .map(|rule| {
            format!("| `{}` | {} | {} | {} |", rule.name(), rule.objects(), rule.outcome().name(), rule.summary())
        })
        .collect();
    assert_eq!(table_of_rules(), expected, "the table of rules should be\n{}", expected.join("\n"));
}

#[test]
fn every_rule_is_explained() {
    let section = section("Rules");
    for rule in Rule::ALL {
        assert!(section.contains(&format!("\n- `{}`", rule.name())), "{}", rule.name());
    }
}
