//! The largest and oddest requests that can come, natively and through the module: an answer, and the
//! same one. How long it takes is measured elsewhere.

#[allow(dead_code, reason = "other tests ask for more")]
#[path = "properties/answer.rs"]
mod answer;
#[allow(dead_code, reason = "other tests ask for more")]
#[path = "properties/json.rs"]
mod json;

use std::path::Path;
use std::sync::LazyLock;

use odigos_karpenter_host::Policy;
use odigos_karpenter_policy::cluster::NoCluster;
use odigos_karpenter_policy::policy;
use rstest::rstest;
use serde_json::{Value, json};

use answer::{Answer, read};

/// The largest request that the API server takes.
const MOST_BYTES: usize = 3 * 1024 * 1024;
/// Taints, and terms.
const MANY: usize = 10_000;
/// Lists in lists. The host reads no more than 128.
const DEEP: usize = 120;

static MODULE: LazyLock<Policy> = LazyLock::new(|| {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("policy.wasm");
    assert!(module.exists(), "there is no policy.wasm: run `make policy.wasm` first");
    Policy::from_path(module).unwrap()
});

/// The answer of both.
fn ask(payload: &str) -> Answer {
    let answer = bytes(payload);
    read(&answer).unwrap_or_else(|error| panic!("{}, {}", beginning(&error), beginning(payload)))
}

/// The same, as it is given.
fn bytes(payload: &str) -> Vec<u8> {
    let native = policy::validate(payload.as_bytes(), &NoCluster);
    let answer = MODULE.call("validate", payload.as_bytes());
    let answer = answer.unwrap_or_else(|error| panic!("{error}, over {}", beginning(payload)));
    assert!(answer == native, "the module answers otherwise, over {}", beginning(payload));
    answer
}

fn beginning(text: &str) -> String {
    format!("{}… ({} bytes)", text.chars().take(400).collect::<String>(), text.len())
}

/// A payload with this object, by its text.
fn payload(kind: &str, object: &str, settings: &Value) -> String {
    let (group, version) = if ["Pod", "Node"].contains(&kind) { ("", "v1") } else { ("karpenter.sh", "v1") };
    let kind = json!({"group": group, "version": version, "kind": kind});
    format!(
        r#"{{"request":{{"uid":"1","kind":{kind},"operation":"CREATE","userInfo":{{"username":"a"}},"object":{object}}},"settings":{settings}}}"#
    )
}

fn settings(method: &str, karpenter: bool, action: &str) -> Value {
    json!({"mountMethod": method, "karpenterEnabled": karpenter, "action": action})
}

/// Every mount method, every gate and every action.
fn ask_in_every_set_up(kind: &str, object: &Value) {
    let object = object.to_string();
    assert!(object.len() <= MOST_BYTES, "{} bytes", object.len());
    for (method, karpenter, action) in [
        ("k8s-virtual-device", true, "mutate"),
        ("k8s-host-path", false, "mutate"),
        ("k8s-csi-driver", true, "mutate"),
        ("k8s-host-path", false, "reject"),
        ("k8s-init-container", true, "warn"),
    ] {
        ask(&payload(kind, &object, &settings(method, karpenter, action)));
    }
}

fn expression(key: &str) -> Value {
    json!({"key": key, "operator": "In", "values": ["true"]})
}

const LABELS: [&str; 3] =
    ["odigos.io/odiglet-oss-installed", "odigos.io/odiglet-enterprise-installed", "odigos.io/odiglet-installed"];

#[rstest]
#[case::others(|i: usize| json!({"key": format!("a{i}"), "effect": "NoExecute"}))]
#[case::ours(|i: usize| json!({"key": "odigos.io/needs-init", "effect": (["NoSchedule", "NoExecute"][i % 2])}))]
#[case::both(|i: usize| json!({"key": (["odigos.io/needs-init", "b"][i % 2]), "effect": "NoSchedule"}))]
fn many_taints(#[case] taint: fn(usize) -> Value) {
    let taints: Vec<Value> = (0..MANY).map(taint).collect();
    let spec = json!({"taints": &taints[..MANY / 2], "startupTaints": taints});
    ask_in_every_set_up("NodePool", &json!({"metadata": {"name": "p"}, "spec": {"template": {"spec": spec}}}));
    ask_in_every_set_up("NodeClaim", &json!({"metadata": {"name": "p"}, "spec": spec}));
    let metadata = json!({"name": "n", "labels": {"karpenter.sh/nodepool": "p"}});
    ask_in_every_set_up("Node", &json!({"metadata": metadata, "spec": {"taints": taints}}));
}

