//! The subcommands of `scaffold`.

use odigos_karpenter_host::{ArtifactHubPackage, Error, Metadata, Result};

use crate::annotate::unread;
use crate::arguments::ArtifacthubArguments;

/// Writes `artifacthub-pkg.yml`.
pub(crate) fn artifacthub(arguments: &ArtifacthubArguments) -> Result<()> {
    let metadata = Metadata::from_path(&arguments.metadata_path)?;
    let questions = arguments
        .questions_path
        .as_ref()
        .map(|path| std::fs::read_to_string(path).map_err(|source| unread(path, source)))
        .transpose()?;
    let package = ArtifactHubPackage::new(&metadata, questions.as_deref(), &arguments.created_at)
        .and_then(|package| package.to_yaml())
        .map_err(|reason| Error::Contents { path: arguments.metadata_path.clone(), reason })?;
    let path = &arguments.output;
    std::fs::write(path, package).map_err(|source| Error::Write { path: path.clone(), source })
}
