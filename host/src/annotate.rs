//! The subcommand `annotate`.

use std::path::Path;

use odigos_karpenter_host::{Error, Metadata, Policy, Result};

use crate::arguments::AnnotateArguments;

/// Writes the metadata into a copy of the module. They are completed as kwctl does (`annotate.rs` of
/// kwctl), but for the annotation with the version of kwctl.
pub(crate) fn annotate(arguments: &AnnotateArguments) -> Result<()> {
    let mut metadata = Metadata::from_path(&arguments.metadata_path)?;
    if let Some(path) = &arguments.usage_path {
        let usage = std::fs::read_to_string(path).map_err(|source| unread(path, source))?;
        metadata = metadata.with_usage(usage);
    }
    let path = &arguments.wasm_path;
    metadata.protocol_version = Some(Policy::from_path(path)?.protocol_version()?);
    let module = std::fs::read(path).map_err(|source| unread(path, source))?;
    let annotated = metadata.write_into(&module)?;
    let path = &arguments.output_path;
    std::fs::write(path, annotated).map_err(|source| Error::Write { path: path.clone(), source })
}

pub(crate) fn unread(path: &Path, source: std::io::Error) -> Error {
    Error::Read { path: path.to_owned(), source }
}
