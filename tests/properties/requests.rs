//! Generators of requests.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::json::Json;
use crate::objects::Kind;
use crate::words::{map, one_of, some, word};

/// An AdmissionRequest for an object.
pub fn request(kind: Kind, operation: &str, object: Value, old_object: Value, user: Value) -> Value {
    let (group, version, name) = kind.names();
    let mut object = object;
    let mut old_object = old_object;
    for object in [&mut object, &mut old_object] {
        if object.is_object() {
            object["apiVersion"] = if group.is_empty() { json!(version) } else { json!(format!("{group}/{version}")) };
            object["kind"] = json!(name);
        }
    }
    let kind = json!({"group": group, "version": version, "kind": name});
    json!({
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": kind,
        "requestKind": kind,
        "operation": operation,
        "namespace": object.pointer("/metadata/namespace").cloned(),
        "userInfo": user,
        "object": object,
        "oldObject": old_object,
        "dryRun": false,
    })
}

pub fn user() -> Value {
    json!({"username": "alice", "groups": ["system:authenticated"]})
}

/// A request that creates an object of any kind, in an audit where it could not be rejected otherwise.
pub fn rejectable() -> BoxedStrategy<(Kind, Value)> {
    kind()
        .prop_flat_map(|kind| (Just(kind), kind.object()))
        .prop_map(|(kind, object)| {
            let user = if kind.is_never_rejected() { json!({}) } else { user() };
            (kind, request(kind, "CREATE", object, Value::Null, user))
        })
        .boxed()
}

pub fn kind() -> BoxedStrategy<Kind> {
    prop_oneof![
        4 => Just(Kind::Pod),
        2 => Just(Kind::NodePool),
        3 => proptest::sample::select(&Kind::ALL[..]),
    ]
    .boxed()
}

/// A well-formed request of any kind: mostly a CREATE by a user.
pub fn any() -> BoxedStrategy<(Kind, Value)> {
    let users = one_of(&[
        user(),
        user(),
        json!({"username": "system:node:a", "groups": ["system:nodes"]}),
        json!({"username": "system:serviceaccount:odigos-system:odiglet"}),
        json!({}),
        json!({"username": ""}),
    ]);
    let rest = map(vec![
        some(3, "subResource", word(&["", "status", "eviction"])),
        some(10, "dryRun", one_of(&[json!(true)])),
    ]);
    let operation = prop_oneof![6 => Just("CREATE"), 3 => Just("UPDATE"), 1 => Just("DELETE"), 1 => Just("CONNECT")];
    kind()
        .prop_flat_map(move |kind| {
            (Just(kind), operation.clone(), kind.object(), old_of(kind), users.clone(), rest.clone())
        })
        .prop_map(|(kind, operation, object, change, user, rest)| {
            let old = if operation == "CREATE" { Value::Null } else { change.applied_to(&object) };
            let mut request = request(kind, operation, object, old, user);
            for (key, value) in rest.as_object().into_iter().flatten() {
                request[key] = value.clone();
            }
            (kind, request)
        })
        .boxed()
}

/// What an object was before its update.
#[derive(Clone, Debug)]
pub enum Old {
    Absent,
    TheSame,
    /// The same but for what is there.
    Otherwise(&'static str, Value),
    Another(Value),
}

impl Old {
    fn applied_to(&self, object: &Value) -> Value {
        match self {
            Old::Absent => Value::Null,
            Old::TheSame => object.clone(),
            Old::Another(object) => object.clone(),
            Old::Otherwise(pointer, value) => {
                let mut old = object.clone();
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                if let Some(Value::Object(parent)) = old.pointer_mut(parent) {
                    parent.insert(key.to_owned(), value.clone());
                }
                old
            }
        }
    }
}

fn old_of(kind: Kind) -> BoxedStrategy<Old> {
    let places: &[(&str, Value)] = &[
        ("/metadata/labels", json!({"a": "b"})),
        ("/spec/weight", json!(5)),
        ("/spec/template/spec/expireAfter", json!("12h")),
        ("/spec/template/spec/requirements", json!([])),
        ("/spec/capacity", json!({"cpu": 1})),
        ("/status", json!({"a": 1})),
    ];
    prop_oneof![
        1 => Just(Old::Absent),
        1 => Just(Old::TheSame),
        6 => proptest::sample::select(places.to_vec()).prop_map(|(pointer, value)| Old::Otherwise(pointer, value)),
        2 => kind.object().prop_map(Old::Another),
    ]
    .boxed()
}

/// The same request, with its keys in another order; lists stay as they are.
pub fn shuffled(json: &Json, mut seed: u64) -> Json {
    match json {
        Json::List(entries) => Json::List(entries.iter().map(|entry| shuffled(entry, seed)).collect()),
        Json::Map(members) => {
            let mut left: Vec<_> =
                members.iter().map(|(key, value)| (key.clone(), shuffled(value, seed / 3))).collect();
            let mut members = Vec::new();
            while !left.is_empty() {
                members.push(left.remove((seed % left.len() as u64) as usize));
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 3;
            }
            Json::Map(members)
        }
        other => other.clone(),
    }
}
