//! Walking through JSON text without parsing it.

use std::borrow::Cow;

use super::scan::{self, after_nested};

/// A place in JSON text.
///
/// The host has parsed and serialized what it sends, so the walk checks only as much as it needs
/// to find its way. `None` is what it says where it can't.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

/// A string, such as the key of a member of a map.
#[derive(Clone, Debug)]
pub struct Key<'t> {
    /// As it is written, with its quotes.
    text: &'t [u8],
    /// Where it is written with escapes, what they say.
    unescaped: Option<Box<str>>,
}

impl Key<'_> {
    /// Whether it is this one.
    #[inline]
    pub fn is(&self, key: &str) -> bool {
        self.as_bytes() == key.as_bytes()
    }

    /// As it is written, with its quotes.
    pub fn text(&self) -> &[u8] {
        self.text
    }

    /// Its bytes, which are UTF-8 in all JSON.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.unescaped {
            Some(unescaped) => unescaped.as_bytes(),
            None => self.text.get(1..self.text.len() - 1).unwrap_or_default(),
        }
    }

    /// The key; empty where it is no UTF-8, which no JSON is then.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl<'t> Cursor<'t> {
    /// The beginning of a text.
    pub fn new(text: &'t [u8]) -> Self {
        Cursor { text, at: 0 }
    }

    /// Where the next value begins, where [`Cursor::peek`] has looked at it.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The text from a position up to here.
    pub fn since(&self, position: usize) -> Option<&'t [u8]> {
        self.text.get(position..self.at)
    }

    /// The first byte of what comes next, white space aside: `{` where it is a map.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if byte > b' ' {
                return Some(byte);
            }
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return None;
            }
            self.at += 1;
        }
    }

    /// Whether nothing is left.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none() && self.at == self.text.len()
    }

    /// Walks through a map. `visit` is told each key, and must walk past its value.
    pub fn map(&mut self, mut visit: impl FnMut(&mut Self, Key<'t>) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.key()?;
            self.take(b':')?;
            visit(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.take(b'}'),
            }
        }
    }

    /// Walks through a list. `visit` must walk past each entry.
    pub fn list(&mut self, mut visit: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            return self.take(b']');
        }
        loop {
            visit(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.take(b']'),
            }
        }
    }

    /// Walks past a value, and returns its text.
    pub fn skip(&mut self) -> Option<&'t [u8]> {
        let first = self.peek()?;
        let start = self.at;
        self.at = match first {
            b'"' => scan::string(self.text, start + 1)?.end + 1,
            b'{' | b'[' => after_nested(self.text, start + 1)?,
            _ => after_scalar(self.text, start)?,
        };
        self.text.get(start..self.at)
    }

    /// Walks past a string or a `null`, which is as an empty one.
    pub fn text(&mut self) -> Option<Cow<'t, str>> {
        if self.peek()? == b'n' {
            return (self.skip()? == b"null").then_some(Cow::Borrowed(""));
        }
        let key = self.key()?;
        match key.unescaped {
            Some(unescaped) => Some(Cow::Owned(unescaped.into())),
            None => std::str::from_utf8(key.text.get(1..key.text.len() - 1)?).ok().map(Cow::Borrowed),
        }
    }

    /// Walks past a string.
    fn key(&mut self) -> Option<Key<'t>> {
        self.take(b'"')?;
        let start = self.at - 1;
        let string = scan::string(self.text, self.at)?;
        self.at = string.end + 1;
        let text = self.text.get(start..self.at)?;
        let unescaped = if string.has_escapes { Some(unescape(text.get(1..text.len() - 1)?)?.into()) } else { None };
        Some(Key { text, unescaped })
    }

    #[inline]
    fn take(&mut self, expected: u8) -> Option<()> {
        if self.peek()? != expected {
            return None;
        }
        self.at += 1;
        Some(())
    }
}

