//! What a word of YAML stands for, by the core schema and as kubectl reads it.

use saphyr_parser::{ScalarStyle, Tag};

use super::node::Content;

/// A scalar as JSON has it.
pub fn content(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Content {
    let core = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
    if core == Some("str") || core.is_none() && (style != ScalarStyle::Plain || tag.is_some()) {
        return Content::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Plain("null".to_owned()),
        // kubectl reads these as well so, as YAML 1.1 does.
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Content::Plain("true".to_owned()),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => Content::Plain("false".to_owned()),
        "true" | "True" | "TRUE" => Content::Plain("true".to_owned()),
        "false" | "False" | "FALSE" => Content::Plain("false".to_owned()),
        _ => match number(text) {
            Some(number) => Content::Plain(number),
            None => Content::Text(text.to_owned()),
        },
    }
}

/// A number as JSON writes it, with all its digits; `None` where it is none that JSON knows.
fn number(text: &str) -> Option<String> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|number| number.to_string());
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8).ok().map(|number| number.to_string());
    }
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.')) {
        return None;
    }
    if is_json(text) {
        return Some(text.to_owned());
    }
    // `+1`, `.5`, `5.` and `007` are numbers here and none in JSON.
    let unsigned = text.trim_start_matches(['-', '+']);
    if text.len() - unsigned.len() > 1
        || !unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'))
    {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.to_string());
    }
    serde_json::Number::from_f64(number).map(|number| number.to_string())
}

/// Whether JSON writes a number so, of whatever size: digits, and what may stand between them.
fn is_json(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && digits(fraction)
        && digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("1", Some("1"))]
    #[case("18446744073709551616", Some("18446744073709551616"))]
    #[case("1.10", Some("1.10"))]
    #[case("-0", Some("-0"))]
    #[case("1e3", Some("1e3"))]
    #[case("+1", Some("1"))]
    #[case(".5", Some("0.5"))]
    #[case("007", Some("7"))]
    #[case("0x1F", Some("31"))]
    #[case("0o17", Some("15"))]
    #[case("1.2.3", None)]
    #[case("1-2", None)]
    #[case("10%", None)]
    #[case("100m", None)]
    #[case(".inf", None)]
    #[case("-", None)]
    #[case("1e999", Some("1e999"))]
    fn numbers(#[case] text: &str, #[case] expected: Option<&str>) {
        assert_eq!(number(text).as_deref(), expected);
    }
}
