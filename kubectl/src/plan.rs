//! The commands that bring a cluster to where it is wanted, in the order in which they are safe.
//!
//! The orders are those of the README (*Order of changes*). What is to be done at each step comes of
//! judging every object by the rules as they will be then. Nothing here touches a cluster.

mod change;
mod lists;
mod nodes;
mod overlays;
mod planned;
mod pools;
mod script;
mod steps;
mod survey;
mod workloads;

use std::io::{self, Write};

use odigos_karpenter_policy::kind::Kind;
use odigos_karpenter_policy::odigos::{MountMethod, Tier};
use odigos_karpenter_policy::settings::Settings;
use odigos_karpenter_policy::situation::Situation;

use crate::arguments::{PlanArguments, Switch};
use crate::gathered::Gathered;
use crate::input::Input;
use crate::judge::Judge;
use crate::names::named;
use change::{State, changes};
use planned::Planned;
use script::Script;
use steps::Ground;
use survey::Survey;

/// Where the cluster is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// The mount method, where it is to change.
    pub mount_method: Option<MountMethod>,
    /// Whether Odigos' Karpenter integration is on, where that is to change.
    pub karpenter: Option<bool>,
    /// The tier, where it is to change.
    pub tier: Option<Tier>,
    /// Whether Odigos is to go.
    pub uninstall: bool,
}

impl Goal {
    /// As the arguments say it.
    pub fn of(arguments: &PlanArguments) -> Self {
        Goal {
            mount_method: named(MountMethod::ALL, arguments.to.as_deref()),
            karpenter: arguments.karpenter.map(|karpenter| karpenter == Switch::On),
            tier: named(Tier::ALL, arguments.tier.as_deref()),
            uninstall: arguments.uninstall,
        }
    }
}

/// Says why there is no plan: it would take Odigos for gone where that may not be so, or change what is
/// not there.
///
/// # Errors
///
/// In words, with the remedy.
pub fn check(settings: &Settings, gathered: &Gathered, goal: Goal) -> Result<(), String> {
    if let Some(misplaced) = gathered.misplaced(settings) {
        return Err(format!("{misplaced}: put it right with --settings"));
    }
    if let Some(ambiguity) = gathered.ambiguity() {
        return Err(format!("{ambiguity}: leave out what is not of this cluster"));
    }
    if let Some(other) = gathered.other_tier(settings) {
        return Err(format!("{other}: say with --settings which tier it is"));
    }
    let is_told_gone = !settings.odiglet.installed;
    if is_told_gone && (goal.mount_method.is_some() || goal.karpenter.is_some() || goal.tier.is_some()) {
        return Err(
            "Odigos is not installed, by the settings: there is nothing that --to, --karpenter and --tier could change"
                .to_owned(),
        );
    }
    let is_there = Situation::in_cluster(settings, gathered, Kind::NodePool).installed();
    if !is_told_gone && !is_there && !goal.uninstall {
        return Err(format!(
            "the input has no Odigos in namespace {}: say --uninstall if it is gone for good, or install it first",
            settings.odiglet.namespace
        ));
    }
    Ok(())
}

/// Writes the plan.
///
/// # Errors
///
/// What `out` fails with.
pub fn write(
    out: &mut impl Write,
    settings: &Settings,
    gathered: &Gathered,
    input: &mut Input,
    goal: Goal,
) -> io::Result<()> {
    let now = Situation::in_cluster(settings, gathered, Kind::NodePool);
    let before = State {
        mount_method: now.mount_method(),
        karpenter: now.karpenter_enabled(),
        tier: settings.tier,
        installed: now.installed(),
    };
    let changes = changes(before, goal);
    // The first survey is of how things are.
    let states = [before].into_iter().chain(changes.iter().map(|change| change.after));
    let planned: Vec<(Settings, Planned)> =
        states.map(|state| (state.settings(settings, gathered), Planned::new(gathered, state))).collect();
    let mut surveys: Vec<(Judge, Survey)> = planned
        .iter()
        .map(|(settings, cluster)| (Judge::new(settings, cluster, gathered), Survey::default()))
        .collect();
    input.pass(&mut |item| {
        for (judge, survey) in &mut surveys {
            survey.take(item, judge, gathered);
        }
    });
    input.finish();
    let mut surveys = surveys.into_iter().map(|(_, survey)| survey);
    let now = surveys.next().unwrap_or_default();
    let ground = Ground { now: &now, gathered, settings, installed: before.installed };
    let mut script = Script::default();
    for (index, (change, survey)) in changes.iter().zip(surveys).enumerate() {
        steps::of(&ground, change, &survey, index + 1 == changes.len(), &mut script);
    }
    writeln!(out, "# From {before}")?;
    for change in &changes {
        writeln!(out, "# to {}: {}.", change.after, change.kind.name())?;
    }
    writeln!(
        out,
        "#\n# Made of what was collected: read it, and run it step by step. What was done before does nothing a"
    )?;
    writeln!(out, "# second time, or is refused: a patch by its `test`, of what has changed in between, too. Then")?;
    writeln!(out, "# collect and plan anew.")?;
    writeln!(out, "# It takes kubectl, helm and jq.")?;
    if let Some(wanted) = planned::none_ready_of(gathered) {
        writeln!(
            out,
            "#\n# None of odiglet's {wanted} pods is ready: nothing would take a taint away. See why first:"
        )?;
        writeln!(
            out,
            "#   kubectl -n {} describe daemonset/{}",
            settings.odiglet.namespace, settings.odiglet.daemon_set
        )?;
    }
    script.write(out)
}
