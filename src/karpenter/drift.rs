//! What a change of a NodePool does to its nodes.

use std::collections::BTreeSet;

use crate::field::{Field, Unreadable};
use crate::json::view::{Content, Members, View, quoted};
use crate::kind::Operation;
use crate::request::Request;

/// What an UPDATE changes in a NodePool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// All: it is new.
    Created,
    /// Its hash: Karpenter replaces all its nodes anyway.
    Hash,
    /// Something in `/spec`, but not its hash.
    Spec,
    /// Nothing in `/spec`.
    Nothing,
}

/// Compares a NodePool with what it was.
///
/// The hash that decides over drift is over `/spec/template`, without its `spec.requirements` and
/// `spec.resources`, lists as sets, with what is absent, empty and zero alike, and durations by
/// their value (Karpenter, `NodePool.Hash` in `pkg/apis/v1/nodepool.go`).
pub fn change(old: &Field, new: &Field) -> Result<Change, Unreadable> {
    let (old, new) = (old.get("spec"), new.get("spec"));
    Ok(if old.canonical()? == new.canonical()? {
        Change::Nothing
    } else if hashed(&old) == hashed(&new) {
        Change::Spec
    } else {
        Change::Hash
    })
}

/// Whether a request creates a NodePool, or changes anything in its `/spec/template`.
pub fn changes_template<'r>(request: &'r Request<'r>) -> Result<bool, Unreadable> {
    if request.operation == Operation::Create {
        return Ok(true);
    }
    let Some(old) = &request.old_object else { return Ok(false) };
    let template = |object: &'r View<'r>| Field::root(object).get("spec").get("template").canonical();
    Ok(template(old)? != template(&request.object)?)
}

/// What the hash of a pool's `spec` is made of; `None` where that counts as nothing.
fn hashed(spec: &Field) -> Option<String> {
    let template = spec.get("template");
    let spec = template.view()?.get("spec").and_then(|spec| match spec.content() {
        Content::Map(members) => normal_map(members, |key, value| match key {
            "requirements" | "resources" => None,
            "expireAfter" | "terminationGracePeriod" => match value.as_str().and_then(nanoseconds) {
                Some(0) => None,
                Some(nanoseconds) => Some(nanoseconds.to_string()),
                None => normal(value),
            },
            _ => normal(value),
        }),
        _ => normal(spec),
    });
    let Some(Content::Map(members)) = template.content() else { return normal(template.view()?) };
    normal_map(members, |key, value| if key == "spec" { spec.clone() } else { normal(value) })
}

/// A value in the form that all values hashed alike share; `None` for what counts as nothing.
///
/// The values have been looked through by [`Field::canonical`], so none is nested too deep.
fn normal(value: &View) -> Option<String> {
    match value.content() {
        Content::Null | Content::Boolean(false) | Content::Broken => None,
        Content::Boolean(true) => Some("true".to_owned()),
        Content::Text(text) => (!text.is_empty()).then(|| quoted(text)),
        Content::Number(number) => {
            let digits = number.split(['e', 'E']).next().unwrap_or_default();
            let is_zero = !digits.contains(|digit| matches!(digit, '1'..='9'));
            (!is_zero).then(|| (*number).to_owned())
        }
        Content::List(list) => {
            let mut set = BTreeSet::new();
            for entry in list.iter().filter_map(normal) {
                set.insert(entry);
            }
            joined("[", set, "]")
        }
        Content::Map(members) => normal_map(members, |_, value| normal(value)),
    }
}

fn normal_map(members: &Members, normal: impl Fn(&str, &View) -> Option<String>) -> Option<String> {
    let normal = |(key, value)| Some(format!("{}:{}", quoted(key), normal(key, value)?));
    joined("{", members.by_key().into_iter().filter_map(normal), "}")
}

fn joined(opening: &str, parts: impl IntoIterator<Item = String>, closing: &str) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        text.push_str(if text.is_empty() { opening } else { "," });
        text.push_str(&part);
    }
    text.push_str(closing);
    (text != closing).then_some(text)
}

