//! Looking through JSON text sixteen bytes at a time.

use wide::u8x16;

/// A string, as far as its text tells at once.
pub struct StringText {
    /// Where its closing quote is.
    pub end: usize,
    /// Whether it is written with escapes.
    pub has_escapes: bool,
}

/// The string whose opening quote is before `at`.
#[inline]
pub fn string(text: &[u8], mut at: usize) -> Option<StringText> {
    let mut has_escapes = false;
    loop {
        while let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk()) {
            let block = u8x16::new(*block);
            let found = (equal(block, b'"') | equal(block, b'\\')).to_bitmask();
            if found != 0 {
                at += found.trailing_zeros() as usize;
                break;
            }
            at += 16;
        }
        match *text.get(at)? {
            b'"' => return Some(StringText { end: at, has_escapes }),
            b'\\' => {
                has_escapes = true;
                at += 2;
            }
            _ => at += 1,
        }
    }
}

/// Where a map or a list ends whose opening bracket is before `at`: after its closing one.
///
/// Brackets are counted, whichever they are, where they are in no string.
pub fn after_nested(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 1;
    let mut strings = Strings::default();
    loop {
        let rest = text.get(at..)?;
        let block = match rest.first_chunk() {
            Some(block) => Block::new(block),
            None if rest.is_empty() => return None,
            None => {
                let mut padded = [b' '; 64];
                padded.get_mut(..rest.len())?.copy_from_slice(rest);
                Block::new(&padded)
            }
        };
        let outside = !strings.inside(&block);
        let mut closing = block.mask(|bytes| equal(bytes | u8x16::splat(0x20), b'}')) & outside;
        let opening = block.mask(|bytes| equal(bytes | u8x16::splat(0x20), b'{')) & outside;
        // In most blocks nothing can end that has begun before.
        if closing.count_ones() >= depth {
            let mut closed = 0;
            while closing != 0 {
                let end = closing.trailing_zeros();
                closed += 1;
                let opened = (opening & ((1 << end) - 1)).count_ones();
                if depth + opened == closed {
                    return Some(at + end as usize + 1);
                }
                closing &= closing - 1;
            }
            depth = depth + opening.count_ones() - closed;
        } else {
            depth = depth + opening.count_ones() - closing.count_ones();
        }
        at += 64;
    }
}

/// Which bytes are in strings, from one block to the next.
#[derive(Default)]
struct Strings {
    /// All ones where the next block begins in a string.
    inside: u64,
    /// One where the first byte of the next block is escaped.
    escaped: u64,
}

impl Strings {
    /// The bytes of a block that are in a string, its opening quote among them.
    fn inside(&mut self, block: &Block) -> u64 {
        let mut quotes = block.mask(|bytes| equal(bytes, b'"'));
        let backslashes = block.mask(|bytes| equal(bytes, b'\\'));
        if backslashes | self.escaped != 0 {
            quotes &= !self.escaped(backslashes);
        }
        // A byte is in a string where the number of quotes up to it is odd.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.inside;
        self.inside = 0_u64.wrapping_sub(inside >> 63);
        inside
    }

    /// The bytes after a backslash that is not itself escaped.
    fn escaped(&mut self, mut backslashes: u64) -> u64 {
        let mut escaped = self.escaped;
        backslashes &= !escaped;
        self.escaped = 0;
        while backslashes != 0 {
            let first = backslashes & backslashes.wrapping_neg();
            let next = first << 1;
            self.escaped = u64::from(next == 0);
            escaped |= next;
            backslashes &= !(first | next);
        }
        escaped
    }
}

/// Sixty-four bytes.
struct Block([u8x16; 4]);

impl Block {
    #[inline]
    fn new(bytes: &[u8; 64]) -> Self {
        let (quarters, _) = bytes.as_chunks();
        match quarters {
            [a, b, c, d] => Block([u8x16::new(*a), u8x16::new(*b), u8x16::new(*c), u8x16::new(*d)]),
            _ => Block([u8x16::ZERO; 4]),
        }
    }

    /// A bit for each byte, the first one lowest: whether its highest bit is set in `test`'s answer.
    #[inline]
    fn mask(&self, test: impl Fn(u8x16) -> u8x16) -> u64 {
        let [a, b, c, d] = self.0.map(|bytes| u64::from(test(bytes).to_bitmask()));
        a | b << 16 | c << 32 | d << 48
    }
}

#[inline]
fn equal(bytes: u8x16, byte: u8) -> u8x16 {
    bytes.simd_eq(u8x16::splat(byte))
}

/// Whether the text may say `odigos` or `ODIGOS`: it does in so many letters, or has letters written
/// as `\u….`.
pub fn may_say_odigos(text: &[u8]) -> bool {
    const WORD: &[u8] = b"odigos";
    let spaces = u8x16::splat(b' ');
    let says_at = |start: usize| match text.get(start) {
        Some(b'\\') => text.get(start + 1) == Some(&b'u'),
        _ => text.get(start..start + WORD.len()).is_some_and(|word| word.eq_ignore_ascii_case(WORD)),
    };
    let mut at = 0;
    // Two letters of the word, two bytes apart, meet nowhere else.
    while let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<19>()) {
        let [_, second @ .., _, _] = window;
        let [_, _, _, fourth @ ..] = window;
        let [first @ .., _, _, _] = window;
        let word = equal(u8x16::new(*second) | spaces, b'd') & equal(u8x16::new(*fourth) | spaces, b'g');
        if (word | equal(u8x16::new(*first), b'\\')).any() && (at..at + 16).any(says_at) {
            return true;
        }
        at += 16;
    }
    (at..text.len()).any(says_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

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

    /// As [`after_nested`], one byte after another.
    fn after_nested_by_byte(text: &[u8]) -> Option<usize> {
        let (mut depth, mut inside, mut at) = (1, false, 0);
        while depth > 0 {
            match (*text.get(at)?, inside) {
                (b'"', _) => inside = !inside,
                (b'\\', true) => at += 1,
                (b'{' | b'[', false) => depth += 1,
                (b'}' | b']', false) => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        Some(at)
    }

    #[test]
    fn blocks_end_where_bytes_do() {
        let parts = ["{", "}", "[", "]", "\"", "\\\\", "\\\"", "a long word of many letters", "\\u00e9", ":", "é"];
        let mut state: u32 = 7;
        for length in 1..200 {
            for _ in 0..50 {
                let mut text = String::new();
                for _ in 0..length {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let part = parts[(state >> 16) as usize % parts.len()];
                    // A backslash outside a string is no JSON, and nobody asks what it escapes.
                    let inside = text.replace("\\\\", "").replace("\\\"", "").matches('"').count() % 2 == 1;
                    if inside || !part.starts_with('\\') {
                        text.push_str(part);
                    }
                }
                assert_eq!(after_nested(text.as_bytes(), 0), after_nested_by_byte(text.as_bytes()), "{text}");
            }
        }
    }
}
