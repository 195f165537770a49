//! What can be said on the command line: the flags of `kwctl run`, `kwctl annotate` and `kwctl scaffold
//! artifacthub`, and three more.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

/// Answers an AdmissionReview with a Kubewarden policy, as a policy server would.
///
/// Stands in for kwctl where kwctl is not to be had: it embeds the same WebAssembly engine, takes
/// the same flags and prints the same line. It needs no cluster and no network, and pulls
/// nothing.
#[derive(Debug, Parser)]
#[command(name = "odigos-karpenter-host", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(RunArguments),
    Annotate(AnnotateArguments),
    #[command(subcommand)]
    Scaffold(Scaffold),
}

/// Make a file of the metadata.
///
/// Stands in for `kwctl scaffold`.
#[derive(Debug, Subcommand)]
pub(crate) enum Scaffold {
    Artifacthub(ArtifacthubArguments),
}

/// Ask a policy about one request.
///
/// Stands in for `kwctl run`. Prints one line of JSON, the AdmissionResponse, for each policy on
/// standard output; all else goes to standard error.
///
/// The settings are checked first. A request that is rejected is an answer, and no failure.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit status:
  0  the policy has answered, be it that the request is rejected
  1  invalid settings, a file that can't be read, a policy that can't be run
  2  bad usage

Examples:
  odigos-karpenter-host run -r request.json policy.wasm
  odigos-karpenter-host run -r request.json --settings-json '{\"action\": \"reject\"}' policy.wasm
  odigos-karpenter-host run -r - --output pretty --module policy.wasm policy.yaml < request.json")]
pub(crate) struct RunArguments {
    /// The policy: a .wasm file, or a .yaml file of policies
    ///
    /// Every ClusterAdmissionPolicy and AdmissionPolicy of a .yaml or .yml file is asked, whether
    /// or not its rules match the request, with its own settings, mode, message and leave to
    /// mutate.
    #[arg(value_name = "POLICY")]
    pub(crate) policy: String,

    /// The request: a JSON file, or - for standard input
    ///
    /// Either an AdmissionReview or the AdmissionRequest in it.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) request_path: PathBuf,

    /// The settings: a YAML or JSON file
    #[arg(short, long, value_name = "FILE", conflicts_with = "settings_json")]
    pub(crate) settings_path: Option<PathBuf>,

    /// The settings, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) settings_json: Option<String>,

    /// How the module is run; there is only one way here
    #[arg(short, long, value_name = "MODE", value_enum, default_value_t)]
    pub(crate) execution_mode: ExecutionMode,

    /// Let the policy read the resources that its metadata ask for
    ///
    /// They are the contextAwareResources in metadata.yml, which `annotate` writes into the module.
    /// For a ClusterAdmissionPolicy of a .yaml file they are its own, with or without this flag.
    #[arg(long)]
    pub(crate) allow_context_aware: bool,

    /// What the cluster answers: a YAML file of exchanges
    ///
    /// They are played back in their order, to each policy from the beginning, and each request has to
    /// be the same as in the file. Without it nothing is answered, for there is no cluster.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay_host_capabilities_interactions: Option<PathBuf>,

    /// The .wasm file for the policies of a .yaml file (not in kwctl)
    ///
    /// Needed unless their module is a file:// path, since nothing is pulled from registries.
    #[arg(long, value_name = "FILE")]
    pub(crate) module: Option<PathBuf>,

    /// What is printed: a line of JSON, or a text for people (not in kwctl)
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: Output,
}

/// Write metadata into a module.
///
/// Stands in for `kwctl annotate`. What the module has of other metadata is replaced; the rest of it
/// stays as it is.
#[derive(Debug, Args)]
pub(crate) struct AnnotateArguments {
    /// The module: a .wasm file
    #[arg(value_name = "MODULE")]
    pub(crate) wasm_path: PathBuf,

    /// The metadata: a YAML file, usually metadata.yml
    #[arg(short, long, value_name = "FILE")]
    pub(crate) metadata_path: PathBuf,

    /// What users shall read of the policy: Markdown, usually README.md
    #[arg(short, long, value_name = "FILE")]
    pub(crate) usage_path: Option<PathBuf>,

    /// Where the annotated module goes
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output_path: PathBuf,
}

/// Make the package of the policy on Artifact Hub.
///
/// Stands in for `kwctl scaffold artifacthub`. The same input makes the same file.
#[derive(Debug, Args)]
pub(crate) struct ArtifacthubArguments {
    /// The metadata: a YAML file
    #[arg(short, long, value_name = "FILE", default_value = "metadata.yml")]
    pub(crate) metadata_path: PathBuf,

    /// The form for the settings: a YAML file, usually questions-ui.yml
    #[arg(short, long, value_name = "FILE")]
    pub(crate) questions_path: Option<PathBuf>,

