//! Names on a terminal, which obeys what some characters say.

use std::borrow::Cow;

/// Text without control characters and those that turn the direction of what follows; all of them become
/// the replacement character.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().any(commands) {
        return text.chars().map(|c| if commands(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    }
    Cow::Borrowed(text)
}

fn commands(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("a-b é 字", "a-b é 字")]
    #[case("a\u{1b}[2J\nb\u{202e}", "a\u{fffd}[2J\u{fffd}b\u{fffd}")]
    fn commands_are_gone(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(plain(text), expected);
    }
}
