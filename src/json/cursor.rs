//! Walking through JSON text without parsing it.

use std::borrow::Cow;

/// A place in JSON text.
///
/// The host has parsed and serialized what it sends, so the walk checks only as much as it needs
/// to find its way. `None` is what it says where it can't.
#[derive(Clone, Debug)]
pub struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
    key_at: usize,
}

impl<'t> Cursor<'t> {
    /// The beginning of a text.
    pub fn new(text: &'t [u8]) -> Self {
        Cursor { text, at: 0, key_at: 0 }
    }

    /// Where the key begins that a map's visitor has been told of.
    pub fn key_position(&self) -> usize {
        self.key_at
    }

    /// The text from a position up to here.
    pub fn since(&self, position: usize) -> Option<&'t [u8]> {
        self.text.get(position..self.at)
    }

    /// The first byte of what comes next, white space aside: `{` where it is a map.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Whether nothing is left.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Walks through a map. `visit` is told each key, and must walk past its value.
    pub fn map(&mut self, mut visit: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.key()?;
            self.take(b':')?;
            visit(self, &key)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.take(b'}'),
            }
        }
    }

    /// Walks through a list. `visit` is told each index, and must walk past the entry.
    pub fn list(&mut self, mut visit: impl FnMut(&mut Self, usize) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        if self.peek()? == b']' {
            return self.take(b']');
        }
        for index in 0.. {
            visit(self, index)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => break,
            }
        }
        self.take(b']')
    }

    /// Walks past a value, and returns its text.
    pub fn skip(&mut self) -> Option<&'t [u8]> {
        let first = self.peek()?;
        let start = self.at;
        self.at = match first {
            b'"' => after_string(self.text, start + 1)?,
            b'{' | b'[' => after_nested(self.text, start)?,
            _ => after_scalar(self.text, start)?,
        };
        self.text.get(start..self.at)
    }

    /// The text that `walk` walks past.
    pub fn span(&mut self, walk: impl FnOnce(&mut Self) -> Option<()>) -> Option<&'t [u8]> {
        self.peek()?;
        let start = self.at;
        walk(self)?;
        self.since(start)
    }

    /// Walks past a string or a `null`, which is as an empty one.
    pub fn text(&mut self) -> Option<Cow<'t, str>> {
        if self.peek()? == b'n' {
            return (self.skip()? == b"null").then_some(Cow::Borrowed(""));
        }
        self.quoted()
    }

    fn key(&mut self) -> Option<Cow<'t, str>> {
        if self.peek()? != b'"' {
            return None;
        }
        self.key_at = self.at;
        self.quoted()
    }

    fn quoted(&mut self) -> Option<Cow<'t, str>> {
        if self.peek()? != b'"' {
            return None;
        }
        let quoted = self.skip()?;
        if quoted.contains(&b'\\') {
            return serde_json::from_slice(quoted).ok().map(Cow::Owned);
        }
        let key = quoted.get(1..quoted.len().saturating_sub(1))?;
        std::str::from_utf8(key).ok().map(Cow::Borrowed)
    }

    fn take(&mut self, expected: u8) -> Option<()> {
        if self.peek()? != expected {
            return None;
        }
        self.at += 1;
        Some(())
    }
}

/// Where a string ends whose opening quote is before `at`.
#[inline]
fn after_string(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        // In most words of eight bytes is neither a quote nor a backslash.
        while let Some(word) = word(text, at) {
            let found = zeros(word ^ QUOTES) | zeros(word ^ BACKSLASHES);
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        match *text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Where a map or a list ends that begins at `at`.
fn after_nested(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        let byte = *text.get(at)?;
        at += 1;
        if byte == b'"' {
            at = after_string(text, at)?;
        } else if byte | 0x20 == b'{' {
            depth += 1;
        } else if byte | 0x20 == b'}' {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
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

/// Whether the text may say `odigos` or `ODIGOS`: it does in so many letters, or has letters written
/// as `\u….`.
pub fn may_say_odigos(text: &[u8]) -> bool {
    const WORD: &[u8] = b"odigos";
    // `g` is rare, and what lies around it soon tells.
    let says_at = |at: usize| match text.get(at) {
        Some(b'g' | b'G') => at
            .checked_sub(3)
            .and_then(|start| text.get(start..start + WORD.len()))
            .is_some_and(|word| word.eq_ignore_ascii_case(WORD)),
        Some(b'\\') => text.get(at + 1) == Some(&b'u'),
        _ => false,
    };
    let mut at = 0;
    while let Some(word) = word(text, at) {
        let found = zeros((word | SPACES) ^ GS) | zeros(word ^ BACKSLASHES);
        if found != 0 && (at..at + 8).any(says_at) {
            return true;
        }
        at += 8;
    }
    (at..text.len()).any(says_at)
}

const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
const GS: u64 = u64::from_ne_bytes([b'g'; 8]);
/// What upper-case ASCII letters lack to be lower-case.
const SPACES: u64 = u64::from_ne_bytes([b' '; 8]);

/// Eight bytes, the first one lowest.
#[inline]
fn word(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..at + 8)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// Where a byte of the word is zero, its highest bit; nothing below the first such byte.
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(u64::from_ne_bytes([1; 8])) & !word & u64::from_ne_bytes([0x80; 8])
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
    #[case("a long text in which odigos is said", true)]
    #[case("ODIGOS_DISTRO_NAME", true)]
    #[case("odigos", true)]
    #[case("digos", false)]
    #[case("a long text of another logging agent, odigo", false)]
    #[case(r"od\u0069gos", true)]
    #[case(r"a \n b \\ c", false)]
    #[case("", false)]
    fn says_odigos(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(may_say_odigos(text.as_bytes()), expected);
    }

    #[test]
    fn walks_maps_and_lists() {
        let mut seen = Vec::new();
        let mut cursor = Cursor::new(br#" { "a" : 1 , "\u0062":[ 2,{"c":3} ] } "#);
        cursor
            .map(|cursor, key| {
                seen.push(key.to_owned());
                match key {
                    "b" => cursor.list(|cursor, index| {
                        seen.push(format!("{index} {}", String::from_utf8_lossy(cursor.skip()?)));
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