    /// When the version was made, as in 2026-01-31T12:00:00Z (not in kwctl)
    #[arg(long, value_name = "TIME")]
    pub(crate) created_at: String,

    /// Where the package goes, usually artifacthub-pkg.yml
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExecutionMode {
    /// A policy written with a Kubewarden SDK
    #[default]
    KubewardenWapc,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// The AdmissionResponse, as kwctl prints it
    #[default]
    Json,
    /// The verdict, the policy's words and a diff of the object, in colour on a terminal
    Pretty,
}

// === impl Arguments ===

impl Arguments {
    /// What was said, or the end of the process with clap's message and code 2.
    pub(crate) fn parse_or_exit() -> Self {
        Self::try_parse().and_then(Self::checked).unwrap_or_else(|error| error.exit())
    }

    fn checked(self) -> Result<Self, clap::Error> {
        if let Command::Run(run) = &self.command
            && run.module.is_some()
            && !run.is_policy_file()
        {
            let message = format!("--module is for a .yaml file, and {} is none", run.policy);
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        Ok(self)
    }
}

// === impl RunArguments ===

impl RunArguments {
    /// Whether the policies are in a YAML file, by its name as in kwctl.
    pub(crate) fn is_policy_file(&self) -> bool {
        self.policy.ends_with(".yaml") || self.policy.ends_with(".yml")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_definition_holds() {
        Arguments::command().debug_assert();
    }

    fn parse(line: &str) -> Result<RunArguments, clap::Error> {
        let words = line.split_whitespace();
        let parsed = Arguments::try_parse_from(["host", "run"].into_iter().chain(words))?.checked()?;
        match parsed.command {
            Command::Run(arguments) => Ok(arguments),
            Command::Annotate(_) | Command::Scaffold(_) => unreachable!("the command is run"),
        }
    }

    #[rstest]
    #[case::short("-r r.json -s s.yaml -e kubewarden-wapc p.wasm", false)]
    #[case::long("--request-path r.json --settings-path s.yaml p.wasm", false)]
    #[case::standard_input("-r - p.wasm", false)]
    #[case::json("p.wasm -r r.json --settings-json {}", false)]
    #[case::yaml("-r r.json --module p.wasm --output pretty p.yaml", true)]
    #[case::yml("-r r.json p.yml", true)]
    #[case::cluster("-r r.json --allow-context-aware --replay-host-capabilities-interactions s.yml p.wasm", false)]
    fn kwctls_flags(#[case] line: &str, #[case] policy_file: bool) {
        assert_eq!(parse(line).unwrap().is_policy_file(), policy_file);
    }

    #[rstest]
    #[case::no_request("p.wasm", ErrorKind::MissingRequiredArgument)]
    #[case::no_policy("-r r.json", ErrorKind::MissingRequiredArgument)]
    #[case::other_mode("-r r.json -e opa p.wasm", ErrorKind::InvalidValue)]
    #[case::settings_twice("-r r -s s --settings-json {} p.wasm", ErrorKind::ArgumentConflict)]
    #[case::module_twice("-r r.json --module m.wasm p.wasm", ErrorKind::ArgumentConflict)]
    #[case::unknown("-r r.json --raw p.wasm", ErrorKind::UnknownArgument)]
    fn bad_usage(#[case] line: &str, #[case] kind: ErrorKind) {
        assert_eq!(parse(line).unwrap_err().kind(), kind);
    }

    #[rstest]
    #[case::short("-m metadata.yml -u README.md -o a.wasm p.wasm", true)]
    #[case::long("--metadata-path metadata.yml --output-path a.wasm --usage-path README.md p.wasm", true)]
    #[case::no_usage("p.wasm -m metadata.yml -o a.wasm", true)]
    #[case::no_metadata("-o a.wasm p.wasm", false)]
    #[case::no_output("-m metadata.yml p.wasm", false)]
    #[case::no_module("-m metadata.yml -o a.wasm", false)]
    fn annotating(#[case] line: &str, #[case] understood: bool) {
        let words = ["host", "annotate"].into_iter().chain(line.split_whitespace());
        assert_eq!(Arguments::try_parse_from(words).is_ok(), understood);
    }

    #[rstest]
    #[case::short("-m metadata.yml -q questions-ui.yml --created-at 2026-01-31T12:00:00Z -o a.yml", true)]
    #[case::defaults("--created-at 2026-01-31T12:00:00Z --output a.yml", true)]
    #[case::no_time("-o a.yml", false)]
    #[case::no_output("--created-at 2026-01-31T12:00:00Z", false)]
    fn scaffolding(#[case] line: &str, #[case] understood: bool) {
        let words = ["host", "scaffold", "artifacthub"].into_iter().chain(line.split_whitespace());
        assert_eq!(Arguments::try_parse_from(words).is_ok(), understood);
    }
}
