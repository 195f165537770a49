//! What can go wrong before there is an answer.

use std::path::PathBuf;

/// Why a policy could not be loaded or asked.
///
/// A policy that rejects is an answer and not an error; one that traps is an error only to
/// [`Policy::call`](crate::Policy::call), for a policy server answers such a request with code 500.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file can't be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file as it was named.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },

    /// A file can't be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file as it was named.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },

    /// The bytes are no WebAssembly module that speaks waPC.
    #[error("cannot load the policy: {0}")]
    Engine(#[from] wasmtime_provider::errors::Error),

    /// The guest returned an error, trapped, or could not be initialized.
    #[error(transparent)]
    Guest(#[from] wapc::errors::Error),

    /// The guest answered, but not in the shape that the operation asks for.
    #[error("the policy's answer to {operation} can't be read: {source}")]
    Answer {
        /// The waPC operation.
        operation: &'static str,
        /// Where the answer departs from the shape.
        source: serde_json::Error,
    },

    /// The request is not an AdmissionRequest, bare or in an AdmissionReview.
    #[error("the request is not an AdmissionRequest: {0}")]
    Request(serde_json::Error),

    /// The metadata of a module can't be read or written.
    #[error("the module's metadata can't be {0}")]
    Metadata(String),

    /// A file holds something else than what it is named for, or what can't be run here.
    #[error("{}: {reason}", path.display())]
    Contents {
        /// The file as it was named.
        path: PathBuf,
        /// What is wrong in it.
        reason: String,
    },

    /// A patch in a response is not base64 of JSON Patch, or does not fit the object.
    #[error("the patch can't be {0}")]
    Patch(String),
}
