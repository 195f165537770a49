//! What of the input can't be read.

use std::fmt;
use std::io;

use crate::plain::plain;

/// Why a file can't be read, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flaw {
    /// The line, from 1; 0 where it is the file as a whole.
    pub line: usize,
    /// The column, from 1; 0 where it is not known.
    pub column: usize,
    /// What is wrong, in words.
    pub reason: String,
}

/// A [`Flaw`] and the file that it is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unreadable {
    /// The file, as it was named.
    pub file: String,
    /// What is wrong with it.
    pub flaw: Flaw,
}

impl Flaw {
    /// A flaw at a line and a column, both from 1.
    pub fn at(line: usize, column: usize, reason: String) -> Self {
        Flaw { line, column, reason }
    }

    /// The text that bytes are, of which the first is in a line of the file.
    pub fn check_text(bytes: &[u8], line: usize) -> Result<&str, Self> {
        std::str::from_utf8(bytes).map_err(|error| {
            let before = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count();
            Flaw::at(line + before, 0, "is not UTF-8".to_owned())
        })
    }

    /// A flaw of a whole file.
    pub fn whole(reason: impl fmt::Display) -> Self {
        Flaw { line: 0, column: 0, reason: reason.to_string() }
    }
}

impl From<io::Error> for Flaw {
    fn from(error: io::Error) -> Self {
        Flaw::whole(error)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unreadable { file, flaw: Flaw { line, column, reason } } = self;
        let (file, reason) = (plain(file), plain(reason));
        match (line, column) {
            (0, _) => write!(f, "{file}: {reason}"),
            (line, 0) => write!(f, "{file}:{line}: {reason}"),
            (line, column) => write!(f, "{file}:{line}:{column}: {reason}"),
        }
    }
}
