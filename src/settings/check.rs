//! Selectors and tolerations in settings, checked as the API server checks them
//! (Kubernetes, `ValidateLabelSelector`, `ValidateLabels` and `ValidateTolerations`).

use super::errors::Errors;
use crate::field::Field;
use crate::json::view::{Content, View};
use crate::kubernetes::label_selector::LabelSelector;
use crate::kubernetes::names::{is_label_value, is_qualified_name};
use crate::kubernetes::requirement::Requirement;
use crate::kubernetes::toleration::Toleration;

const KEY: &str = "a label key such as example.com/team or team";
const VALUE: &str = "a label value: at most 63 letters, digits, '-', '_' and '.', a letter or digit at either end";

const SELECTOR_OPERATORS: &[(&str, &str)] =
    &[("In", "In"), ("NotIn", "NotIn"), ("Exists", "Exists"), ("DoesNotExist", "DoesNotExist")];
const TOLERATION_OPERATORS: &[(&str, &str)] = &[("Equal", "Equal"), ("Exists", "Exists")];
const EFFECTS: &[(&str, &str)] =
    &[("NoSchedule", "NoSchedule"), ("PreferNoSchedule", "PreferNoSchedule"), ("NoExecute", "NoExecute")];

/// A label selector; `None` where it is absent.
pub fn label_selector<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<LabelSelector<'s>> {
    if field.is_absent() {
        return None;
    }
    errors.map(field);
    let selector = LabelSelector {
        match_labels: labels(&field.get("matchLabels"), errors).unwrap_or_default(),
        match_expressions: errors.list(&field.get("matchExpressions"), requirement).unwrap_or_default(),
    };
    errors.unknown_keys(field, &["matchLabels", "matchExpressions"]);
    Some(selector)
}

/// The labels that a node must have; `None` where they are absent.
pub fn node_selector<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<Vec<(&'s str, &'s str)>> {
    labels(field, errors)
}

/// A list of tolerations; `None` where it is absent.
pub fn tolerations<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<Vec<Toleration<'s>>> {
    errors.list(field, toleration)
}

fn labels<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<Vec<(&'s str, &'s str)>> {
    if field.is_absent() {
        return None;
    }
    let Ok(members) = field.members() else {
        errors.map(field);
        return None;
    };
    let mut labels = Vec::new();
    for (key, member) in members {
        if !is_qualified_name(key) {
            errors.add(&member, format_args!("{KEY} before it"));
        }
        match member.content() {
            Some(Content::Text(value)) if is_label_value(value) => labels.push((key, value.as_ref())),
            _ => errors.add(&member, VALUE),
        }
    }
    Some(labels)
}

fn requirement<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<Requirement<'s>> {
    if field.must_be_map().is_err() {
        errors.add(field, "a map");
        return None;
    }
    let (key, operator, values) = (field.get("key"), field.get("operator"), field.get("values"));
    let name = errors.text(&key);
    if !name.is_some_and(is_qualified_name) && (name.is_some() || key.is_absent()) {
        errors.add(&key, KEY);
    }
    let chosen = errors.choice(&operator, SELECTOR_OPERATORS, "");
    if operator.is_absent() {
        errors.add(&operator, "one of In, NotIn, Exists, DoesNotExist");
    }
    let listed = errors.list(&values, |value, errors| match value.content() {
        Some(Content::Text(text)) if is_label_value(text) => Some(text.as_ref()),
        _ => {
            errors.add(value, VALUE);
            None
        }
    });
    let empty = !matches!(values.content(), Some(Content::List(list)) if !list.is_empty());
    match chosen {
        Some("In" | "NotIn") if empty && (values.is_absent() || listed.is_some()) => {
            errors.add(&values, "at least one value, for In and NotIn");
        }
        Some("Exists" | "DoesNotExist") if !empty => errors.add(&values, "no values, for Exists and DoesNotExist"),
        _ => {}
    }
    errors.unknown_keys(field, &["key", "operator", "values"]);
    Some(Requirement { key: name?, operator: chosen?, values: listed.unwrap_or_default() })
}

fn toleration<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<Toleration<'s>> {
    if field.must_be_map().is_err() {
        errors.add(field, "a map");
        return None;
    }
    let (key, operator, value) = (field.get("key"), field.get("operator"), field.get("value"));
    let effect = field.get("effect");
    let name = errors.text(&key).unwrap_or_default();
    if !name.is_empty() && !is_qualified_name(name) {
        errors.add(&key, "a taint key such as example.com/team or team");
    }
    // An empty operator or effect is an absent one to the API server.
    let chosen = if is_empty(&operator) { None } else { errors.choice(&operator, TOLERATION_OPERATORS, "") };
    if key.text().is_ok() && name.is_empty() && chosen != Some("Exists") && (chosen.is_some() || is_empty(&operator)) {
        errors.add(&operator, "Exists, where there is no key");
    }
    let asked = errors.text(&value).unwrap_or_default();
    if chosen == Some("Exists") && !asked.is_empty() {
        errors.add(&value, "no value, for Exists");
    } else if !is_label_value(asked) {
        errors.add(&value, VALUE);
    }
    let against = if is_empty(&effect) { None } else { errors.choice(&effect, EFFECTS, "") };
    let seconds = field.get("tolerationSeconds");
    if !seconds.is_absent() {
        if !matches!(seconds.content(), Some(Content::Number(number)) if number.parse::<i64>().is_ok()) {
            errors.add(&seconds, "a whole number of seconds");
        } else if against != Some("NoExecute") && (against.is_some() || is_empty(&effect)) {
            errors.add(&seconds, "nothing, where the effect is not NoExecute");
        }
    }
    errors.unknown_keys(field, &["key", "operator", "value", "effect", "tolerationSeconds"]);
    Some(Toleration {
        key: name,
        operator: chosen.unwrap_or_default(),
        value: asked,
        effect: against.unwrap_or_default(),
    })
}

