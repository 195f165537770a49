//! What no API server would let through, or nearly not: changes of a request that make it absurd.

use proptest::prelude::*;

use crate::json::Json;

/// A change somewhere in a text.
#[derive(Clone, Debug)]
pub struct Absurdity {
    /// Which place, of all that there are.
    place: proptest::sample::Index,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    /// Another value is there.
    Replace(Json),
    /// It is gone.
    Drop,
    /// The key is there twice, or the entry.
    Twice(Json),
    /// A field is there that nobody knows.
    Beside(String, Json),
    /// It is inside so many lists.
    Nest(usize),
}

/// Values of every type, among them such as others have stumbled over.
pub fn value() -> BoxedStrategy<Json> {
    let number = proptest::sample::select(vec![
        "0",
        "-0",
        "1.50",
        "1e3",
        "1E+2",
        "-1e-7",
        "9223372036854775808",
        "18446744073709551616",
        "1e300",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
    ]);
    let text = prop_oneof![
        "\\PC{0,6}",
        proptest::sample::select(vec![
            "",
            "odigos.io/needs-init",
            "\u{0}",
            "\u{202e}é",
            "true",
            "linux",
            "a\nb",
            "🦀\\\"",
            "\u{feff}"
        ])
        .prop_map(str::to_owned),
    ];
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        number.prop_map(|number| Json::Number(number.to_owned())),
        text.prop_map(Json::Text),
        Just(Json::List(Vec::new())),
        Just(Json::Map(Vec::new())),
        Just(Json::List(vec![Json::Null, Json::Number("5".to_owned()), Json::Map(Vec::new())])),
        Just(Json::Map(vec![("key".to_owned(), Json::Null), ("a".to_owned(), Json::List(Vec::new()))])),
    ]
    .boxed()
}

pub fn absurdities(most: usize) -> BoxedStrategy<Vec<Absurdity>> {
    let change = prop_oneof![
        4 => value().prop_map(Change::Replace),
        1 => Just(Change::Drop),
        2 => value().prop_map(Change::Twice),
        2 => ("\\PC{1,5}", value()).prop_map(|(key, value)| Change::Beside(key, value)),
        1 => (1_usize..90).prop_map(Change::Nest),
    ];
    let absurdity = (any::<proptest::sample::Index>(), change);
    proptest::collection::vec(absurdity.prop_map(|(place, change)| Absurdity { place, change }), 0..=most).boxed()
}

/// Only fields that nobody knows, and other numbers there.
pub fn unknown_fields() -> BoxedStrategy<Vec<Absurdity>> {
    let change = ("x-\\PC{0,5}", value()).prop_map(|(key, value)| Change::Beside(key, value));
    let absurdity = (any::<proptest::sample::Index>(), change);
    proptest::collection::vec(absurdity.prop_map(|(place, change)| Absurdity { place, change }), 0..=4).boxed()
}

/// The places of a text, with these changes one after the other.
pub fn applied(json: &Json, absurdities: &[Absurdity]) -> Json {
    let mut json = json.clone();
    for Absurdity { place, change } in absurdities {
        let places = json.places();
        change.apply(&mut json, &places[place.index(places.len())]);
    }
    json
}

/// The text with another value at a place.
pub fn replaced(json: &Json, place: &[String], value: Json) -> Json {
    let mut json = json.clone();
    Change::Replace(value).apply(&mut json, place);
    json
}

impl Change {
    fn apply(&self, json: &mut Json, place: &[String]) {
        let steps: Vec<&str> = place.iter().map(String::as_str).collect();
        let Some((last, parents)) = steps.split_last() else {
            return self.apply_here(json);
        };
        match self {
            // The places of what is there twice lead to the last of them, which may be shorter.
            Change::Drop => match json.at_mut(parents) {
                Some(Json::List(entries)) if last.parse().is_ok_and(|last: usize| last < entries.len()) => {
                    entries.remove(last.parse().unwrap());
                }
                Some(map) => map.remove(last),
                None => {}
            },
            Change::Twice(value) => match json.at_mut(parents) {
                Some(Json::Map(members)) => members.push(((*last).to_owned(), value.clone())),
                Some(Json::List(entries)) => entries.push(value.clone()),
                _ => {}
            },
            _ => {
                if let Some(here) = json.at_mut(&steps) {
                    self.apply_here(here);
                }
            }
        }
    }

    fn apply_here(&self, here: &mut Json) {
        match self {
            Change::Replace(value) => *here = value.clone(),
            Change::Beside(key, value) => here.set(key, value.clone()),
            Change::Nest(depth) => {
                for _ in 0..*depth {
                    *here = Json::List(vec![std::mem::replace(here, Json::Null)]);
                }
            }
            Change::Drop | Change::Twice(_) => {}
        }
    }
}
