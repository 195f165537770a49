//! That what saves work comes to the same as doing all of it.

use odigos_karpenter_policy::decision::{Decision, decide};
use odigos_karpenter_policy::json::splice::splice;
use odigos_karpenter_policy::request::{Envelope, Request};
use odigos_karpenter_policy::settings::Settings;
use odigos_karpenter_policy::{edit, pod, policy};
use serde_json::{Value, json};

use super::all_cases;

/// Calls `test` with each request that rules speak of, its settings and its envelope.
fn each_request(mut test: impl FnMut(&str, &Request, &Settings, &Envelope)) -> usize {
    let mut seen = 0;
    for case in all_cases() {
        let Some(request) = &case.request else { continue };
        let payload = json!({"request": request.admission_request(), "settings": {}}).to_string();
        let Some(envelope) = Envelope::open(payload.as_bytes()) else { continue };
        let Some((kind, operation)) = envelope.subject() else { continue };
        let (Ok(Some(request)), Ok(settings)) =
            (Request::parse(&envelope, kind, operation), Settings::read(&case.settings))
        else {
            continue;
        };
        test(&format!("{}: {}", case.file, case.name), &request, &settings, &envelope);
        seen += 1;
    }
    seen
}

/// The request with its objects parsed as a whole.
fn whole(request: &Request, payload: &Envelope) -> Request {
    let parse = |text: Option<&[u8]>| text.map_or(Value::Null, |text| serde_json::from_slice(text).unwrap());
    let old_object = if request.old_object.is_null() { Value::Null } else { parse(payload.old_object) };
    Request { object: parse(payload.object), old_object, ..request.clone() }
}

#[test]
fn rules_find_the_same_in_what_is_kept_and_in_all() {
    let seen = each_request(|name, request, settings, envelope| {
        let kept = policy::find(request, settings);
        assert_eq!(kept, policy::find(&whole(request, envelope), settings), "{name}");
    });
    assert!(seen > 300, "only {seen} requests");
}

#[test]
fn splicing_edits_into_the_text_is_applying_them() {
    let mut edited = 0;
    each_request(|name, request, settings, envelope| {
        let action = settings.action_on(request.kind, request.audit);
        let Decision::Mutate { edits, .. } = decide(policy::find(request, settings), action, true) else { return };
        let mut expected = whole(request, envelope).object;
        edit::apply(&mut expected, edits.clone());
        let spliced = splice(envelope.object.unwrap(), edits).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&spliced).unwrap(), expected, "{name}");
        edited += 1;
    });
    assert!(edited > 100, "only {edited} edited");
}

/// The payload of each case about a pod, and its answer.
fn pods() -> impl Iterator<Item = (String, String, Value)> {
    all_cases().into_iter().filter_map(|case| {
        let request = case.request.as_ref().filter(|request| request.kind() == "Pod")?;
        let payload = json!({"request": request.admission_request(), "settings": case.settings}).to_string();
        let answer = answer(&payload);
        Some((format!("{}: {}", case.file, case.name), payload, answer))
    })
}

fn answer(payload: &str) -> Value {
    serde_json::from_slice(&policy::validate(payload.as_bytes())).unwrap()
}

#[test]
fn nothing_is_found_in_a_pod_that_is_none_of_odigos() {
    let mut seen = 0;
    for (name, payload, _) in pods() {
        let payload = payload.replace("odigos", "odigoz").replace("ODIGOS", "ODIGOZ");
        let envelope = Envelope::open(payload.as_bytes()).unwrap();
        let settings: Value = serde_json::from_slice(envelope.settings.unwrap()).unwrap();
        let (Some((kind, operation)), Ok(settings)) = (envelope.subject(), Settings::read(&settings)) else { continue };
        if pod::is_none_of_odigos(&envelope, &settings)
            && let Some(request) = Request::parse(&envelope, kind, operation).unwrap()
        {
            let report = policy::find(&request, &settings);
            assert_eq!(report.findings, [], "{name}");
            assert!(report.hints.iter().all(|hint| hint.rule.is_none()), "{name}: {:?}", report.hints);
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} pods");
}

#[test]
fn an_escaped_letter_hides_no_mark() {
    let mut seen = 0;
    for (name, payload, expected) in pods() {
        let escaped = payload.replace("odigos", r"\u006fdigos").replace("ODIGOS", r"ODIGO\u0053");
        assert_eq!(answer(&escaped), expected, "{name}");
        seen += usize::from(escaped != payload && !expected["mutated_object"].is_null());
    }
    assert!(seen > 50, "only {seen} pods");
}
