//! For programs. The shape is documented in `docs/scan-output.md`, and only grows.

use std::collections::BTreeMap;
use std::io::{self, Write};

use odigos_karpenter_policy::odigos::{MountMethod, Tier};
use odigos_karpenter_policy::situation::Situation;
use serde::Serialize;

use crate::found::{Found, Level, Scan};
use crate::names::name_of;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'s> {
    version: u32,
    judged_by: JudgedBy,
    summary: Summary<'s>,
    findings: Vec<Entry<'s>>,
    unreadable: Vec<Flaw<'s>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JudgedBy {
    mount_method: &'static str,
    karpenter_enabled: bool,
    tier: &'static str,
    odigos_installed: bool,
    gated: bool,
}

#[derive(Serialize)]
struct Summary<'s> {
    errors: usize,
    warnings: usize,
    rules: BTreeMap<&'s str, usize>,
    objects: &'s BTreeMap<String, usize>,
}

#[derive(Serialize)]
struct Entry<'s> {
    rule: Option<&'static str>,
    level: Level,
    kind: &'s str,
    namespace: Option<&'s str>,
    name: &'s str,
    controller: Option<String>,
    path: &'s str,
    problem: &'s str,
    remedy: &'s str,
    fixable: bool,
    file: &'s str,
}

#[derive(Serialize)]
struct Flaw<'s> {
    file: &'s str,
    line: Option<usize>,
    column: Option<usize>,
    reason: &'s str,
}

/// Writes it, with a new line at the end.
pub fn write(out: &mut impl Write, scan: &Scan, situation: &Situation) -> io::Result<()> {
    let positive = |number: usize| Some(number).filter(|number| *number > 0);
    let output = Output {
        version: 1,
        judged_by: JudgedBy {
            mount_method: name_of(MountMethod::ALL, situation.mount_method()),
            karpenter_enabled: situation.karpenter_enabled(),
            tier: name_of(Tier::ALL, situation.settings.tier),
            odigos_installed: situation.installed(),
            gated: situation.gated(),
        },
        summary: Summary {
            errors: scan.count(Level::Error),
            warnings: scan.count(Level::Warning),
            rules: scan.by_rule().into_iter().map(|(rule, group)| (rule, group.len())).collect(),
            objects: &scan.judged,
        },
        findings: scan.all().map(entry).collect(),
        unreadable: scan
            .unreadable
            .iter()
            .map(|it| Flaw {
                file: &it.file,
                line: positive(it.flaw.line),
                column: positive(it.flaw.column),
                reason: &it.flaw.reason,
            })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &output)?;
    writeln!(out)
}

fn entry(found: &Found) -> Entry<'_> {
    Entry {
        rule: found.rule.map(|rule| rule.name()),
        level: found.level,
        kind: &found.kind,
        namespace: Some(found.namespace.as_str()).filter(|namespace| !namespace.is_empty()),
        name: &found.name,
        controller: found.controller.as_ref().map(|(kind, name)| format!("{kind}/{name}")),
        path: &found.path,
        problem: &found.problem,
        remedy: &found.remedy,
        fixable: found.fixable,
        file: &found.file,
    }
}
