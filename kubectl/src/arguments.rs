//! What the command line says.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use odigos_karpenter_policy::odigos::{MountMethod, Tier};

use crate::output::Format;

/// Scan a cluster or a repository by the rules of odigos-karpenter-policy, and plan the move.
///
/// Nothing here touches a cluster: what is there comes from files or standard input, and what is to be
/// done is printed for you to read and run.
#[derive(Debug, Parser)]
#[command(name = "kubectl-odigos_karpenter", bin_name = "kubectl odigos-karpenter", version, propagate_version = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print a script that collects from the cluster what the other commands read.
    Collect(CollectArguments),
    /// Judge the objects, and say what is wrong with them.
    Scan(ScanArguments),
    /// Print the commands that bring this cluster to where you want it, in a safe order.
    Plan(PlanArguments),
    /// Show what the policy would change in each object if it were created now. The exit code is 1 where it
    /// would change anything.
    Diff(InputArguments),
    /// Say of a rule what it finds, why, how to put it right, and where the facts are from.
    Explain(ExplainArguments),
    /// Print completions for a shell, of the program's own name, kubectl-odigos_karpenter.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print a manual page: roff, for man -l - or a file in a man1 folder.
    Man {
        /// The page of a subcommand; else that of the whole.
        subcommand: Option<String>,
    },
}

/// What is read.
#[derive(Debug, Args)]
pub struct InputArguments {
    /// Files, folders (*.yaml, *.yml and *.json in them), or - for standard input, which is also what
    /// is read where none is named.
    pub paths: Vec<PathBuf>,
    /// The policy's settings: a file with them, or with a ClusterAdmissionPolicy.
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Which policy of that file, by its name; else the first.
    #[arg(long, value_name = "NAME", requires = "settings")]
    pub policy: Option<String>,
}

/// Arguments of `collect`.
#[derive(Debug, Args)]
pub struct CollectArguments {
    /// The namespace of Odigos.
    #[arg(long, value_name = "NAMESPACE", default_value = "odigos-system")]
    pub odigos_namespace: String,
}

/// Arguments of `scan`.
#[derive(Debug, Args)]
pub struct ScanArguments {
    /// What is read.
    #[command(flatten)]
    pub input: InputArguments,
    /// How to tell of it.
    #[arg(short, long, value_enum, default_value_t)]
    pub output: Format,
    /// What ends the command with exit code 1: findings, hints too (warning), or nothing.
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub fail_on: FailOn,
}

/// What ends a scan with exit code 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Findings and hints.
    Warning,
    /// Findings.
    #[default]
    Error,
    /// Nothing.
    Never,
}

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// What is read.
    #[command(flatten)]
    pub input: InputArguments,
    /// The mount method that Odigos is to have.
    #[arg(long, value_name = "MOUNT_METHOD", value_parser = names_of(MountMethod::ALL), conflicts_with = "uninstall")]
    pub to: Option<String>,
    /// Whether Odigos' Karpenter integration is to be on.
    #[arg(long, value_enum, conflicts_with = "uninstall")]
    pub karpenter: Option<Switch>,
    /// The tier that Odigos is to have.
    #[arg(long, value_parser = names_of(Tier::ALL), conflicts_with = "uninstall")]
    pub tier: Option<String>,
    /// Odigos is to go.
    #[arg(long)]
    pub uninstall: bool,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The rule; none: a list of all.
    pub rule: Option<String>,
}

fn names_of<T>(all: &[(&'static str, T)]) -> clap::builder::PossibleValuesParser {
    all.iter().map(|(name, _)| *name).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
    }
}
