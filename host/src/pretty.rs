//! An answer for people: a verdict, the policy's words, and what changes in the object.

use std::fmt::Display;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::{AdmissionResponse, Review};

const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const PLAIN: Style = Style::new();

/// Writes an answer, with ANSI colours; to leave them out is the writer's business, as it is
/// `anstream`'s. `policy` is the name of the policy, where there are several.
///
/// # Errors
///
/// What `out` fails with.
pub fn write(
    out: &mut impl Write,
    review: &Review,
    response: &AdmissionResponse,
    policy: Option<&str>,
) -> io::Result<()> {
    let (style, verdict) = match (response.allowed, &response.patch) {
        (false, _) => (RED, "REJECTED"),
        (true, Some(_)) => (YELLOW, "MUTATED"),
        (true, None) => (GREEN, "ACCEPTED"),
    };
    write!(out, "{} {} ({})", painted(style.bold(), verdict), subject(review), review.operation)?;
    match policy {
        Some(policy) => writeln!(out, " by {policy}")?,
        None => writeln!(out)?,
    }
    if let Some(status) = &response.status {
        if let Some(message) = &status.message {
            indented(out, PLAIN, message)?;
        }
        for cause in status.details.iter().flat_map(|details| &details.causes) {
            indented(out, PLAIN, &cause.message)?;
        }
    }
    for (key, value) in response.audit_annotations.iter().flatten() {
        indented(out, PLAIN, &format!("{key}: {value}"))?;
    }
    for warning in response.warnings.iter().flatten() {
        indented(out, YELLOW, &format!("warning: {warning}"))?;
    }
    if let (true, Some(_), Some(object)) = (response.allowed, &response.patch, &review.object) {
        match response.patched(object) {
            Ok(patched) => write_diff(out, object, &patched)?,
            Err(error) => indented(out, RED, &error.to_string())?,
        }
    }
    Ok(())
}

/// `Pod shop/web-…`: the kind, and the name or what the API server makes a name of.
fn subject(review: &Review) -> String {
    let object = review.object.as_ref().or(review.old_object.as_ref());
    let metadata = |key: &str| {
        object
            .and_then(|object| object.pointer(&format!("/metadata/{key}")))
            .and_then(Value::as_str)
            .filter(|value| !value.is_empty())
    };
    let given = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
    let name = metadata("name")
        .map(str::to_owned)
        .or_else(|| given(&review.name))
        .or_else(|| metadata("generateName").map(|prefix| format!("{prefix}…")))
        .unwrap_or_else(|| "without a name".to_owned());
    let kind = &review.kind.kind;
    match metadata("namespace").map(str::to_owned).or_else(|| given(&review.namespace)) {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}

fn write_diff(out: &mut impl Write, before: &Value, after: &Value) -> io::Result<()> {
    let (before, after) = (yaml(before), yaml(after));
    let diff = TextDiff::from_lines(&before, &after);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        writeln!(out, "{}", painted(CYAN, hunk.header()))?;
        for change in hunk.iter_changes() {
            let (style, sign) = match change.tag() {
                ChangeTag::Equal => (PLAIN, ' '),
                ChangeTag::Delete => (RED, '-'),
                ChangeTag::Insert => (GREEN, '+'),
            };
            let line = change.value().trim_end_matches('\n');
            writeln!(out, "{}", painted(style, format_args!("{sign}{line}")))?;
        }
    }
    Ok(())
}

/// Keys sorted, so that a change is not hidden among keys that only moved.
fn yaml(object: &Value) -> String {
    let mut sorted = object.clone();
    sorted.sort_all_objects();
    // YAML can say whatever JSON can; were it not so, JSON would do.
    serde_yaml::to_string(&sorted).unwrap_or_else(|_| format!("{sorted:#}\n"))
}

fn indented(out: &mut impl Write, style: Style, text: &str) -> io::Result<()> {
    for line in text.lines() {
        writeln!(out, "  {}", painted(style, line))?;
    }
    Ok(())
}

fn painted(style: Style, text: impl Display) -> impl Display {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn review(object: Value) -> Review {
        Review::from_value(&json!({
            "uid": "u-1",
            "kind": {"group": "karpenter.sh", "version": "v1", "kind": "NodePool"},
            "resource": {"group": "karpenter.sh", "version": "v1", "resource": "nodepools"},
            "operation": "CREATE",
            "userInfo": {},
            "object": object,
        }))
        .unwrap()
    }

    fn plain(object: Value, answer: Value, policy: Option<&str>) -> String {
        let review = review(object);
        let response = AdmissionResponse::from_guest(&review, answer.to_string().as_bytes());
        let mut out = anstream::StripStream::new(Vec::new());
        write(&mut out, &review, &response, policy).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    fn pool() -> Value {
        json!({"metadata": {"name": "spot"}})
    }

    #[rstest]
    #[case::accepted(json!({"accepted": true}), None, "ACCEPTED NodePool spot (CREATE)\n")]
    #[case::by_name(json!({"accepted": true}), Some("odigos"), "ACCEPTED NodePool spot (CREATE) by odigos\n")]
    #[case::rejected(
        json!({"accepted": false, "message": "two\nlines", "warnings": ["w1", "w2"]}),
        None,
        "REJECTED NodePool spot (CREATE)\n  two\n  lines\n  warning: w1\n  warning: w2\n"
    )]
    #[case::rejected_all_the_same(
        json!({"accepted": false, "mutated_object": {}}),
        None,
        "REJECTED NodePool spot (CREATE)\n"
    )]
    #[case::mutated(
        json!({"accepted": true, "mutated_object": {"metadata": {"name": "spot"}, "spec": {"taints": [{"key": "a"}]}}}),
        None,
        "MUTATED NodePool spot (CREATE)\n@@ -1,2 +1,5 @@\n metadata:\n   name: spot\n+spec:\n+  taints:\n+  - key: a\n"
    )]
    fn written(#[case] answer: Value, #[case] policy: Option<&str>, #[case] text: &str) {
        assert_eq!(plain(pool(), answer, policy), text);
    }

    #[test]
    fn what_stays_is_left_out() {
        let before = json!({"l": (0..50).collect::<Vec<_>>()});
        let mut after = before.clone();
        after["l"][25] = json!("here");
        let text = plain(before, json!({"accepted": true, "mutated_object": after}), None);
        assert!(text.contains("-- 25\n+- here\n"), "{text}");
        assert_eq!(text.lines().count(), 2 + 3 + 2 + 3, "{text}");
    }

    #[test]
    fn colours_are_there_for_a_terminal() {
        let review = review(pool());
        let mut out = Vec::new();
        write(&mut out, &review, &AdmissionResponse::from_guest(&review, br#"{"accepted": true}"#), None).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("\u{1b}["), "{text:?}");
    }

    #[rstest]
    #[case::in_a_namespace(json!({"metadata": {"name": "p", "namespace": "shop"}}), "NodePool shop/p")]
    #[case::yet_to_be_named(json!({"metadata": {"generateName": "web-"}}), "NodePool web-…")]
    #[case::nameless(json!({}), "NodePool without a name")]
    #[case::a_name_that_is_none(json!({"metadata": {"name": 1}}), "NodePool without a name")]
    fn subjects(#[case] object: Value, #[case] text: &str) {
        assert_eq!(subject(&review(object)), text);
    }

    #[test]
    fn the_subject_of_a_delete_is_the_old_object() {
        let review = Review { object: None, old_object: Some(pool()), ..review(Value::Null) };
        assert_eq!(subject(&review), "NodePool spot");
    }
}
