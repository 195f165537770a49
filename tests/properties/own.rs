//! What is the rules' own in an object, and what is anybody else's.

use crate::json::Json;
use crate::objects::Kind;
use crate::words::{DEVICES, KEY, ODIGLET_LABELS};

const REQUIRED: [&str; 5] =
    ["spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
const PREFERRED: [&str; 4] = ["spec", "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"];

/// Where the lists of taints are.
pub fn taint_lists(kind: Kind) -> &'static [&'static [&'static str]] {
    match kind {
        Kind::Node => &[&["spec", "taints"]],
        Kind::NodePool => &[&["spec", "template", "spec", "startupTaints"], &["spec", "template", "spec", "taints"]],
        Kind::NodeClaim | Kind::Provisioner | Kind::Machine => &[&["spec", "startupTaints"], &["spec", "taints"]],
        Kind::Pod | Kind::NodeOverlay => &[],
    }
}

/// The fields that may be written anew where a rule changes something in them: there a number may be
/// written otherwise, elsewhere not.
fn is_rewritten(kind: Kind, place: &[String]) -> bool {
    let begins = |field: &[&str]| place.len() >= field.len() && place.iter().zip(field).all(|(step, key)| step == key);
    let in_container = place.len() > 3
        && place[0] == "spec"
        && ["containers", "initContainers"].contains(&place[1].as_str())
        && place[3] == "resources";
    match kind {
        Kind::Pod => {
            in_container
                || begins(&["spec", "affinity"])
                || begins(&["spec", "nodeSelector"])
                || begins(&["spec", "resources"])
        }
        Kind::NodeClaim if begins(&["spec", "resources"]) => true,
        _ => taint_lists(kind).iter().any(|list| begins(list)),
    }
}

/// The object without what is the rules' own, and without what is empty where that was.
pub fn others(kind: Kind, object: &Json) -> Json {
    let mut object = object.clone();
    for list in taint_lists(kind) {
        if let Some(Json::List(taints)) = object.at_mut(list) {
            taints.retain(|taint| taint.get("key").and_then(Json::text) != Some(KEY));
        }
        prune(&mut object, list);
    }
    // A node may come without a spec, and is given one for the taint.
    if kind == Kind::Node && object.get("spec").is_some_and(Json::is_empty) {
        object.remove("spec");
    }
    if kind == Kind::NodeClaim {
        drop_devices(&mut object, &["spec", "resources", "requests"]);
    }
    if kind == Kind::Pod {
        drop_from_pod(&mut object);
    }
    object
}

fn drop_from_pod(object: &mut Json) {
    drop_devices(object, &["spec", "resources", "requests"]);
    drop_devices(object, &["spec", "resources", "limits"]);
    for list in ["containers", "initContainers"] {
        for i in 0..object.at(&["spec", list]).map_or(0, |containers| containers.entries().len()) {
            for kind in ["requests", "limits"] {
                drop_devices(object, &["spec", list, &i.to_string(), "resources", kind]);
            }
        }
    }
    if let Some(Json::Map(labels)) = object.at_mut(&["spec", "nodeSelector"]) {
        labels.retain(|(key, value)| !(ODIGLET_LABELS.contains(&key.as_str()) && value.text() == Some("true")));
    }
    prune(object, &["spec", "nodeSelector"]);
    if let Some(Json::List(terms)) = object.at_mut(&REQUIRED) {
        terms.retain_mut(|term| matches_something(term) && drop_from_term(term));
        let mut seen = Vec::new();
        // A copy of a term, with the label in it, is the rules' own.
        terms.retain(|term| {
            let first = !seen.contains(term);
            seen.push(term.clone());
            first
        });
    }
    // Without terms it requires nothing, and goes whatever else is in it.
    let (required, node_affinity) = (&REQUIRED[..4], &REQUIRED[..3]);
    if object.at(&REQUIRED).is_none_or(Json::is_empty)
        && let Some(node_affinity) = object.at_mut(node_affinity)
    {
        node_affinity.remove(required[3]);
    }
    prune(object, required);
    if let Some(Json::List(preferences)) = object.at_mut(&PREFERRED) {
        preferences.retain_mut(|preference| {
            preference.get_mut("preference").is_some_and(|term| matches_something(term) && drop_from_term(term))
        });
    }
    prune(object, &PREFERRED);
}

/// Whether a term has an expression or a field: an empty one matches nothing, and goes with the last
/// that is not.
fn matches_something(term: &Json) -> bool {
    ["matchExpressions", "matchFields"].iter().any(|list| !term.get(list).is_none_or(Json::is_empty))
}

/// Drops the expressions that require a label of odiglet; false where nothing else was there.
fn drop_from_term(term: &mut Json) -> bool {
    if let Some(Json::List(expressions)) = term.get_mut("matchExpressions") {
        expressions.retain(|expression| !requires_odiglet(expression));
    }
    for list in ["matchExpressions", "matchFields"] {
        if term.get(list).is_some_and(Json::is_empty) {
            term.remove(list);
        }
    }
    matches_something(term)
}

/// Whether an expression is a label of odiglet's, required.
pub fn requires_odiglet(expression: &Json) -> bool {
    let field = |key| expression.get(key).and_then(Json::text).unwrap_or_default();
    let values = expression.get("values").map(Json::entries).unwrap_or_default();
    let has_true = values.iter().any(|value| value.text() == Some("true"));
    ODIGLET_LABELS.contains(&field("key")) && (field("operator") == "Exists" || (field("operator") == "In" && has_true))
}

fn drop_devices(object: &mut Json, list: &[&str]) {
    if let Some(Json::Map(resources)) = object.at_mut(list) {
        resources.retain(|(resource, _)| !resource.starts_with(DEVICES));
    }
    prune(object, list);
}

/// Takes away what is empty at a place, and what that empties, up to the innermost `spec` or entry.
fn prune(object: &mut Json, place: &[&str]) {
    let Some((last, parents)) = place.split_last() else { return };
    if *last == "spec" || last.parse::<usize>().is_ok() || !object.at(place).is_none_or(Json::is_empty) {
        return;
    }
    if let Some(parent) = object.at_mut(parents) {
        parent.remove(last);
    }
    prune(object, parents);
}

/// The first place at which two objects differ, whatever the order of their keys; none where they
/// are the same. Numbers are compared as they are written, but for fields that are written anew.
pub fn difference(kind: Kind, before: &Json, after: &Json) -> Option<String> {
    let exact = !before.has_duplicates();
    let mut place = Vec::new();
    differs(before, after, &mut place, &|place| exact && !is_rewritten(kind, place))
        .then(|| format!("/{}: {} became {}", place.join("/"), at(before, &place), at(after, &place)))
}

fn at(json: &Json, place: &[String]) -> String {
    let steps: Vec<&str> = place.iter().map(String::as_str).collect();
    json.at(&steps).map_or_else(|| "nothing".to_owned(), Json::write)
}

fn differs(before: &Json, after: &Json, place: &mut Vec<String>, exact: &dyn Fn(&[String]) -> bool) -> bool {
    match (before, after) {
        (Json::Map(a), Json::Map(b)) => {
            for (key, _) in a.iter().chain(b) {
                place.push(key.clone());
                match (before.get(key), after.get(key)) {
                    (Some(a), Some(b)) if !differs(a, b, place, exact) => {}
                    _ => return true,
                }
                place.pop();
            }
            false
        }
        (Json::List(a), Json::List(b)) => {
            if a.len() != b.len() {
                return true;
            }
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                place.push(i.to_string());
                if differs(a, b, place, exact) {
                    return true;
                }
                place.pop();
            }
            false
        }
        (Json::Number(a), Json::Number(b)) if !exact(place) => {
            let integer = |text: &str| {
                text.parse::<i128>()
                    .ok()
                    .filter(|number| i64::try_from(*number).is_ok() || u64::try_from(*number).is_ok())
            };
            match (integer(a), integer(b)) {
                (Some(a), Some(b)) => a != b,
                _ => a.parse::<f64>().ok() != b.parse::<f64>().ok(),
            }
        }
        (a, b) => a != b,
    }
}
