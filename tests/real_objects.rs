//! Objects as people publish them: each is judged under every mount method, with Karpenter on and off.
//!
//! Reads `test_data/manifests`, or the folder that `MANIFESTS` names: any YAML and JSON files in it and
//! below it. `cargo test --test real_objects -- --nocapture` says what was found.

#[allow(dead_code, reason = "other tests ask for more")]
#[path = "properties/answer.rs"]
mod answer;
#[path = "real_objects/folder.rs"]
mod folder;
#[allow(dead_code, reason = "other tests ask for more")]
#[path = "properties/json.rs"]
mod json;
#[allow(dead_code, reason = "other tests ask for more")]
#[path = "properties/objects.rs"]
mod objects;
#[allow(dead_code, reason = "other tests ask for more")]
#[path = "properties/own.rs"]
mod own;
#[path = "cases/taints.rs"]
mod taints;
#[path = "real_objects/validity.rs"]
mod validity;
#[allow(dead_code, reason = "other tests ask for more")]
#[path = "properties/words.rs"]
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use answer::{Answer, ask};
use folder::{Folder, Found};
use json::Json;
use objects::Kind;
use own::{difference, others};

const METHODS: [&str; 4] = ["k8s-virtual-device", "k8s-host-path", "k8s-csi-driver", "k8s-init-container"];

fn manifests() -> Folder {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/manifests");
    Folder::read(&of_others().map_or_else(own, PathBuf::from))
}

/// A folder of somebody else's manifests, of which nothing is known.
fn of_others() -> Option<std::ffi::OsString> {
    std::env::var_os("MANIFESTS")
}

/// Every set-up: pods as they come, and each taken for one that Odigos instruments.
fn set_ups() -> Vec<Value> {
    let mut set_ups = Vec::new();
    for method in METHODS {
        for karpenter in [false, true] {
            for tier in ["community", "onprem"] {
                for selector in [json!(null), json!({})] {
                    set_ups.push(json!({
                        "mountMethod": method, "karpenterEnabled": karpenter, "tier": tier,
                        "pods": {"selector": selector}, "nodes": {"include": "all"},
                    }));
                }
            }
        }
    }
    set_ups
}

fn kind_of(object: &Value) -> Option<Kind> {
    let group = object["apiVersion"].as_str()?.split_once('/').map_or("", |(group, _)| group);
    Kind::ALL
        .into_iter()
        .find(|kind| (kind.names().0, kind.names().2) == (group, object["kind"].as_str().unwrap_or_default()))
}

fn request(object: &Value, old: &Value) -> Value {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    json!({
        "uid": "1",
        "kind": {"group": group, "version": version, "kind": object["kind"]},
        "operation": if old.is_null() { "CREATE" } else { "UPDATE" },
        "namespace": object["metadata"]["namespace"],
        "userInfo": {"username": "alice"},
        "object": object,
        "oldObject": old,
    })
}

fn answered(place: &str, request: &Value, settings: &Value) -> Answer {
    let answer =
        ask(&request.clone().into(), &settings.clone().into()).unwrap_or_else(|error| panic!("{place}: {error}"));
    assert!(answer.accepted, "{place}: {answer:?}");
    answer
}

/// How many answers changed something, by kind.
#[derive(Default, Debug)]
struct Tally {
    asked: usize,
    changed: BTreeMap<String, usize>,
    unreadable: Vec<String>,
}

#[test]
fn every_object_in_every_set_up() {
    let folder = manifests();
    let mut tally = Tally::default();
    for found in &folder.objects {
        for settings in set_ups() {
            judge(found, &settings, &mut tally);
        }
    }
    tally.unreadable.dedup();
    println!("{} objects, {} answers, changed: {:?}", folder.objects.len(), tally.asked, tally.changed);
    println!("not read: {:?}\nno objects: {:?}\nno YAML: {:?}", tally.unreadable, folder.others, folder.unreadable);
    assert!(!folder.objects.is_empty(), "no objects");
    if of_others().is_some() {
        return;
    }
    assert!(folder.objects.len() >= 20, "only {} objects", folder.objects.len());
    for kind in ["NodePool", "Node", "Pod"] {
        assert!(tally.changed.contains_key(kind), "no {kind} is changed");
    }
}

fn judge(Found { place, object }: &Found, settings: &Value, tally: &mut Tally) {
    let answer = answered(place, &request(object, &Value::Null), settings);
    tally.asked += 1;
    let Some(kind) = kind_of(object) else {
        assert!(answer.mutated.is_none() && answer.warnings.is_empty(), "{place}: {answer:?}");
        return;
    };
    if answer.warnings.iter().any(|warning| warning.contains("admitted unchanged") || warning.contains("belongs")) {
        tally.unreadable.push(place.clone());
    }
    let again = answered(place, &request(object, object), settings);
    assert!(
        again.mutated.is_none() || kind == Kind::Node,
        "{place}: an update that changes nothing is changed: {again:?}"
    );
    let Some(after) = answer.mutated else { return };
    *tally.changed.entry(kind.names().2.to_owned()).or_default() += 1;

    let before = Json::from(object.clone());
    let touched = difference(kind, &others(kind, &before), &others(kind, &after));
    assert!(touched.is_none(), "{place} under {settings}: {touched:?}");
    let after: Value = serde_json::from_str(&after.write()).unwrap();
    let faults = validity::faults(object, &after);
    assert!(faults.is_empty(), "{place} under {settings}: {faults:?} in {after}");
    let again = answered(place, &request(&after, &Value::Null), settings);
    assert!(again.mutated.is_none(), "{place} under {settings}: a second pass: {again:?}");
}

/// Requests as others have recorded them.
#[test]
fn every_request_in_every_set_up() {
    let folder = manifests();
    let mut changed = 0;
    for Found { place, object: request } in &folder.requests {
        for settings in set_ups() {
            let answer = answered(place, request, &settings);
            let Some(after) = answer.mutated else { continue };
            changed += 1;
            let mut again = request.clone();
            again["object"] = serde_json::from_str(&after.write()).unwrap();
            assert!(answered(place, &again, &settings).mutated.is_none(), "{place} under {settings}");
        }
    }
    println!("{} requests, {changed} answers changed", folder.requests.len());
    assert!(of_others().is_some() || !folder.requests.is_empty(), "no requests");
}
