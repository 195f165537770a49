//! Changes to JSON after which it still is JSON: bytes that are flipped nearly never are, and no
//! rule sees what can't be read.

use serde_json::{Map, Value, json};

/// Words that rules look for.
const WORDS: [&str; 40] = [
    "",
    "*",
    "CREATE",
    "DoesNotExist",
    "Equal",
    "Exists",
    "Gt",
    "In",
    "NoExecute",
    "NoSchedule",
    "NotIn",
    "PreferNoSchedule",
    "UPDATE",
    "a\nb",
    "effect",
    "instrumentation.odigos.io/generic",
    "instrumentation.odigos.io/java-native-community",
    "k8s-csi-driver",
    "k8s-host-path",
    "k8s-init-container",
    "k8s-virtual-device",
    "karpenter.sh/nodepool",
    "karpenter.sh/unregistered",
    "key",
    "kubernetes.io/os",
    "linux",
    "matchExpressions",
    "matchFields",
    "mutate",
    "odigos.io/agents-meta-hash",
    "odigos.io/needs-init",
    "odigos.io/odiglet-enterprise-installed",
    "odigos.io/odiglet-installed",
    "odigos.io/odiglet-oss-installed",
    "operator",
    "reject",
    "true",
    "values",
    "warn",
    "windows",
];

/// Numbers that come out of a seed, always the same ones.
struct Dice(u64);

impl Dice {
    /// A number below `sides`, which is not 0.
    fn roll(&mut self, sides: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.roll(WORDS.len())]
    }
}

/// Changes the JSON that fills `size` bytes of a buffer of which no more than `max_size` may be filled,
/// and says how many are filled then: nothing where it is no JSON, or has no room, and once in a while
/// where it is.
pub fn change_text(buffer: &mut [u8], size: usize, max_size: usize, seed: u32) -> Option<usize> {
    if seed.is_multiple_of(16) {
        return None;
    }
    let mut value = serde_json::from_slice(&buffer[..size]).ok()?;
    change(&mut value, seed);
    let text = value.to_string();
    let room = buffer.get_mut(..text.len().min(max_size))?;
    if room.len() < text.len() {
        return None;
    }
    room.copy_from_slice(text.as_bytes());
    Some(text.len())
}

/// Changes a value in one to four places.
fn change(value: &mut Value, seed: u32) {
    let mut dice = Dice(seed.into());
    for _ in 0..=dice.roll(4) {
        let (from, to) = (dice.roll(count(value)), dice.roll(count(value)));
        let copy = nth(value, from).clone();
        change_here(nth_mut(value, to), copy, &mut dice);
    }
}

/// How many values there are in one, with itself.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(entries) => entries.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// One of these, the value itself being the first.
fn nth(value: &Value, mut n: usize) -> &Value {
    if n == 0 {
        return value;
    }
    n -= 1;
    let inner: Vec<&Value> = match value {
        Value::Array(entries) => entries.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    };
    for inner in inner {
        let there = count(inner);
        if n < there {
            return nth(inner, n);
        }
        n -= there;
    }
    value
}

fn nth_mut(value: &mut Value, n: usize) -> &mut Value {
    if n == 0 {
        return value;
    }
    let mut left = n - 1;
    let mut index = 0;
    let counts: Vec<usize> = match value {
        Value::Array(entries) => entries.iter().map(count).collect(),
        Value::Object(members) => members.values().map(count).collect(),
        _ => Vec::new(),
    };
    while index < counts.len() && left >= counts[index] {
        left -= counts[index];
        index += 1;
    }
    match value {
        Value::Array(entries) => nth_mut(&mut entries[index], left),
        Value::Object(members) => nth_mut(members.values_mut().nth(index).expect("as counted"), left),
        scalar => scalar,
    }
}

fn change_here(value: &mut Value, copy: Value, dice: &mut Dice) {
    match (value, dice.roll(4)) {
        (Value::Array(entries), 0..3) => change_list(entries, copy, dice),
        (Value::Object(members), 0..3) => change_map(members, copy, dice),
        (Value::Number(number), 0..2) => {
            let off = dice.roll(5) as i64 - 2;
            *number = number.as_i64().unwrap_or_default().saturating_add(off).into();
        }
        (Value::Bool(flag), 0..2) => *flag = !*flag,
        (Value::String(text), 0) => {
            let at = dice.roll(text.chars().count() + 1);
            text.insert_str(text.char_indices().nth(at).map_or(text.len(), |(at, _)| at), dice.word());
        }
        (Value::String(text), 1..3) => *text = dice.word().to_owned(),
        (value, _) => *value = if dice.roll(2) == 0 { copy } else { other(dice) },
    }
}

fn change_list(entries: &mut Vec<Value>, copy: Value, dice: &mut Dice) {
    let at = dice.roll(entries.len() + 1);
    match (entries.get(at).cloned(), dice.roll(4)) {
        (Some(_), 0) => drop(entries.remove(at)),
        (Some(entry), 1) => entries.insert(at, entry),
        (Some(_), 2) => {
            let with = dice.roll(entries.len());
            entries.swap(at, with);
        }
        _ => entries.insert(at, if dice.roll(2) == 0 { copy } else { other(dice) }),
    }
}

fn change_map(members: &mut Map<String, Value>, copy: Value, dice: &mut Dice) {
    let at = dice.roll(members.len() + 1);
    let key = members.keys().nth(at).cloned();
    match (key, dice.roll(3)) {
        (Some(key), 0) => drop(members.remove(&key)),
        (Some(key), 1) => {
            let value = members.remove(&key).unwrap_or_default();
            members.insert(dice.word().to_owned(), value);
        }
        _ => drop(members.insert(dice.word().to_owned(), if dice.roll(2) == 0 { copy } else { other(dice) })),
    }
}

fn other(dice: &mut Dice) -> Value {
    match dice.roll(10) {
        0 => Value::Null,
        1 => json!(dice.roll(2) == 0),
        2 => json!([0, 1, 2, 1_000][dice.roll(4)]),
        3 => [json!(-1), json!(1.5), json!(1e30), json!(u64::MAX), json!(-0.0)][dice.roll(5)].clone(),
        4 => json!([]),
        5 => json!({}),
        6 => json!({"key": dice.word(), "effect": dice.word()}),
        7 => json!({"key": dice.word(), "operator": dice.word(), "values": [dice.word()]}),
        _ => json!(dice.word()),
    }
}
