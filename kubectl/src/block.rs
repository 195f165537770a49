//! JSON as YAML in block style, in the order of the text.

use odigos_karpenter_policy::json::view::{Content, DEPTH_LIMIT, View, quoted};

/// A value as YAML, one line for each scalar.
pub fn yaml(value: &View) -> String {
    let mut out = String::new();
    match value.content() {
        Content::Map(members) if !members.is_empty() => write(value, &mut out, 0, DEPTH_LIMIT),
        Content::List(list) if !list.is_empty() => write(value, &mut out, 0, DEPTH_LIMIT),
        _ => {
            out.push_str(&scalar(value));
            out.push('\n');
        }
    }
    out
}

/// Writes a map or a list that is not empty, and begins at the place where `out` ends.
fn write(value: &View, out: &mut String, indent: usize, depth: usize) {
    let entries: Vec<(String, &View)> = match value.content() {
        Content::Map(members) => {
            members.iter().map(|(key, value)| (format!("{}:", word(key.as_str())), value)).collect()
        }
        Content::List(list) => list.iter().map(|value| ("-".to_owned(), value)).collect(),
        _ => Vec::new(),
    };
    for (i, (lead, value)) in entries.iter().enumerate() {
        if i > 0 {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(lead);
        let nested = match value.content() {
            Content::Map(members) => !members.is_empty(),
            Content::List(list) => !list.is_empty(),
            _ => false,
        };
        if !nested || depth == 0 {
            out.push(' ');
            out.push_str(&scalar(value));
            out.push('\n');
        } else if lead == "-" {
            out.push(' ');
            write(value, out, indent + 2, depth - 1);
        } else {
            // Kubernetes writes lists as deep as their key.
            let deeper = if matches!(value.content(), Content::List(_)) { indent } else { indent + 2 };
            out.push('\n');
            out.push_str(&" ".repeat(deeper));
            write(value, out, deeper, depth - 1);
        }
    }
}

fn scalar(value: &View) -> String {
    match value.content() {
        Content::Text(text) => word(text),
        _ => String::from_utf8_lossy(value.text()).into_owned(),
    }
}

/// A string, without quotes where it can only be read as one.
fn word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
    let reserved = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let is_word = text.bytes().all(plain)
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic())
        && !reserved.contains(&text.to_ascii_lowercase().as_str());
    if is_word { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_kubernetes_writes_it() {
        let json = br#"{"a":{"b":[{"c":1,"d":[]},["x"],"yes"],"e":{}},"f.io/g":"true","h":null,"i":"a: b","j":"1"}"#;
        let expected = "a:\n  b:\n  - c: 1\n    d: []\n  - - x\n  - \"yes\"\n  e: {}\nf.io/g: \"true\"\nh: null\ni: \"a: b\"\nj: \"1\"\n";
        assert_eq!(yaml(&View::new(json)), expected);
    }

    #[test]
    fn it_is_read_as_what_it_was() {
        let json = r#"{"a":[{"b":"x\ny","c":[[],[{"d":"~"}]]}],"":"","e":"1e3","f":-1.50}"#;
        let text = yaml(&View::new(json.as_bytes()));
        crate::yaml::documents(&text, |document| {
            assert_eq!(String::from_utf8(document.json()?.text).unwrap(), json);
            Ok(())
        })
        .unwrap();
    }
}
