//! For code scanning: SARIF 2.1.0.

use std::io::{self, Write};

use odigos_karpenter_policy::rule::{Outcome, Rule};
use serde_json::{Value, json};

use crate::explain;
use crate::found::{Found, Level, NO_RULE, Scan};
use crate::source::STDIN;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes it, with a new line at the end.
pub fn write(out: &mut impl Write, scan: &Scan) -> io::Result<()> {
    let results: Vec<Value> = scan.all().map(result).collect();
    let notifications: Vec<Value> = scan
        .unreadable
        .iter()
        .map(|it| {
            json!({
                "level": "error",
                "message": {"text": it.flaw.reason},
                "locations": [location(&it.file, it.flaw.line, it.flaw.column)],
            })
        })
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "kubectl-odigos-karpenter",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            }},
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// Every rule, and last what is none.
fn rules() -> Vec<Value> {
    let level = |hint| if hint { "warning" } else { "error" };
    let rules = Rule::ALL.iter().map(|rule| {
        json!({
            "id": rule.name(),
            "shortDescription": {"text": rule.summary()},
            "fullDescription": {"text": explain::why(*rule).unwrap_or(rule.summary().to_owned())},
            "defaultConfiguration": {"level": level(rule.outcome() == Outcome::Hint)},
        })
    });
    let none = json!({
        "id": NO_RULE,
        "shortDescription": {"text": "A field has a shape that can't be read."},
        "defaultConfiguration": {"level": "warning"},
    });
    rules.chain([none]).collect()
}

fn result(found: &Found) -> Value {
    let index = found.rule.and_then(|rule| Rule::ALL.iter().position(|known| *known == rule));
    json!({
        "ruleId": found.rule_name(),
        "ruleIndex": index.unwrap_or(Rule::ALL.len()),
        "level": if found.level == Level::Error { "error" } else { "warning" },
        "message": {"text": format!("{}: {}; {}", found.object(), found.what(), found.remedy)},
        "locations": [location(&found.file, found.line, 0)],
        // What stays the same while lines move.
        "partialFingerprints": {"object/v1": format!("{}:{}:{}", found.rule_name(), found.object(), found.path)},
    })
}

fn location(file: &str, line: usize, column: usize) -> Value {
    let mut region = json!({"startLine": line.max(1)});
    if column > 0 {
        region["startColumn"] = column.into();
    }
    json!({"physicalLocation": {"artifactLocation": {"uri": uri(file)}, "region": region}})
}

/// A file as a reference that is relative where its name is.
fn uri(file: &str) -> String {
    if file == STDIN {
        return "stdin".to_owned();
    }
    let file = file.strip_prefix("./").unwrap_or(file);
    let mut uri = if file.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("./pools/a b.yaml", "pools/a%20b.yaml")]
    #[case("/x/ä.yaml", "file:///x/%C3%A4.yaml")]
    #[case("-", "stdin")]
    fn uris(#[case] file: &str, #[case] expected: &str) {
        assert_eq!(uri(file), expected);
    }
}
