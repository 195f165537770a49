//! That what is said is lines, of a length that fits, and that nobody else can add one.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use crate::absurd::{absurdities, applied};
use crate::answer::{Answer, ask, rule_of};
use crate::json::Json;
use crate::objects::Kind;
use crate::requests;
use crate::rules::outcomes;
use crate::run::{hold, require};
use crate::settings::{with_action, without_actions};
use crate::words::{DEVICE, ODIGLET_LABELS};

/// The most characters of a warning.
const WARNING_LIMIT: usize = 200;
/// The most bytes of a rejection.
const REJECTION_LIMIT: usize = 4096;

/// Whether a line says what another says, be it that either is shortened: `…` is anything.
pub fn is_of(line: &str, other: &str) -> bool {
    let matches = |text: &str, pattern: &str| {
        let mut parts = pattern.split('…');
        let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    };
    let (shorter, longer) = if line.chars().count() < other.chars().count() { (line, other) } else { (other, line) };
    shorter == longer
        || (shorter.contains('…') && (matches(longer, shorter) || longer.contains('…')))
            && rule_of(shorter) == rule_of(longer)
}

fn answers() -> BoxedStrategy<(Json, Value)> {
    let absurd = (requests::rejectable(), absurdities(1))
        .prop_map(|((_, request), absurdities)| applied(&request.into(), &absurdities));
    (prop_oneof![absurd, loud()], without_actions()).boxed()
}

/// A pod in which much is found, with names that are long or break a line.
fn loud() -> BoxedStrategy<Json> {
    let odd = prop_oneof![
        "\\PC{0,300}",
        "(a|\n|\r|\u{85}|\u{2028}|\u{2029}|\u{b}|\u{0}|: ){0,40}",
        (200_usize..3000).prop_map(|length| "x".repeat(length))
    ];
    (odd.clone(), odd, 1_usize..40)
        .prop_map(|(name, resource, count)| {
            let resource = format!("instrumentation.odigos.io/{resource}");
            let container = json!({"name": name, "resources": {"limits": {resource: 1, DEVICE: "7"}}});
            let label = |label: &str| json!({"matchExpressions": [{"key": label, "operator": "In", "values": ["true"]}]});
            let conflict = json!({"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": [name]}]});
            let terms = [vec![label(ODIGLET_LABELS[2]), label(ODIGLET_LABELS[1])], vec![conflict; count]].concat();
            let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
            let pod = json!({"metadata": {"name": name, "namespace": name}, "spec": {
                "containers": vec![container; count], "affinity": {"nodeAffinity": required}, "tolerations": [{"operator": "Exists"}],
            }});
            requests::request(Kind::Pod, "CREATE", pod, Value::Null, requests::user()).into()
        })
        .boxed()
}

fn answer(request: &Json, settings: &Value, action: &str) -> Result<Answer, TestCaseError> {
    ask(request, &with_action(settings, action).into()).map_err(TestCaseError::fail)
}

#[test]
fn every_line_is_one_line() {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    hold(400, answers(), |(request, settings)| {
        for action in ["mutate", "reject", "warn"] {
            let answered = answer(&request, &settings, action)?;
            for line in answered.warnings.iter().chain(&answered.message) {
                require(!line.is_empty() && !line.contains(breaks), || format!("{line:?}"))?;
            }
        }
        Ok(())
    });
}

/// The lines of a rejection that tell of a finding, and how many findings are left out.
fn told(message: &[String]) -> (&[String], usize) {
    let number = |last: &String| last.strip_prefix("and ")?.strip_suffix(" more")?.parse().ok();
    match message.split_last().and_then(|(last, lines)| Some((lines, number(last)?))) {
        Some(told) => told,
        None => (message, 0),
    }
}

/// As many lines as findings, each of a rule, but for one that says how many are left out.
#[test]
fn a_name_adds_no_line_to_a_rejection() {
    let outcomes = outcomes();
    hold(400, answers(), |(request, settings)| {
        let rejected = answer(&request, &settings, "reject")?;
        let found = answer(&request, &settings, "warn")?.warnings.len() - rejected.warnings.len();
        let (lines, left_out) = told(&rejected.message);
        require(lines.len() + left_out == found, || format!("{} lines for {found} findings", lines.len()))?;
        for line in lines {
            require(rule_of(line).is_some_and(|rule| outcomes.contains_key(&rule)), || format!("{line:?}"))?;
        }
        Ok(())
    });
}

#[test]
fn a_warning_fits() {
    hold(400, answers(), |(request, settings)| {
        for action in ["mutate", "reject", "warn"] {
            for warning in answer(&request, &settings, action)?.warnings {
                let length = warning.chars().count();
                require(length <= WARNING_LIMIT, || format!("{length} characters: {warning}"))?;
            }
        }
        Ok(())
    });
}

#[test]
fn a_rejection_fits() {
    hold(400, answers(), |(request, settings)| {
        let rejected = answer(&request, &settings, "reject")?;
        let bytes = rejected.message.join("\n").len();
        require(bytes <= REJECTION_LIMIT, || format!("{bytes} bytes"))?;
        Ok(())
    });
}

/// Unreadable requests and settings are quoted with care too.
#[test]
fn what_cannot_be_read_is_one_short_line() {
    hold(800, (requests::any(), "\\PC{0,300}|(\n|a){0,400}"), |((_, request), odd)| {
        let settings = json!({odd.clone(): odd, "tier": odd, "nodePools": {"exclude": [odd]}});
        let answered = ask(&request.into(), &settings.into()).map_err(TestCaseError::fail)?;
        for line in &answered.warnings {
            require(!line.contains(char::is_control), || format!("{line:?}"))?;
        }
        Ok(())
    });
}