#[rstest]
#[case::own(|i: usize| json!({"matchExpressions": [expression(&format!("a{i}"))]}))]
#[case::odiglet_only(|i: usize| json!({"matchExpressions": [expression(LABELS[i % 3])]}))]
#[case::made_equal(|i: usize| json!({"matchExpressions": [expression("a"), expression(LABELS[i % 3])]}))]
#[case::in_conflict(|_| json!({"matchExpressions": [{"key": LABELS[0], "operator": "DoesNotExist"}]}))]
#[case::empty(|i: usize| if i == 0 { json!({"matchExpressions": [expression(LABELS[1])]}) } else { json!({}) })]
#[case::pinned(|i: usize| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [format!("n{i}")]}]}))]
fn many_terms(#[case] term: fn(usize) -> Value) {
    let terms: Vec<Value> = (0..MANY).map(term).collect();
    let preferred: Vec<Value> =
        terms.iter().map(|term| json!({"weight": 1, "preference": term})).take(MANY / 2).collect();
    let affinity = json!({
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    });
    let metadata = json!({"name": "p", "labels": {"odigos.io/agents-meta-hash": ""}});
    ask_in_every_set_up(
        "Pod",
        &json!({"metadata": metadata, "spec": {"containers": [], "affinity": {"nodeAffinity": affinity}}}),
    );
}

/// A term of so many expressions, on which the rules have much to say.
#[test]
fn many_expressions_in_a_term() {
    let expressions: Vec<Value> = (0..MANY).map(|i| expression(LABELS[i % 3])).chain([expression("a")]).collect();
    let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}});
    ask_in_every_set_up(
        "Pod",
        &json!({"metadata": {"name": "p"}, "spec": {"containers": [], "affinity": {"nodeAffinity": affinity}}}),
    );
}

#[test]
fn many_containers_and_devices() {
    let resources = json!({"requests": {"instrumentation.odigos.io/a": 1, "instrumentation.odigos.io/b": 1}, "limits": {"instrumentation.odigos.io/generic": 2}});
    let container =
        json!({"name": "a", "env": [{"name": "ODIGOS_DISTRO_NAME", "value": "java"}], "resources": resources});
    ask_in_every_set_up("Pod", &json!({"metadata": {"name": "p"}, "spec": {"containers": vec![container; MANY / 4]}}));
    let devices: serde_json::Map<String, Value> =
        (0..MANY / 2).map(|i| (format!("instrumentation.odigos.io/{i}"), json!(1))).collect();
    let container = json!({"name": "a", "resources": {"requests": devices, "limits": devices}});
    ask_in_every_set_up("Pod", &json!({"metadata": {"name": "p"}, "spec": {"containers": [container]}}));
    ask_in_every_set_up("NodeClaim", &json!({"metadata": {"name": "p"}, "spec": {"resources": {"requests": devices}}}));
}

#[rstest]
#[case::letters("odigos")]
#[case::quotes("\\\"")]
#[case::unicode("🦀é")]
fn the_largest_object(#[case] letters: &str) {
    let text = |bytes: usize| letters.repeat(bytes / (Value::from(letters).to_string().len() - 2));
    let half = MOST_BYTES / 2 - 4096;
    let metadata = json!({"name": text(half), "labels": {"odigos.io/agents-meta-hash": "", "karpenter.sh/nodepool": "p"}, "annotations": {"a": text(half)}});
    ask_in_every_set_up("Pod", &json!({"metadata": metadata, "spec": {"containers": [{"name": "a"}]}}));
    ask_in_every_set_up("Node", &json!({"metadata": metadata, "spec": {}}));
    ask_in_every_set_up("NodePool", &json!({"metadata": metadata, "spec": {"template": {"spec": {}}}}));
}

