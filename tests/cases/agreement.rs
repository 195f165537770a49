//! That what saves work comes to the same as doing all of it.

use odigos_karpenter_policy::decision::{Decision, decide};
use odigos_karpenter_policy::edit::Edit;
use odigos_karpenter_policy::json::splice::splice;
use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::path::Step;
use odigos_karpenter_policy::request::{Envelope, Request};
use odigos_karpenter_policy::settings::Settings;
use odigos_karpenter_policy::situation::Situation;
use odigos_karpenter_policy::{pod, policy};
use serde_json::{Map, Value, json};

use super::all_cases;
use crate::case::Case;
use crate::cluster::Cluster;

#[test]
fn splicing_edits_into_the_text_is_applying_them_to_the_value() {
    let mut edited = 0;
    for case in all_cases() {
        let Some(request) = &case.request else { continue };
        let payload = json!({"request": request.admission_request()}).to_string();
        let Some(envelope) = Envelope::open(payload.as_bytes()) else { continue };
        let Some((kind, operation)) = envelope.subject() else { continue };
        let settings = case.settings.to_string();
        let settings = View::new(settings.as_bytes());
        let (Ok(Some(request)), Ok(settings)) = (Request::read(envelope, kind, operation), Settings::read(&settings))
        else {
            continue;
        };
        let action = settings.action_on(request.kind, request.audit);
        let Decision::Mutate { edits, .. } =
            decide(policy::find(&request, &Situation::of_settings(&settings)), action, true)
        else {
            continue;
        };
        let mut expected: Value = serde_json::from_slice(request.object.text()).unwrap();
        let mut spliced = Vec::new();
        splice(&request.object, &edits, &mut spliced).unwrap();
        apply(&mut expected, edits);
        assert_eq!(serde_json::from_slice::<Value>(&spliced).unwrap(), expected, "{}: {}", case.file, case.name);
        edited += 1;
    }
    assert!(edited > 100, "only {edited} edited");
}

/// Applies edits to a value, one after another: first what is set, then what is appended, then what
/// is removed, the innermost first.
fn apply(object: &mut Value, edits: Vec<Edit>) {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut removals = Vec::new();
    for edit in &edits {
        if let Edit::Set(path, value) = edit
            && let Some(place) = make(object, path.steps())
        {
            *place = read(value);
        }
    }
    for edit in &edits {
        match edit {
            Edit::Append(path, value) => match make(object, path.steps()) {
                Some(Value::Array(list)) => list.push(read(value)),
                Some(place @ Value::Null) => *place = json!([read(value)]),
                _ => {}
            },
            Edit::Remove(path) => removals.push(path.steps()),
            Edit::Set(..) => {}
        }
    }
    removals.sort_by_key(|steps| (steps.len(), *steps));
    removals.dedup();
    for steps in removals.into_iter().rev() {
        remove(object, steps);
    }
}

/// The place that steps lead to, made on the way where it is absent or `null`.
fn make<'o>(mut value: &'o mut Value, steps: &[Step]) -> Option<&'o mut Value> {
    for step in steps {
        value = match step.key() {
            None => find(value, std::slice::from_ref(step))?,
            Some(key) => {
                if value.is_null() {
                    *value = Value::Object(Map::new());
                }
                value.as_object_mut()?.entry(key).or_insert(Value::Null)
            }
        };
    }
    Some(value)
}

fn find<'o>(mut value: &'o mut Value, steps: &[Step]) -> Option<&'o mut Value> {
    for step in steps {
        value = match step {
            Step::Index(index) => value.as_array_mut()?.get_mut(*index)?,
            _ => value.as_object_mut()?.get_mut(step.key()?)?,
        };
    }
    Some(value)
}

fn remove(object: &mut Value, steps: &[Step]) {
    let Some((last, parent)) = steps.split_last() else { return };
    let emptied = match (find(object, parent), last) {
        (Some(Value::Array(list)), Step::Index(index)) => {
            list.remove(*index);
            list.is_empty()
        }
        (Some(Value::Object(map)), step) => step.key().and_then(|key| map.remove(key)).is_some() && map.is_empty(),
        _ => false,
    };
    if emptied && parent.last().and_then(Step::key).is_some_and(|key| key != "spec") {
        remove(object, parent);
    }
}

/// The payload of each case about a pod, and its answer.
fn pods() -> impl Iterator<Item = (Case, String, Value)> {
    all_cases().into_iter().filter_map(|case| {
        let request = case.request.as_ref().filter(|request| request.kind() == "Pod")?;
        let payload = json!({"request": request.admission_request(), "settings": case.settings}).to_string();
        let answer = answer(&payload, &case.cluster);
        Some((case, payload, answer))
    })
}

fn answer(payload: &str, cluster: &Cluster) -> Value {
    serde_json::from_slice(&policy::validate(payload.as_bytes(), &cluster.native())).unwrap()
}

#[test]
fn nothing_is_found_in_a_pod_that_is_none_of_odigos() {
    let mut seen = 0;
    for (case, payload, _) in pods() {
        let name = case.name;
        let payload = payload.replace("odigos", "odigoz").replace("ODIGOS", "ODIGOZ");
        let envelope = Envelope::open(payload.as_bytes()).unwrap();
        let settings = envelope.settings.clone().unwrap();
        let (Some((kind, operation)), Ok(settings)) = (envelope.subject(), Settings::read(&settings)) else { continue };
        if pod::is_none_of_odigos(&envelope, &settings)
            && let Some(request) = Request::read(envelope, kind, operation).unwrap()
        {
            let report = policy::find(&request, &Situation::of_settings(&settings));
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
    for (case, payload, expected) in pods() {
        let escaped = payload.replace("odigos", r"\u006fdigos").replace("ODIGOS", r"ODIGO\u0053");
        assert_eq!(answer(&escaped, &case.cluster), expected, "{}", case.name);
        seen += usize::from(escaped != payload && !expected["mutated_object"].is_null());
    }
    assert!(seen > 50, "only {seen} pods");
}
