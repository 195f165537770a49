//! The subcommand `run`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use odigos_karpenter_host::{Error, Policy, PolicyResource, Review, pretty, read_policy_file};
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

/// Checks the settings of every policy, then asks each about the request and prints the answer.
pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let resources = resources(arguments)?;
    let review = Review::from_json(&read(&arguments.request_path)?)?;
    let policies = load(&resources, arguments.module.as_deref())?;

    for (resource, policy) in resources.iter().zip(&policies) {
        let answer = policy.validate_settings(&resource.settings)?;
        if !answer.valid {
            return Err(Failure::Settings(answer.message.unwrap_or_default()));
        }
    }
    let mut out = anstream::stdout().lock();
    for (resource, policy) in resources.iter().zip(&policies) {
        let response = resource.admit(policy.answer(&review, &resource.settings));
        match arguments.output {
            Output::Json => {
                serde_json::to_writer(&mut out, &response).map_err(io::Error::from)?;
                writeln!(out)?;
            }
            Output::Pretty => {
                let name = (resources.len() > 1).then_some(resource.name.as_str());
                pretty::write(&mut out, &review, &response, name)?;
            }
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
    Ok(vec![PolicyResource::of_module(module, settings)])
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
fn load(resources: &[PolicyResource], module: Option<&Path>) -> Result<Vec<Rc<Policy>>, Failure> {
    let mut loaded = BTreeMap::new();
    let mut policies = Vec::new();
    for resource in resources {
        let path = module
            .map(Path::to_owned)
            .or_else(|| resource.module_path())
            .ok_or_else(|| Failure::Module(resource.module.clone()))?;
        let policy = match loaded.entry(path) {
            Entry::Occupied(entry) => Rc::clone(entry.get()),
            Entry::Vacant(entry) => {
                let policy = Rc::new(Policy::from_path(entry.key())?);
                Rc::clone(entry.insert(policy))
            }
        };
        policies.push(policy);
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
