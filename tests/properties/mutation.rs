//! What a change of an object may be.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;

use crate::absurd::{absurdities, applied, unknown_fields};
use crate::answer::{Answer, ask, ask_text};
use crate::json::Json;
use crate::objects::Kind;
use crate::own::{difference, others, taint_lists};
use crate::requests::{self, shuffled};
use crate::rules::without_edit;
use crate::run::{hold, require, sample};
use crate::settings::{with_action, without_actions};
use crate::words::{DEVICES, KEY};

fn answer(request: &Json, settings: &Json) -> Result<Answer, TestCaseError> {
    ask(request, settings).map_err(TestCaseError::fail)
}

/// A request, with absurdities in it or not, and settings under which it is changed.
fn mutating(absurd: bool) -> BoxedStrategy<(Kind, Json, Json)> {
    let absurdities = if absurd { absurdities(2) } else { unknown_fields() };
    (requests::any(), without_actions(), absurdities)
        .prop_map(|((kind, request), settings, absurdities)| {
            let request = applied(&request.into(), &absurdities);
            (kind, request, with_action(&settings, "mutate").into())
        })
        .boxed()
}

/// The request with another object.
fn with_object(request: &Json, object: &Json) -> Json {
    let mut request = request.clone();
    request.set("object", object.clone());
    request
}

#[test]
fn a_second_pass_changes_nothing() {
    for absurd in [false, true] {
        hold(1500, mutating(absurd), |(_, request, settings)| {
            let Some(object) = answer(&request, &settings)?.mutated else { return Ok(()) };
            let again = answer(&with_object(&request, &object), &settings)?;
            require(again.accepted && again.mutated.is_none(), || format!("{} became {again:?}", object.write()))
        });
    }
}

#[test]
fn whatever_is_not_the_rules_own_stays() {
    for absurd in [false, true] {
        hold(2000, mutating(absurd), |(kind, request, settings)| {
            let Some(after) = answer(&request, &settings)?.mutated else { return Ok(()) };
            if request.at(&["kind", "kind"]).and_then(Json::text) != Some(kind.names().2) {
                return Ok(());
            }
            let before = request.get("object").unwrap();
            let found = difference(kind, &others(kind, before), &others(kind, &after));
            require(found.is_none(), || found.unwrap_or_default())?;
            what_was_empty_stays(before, &after)
        });
    }
}

/// What was empty before, or `null`, stays; it may be filled, or go with all of the required node
/// affinity.
fn what_was_empty_stays(before: &Json, after: &Json) -> Result<(), TestCaseError> {
    let required = ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
    for place in before.places() {
        let steps: Vec<&str> = place.iter().map(String::as_str).collect();
        // Entries of lists may move.
        let in_list = |step: &&str| step.parse::<usize>().is_ok();
        let goes_with_affinity =
            steps.starts_with(&required[..1]) && after.at(&required).is_none() && steps.get(1) == Some(&"affinity");
        let is_device = steps.last().is_some_and(|step| step.starts_with(DEVICES));
        if steps.iter().any(in_list)
            || is_device
            || goes_with_affinity
            || !before.at(&steps).is_some_and(Json::is_empty)
        {
            continue;
        }
        let found = after.at(&steps);
        require(found.is_some_and(|found| found == before.at(&steps).unwrap() || !found.is_empty()), || {
            format!("what was empty at {} is {found:?}", place.join("/"))
        })?;
    }
    Ok(())
}

#[test]
fn after_a_change_nothing_is_found_that_has_an_edit() {
    let without_edit = without_edit();
    hold(2000, (requests::rejectable(), without_actions()), |((_, request), settings)| {
        let request = Json::from(request);
        let answered = answer(&request, &with_action(&settings, "mutate").into())?;
        let object = answered.mutated.unwrap_or_else(|| request.get("object").unwrap().clone());
        let after = answer(&with_object(&request, &object), &with_action(&settings, "reject").into())?;
        for line in &after.message {
            let rule = crate::answer::rule_of(line).unwrap_or_default();
            require(without_edit.contains(&rule), || format!("{line}, in {}", object.write()))?;
        }
        Ok(())
    });
}

