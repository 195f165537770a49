//! The subcommand `run`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use odigos_karpenter_host::{
    Access, Error, Exchange, KubernetesAccess, Metadata, Policy, PolicyResource, Replay, Review, pretty,
    read_exchanges, read_policy_file,
};
use serde_json::{Value, json};

use crate::arguments::{Output, RunArguments};

/// Why there is no answer; what is shown after `Error:`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Host(#[from] Error),
    #[error("Provided settings are not valid: {0}")]
    Settings(String),
    #[error("cannot read the settings in {}: {reason}", path.display())]
    SettingsFile { path: PathBuf, reason: String },
    #[error("cannot read --settings-json: {0}")]
    SettingsJson(serde_json::Error),
    #[error("{0} is not a file, and nothing is pulled here: name the .wasm file, with --module for a .yaml file")]
    Module(String),
    #[error("cannot print the answer: {0}")]
    Output(#[from] io::Error),
}

/// A module that has been read.
struct Module {
    policy: Policy,
    metadata: Option<Metadata>,
}

/// A policy, and what it sees of the cluster.
struct Instance {
    resource: PolicyResource,
    policy: Policy,
    access: Arc<KubernetesAccess>,
}

/// Checks the settings of every policy, then asks each about the request and prints the answer.
pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let resources = resources(arguments)?;
    let review = Review::from_json(&read(&arguments.request_path)?)?;
    let exchanges = arguments.replay_host_capabilities_interactions.as_ref().map(read_exchanges).transpose()?;
    let policies = load(resources, arguments.module.as_deref(), exchanges.as_ref())?;

    for Instance { resource, policy, .. } in &policies {
        let answer = policy.validate_settings(&resource.settings)?;
        if !answer.valid {
            return Err(Failure::Settings(answer.message.unwrap_or_default()));
        }
    }
    let mut out = anstream::stdout().lock();
    for Instance { resource, policy, access } in &policies {
        let response = resource.admit(policy.answer(&review, &resource.settings));
        match arguments.output {
            Output::Json => {
                serde_json::to_writer(&mut out, &response).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Output::Pretty => {
                let name = (policies.len() > 1).then_some(resource.name.as_str());
                pretty::write(&mut out, &review, &response, name)?;
            }
        }
        let left = access.left();
        if !left.is_empty() {
            anstream::eprintln!("{}: never asked, though the answer was at hand: {left:?}", resource.name);
        }
    }
    Ok(out.flush()?)
}

fn resources(arguments: &RunArguments) -> Result<Vec<PolicyResource>, Failure> {
    if arguments.is_policy_file() {
        if arguments.settings_path.is_some() || arguments.settings_json.is_some() {
            anstream::eprintln!(
                "the settings are those in {}: --settings-path and --settings-json are ignored",
                arguments.policy
            );
        }
        return Ok(read_policy_file(&arguments.policy)?);
    }
    let module = match &arguments.policy {
        uri if uri.contains("://") => uri.clone(),
        path => format!("file://{path}"),
    };
    let settings = settings(arguments)?;
    let access = if arguments.allow_context_aware { Access::OfMetadata } else { Access::Nothing };
    Ok(vec![PolicyResource { access, ..PolicyResource::of_module(module, settings) }])
}

/// The settings of a policy that is named by its module; `{}` where there are none.
fn settings(arguments: &RunArguments) -> Result<Value, Failure> {
    let settings = match (&arguments.settings_path, &arguments.settings_json) {
        (Some(path), _) => serde_yaml::from_slice(&read(path)?)
            .map_err(|error| Failure::SettingsFile { path: path.clone(), reason: error.to_string() })?,
        (None, Some(json)) => serde_json::from_str(json).map_err(Failure::SettingsJson)?,
        (None, None) => Value::Null,
    };
    Ok(match settings {
        Value::Null => json!({}),
        settings => settings,
    })
}

/// The policy of each resource; a module that several name is compiled once.
fn load(
    resources: Vec<PolicyResource>,
    module: Option<&Path>,
    exchanges: Option<&Vec<Exchange>>,
) -> Result<Vec<Instance>, Failure> {
    let mut modules = BTreeMap::new();
    let mut policies = Vec::new();
    for resource in resources {
        let path = module
            .map(Path::to_owned)
            .or_else(|| resource.module_path())
            .ok_or_else(|| Failure::Module(resource.module.clone()))?;
        let module: &mut Module = match modules.entry(path) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let policy = Policy::from_path(entry.key())?;
                let metadata = Metadata::of_module(&read(entry.key())?)?;
                entry.insert(Module { policy, metadata })
            }
        };
        let metadata = module.metadata.as_ref();
        if resource.access == Access::Nothing && metadata.is_some_and(|it| !it.context_aware_resources.is_empty()) {
            anstream::eprintln!(
                "{}: wants to read the cluster and may not; for a .wasm file --allow-context-aware lets it",
                resource.name
            );
        }
        let replay = exchanges.map(|exchanges| Replay::new(exchanges.clone()));
        let access = Arc::new(KubernetesAccess::new(resource.access.granted(metadata), replay));
        let policy = module.policy.with_capabilities(Arc::<KubernetesAccess>::clone(&access));
        policies.push(Instance { resource, policy, access });
    }
    Ok(policies)
}

/// The bytes of a file, or of standard input for `-`.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    bytes.map_err(|source| Error::Read { path: path.to_owned(), source })
}
