//! A JSON value that is read from its text, and only as deep as it is looked into.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::cursor::{Cursor, Key};

/// A JSON value in a text.
///
/// Nothing is copied out of the text but strings with escapes. A map or a list is taken apart
/// where it is first looked into, its entries where they are, so that what no rule reads costs
/// no more than to walk past it.
#[derive(Clone, Debug)]
pub struct View<'t> {
    text: &'t [u8],
    content: OnceCell<Content<'t>>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum Content<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number, as it is written.
    Number(&'t str),
    /// A string.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<View<'t>>),
    /// A map.
    Map(Members<'t>),
    /// No JSON.
    Broken,
}

/// The members of a map, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Members<'t>(Vec<(Key<'t>, View<'t>)>);

impl<'t> View<'t> {
    /// The value that a text holds.
    pub fn new(text: &'t [u8]) -> Self {
        View { text, content: OnceCell::new() }
    }

    /// The value at a cursor, which walks past it. Where it is a map, that is taken apart on the way.
    pub fn walk(cursor: &mut Cursor<'t>) -> Option<Self> {
        if cursor.peek()? != b'{' {
            return Some(View::new(cursor.skip()?));
        }
        let start = cursor.position();
        let members = Members::walk(cursor, MOST_RESERVED)?;
        Some(View { text: cursor.since(start)?, content: OnceCell::from(Content::Map(members)) })
    }

    /// The text of the value.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Whether it is a map, or at least begins as one.
    pub fn is_map(&self) -> bool {
        self.text.first() == Some(&b'{')
    }

    /// What it is, with strings, lists and maps taken apart.
    pub fn content(&self) -> &Content<'t> {
        self.content.get_or_init(|| Content::read(self.text).unwrap_or(Content::Broken))
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.text == b"null"
    }

    /// The member `key` of a map; `None` where there is none, or no map.
    pub fn get(&self, key: &str) -> Option<&View<'t>> {
        match self.content() {
            Content::Map(members) => members.get(key),
            _ => None,
        }
    }

    /// A string; `None` where it is none.
    pub fn as_str(&self) -> Option<&str> {
        match self.content() {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The same text for all values that are the same: without white space, maps in the order of
    /// their keys, without those that are null. Numbers stay as they are written.
    ///
    /// `None` where it is no JSON, or nested deeper than any parser follows.
    pub fn canonical(&self) -> Option<String> {
        let mut out = String::new();
        self.write_canonical(&mut out, DEPTH_LIMIT)?;
        Some(out)
    }

    fn write_canonical(&self, out: &mut String, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match self.content() {
            Content::Null => out.push_str("null"),
            Content::Boolean(boolean) => out.push_str(if *boolean { "true" } else { "false" }),
            Content::Number(number) => out.push_str(number),
            Content::Text(text) => out.push_str(&quoted(text)),
            Content::List(list) => {
                let mut separator = '[';
                for entry in list {
                    out.push(separator);
                    separator = ',';
                    entry.write_canonical(out, depth)?;
                }
                out.push_str(if separator == '[' { "[]" } else { "]" });
            }
            Content::Map(members) => {
                let mut separator = '{';
                for (key, value) in members.by_key().into_iter().filter(|(_, value)| !value.is_null()) {
                    out.push(separator);
                    separator = ',';
                    out.push_str(&quoted(key));
                    out.push(':');
                    value.write_canonical(out, depth)?;
                }
                out.push_str(if separator == '{' { "{}" } else { "}" });
            }
            Content::Broken => return None,
        }
        Some(())
    }

    /// What it is, for a message: "a string", "a list".
    pub fn shape(&self) -> &'static str {
        match self.content() {
            Content::Null => "nothing",
            Content::Boolean(_) => "a boolean",
            Content::Number(_) => "a number",
            Content::Text(_) => "a string",
            Content::List(_) => "a list",
            Content::Map(_) => "a map",
            Content::Broken => "no JSON",
        }
    }
}

/// What a small member takes in a text: `"name":"java_opts",`.
const BYTES_OF_MEMBER: usize = 20;

/// For how many members room is made at once.
const MOST_RESERVED: usize = 8;

/// How deep a value may be nested, as in `serde_json`, the host's parser.
pub const DEPTH_LIMIT: usize = 128;

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

impl<'t> Content<'t> {
    fn read(text: &'t [u8]) -> Option<Self> {
        let mut cursor = Cursor::new(text);
        let content = match cursor.peek()? {
            b'{' => Content::Map(Members::walk(&mut cursor, (text.len() / BYTES_OF_MEMBER + 1).min(MOST_RESERVED))?),
            b'[' => {
                let mut list = Vec::new();
                cursor.list(|cursor| {
                    list.push(View::new(cursor.skip()?));
                    Some(())
                })?;
                Content::List(list)
            }
            b'"' => Content::Text(cursor.text()?),
            _ => match cursor.skip()? {
                b"null" => Content::Null,
                b"true" => Content::Boolean(true),
                b"false" => Content::Boolean(false),
                number if matches!(number, [b'-' | b'0'..=b'9', ..]) => {
                    Content::Number(std::str::from_utf8(number).ok()?)
                }
                _ => return None,
            },
        };
        cursor.is_at_end().then_some(content)
    }
}

impl<'t> Members<'t> {
    /// Walks past a map; there is room for some members before the list of them must grow.
    fn walk(cursor: &mut Cursor<'t>, reserved: usize) -> Option<Self> {
        let mut members = Vec::with_capacity(reserved);
        cursor.map(|cursor, key| {
            members.push((key, View::new(cursor.skip()?)));
            Some(())
        })?;
        Some(Members(members))
    }

    /// The member `key`: the last one, as JSON parsers have it, where there are more.
    pub fn get(&self, key: &str) -> Option<&View<'t>> {
        self.0.iter().rev().find(|(name, _)| name.is(key)).map(|(_, view)| view)
    }

    /// All members in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = (&Key<'t>, &View<'t>)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All members in the order of their keys, each key once.
    pub fn by_key(&self) -> BTreeMap<&str, &View<'t>> {
        let mut members = BTreeMap::new();
        for (key, view) in &self.0 {
            members.insert(key.as_str(), view);
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("null", "nothing")]
    #[case(" true ", "a boolean")]
    #[case("-1.5e400", "a number")]
    #[case(r#""a\u0062""#, "a string")]
    #[case("[1, {}]", "a list")]
    #[case(r#"{"a": [}]}"#, "no JSON")]
    #[case(r#"{"a": 1, }"#, "no JSON")]
    #[case("[1,]", "no JSON")]
    #[case("1 2", "no JSON")]
    #[case("nul", "no JSON")]
    #[case(r#""\ud800""#, "no JSON")]
    #[case("", "no JSON")]
    fn shapes(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(View::new(text.as_bytes()).shape(), expected);
    }

    #[test]
    fn the_last_of_two_members_counts() {
        let view = View::new(br#"{"b": 1, "a": "x", "\u0062": "y"}"#);
        assert_eq!(view.get("b").and_then(View::as_str), Some("y"));
        let Content::Map(members) = view.content() else { panic!() };
        assert_eq!(members.by_key().keys().collect::<Vec<_>>(), [&"a", &"b"]);
    }
}
