//! Never a panic, never a failure, never another kind of answer.

use std::path::Path;

use odigos_karpenter_host::Policy;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use crate::absurd::{self, absurdities, applied, replaced};
use crate::answer::{Answer, ask, ask_settings, payload, read, read_settings};
use crate::json::Json;
use crate::objects::Kind;
use crate::requests;
use crate::run::{hold, require, sample};
use crate::settings;

/// The action that a request goes by, where its settings are valid.
fn action(kind: Kind, settings: &Value) -> Option<&str> {
    let section = match kind {
        Kind::Pod => "/pods/action",
        Kind::Node => "/nodes/action",
        Kind::NodePool | Kind::Provisioner => "/nodePools/action",
        Kind::NodeClaim | Kind::Machine => "/nodeClaims/action",
        Kind::NodeOverlay => "/action",
    };
    settings.pointer(section).or_else(|| settings.pointer("/action")).and_then(Value::as_str)
}

/// That an answer is one that its action may give.
fn suits(answer: &Answer, action: Option<&str>) -> Result<(), TestCaseError> {
    let mutates = action.is_none_or(|action| action == "mutate");
    require(mutates || (answer.mutated.is_none() && answer.rules.is_empty()), || {
        format!("changed under {action:?}: {answer:?}")
    })?;
    require(answer.accepted || action == Some("reject"), || format!("rejected under {action:?}: {answer:?}"))
}

#[test]
fn a_well_formed_request_gets_an_answer_of_its_action() {
    hold(1500, (requests::any(), settings::any()), |((kind, request), settings)| {
        let valid = ask_settings(&settings.to_string()).map_err(TestCaseError::fail)?;
        require(valid, || "settings that are none".to_owned())?;
        let answer = ask(&request.into(), &settings.clone().into()).map_err(TestCaseError::fail)?;
        require(!answer.warnings.iter().any(|warning| warning.contains("the policy's settings")), || {
            format!("{answer:?}")
        })?;
        suits(&answer, action(kind, &settings))
    });
}

#[test]
fn an_absurd_request_gets_an_answer() {
    hold(2000, (requests::any(), settings::any(), absurdities(4)), |((kind, request), settings, absurdities)| {
        let request = applied(&request.into(), &absurdities);
        let answer = ask(&request, &settings.clone().into()).map_err(TestCaseError::fail)?;
        // Its kind may be another now, and with it the action.
        if request.at(&["kind", "kind"]).and_then(Json::text) == Some(kind.names().2) {
            suits(&answer, action(kind, &settings))
        } else {
            Ok(())
        }
    });
}

/// Settings of any kind, and whether `validate_settings` accepts them or not: what is not accepted
/// changes and blocks nothing, what is accepted is never complained of.
#[test]
fn settings_never_change_what_kind_of_answer_comes() {
    hold(2000, (requests::any(), settings::any(), absurdities(3)), |((_, request), settings, absurdities)| {
        let settings = applied(&settings.into(), &absurdities);
        let valid = ask_settings(&settings.write()).map_err(TestCaseError::fail)?;
        let answer = ask(&request.into(), &settings).map_err(TestCaseError::fail)?;
        let complains = answer.warnings.iter().any(|warning| warning.contains("the policy's settings"));
        require(!(valid && complains), || format!("accepted settings are complained of: {answer:?}"))?;
        require(valid || (answer.accepted && answer.mutated.is_none()), || {
            format!("by settings that are none: {answer:?}")
        })
    });
}