/// As deep as the host reads, where rules read and where they don't.
#[test]
fn deep_nesting() {
    let object =
        r#"{"metadata":{"name":"p","labels":{"odigos.io/agents-meta-hash":""}},"spec":{"containers":[{"name":"a"}]}}"#;
    for depth in [1, DEEP / 2, DEEP] {
        for (open, close, inner) in [("[", "]", ""), (r#"{"a":"#, "}", "1")] {
            let deep = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
            for place in [
                r#""x":null"#,
                r#""containers":[{"name":"a"}]"#,
                r#""name":"p""#,
                r#""labels":{"odigos.io/agents-meta-hash":""}"#,
            ] {
                let key = place.split_once(':').unwrap().0;
                let nested = object
                    .replace(place, &format!("{key}:{deep}"))
                    .replace(r#""spec":{"#, &format!(r#""spec":{{"x":{deep},"#));
                let answer = ask(&payload("Pod", &nested, &settings("k8s-host-path", false, "reject")));
                assert!(answer.mutated.is_none(), "{answer:?}");
                ask(&payload("Pod", &nested, &settings("k8s-host-path", false, "mutate")));
            }
        }
    }
    let deep = format!(r#"{{"nodePools":{}{}}}"#, "[".repeat(DEEP), "]".repeat(DEEP));
    assert_eq!(answer::ask_settings(&deep), Ok(false));
}

/// What one reader takes one way, and another the other: the last one counts, as for the host.
#[rstest]
#[case::object(
    r#"{"metadata":{"name":"a"},"spec":{"template":{"spec":{}}},"spec":{"template":{"spec":{"taints":[]}}}}"#
)]
#[case::list(
    r#"{"spec":{"template":{"spec":{"startupTaints":[],"startupTaints":[{"key":"a","effect":"NoSchedule"}]}}}}"#
)]
#[case::entry(r#"{"spec":{"template":{"spec":{"startupTaints":[{"key":"a","key":"odigos.io/needs-init","effect":"NoExecute","effect":"NoSchedule"}]}}}}"#)]
#[case::escaped(r#"{"spec":{"template":{"spec":{"taints":[],"t\u0061ints":[{"key":"odigos.io/needs-init","effect":"NoSchedule"}]}}}}"#)]
fn keys_that_are_there_twice(#[case] object: &str) {
    let once: Value = serde_json::from_str(object).unwrap();
    for action in ["mutate", "reject", "warn"] {
        let settings = settings("k8s-csi-driver", true, action);
        let (twice, once) =
            (ask(&payload("NodePool", object, &settings)), ask(&payload("NodePool", &once.to_string(), &settings)));
        let object = |answer: &Answer| {
            answer.mutated.as_ref().map(|object| serde_json::from_str::<Value>(&object.write()).unwrap())
        };
        assert_eq!((&twice.message, &twice.warnings, object(&twice)), (&once.message, &once.warnings, object(&once)));
    }
}

/// What `serde_json`, and so the host, takes for no JSON, and so never sends. There is an answer that
/// can be read, unless it carries the changed object: all that is not changed in it is as it came.
#[rstest]
#[case::lone_surrogate(r#""\ud800""#)]
#[case::pair_in_wrong_order(r#""\udc00\ud800""#)]
#[case::beyond_all_numbers("1e400")]
#[case::too_deep(&format!("{}{}", "[".repeat(200), "]".repeat(200)))]
#[case::far_too_deep(&format!("{}{}", "[".repeat(20_000), "]".repeat(20_000)))]
#[case::a_control_character("\"\u{1}\"")]
fn what_the_host_would_not_read(#[case] odd: &str) {
    let pool = r#"{"metadata":{"name":"p","annotations":{"a":"b"}},"spec":{"weight":1,"template":{"spec":{"taints":[],"x":2}}}}"#;
    for (place, with) in [(r#""p""#, odd), (r#"{"a":"b"}"#, odd), ("1,", &format!("{odd},")), ("[]", odd), ("2", odd)] {
        for action in ["mutate", "reject", "warn"] {
            let payload = payload("NodePool", &pool.replace(place, with), &settings("k8s-csi-driver", true, action));
            let answer = String::from_utf8(bytes(&payload)).unwrap();
            let answer = read(answer.replace(odd, "null").as_bytes());
            assert!(answer.is_ok(), "{answer:?}, over {}", beginning(&payload));
            assert!(action == "mutate" || read(&bytes(&payload)).is_ok(), "over {}", beginning(&payload));
        }
    }
}
