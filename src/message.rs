//! Words for a person at a terminal, on one line and no longer than the API server shows.

use std::borrow::Cow;

use crate::odigos;
use crate::path::{Path, Step};

/// The most characters of a warning. The API server cuts each at 256 characters where there are
/// many (Kubernetes, `apiserver/pkg/endpoints/filters/warning.go`).
pub const WARNING_LIMIT: usize = 200;

/// The most characters of a name: no valid one is longer, and names are checked only after mutation.
const NAME_LIMIT: usize = 253;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Words of this policy: never shortened.
    Text(Cow<'static, str>),
    /// A key of a path: the first to be shortened.
    Key(&'static str),
    /// What somebody else has chosen, such as the name of an object: shortened where the line is
    /// too long, and without characters that would break it.
    Name(String),
}

impl From<&'static str> for Piece {
    fn from(text: &'static str) -> Self {
        Piece::Text(Cow::Borrowed(text))
    }
}

/// A name out of an object, as part of a message. A label or device of Odigos is a word.
pub fn name(name: &str) -> Piece {
    odigos::word(name).map_or_else(|| name_of_object(name), Piece::from)
}

/// The name of an object, as part of a message.
pub fn name_of_object(name: &str) -> Piece {
    let (name, rest) = match name.char_indices().nth(NAME_LIMIT) {
        Some((end, _)) => name.split_at_checked(end).unwrap_or_default(),
        None => (name, ""),
    };
    let printable = |c: char| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { '\u{fffd}' } else { c };
    let ellipsis = (!rest.is_empty()).then_some('…');
    Piece::Name(name.chars().map(printable).chain(ellipsis).collect())
}

/// Words and names, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<Piece>);

impl Message {
    /// A message of the pieces in order.
    pub fn of(pieces: impl IntoIterator<Item = Piece>) -> Self {
        Message(pieces.into_iter().collect())
    }

    /// Adds a piece at the end.
    pub fn push(&mut self, piece: impl Into<Piece>) {
        self.0.push(piece.into());
    }

    /// Adds all of another message at the end.
    pub fn append(&mut self, other: &Message) {
        self.0.extend_from_slice(&other.0);
    }

    /// Adds a path.
    pub fn push_path(&mut self, path: &Path) {
        for (i, step) in path.steps().iter().enumerate() {
            match step {
                Step::Key(key) => {
                    if i > 0 {
                        self.push(".");
                    }
                    self.push(Piece::Key(key));
                }
                Step::Name(step) => {
                    self.push("[");
                    self.push(name(step));
                    self.push("]");
                }
                Step::Index(index) => self.push(Piece::Text(format!("[{index}]").into())),
            }
        }
    }

    /// The message in at most `limit` characters: keys of paths are shortened first, then names, of
    /// either the longest first.
    ///
    /// Words are never shortened: where they alone are longer than `limit`, so is the line.
    pub fn within(&self, limit: usize) -> String {
        let mut words = 0;
        let (mut keys, mut names) = (Lengths::default(), Lengths::default());
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => words += text.chars().count(),
                Piece::Key(key) => keys.add(key.chars().count()),
                Piece::Name(name) => names.add(name.chars().count()),
            }
        }
        let room = limit.saturating_sub(words);
        let for_keys = room.saturating_sub(names.sum()).max(keys.0.len() * LEAST_KEY).min(room);
        let longest_key = keys.longest_within(for_keys);
        let longest_name = names.longest_within(room - keys.sum_of_at_most(longest_key));
        let mut line = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => line.push_str(text),
                Piece::Key(key) => push_shortened(&mut line, key, longest_key),
                Piece::Name(name) => push_shortened(&mut line, name, longest_name),
            }
        }
        line
    }
}

/// What is left of each key of a path while names are shortened: `spec` is whole.
const LEAST_KEY: usize = 4;

/// Lengths in characters, in ascending order.
#[derive(Default)]
struct Lengths(Vec<usize>);

impl Lengths {
    fn add(&mut self, length: usize) {
        self.0.insert(self.0.partition_point(|shorter| *shorter < length), length);
    }

    fn sum(&self) -> usize {
        self.0.iter().sum()
    }

    fn sum_of_at_most(&self, longest: usize) -> usize {
        self.0.iter().map(|length| length.min(&longest)).sum()
    }

    /// How long each may be, so that all have room.
    fn longest_within(&self, mut room: usize) -> usize {
        for (i, length) in self.0.iter().enumerate() {
            let share = room / (self.0.len() - i);
            if *length > share {
                return share;
            }
            room -= length;
        }
        usize::MAX
    }
}

fn push_shortened(line: &mut String, text: &str, longest: usize) {
    if text.chars().count() > longest {
        line.extend(text.chars().take(longest.saturating_sub(1)));
        line.push('…');
    } else {
        line.push_str(text);
    }
}

impl<const N: usize> From<[Piece; N]> for Message {
    fn from(pieces: [Piece; N]) -> Self {
        Message::of(pieces)
    }
}

impl From<&'static str> for Message {
    fn from(text: &'static str) -> Self {
        Message(vec![text.into()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::fits(20, "node abcdef: go away")]
    #[case::cut(17, "node ab…: go away")]
    #[case::words_stay(3, "node …: go away")]
    fn names_are_shortened_and_words_stay(#[case] limit: usize, #[case] expected: &str) {
        let message = Message::of(["node ".into(), name("abcdef"), ": go away".into()]);
        assert_eq!(message.within(limit), expected);
    }

    #[test]
    fn the_longest_name_goes_first() {
        let message = Message::of([name("abc"), "/".into(), name(&"x".repeat(50))]);
        assert_eq!(message.within(10), "abc/xxxxx…");
    }

    #[test]
    fn keys_of_a_path_go_before_names() {
        let mut message = Message::of([name("default/web"), ": ".into()]);
        message.push_path(&Path::of(&["spec", "requiredDuringScheduling", "nodeSelectorTerms"]));
        assert_eq!(message.within(40), "default/web: spec.requiredD….nodeSelec…");
        assert_eq!(message.within(20), "def…: spec.req….nod…");
    }

    #[test]
    fn no_name_is_longer_than_a_valid_one() {
        let message = Message::of([name(&"ä".repeat(1000))]);
        assert_eq!(message.within(usize::MAX), format!("{}…", "ä".repeat(253)));
    }

    #[test]
    fn a_name_stays_on_its_line() {
        let message = Message::of([name("a\nWarning: b\u{2028}c\r")]);
        assert_eq!(message.within(usize::MAX), "a\u{fffd}Warning: b\u{fffd}c\u{fffd}");
    }
}
