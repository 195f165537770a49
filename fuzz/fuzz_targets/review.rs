//! Requests as the host sends them, which reads and writes them first, with a cluster that answers
//! anything. They are changed as JSON, so that they stay what can be read.
//!
//! The input is `{"request": …, "settings": …, "cluster": …}`, the cluster as in the acceptance cases: part of a
//! host call → the answer. A text is sent as it is, so that it need not be JSON.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use odigos_karpenter_fuzz::answer;
use odigos_karpenter_fuzz::change::change_text;
use odigos_karpenter_policy::cluster::host::HostCluster;
use odigos_karpenter_policy::policy;
use serde_json::{Map, Value, json};

fuzz_target!(|input: &[u8]| {
    let Ok(Value::Object(mut input)) = serde_json::from_slice(input) else { return };
    let mut part = |key| input.remove(key).unwrap_or_default();
    let (mut request, settings, answers) = (part("request"), part("settings"), part("cluster"));
    let ask = |request: &Value, settings: &Value| {
        let payload = json!({"request": request, "settings": settings}).to_string();
        let cluster = HostCluster(|_: &str, call: &[u8]| look_up(&answers, call));
        answer::read(&policy::validate(payload.as_bytes(), &cluster))
    };
    let response = ask(&request, &settings);
    if let Some(changed) = response.mutated_object {
        assert_ne!(Some(&changed), request.get("object"), "changed into what it was");
        request["object"] = changed;
        let again = ask(&request, &settings);
        assert!(again.mutated_object.is_none(), "changed twice: {:?}, to {request}", again.mutated_object);
    }
    for action in ["reject", "warn"] {
        let mut settings = settings.clone();
        for of_a_kind in settings.as_object_mut().into_iter().flat_map(Map::values_mut) {
            of_a_kind.as_object_mut().map(|settings| settings.remove("action"));
        }
        if let Some(settings) = settings.as_object_mut() {
            settings.insert("action".to_owned(), json!(action));
            let response = ask(&request, &Value::Object(settings.clone()));
            assert!(response.mutated_object.is_none(), "changed by {action}");
            assert!(action == "reject" || response.accepted, "rejected by warn");
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    change_text(data, size, max_size, seed).unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});

/// The answer to a host call, that of the longest part of it.
fn look_up(answers: &Value, call: &[u8]) -> Result<Vec<u8>, String> {
    let call = String::from_utf8_lossy(call);
    let matching = answers.as_object().into_iter().flatten().filter(|(part, _)| call.contains(part.as_str()));
    match matching.max_by_key(|(part, _)| part.len()) {
        Some((_, Value::String(text))) => Ok(text.clone().into_bytes()),
        Some((_, answer)) => match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer.to_string().into_bytes()),
        },
        None => Err("not granted".to_owned()),
    }
}