fn is_empty(field: &Field) -> bool {
    field.is_absent() || field.view().and_then(View::as_str) == Some("")
}

#[cfg(test)]
mod tests {
    use crate::json::view::View;
    use crate::settings::Settings;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn paths(settings: Value) -> Vec<String> {
        let settings = settings.to_string();
        Settings::read(&View::new(settings.as_bytes()))
            .err()
            .unwrap_or_default()
            .into_iter()
            .map(|error| error.path)
            .collect()
    }

    #[rstest]
    #[case::empty(json!({}), &[])]
    #[case::all(json!({"matchLabels": {"a": "b", "c": ""}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}), &[])]
    #[case::null_is_absent(json!({"matchLabels": {"a": null}, "matchExpressions": null}), &[])]
    #[case::not_a_map(json!("a=b"), &["pods.selector"])]
    #[case::bad_key(json!({"matchLabels": {"a b": "c"}}), &["pods.selector.matchLabels[a b]"])]
    #[case::bad_value(json!({"matchLabels": {"a": "b c", "d": 1}}), &["pods.selector.matchLabels[a]", "pods.selector.matchLabels[d]"])]
    #[case::null_expression(json!({"matchExpressions": [null]}), &["pods.selector.matchExpressions[0]"])]
    #[case::nothing_in_it(json!({"matchExpressions": [{}]}), &["pods.selector.matchExpressions[0].key", "pods.selector.matchExpressions[0].operator"])]
    #[case::number_for_key(json!({"matchExpressions": [{"key": 1, "operator": "Exists"}]}), &["pods.selector.matchExpressions[0].key"])]
    #[case::no_values(json!({"matchExpressions": [{"key": "a", "operator": "In"}]}), &["pods.selector.matchExpressions[0].values"])]
    #[case::empty_values(json!({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": []}]}), &["pods.selector.matchExpressions[0].values"])]
    #[case::one_bad_value(json!({"matchExpressions": [{"key": "a", "operator": "In", "values": [null]}]}), &["pods.selector.matchExpressions[0].values[0]"])]
    #[case::values_of_exists(json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}), &["pods.selector.matchExpressions[0].values"])]
    #[case::gt_is_for_nodes(json!({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}), &["pods.selector.matchExpressions[0].operator"])]
    #[case::unknown(json!({"matchLabel": {}, "matchExpressions": [{"key": "a", "operator": "Exists", "x": 1}]}), &["pods.selector.matchExpressions[0].x", "pods.selector.matchLabel"])]
    fn label_selectors(#[case] selector: Value, #[case] expected: &[&str]) {
        assert_eq!(paths(json!({"pods": {"selector": selector}})), expected);
    }

    #[rstest]
    #[case::none(json!({}), &[])]
    #[case::some(json!({"kubernetes.io/os": "linux", "disk": ""}), &[])]
    #[case::a_boolean(json!({"gpu": true}), &["odiglet.nodeSelector[gpu]"])]
    #[case::a_bad_key(json!({"a/b/c": "d"}), &["odiglet.nodeSelector[a/b/c]"])]
    #[case::a_list(json!(["a"]), &["odiglet.nodeSelector"])]
    fn node_selectors(#[case] selector: Value, #[case] expected: &[&str]) {
        assert_eq!(paths(json!({"odiglet": {"nodeSelector": selector}})), expected);
    }

    #[rstest]
    #[case::everything(json!({"operator": "Exists"}), &[])]
    #[case::equal_by_default(json!({"key": "a", "value": "b", "effect": ""}), &[])]
    #[case::seconds(json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}), &[])]
    #[case::null(json!(null), &[""])]
    #[case::no_key(json!({}), &[".operator"])]
    #[case::no_key_equal(json!({"operator": "Equal"}), &[".operator"])]
    #[case::a_bad_key(json!({"key": "a b"}), &[".key"])]
    #[case::a_bad_operator(json!({"key": "a", "operator": "exists"}), &[".operator"])]
    #[case::a_bad_operator_alone(json!({"operator": "exists"}), &[".operator"])]
    #[case::value_of_exists(json!({"key": "a", "operator": "Exists", "value": "b"}), &[".value"])]
    #[case::a_bad_value(json!({"key": "a", "value": "b c"}), &[".value"])]
    #[case::a_bad_effect(json!({"key": "a", "effect": "NoRun"}), &[".effect"])]
    #[case::seconds_without_effect(json!({"key": "a", "tolerationSeconds": 1}), &[".tolerationSeconds"])]
    #[case::seconds_of_another_effect(json!({"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}), &[".tolerationSeconds"])]
    #[case::bad_seconds(json!({"key": "a", "effect": "NoExecute", "tolerationSeconds": "1"}), &[".tolerationSeconds"])]
    #[case::unknown(json!({"key": "a", "seconds": 1}), &[".seconds"])]
    fn tolerations(#[case] toleration: Value, #[case] expected: &[&str]) {
        let expected: Vec<String> = expected.iter().map(|path| format!("odiglet.tolerations[0]{path}")).collect();
        assert_eq!(paths(json!({"odiglet": {"tolerations": [toleration]}})), expected);
    }
}
