//! The subcommands.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::CommandFactory;
use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::settings::Settings;

use crate::arguments::{Arguments, Command, FailOn, InputArguments, PlanArguments, ScanArguments};
use crate::error::Error;
use crate::found::{Level, Scan};
use crate::gathered::Gathered;
use crate::input::Input;
use crate::judge::Judge;
use crate::plan::{self, Goal};
use crate::source::STDIN;
use crate::{collect, diff, explain, output, settings_file};

/// All is well.
const WELL: u8 = 0;
/// Something was found.
const FOUND: u8 = 1;
/// Something can't be read.
const UNREADABLE: u8 = 2;

/// Carries out a command, and returns the exit code.
///
/// # Errors
///
/// What makes it impossible; the exit code is 2 then.
pub fn run(command: &Command) -> Result<u8, Error> {
    // What has colours, and what is data.
    let mut out = anstream::AutoStream::auto(io::stdout().lock());
    let mut data = anstream::AutoStream::always_ansi(io::stdout().lock());
    match command {
        Command::Collect(arguments) => collect::write(&mut data, &arguments.odigos_namespace)?,
        Command::Scan(arguments) if arguments.output == output::Format::Table => return scan(&mut out, arguments),
        Command::Scan(arguments) => return scan(&mut data, arguments),
        Command::Plan(arguments) => return plan(&mut data, arguments),
        Command::Diff(arguments) => return show_diff(&mut out, arguments),
        Command::Explain(arguments) => explain::write(&mut out, arguments.rule.as_deref())?,
        Command::Completions { shell } => {
            let name = "kubectl-odigos_karpenter";
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command().bin_name(name), name, &mut script);
            data.write_all(&script)?;
        }
        Command::Man { subcommand } => manual_page(subcommand.as_deref())?,
    }
    Ok(WELL)
}

fn manual_page(subcommand: Option<&str>) -> Result<(), Error> {
    let mut all = Arguments::command();
    all.build();
    let page = match subcommand {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(found) => found.clone(),
            None => return Err(Error::Usage(format!("there is no subcommand {name}"))),
        },
    };
    Ok(clap_mangen::Man::new(page).render(&mut io::stdout().lock())?)
}

/// The input after the first pass, and what of it answers for the cluster.
fn gather(arguments: &InputArguments, settings: &mut Settings) -> Result<(Input, Gathered), Error> {
    let mut paths = arguments.paths.clone();
    if paths.is_empty() {
        if io::stdin().is_terminal() {
            return Err(Error::Usage(
                "name files or folders, or pipe objects in: kubectl odigos-karpenter collect | sh | kubectl \
                 odigos-karpenter scan"
                    .to_owned(),
            ));
        }
        paths.push(PathBuf::from(STDIN));
    }
    let mut input = Input::open(&paths);
    if input.is_empty() {
        let name = |path: &PathBuf| match path.to_string_lossy() {
            name if name == STDIN => "standard input".to_owned(),
            name => name.into_owned(),
        };
        let names = paths.iter().map(name).collect::<Vec<_>>().join(", ");
        return Err(Error::Usage(format!("there is nothing to read in {names}")));
    }
    let mut gathered = Gathered::default();
    input.first_pass(&mut |item| gathered.take(item, settings));
    for unreadable in gathered.check() {
        input.add_unreadable(unreadable);
    }
    if let Some(ambiguity) = gathered.ambiguity() {
        tell(format_args!("note: {ambiguity}"));
    }
    if let Some(misplaced) = gathered.misplaced(settings) {
        tell(format_args!("note: {misplaced}: the settings serve"));
    }
    if let Some(other) = gathered.other_tier(settings) {
        tell(format_args!("note: {other}: put the settings' tier right"));
    }
    if let Some(otherwise) = gathered.otherwise(settings).filter(|_| arguments.settings.is_some()) {
        tell(format_args!("note: {otherwise}"));
    }
    settings.from_cluster = gathered.answers(settings);
    Ok((input, gathered))
}

/// Says something beside the output. Where nobody can hear it there is nobody to be told so.
pub fn tell(what: std::fmt::Arguments) {
    let _unheard = writeln!(anstream::stderr(), "{what}");
}

/// Names what could not be read; returns the exit code for it, or `otherwise`.
fn tell_unreadable(input: &Input, otherwise: u8) -> u8 {
    input.finish();
    for unreadable in input.unreadable() {
        tell(format_args!("error: {unreadable}"));
    }
    if input.unreadable().is_empty() { otherwise } else { UNREADABLE }
}

fn scan(out: &mut impl Write, arguments: &ScanArguments) -> Result<u8, Error> {
    let text = settings_file::read(arguments.input.settings.as_deref(), arguments.input.policy.as_deref())?;
    let view = View::new(&text);
    let mut settings = settings_file::check(&view)?;
    let (mut input, gathered) = gather(&arguments.input, &mut settings)?;
    let judge = Judge::new(&settings, &gathered, &gathered);
    let mut scan = Scan::default();
    input.pass(&mut |item| {
        if let Some(judged) = judge.judge(item) {
            scan.add(item, &judged);
        }
    });
    scan.unreadable = input.unreadable().clone();
    input.finish();
    output::write(out, arguments.output, &scan, judge.situation())?;
    out.flush()?;
    let fails = match arguments.fail_on {
        FailOn::Warning => scan.count(Level::Error) + scan.count(Level::Warning) > 0,
        FailOn::Error => scan.count(Level::Error) > 0,
        FailOn::Never => false,
    };
    Ok(tell_unreadable(&input, if fails { FOUND } else { WELL }))
}

fn show_diff(out: &mut impl Write, arguments: &InputArguments) -> Result<u8, Error> {
    let text = settings_file::read(arguments.settings.as_deref(), arguments.policy.as_deref())?;
    let view = View::new(&text);
    let mut settings = settings_file::check(&view)?;
    let (mut input, gathered) = gather(arguments, &mut settings)?;
    let judge = Judge::new(&settings, &gathered, &gathered);
    let mut diffs = std::collections::BTreeSet::new();
    input.pass(&mut |item| {
        let Some(judged) = judge.judge(item) else { return };
        let name = match judged.namespace.as_str() {
            "" => format!("{}/{}", judged.kind, judged.name),
            namespace => format!("{}/{namespace}/{}", judged.kind, judged.name),
        };
        let name = format!("{name} ({})", item.file);
        if let Some(diff) = diff::unified(item.text, &judged, &name) {
            diffs.insert((name, diff));
        }
    });
    input.finish();
    for (_, diff) in &diffs {
        diff::write(out, diff)?;
    }
    out.flush()?;
    Ok(tell_unreadable(&input, if diffs.is_empty() { WELL } else { FOUND }))
}

fn plan(out: &mut impl Write, arguments: &PlanArguments) -> Result<u8, Error> {
    let text = settings_file::read(arguments.input.settings.as_deref(), arguments.input.policy.as_deref())?;
    let view = View::new(&text);
    let mut settings = settings_file::check(&view)?;
    let (mut input, gathered) = gather(&arguments.input, &mut settings)?;
    // Half a cluster makes half a plan.
    if !input.unreadable().is_empty() {
        return Ok(tell_unreadable(&input, UNREADABLE));
    }
    let goal = Goal::of(arguments);
    plan::check(&settings, &gathered, goal).map_err(Error::Usage)?;
    plan::write(out, &settings, &gathered, &mut input, goal)?;
    out.flush()?;
    Ok(tell_unreadable(&input, WELL))
}
