//! The keys of the map that a YAML document is.
//!
//! Of a long configuration the policy wants two keys, and to know that the rest is YAML. This is a
//! crate of its own so that the parser, which is generic, is built for size: it is a sixth of the
//! module and runs once in a request at most.

#![forbid(unsafe_code)]

use saphyr_parser::{Event, Parser, ScalarStyle};

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A word without quotes, which may stand for a boolean, a number or nothing.
    Plain(String),
    /// A string in quotes, or a block.
    Text(String),
    /// A list, a map or an alias.
    Other,
}

/// The keys of the map that the first document of a text is, each with its value, in order.
///
/// # Errors
///
/// Where it is no YAML or no map, in words: `is no map`.
pub fn top_level(yaml: &str) -> Result<Vec<(String, Value)>, String> {
    let mut members = Vec::new();
    let mut key = None;
    let mut depth = 0_usize;
    let mut is_map = false;
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| format!("is no YAML: {error}"))?;
        let value = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                is_map |= depth == 0 && matches!(event, Event::MappingStart(..));
                depth += 1;
                if depth == 2 { Value::Other } else { continue }
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) if depth == 1 => Value::Plain(text.into_owned()),
            Event::Scalar(text, ..) if depth == 1 => Value::Text(text.into_owned()),
            Event::Alias(_) if depth == 1 => Value::Other,
            Event::DocumentEnd => break,
            _ => continue,
        };
        match (key.take(), value) {
            (Some(key), value) => members.push((key, value)),
            (None, Value::Plain(text) | Value::Text(text)) => key = Some(text),
            (None, Value::Other) => key = Some(String::new()),
        }
    }
    if is_map { Ok(members) } else { Err("is no map".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn keys_and_values() {
        let yaml = "---\na: true # yes\n'b': \"x\"\nc: [a, true]\nd: {a: 1}\ne: &e |\n  a: 1\nf: *e\n? {x: y}\n: z\ng:\n...\nh: 1\n";
        let plain = |text: &str| Value::Plain(text.to_owned());
        let text = |text: &str| Value::Text(text.to_owned());
        let expected = [
            ("a", plain("true")),
            ("b", text("x")),
            ("c", Value::Other),
            ("d", Value::Other),
            ("e", text("a: 1\n")),
            ("f", Value::Other),
            ("", plain("z")),
            ("g", plain("")),
        ];
        assert_eq!(top_level(yaml).unwrap(), expected.map(|(key, value)| (key.to_owned(), value)));
    }

    #[rstest]
    #[case("- a", "is no map")]
    #[case("a", "is no map")]
    #[case("", "is no map")]
    #[case("a: [b", "is no YAML: ")]
    #[case("a:\n\tb: c", "is no YAML: ")]
    fn unreadable(#[case] yaml: &str, #[case] expected: &str) {
        let error = top_level(yaml).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
