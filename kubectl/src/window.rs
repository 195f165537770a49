//! Reading a file of JSON values piece by piece, so that a large one is never in memory as a whole.

use std::io::{self, Read};

use odigos_karpenter_policy::json::cursor::Cursor;
use serde::de::IgnoredAny;

use crate::Flaw;

/// How much is read at once: a few hundred Pods.
const PIECE: usize = 1 << 20;

/// The part of a file that is being looked at.
pub struct Window<R> {
    reader: R,
    text: Vec<u8>,
    /// Where what is left of `text` begins.
    start: usize,
    at_end: bool,
    /// The line of `start`, from 1.
    line: usize,
    /// The column of `start`, from 1, in bytes.
    column: usize,
}

impl<R: Read> Window<R> {
    /// A window at the beginning of a file.
    pub fn new(reader: R) -> Self {
        Window { reader, text: Vec::new(), start: 0, at_end: false, line: 1, column: 1 }
    }

    /// The line of what comes next, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What of the file is in memory and left.
    pub fn rest(&self) -> &[u8] {
        self.text.get(self.start..).unwrap_or_default()
    }

    /// Reads on; false where nothing is left.
    pub fn more(&mut self) -> io::Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        self.text.drain(..self.start);
        self.start = 0;
        // Twice as much as is left, so that a long value is walked through a few times at most.
        let wanted = PIECE.max(self.text.len()) as u64;
        let read = self.reader.by_ref().take(wanted).read_to_end(&mut self.text)?;
        self.at_end = read == 0;
        Ok(read > 0)
    }

    /// Leaves behind what comes next.
    pub fn pass(&mut self, length: usize) {
        let passed = &self.text[self.start..self.start + length];
        let lines = passed.iter().filter(|byte| **byte == b'\n').count();
        match passed.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => self.column = passed.len() - newline,
            None => self.column += length,
        }
        self.line += lines;
        self.start += length;
    }

    /// The first byte of what comes next, after white space; `None` at the end.
    pub fn peek(&mut self) -> Result<Option<u8>, Flaw> {
        loop {
            let white = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.pass(white);
            if let Some(byte) = self.rest().first() {
                return Ok(Some(*byte));
            }
            if !self.more()? {
                return Ok(None);
            }
        }
    }

    /// Leaves behind a byte that must come next.
    pub fn expect(&mut self, byte: u8) -> Result<(), Flaw> {
        if self.peek()? == Some(byte) {
            self.pass(1);
            return Ok(());
        }
        Err(self.flaw_here(format!("expected `{}`", char::from(byte))))
    }

    /// The length of the value that comes next, which is in memory then.
    pub fn value(&mut self) -> Result<usize, Flaw> {
        self.peek()?;
        loop {
            match Cursor::new(self.rest()).skip().map(<[u8]>::len) {
                // A number may go on in the next piece.
                Some(length) if length < self.rest().len() || self.at_end => return Ok(length),
                found => {
                    if !self.more()? {
                        return found.ok_or_else(|| self.flaw(self.rest()));
                    }
                }
            }
        }
    }

    /// As [`Window::value`], but only where the value ends within one piece.
    pub fn short_value(&mut self) -> Result<Option<usize>, Flaw> {
        self.peek()?;
        while self.rest().len() < PIECE && self.more()? {}
        let length = Cursor::new(self.rest()).skip().map(<[u8]>::len);
        if length.is_none() && self.at_end {
            return Err(self.flaw(self.rest()));
        }
        Ok(length)
    }

    /// What is wrong with a text that begins here, in the words of a parser that says where.
    pub fn flaw(&self, text: &[u8]) -> Flaw {
        let Some(error) = serde_json::from_slice::<IgnoredAny>(text).err() else {
            return self.flaw_here("no JSON that can be read".to_owned());
        };
        let reason = error.to_string();
        let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason).to_owned();
        let column = if error.line() <= 1 { self.column + error.column().saturating_sub(1) } else { error.column() };
        Flaw::at(self.line + error.line().saturating_sub(1), column.max(1), reason)
    }

    fn flaw_here(&self, reason: String) -> Flaw {
        Flaw::at(self.line, self.column, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives a byte at a time.
    struct Dripping<'t>(&'t [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(1);
            self.0.read(&mut buffer[..length])
        }
    }

    #[test]
    fn values_come_one_by_one_with_their_lines() {
        let mut window = Window::new(Dripping(b"{\"a\":\n1}\n\n 12 \"x\""));
        let mut seen = Vec::new();
        while window.peek().unwrap().is_some() {
            let length = window.value().unwrap();
            seen.push((window.line(), String::from_utf8(window.rest()[..length].to_vec()).unwrap()));
            window.pass(length);
        }
        assert_eq!(seen, [(1, "{\"a\":\n1}".to_owned()), (4, "12".to_owned()), (4, "\"x\"".to_owned())]);
    }

    #[test]
    fn a_flaw_has_its_line_and_column_in_the_file() {
        let mut window = Window::new(&b"{}\n  {\"a\": [1,\n 2}"[..]);
        let first = window.value().unwrap();
        window.pass(first);
        let flaw = window.value().unwrap_err();
        assert_eq!((flaw.line, flaw.column), (3, 3), "{flaw:?}");
    }
}
