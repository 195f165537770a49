//! The ways in which a scan is told.

mod json;
mod markdown;
mod sarif;
mod table;

use std::io::{self, Write};

use clap::ValueEnum;
use odigos_karpenter_policy::situation::Situation;

use crate::found::{Found, Level, Scan};
use crate::names::name_of;

/// A way to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, on a terminal.
    #[default]
    Table,
    /// For programs: docs/scan-output.md says what is in it.
    Json,
    /// For a pull request.
    Markdown,
    /// For code scanning: SARIF 2.1.0, with files and lines.
    Sarif,
}

/// Tells of a scan.
///
/// # Errors
///
/// What `out` fails with.
pub fn write(out: &mut impl Write, format: Format, scan: &Scan, situation: &Situation) -> io::Result<()> {
    match format {
        Format::Table => table::write(out, scan, situation),
        Format::Json => json::write(out, scan, situation),
        Format::Markdown => markdown::write(out, scan, situation),
        Format::Sarif => sarif::write(out, scan),
    }
}

/// `1 pod`, `2 pods`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How many findings and hints there are in a group.
fn counts(group: &[&Found]) -> String {
    let hints = group.iter().filter(|found| found.level == Level::Warning).count();
    match (group.len() - hints, hints) {
        (findings, 0) => counted(findings, "finding"),
        (0, hints) => counted(hints, "hint"),
        (findings, hints) => format!("{} and {}", counted(findings, "finding"), counted(hints, "hint")),
    }
}

/// What was judged, and what came of it, in one line.
fn summary(scan: &Scan) -> String {
    format!(
        "{} and {} in {}.",
        counted(scan.count(Level::Error), "finding"),
        counted(scan.count(Level::Warning), "hint"),
        counted(scan.objects(), "object")
    )
}

/// What the objects were judged by, in one line.
fn judged_by(situation: &Situation) -> String {
    let mount_method = name_of(odigos_karpenter_policy::odigos::MountMethod::ALL, situation.mount_method());
    if !situation.installed() {
        return "Judged for a cluster without Odigos.".to_owned();
    }
    let karpenter = if situation.karpenter_enabled() { "on" } else { "off" };
    let gate = if situation.gated() {
        "the startup taint is the gate"
    } else if situation.uses_device() {
        "the device is the gate"
    } else if situation.mount_method().needs_prepared_node() {
        "the odiglet label is the gate"
    } else {
        "no gate is needed"
    };
    format!("Judged for {mount_method} with Karpenter {karpenter}: {gate}.")
}