/// What a string says that is written with escapes; `None` where one is none, or half of a
/// surrogate pair. `serde_json` would say the same, and make the module a tenth larger with the
/// words for all that is no string.
fn unescape(escaped: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(escaped.len());
    let mut rest = std::str::from_utf8(escaped).ok()?;
    while let Some((plain, escape)) = rest.split_once('\\') {
        text.push_str(plain);
        let mut characters = escape.chars();
        match characters.next()? {
            'u' => {
                let unit = |rest: &str| {
                    rest.get(..4)
                        .filter(|digits| !digits.starts_with('+'))
                        .and_then(|digits| u16::from_str_radix(digits, 16).ok())
                };
                let first = unit(characters.as_str())?;
                rest = characters.as_str().get(4..)?;
                let second = rest.strip_prefix("\\u").and_then(unit);
                let mut decoded = char::decode_utf16([first].into_iter().chain(second));
                let character = decoded.next()?.ok()?;
                text.push(character);
                if character.len_utf16() == 2 {
                    rest = rest.get(6..)?;
                }
                continue;
            }
            escaped @ ('"' | '\\' | '/') => text.push(escaped),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            _ => return None,
        }
        rest = characters.as_str();
    }
    text.push_str(rest);
    Some(text)
}

/// Where a number, `true`, `false` or `null` ends that begins at `at`.
fn after_scalar(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let length = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'+' | b'-' | b'.' | b'E'));
    match length.unwrap_or(rest.len()) {
        0 => None,
        length => Some(start + length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("null ", "null")]
    #[case(" -1.5e3,", "-1.5e3")]
    #[case(r#""a\"b\\", "c""#, r#""a\"b\\""#)]
    #[case(
        r#""a long string with a \" quote beyond the eighth byte" "#,
        r#""a long string with a \" quote beyond the eighth byte""#
    )]
    #[case(r#"{"a":[{"b":"}]"},2],"c":{}}, 5"#, r#"{"a":[{"b":"}]"},2],"c":{}}"#)]
    #[case("[]]", "[]")]
    fn skips_one_value(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(Cursor::new(text.as_bytes()).skip(), Some(expected.as_bytes()));
    }

    #[rstest]
    #[case("")]
    #[case("{")]
    #[case(r#"{"a": "b}"#)]
    #[case(r#""a\"#)]
    #[case("]")]
    fn stops_where_there_is_no_way(#[case] text: &str) {
        assert_eq!(Cursor::new(text.as_bytes()).skip(), None);
    }

    #[rstest]
    #[case(r#""a\"\\\/\b\f\n\r\t""#)]
    #[case(r#""\u0041\u00e9é\ud83d\ude00\u20ACx""#)]
    #[case(r#""\ud83d\u0041""#)]
    #[case(r#""\ud83d""#)]
    #[case(r#""\ude00\ud83d""#)]
    #[case(r#""\u00""#)]
    #[case(r#""\u+123""#)]
    #[case(r#""\x""#)]
    fn unescapes_as_serde_json_does(#[case] text: &str) {
        let expected = serde_json::from_str::<String>(text).ok();
        assert_eq!(Cursor::new(text.as_bytes()).text().map(Cow::into_owned), expected);
    }

    #[test]
    fn walks_maps_and_lists() {
        let mut seen = Vec::new();
        let mut indices = 0..;
        let mut cursor = Cursor::new(br#" { "a" : 1 , "\u0062":[ 2,{"c":3} ] } "#);
        cursor
            .map(|cursor, key| {
                seen.push(key.as_str().to_owned());
                match key.as_str() {
                    "b" => cursor.list(|cursor| {
                        seen.push(format!("{} {}", indices.next()?, String::from_utf8_lossy(cursor.skip()?)));
                        Some(())
                    }),
                    _ => cursor.skip().map(|_| ()),
                }
            })
            .unwrap();
        assert!(cursor.is_at_end());
        assert_eq!(seen, ["a", "b", "0 2", r#"1 {"c":3}"#]);
    }
}