/// The startup taint is once where it belongs, or nowhere: the first that was right stays as it was,
/// else the first of all is put right, else there is a new one at the end.
#[test]
fn the_startup_taint_is_once_where_it_belongs_or_nowhere() {
    let ours = |object: &Json, list: &[&str]| -> Vec<Json> {
        let taints = object.at(list).map(Json::entries).unwrap_or_default();
        taints.iter().filter(|taint| taint.get("key").and_then(Json::text) == Some(KEY)).cloned().collect()
    };
    let right = |taint: &Json| taint.get("effect").and_then(Json::text) == Some("NoSchedule");
    let mut kept = 0;
    for ((kind, request), settings) in sample(2500, (requests::rejectable(), without_actions())) {
        let request = Json::from(request);
        let Some(after) = ask(&request, &with_action(&settings, "mutate").into()).unwrap().mutated else { continue };
        let Some((startup, permanent)) = taint_lists(kind).split_first() else { continue };
        let before = request.get("object").unwrap();
        let context = || format!("{} became {}", before.write(), after.write());
        assert!(permanent.iter().all(|list| ours(&after, list).is_empty()), "{}", context());
        let was = ours(before, startup);
        let is = ours(&after, startup);
        assert!(is.len() <= 1, "{}", context());
        let Some(is) = is.first() else { continue };
        let mut expected = was.iter().find(|taint| right(taint)).or(was.first()).cloned();
        match &mut expected {
            Some(expected) => expected.set("effect", Json::Text("NoSchedule".to_owned())),
            None => {
                expected = Some(json!({"key": KEY, "effect": "NoSchedule"}).into());
                assert_eq!(after.at(startup).unwrap().entries().last(), Some(is), "{}", context());
            }
        }
        let sorted = |taint: &Json| serde_json::from_str::<serde_json::Value>(&taint.write()).unwrap();
        assert_eq!(sorted(is), sorted(&expected.unwrap()), "{}", context());
        kept += 1;
    }
    assert!(kept > 150, "only {kept} with a startup taint");
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let strategy = (requests::any(), crate::settings::any(), unknown_fields(), any::<u64>());
    hold(1500, strategy, |((kind, request), settings, unknown, seed)| {
        let request = applied(&request.into(), &unknown);
        let settings = Json::from(settings);
        let answered = answer(&request, &settings)?;
        // That of the payload too.
        let payload = Json::Map(vec![("request".to_owned(), request), ("settings".to_owned(), settings)]);
        let shuffled = ask_text(&shuffled(&payload, seed).write()).map_err(TestCaseError::fail)?;
        let words = |answer: &Answer| Answer { mutated: None, ..answer.clone() };
        require(words(&answered) == words(&shuffled), || format!("{answered:?} or {shuffled:?}"))?;
        let difference = match (&answered.mutated, &shuffled.mutated) {
            (Some(a), Some(b)) => difference(kind, a, b),
            (None, None) => None,
            _ => Some("only one is changed".to_owned()),
        };
        require(difference.is_none(), || difference.unwrap_or_default())
    });
}

/// Nobody has said that Odigos instruments it: neither a mark nor a selector.
#[test]
fn a_pod_that_is_none_of_odigos_is_untouched() {
    hold(1500, (Kind::Pod.object(), crate::settings::any(), unknown_fields()), |(pod, mut settings, unknown)| {
        if let Some(pods) = settings.get_mut("pods").and_then(serde_json::Value::as_object_mut) {
            pods.remove("selector");
        }
        let request = requests::request(Kind::Pod, "CREATE", pod, json!(null), requests::user());
        let request =
            applied(&request.into(), &unknown).write().replace("odigos", "odigoz").replace("ODIGOS", "ODIGOZ");
        let answered = answer(&Json::read(&request).unwrap(), &settings.into())?;
        let silent = answered.accepted && answered.mutated.is_none() && answered.warnings.is_empty();
        require(silent, || format!("{answered:?}"))
    });
}