/// One object of each kind in which every rule finds something to read.
fn rich() -> Vec<(Kind, Value)> {
    let taint = json!({"key": "odigos.io/needs-init", "value": "x", "effect": "NoExecute", "timeAdded": null});
    let expression = json!({"key": "odigos.io/odiglet-enterprise-installed", "operator": "In", "values": ["true"]});
    let own = json!({"key": "topology.kubernetes.io/zone", "operator": "NotIn", "values": ["b"]});
    let term = json!({"matchExpressions": [expression, own], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]});
    let device = json!({"instrumentation.odigos.io/generic": "2", "instrumentation.odigos.io/java": 1, "cpu": 1});
    let resources = json!({"requests": device, "limits": device});
    let container =
        json!({"name": "app", "env": [{"name": "ODIGOS_DISTRO_NAME", "value": "java"}], "resources": resources});
    let claim = json!({
        "taints": [taint, {"key": "dedicated", "effect": "NoSchedule"}], "startupTaints": [taint, taint],
        "requirements": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}], "resources": resources,
        "labels": {"team": "a"},
    });
    let metadata = json!({"name": "a", "labels": {"karpenter.sh/nodepool": "default", "odigos.io/agents-meta-hash": "", "kubernetes.io/os": "linux"}});
    vec![
        (
            Kind::Pod,
            json!({"metadata": metadata, "spec": {
                "containers": [container], "initContainers": [container], "resources": resources,
                "nodeSelector": {"odigos.io/odiglet-installed": "true"},
                "tolerations": [{"key": "odigos.io/needs-init", "operator": "Exists", "effect": "NoSchedule"}],
                "volumes": [{"name": "odigos-agent"}], "os": {"name": "linux"}, "nodeName": "", "schedulerName": "default-scheduler",
                "affinity": {"nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, {"matchExpressions": [own]}, {}]},
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}],
                }},
            }}),
        ),
        (
            Kind::Node,
            json!({"metadata": metadata, "spec": {"taints": [taint, {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]}}),
        ),
        (
            Kind::NodePool,
            json!({"metadata": metadata, "spec": {"template": {"metadata": {"labels": {"team": "a"}}, "spec": claim}}}),
        ),
        (Kind::NodeClaim, json!({"metadata": metadata, "spec": claim})),
        (Kind::Provisioner, json!({"metadata": metadata, "spec": claim})),
        (Kind::NodeOverlay, json!({"metadata": metadata, "spec": {"capacity": device}})),
    ]
}

/// Every place of every kind, with every type of value there, under every mount method.
#[test]
fn any_value_anywhere_gets_an_answer() {
    let values = [
        "null",
        "true",
        "-1.5e3",
        "18446744073709551616",
        r#""x""#,
        "[]",
        "{}",
        r#"[null,5,"",{}]"#,
        r#"{"key":5,"é":null}"#,
    ];
    let mut asked = 0;
    for (kind, object) in rich() {
        for operation in ["CREATE", "UPDATE"] {
            let request =
                Json::from(requests::request(kind, operation, object.clone(), json!({"spec": {}}), requests::user()));
            for (i, place) in request.places().iter().enumerate() {
                for (j, value) in values.iter().enumerate() {
                    let request = replaced(&request, place, Json::read(value).unwrap());
                    let method = settings::METHODS[(i + j) % 4];
                    let settings = json!({
                        "mountMethod": method, "karpenterEnabled": i % 3 > 0, "action": (["mutate", "reject", "warn"][j % 3]),
                        "pods": {"selector": {"matchLabels": {"app": "web"}}}, "nodes": {"include": "all"},
                    });
                    let answer = ask(&request, &settings.into());
                    assert!(answer.is_ok(), "{answer:?}");
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 5000, "only {asked} asked");
}

/// What is no JSON, or JSON cut short, is admitted.
#[test]
fn what_is_no_request_is_admitted() {
    hold(800, (requests::any(), any::<proptest::sample::Index>(), "\\PC{0,3}"), |((_, request), cut, rest)| {
        let mut text = payload(&request.into(), &json!({"action": "reject"}).into()).into_bytes();
        text.truncate(cut.index(text.len()));
        text.extend_from_slice(rest.as_bytes());
        let answer =
            read(&odigos_karpenter_policy::policy::validate(&text, &odigos_karpenter_policy::cluster::NoCluster))
                .map_err(TestCaseError::fail)?;
        require(answer.accepted && answer.mutated.is_none(), || format!("{answer:?}"))?;
        read_settings(&odigos_karpenter_policy::policy::validate_settings(&text)).map(drop).map_err(TestCaseError::fail)
    });
}

#[test]
fn the_module_answers_as_the_library_does() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("policy.wasm");
    assert!(module.exists(), "there is no policy.wasm: run `make policy.wasm` first");
    let policy = Policy::from_path(module).unwrap();
    for ((_, request), settings, absurdities) in sample(150, (requests::any(), settings::any(), absurd::absurdities(2)))
    {
        let request = applied(&request.into(), &absurdities);
        let settings = Json::from(settings);
        let payload = payload(&request, &settings);
        let answer =
            policy.call("validate", payload.as_bytes()).unwrap_or_else(|error| panic!("{error}, over {payload}"));
        assert_eq!(read(&answer), ask(&request, &settings), "{payload}");
        let settings = applied(&settings, &absurdities).write();
        let answer = policy
            .call("validate_settings", settings.as_bytes())
            .unwrap_or_else(|error| panic!("{error}, over {settings}"));
        assert_eq!(read_settings(&answer), ask_settings(&settings), "{settings}");
    }
}
