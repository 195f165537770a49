//! JSON patches of lists of taints.

use odigos_karpenter_policy::json::view::{View, quoted};

use crate::plain::plain;

/// The JSON patch that makes an object's lists below a place what they are in `after`; `None` where they
/// are the same.
///
/// It begins with `test` operations, so that it does nothing where it was applied before, or where
/// something has changed in between: on each list that it changes, or, as a `test` can't say that there
/// is no list, on all that holds it.
pub fn patch(before: &View, after: &View, place: &[&str], lists: &[&str]) -> Option<String> {
    let before_place = below(before, place)?;
    let after_place = below(after, place)?;
    let pointer: String = place.iter().map(|key| format!("/{key}")).collect();
    let (mut tests, mut changes, mut appears) = (Vec::new(), Vec::new(), false);
    for list in lists {
        let value = |place: &View| place.get(list).filter(|list| !list.is_null()).and_then(View::canonical);
        let (was, is) = (value(before_place), value(after_place));
        if was == is {
            continue;
        }
        let path = quoted(&format!("{pointer}/{list}"));
        match &was {
            Some(was) => tests.push(format!(r#"{{"op":"test","path":{path},"value":{was}}}"#)),
            None => appears = true,
        }
        changes.push(match (was, is) {
            (Some(_), Some(is)) => format!(r#"{{"op":"replace","path":{path},"value":{is}}}"#),
            (_, Some(is)) => format!(r#"{{"op":"add","path":{path},"value":{is}}}"#),
            (_, None) => format!(r#"{{"op":"remove","path":{path}}}"#),
        });
    }
    if changes.is_empty() {
        return None;
    }
    if appears {
        tests = vec![format!(r#"{{"op":"test","path":{},"value":{}}}"#, quoted(&pointer), before_place.canonical()?)];
    }
    tests.extend(changes);
    Some(format!("[{}]", tests.join(",")))
}

fn below<'v, 't>(view: &'v View<'t>, place: &[&str]) -> Option<&'v View<'t>> {
    place.iter().try_fold(view, |view, key| view.get(key))
}

/// Text as one word of a shell. No name that the API server takes has a character that a terminal obeys.
pub fn shell(text: &str) -> String {
    let text = plain(text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/' | b':');
    if !text.is_empty() && text.bytes().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    #[rstest]
    #[case::replaced(json!([{"key": "a"}]), json!([{"key": "a"}, {"key": "b"}]), "/spec/taints")]
    #[case::removed(json!([{"key": "a"}]), Value::Null, "/spec/taints")]
    #[case::new(Value::Null, json!([{"key": "a"}]), "/spec")]
    fn what_has_changed_is_left_alone(#[case] was: Value, #[case] is: Value, #[case] tested: &str) {
        let object = |taints: &Value| {
            let mut object = json!({"spec": {"x": 1, "taints": taints}});
            if taints.is_null() {
                object["spec"].as_object_mut().unwrap().remove("taints");
            }
            object
        };
        let (before, after) = (object(&was), object(&is));
        let (before_text, after_text) = (before.to_string(), after.to_string());
        let (before_view, after_view) = (View::new(before_text.as_bytes()), View::new(after_text.as_bytes()));
        let text = patch(&before_view, &after_view, &["spec"], &["taints"]).unwrap();
        let patch: json_patch::Patch = serde_json::from_str(&text).unwrap();
        assert!(text.starts_with(&format!(r#"[{{"op":"test","path":"{tested}","#)), "{text}");
        let mut patched = before.clone();
        json_patch::patch(&mut patched, &patch).unwrap();
        assert_eq!(patched, after);
        // The second time, and where another has been here.
        json_patch::patch(&mut patched, &patch).unwrap_err();
        assert_eq!(patched, after);
        let mut other = object(&json!([{"key": "other"}]));
        json_patch::patch(&mut other, &patch).unwrap_err();
        assert_eq!(other, object(&json!([{"key": "other"}])));
    }

    #[test]
    fn nothing_to_do() {
        let view = View::new(br#"{"spec":{"taints":null}}"#);
        assert_eq!(patch(&view, &View::new(br#"{"spec":{}}"#), &["spec"], &["taints"]), None);
        assert_eq!(patch(&view, &view, &["spec", "template"], &["taints"]), None);
    }

    #[test]
    fn words_of_a_shell() {
        assert_eq!(shell("default"), "default");
        assert_eq!(shell("a'b $c"), r"'a'\''b $c'");
    }
}
