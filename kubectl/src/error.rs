//! Why a command can't be carried out.

use std::io;

/// What ends a command. What of the input can't be read does not: that is told at the end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments, or the settings that they name.
    #[error("{0}")]
    Usage(String),
    /// Writing the output.
    #[error("the output can't be written: {0}")]
    Output(#[from] io::Error),
}