/// A duration as Go writes it, such as `720h` or `1h30m` or `1.5h`. `Never` is no duration, which
/// hashes as none.
fn nanoseconds(text: &str) -> Option<u64> {
    if text == "Never" {
        return Some(0);
    }
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut total: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, tail) = rest.split_at_checked(rest.find(|c| !is_digit(c))?)?;
        let (unit, tail) = tail.split_at_checked(tail.find(is_digit).unwrap_or(tail.len()))?;
        let unit: u64 = match unit {
            "h" => 3_600_000_000_000,
            "m" => 60_000_000_000,
            "s" => 1_000_000_000,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let parts =
            fraction.parse::<u64>().ok()?.checked_mul(unit)? / 10_u64.checked_pow(fraction.len().try_into().ok()?)?;
        total = total.checked_add(whole.parse::<u64>().ok()?.checked_mul(unit)?)?.checked_add(parts)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn pool(template: Value) -> Value {
        json!({"metadata": {"name": "p"}, "spec": {"template": template, "limits": {"cpu": 1}}})
    }

    fn pool_spec(spec: Value) -> Value {
        pool(json!({"spec": spec}))
    }

    #[rstest]
    #[case::the_same(pool_spec(json!({"expireAfter": "720h"})), pool_spec(json!({"expireAfter": "720h"})), Change::Nothing)]
    #[case::limits(json!({"spec": {"limits": {"cpu": 1}}}), json!({"spec": {"limits": {"cpu": 2}}}), Change::Spec)]
    #[case::a_duration(pool_spec(json!({"expireAfter": "720h"})), pool_spec(json!({"expireAfter": "24h"})), Change::Hash)]
    #[case::a_duration_written_otherwise(pool_spec(json!({"expireAfter": "720h"})), pool_spec(json!({"expireAfter": "719h60m"})), Change::Spec)]
    #[case::the_other_duration(pool_spec(json!({"terminationGracePeriod": "60s"})), pool_spec(json!({"terminationGracePeriod": "1m"})), Change::Spec)]
    #[case::a_fraction(pool_spec(json!({"expireAfter": "1.5h"})), pool_spec(json!({"expireAfter": "1h30m"})), Change::Spec)]
    #[case::never(pool_spec(json!({"expireAfter": "Never"})), pool_spec(json!({})), Change::Spec)]
    #[case::no_longer_never(pool_spec(json!({"expireAfter": "Never"})), pool_spec(json!({"expireAfter": "1h"})), Change::Hash)]
    #[case::not_a_duration(pool_spec(json!({"expireAfter": "soon"})), pool_spec(json!({"expireAfter": "later"})), Change::Hash)]
    #[case::labels(pool(json!({"metadata": {"labels": {"a": "b"}}})), pool(json!({"metadata": {"labels": {"a": "c"}}})), Change::Hash)]
    #[case::requirements(pool_spec(json!({"requirements": [1]})), pool_spec(json!({"requirements": [2]})), Change::Spec)]
    #[case::resources(pool_spec(json!({"resources": {"a": 1}})), pool_spec(json!({})), Change::Spec)]
    #[case::order(pool_spec(json!({"taints": [{"a": 1}, {"b": 2}]})), pool_spec(json!({"taints": [{"b": 2}, {"a": 1}]})), Change::Spec)]
    #[case::twice(pool_spec(json!({"taints": [1, 1]})), pool_spec(json!({"taints": [1]})), Change::Spec)]
    #[case::one_more(pool_spec(json!({"taints": [1]})), pool_spec(json!({"taints": [1, 2]})), Change::Hash)]
    #[case::empty(pool_spec(json!({"taints": [], "a": {}, "b": "", "c": 0, "d": false, "e": null})), pool_spec(json!({})), Change::Spec)]
    #[case::empty_inside(pool_spec(json!({"a": {"b": {"c": []}}})), pool_spec(json!({})), Change::Spec)]
    #[case::no_template(json!({"spec": {}}), pool_spec(json!({"taints": [1]})), Change::Hash)]
    #[case::no_spec_at_all(json!({}), json!({}), Change::Nothing)]
    fn changes(#[case] old: Value, #[case] new: Value, #[case] expected: Change) {
        let (old, new) = (old.to_string(), new.to_string());
        let (old, new) = (View::new(old.as_bytes()), View::new(new.as_bytes()));
        assert_eq!(change(&Field::root(&old), &Field::root(&new)), Ok(expected));
    }
}
