//! For people, on a terminal.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, ContentArrangement, Table, presets};
use odigos_karpenter_policy::rule::Rule;
use odigos_karpenter_policy::situation::Situation;

use super::{counts, judged_by, summary};
use crate::found::{Level, Scan, alike, homonyms};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// Of a terminal that is narrower nothing is known: some say that they have no width.
const NARROWEST: u16 = 40;

/// The width of a table where it is not that of a terminal.
const WIDTH: u16 = 160;

/// Writes a table for each rule, with ANSI colours that `out` may leave out.
pub fn write(out: &mut impl Write, scan: &Scan, situation: &Situation) -> io::Result<()> {
    for (name, group) in scan.by_rule() {
        let hints = group.iter().all(|found| found.level == Level::Warning);
        let style = if hints { WARNING } else { ERROR };
        writeln!(out, "{style}{name}{style:#} {FAINT}({}){FAINT:#}", counts(&group))?;
        if let Some(rule) = group.first().and_then(|found| found.rule) {
            writeln!(out, "{}", Rule::summary(rule))?;
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        if table.width().is_none_or(|width| width < NARROWEST) {
            table.set_width(WIDTH);
        }
        table.set_header(["  OBJECT", "WHAT", "REMEDY"]);
        let homonyms = homonyms(&group);
        for (found, count) in alike(&group) {
            let more = if count > 1 { format!(" and {} more like it", count - 1) } else { String::new() };
            let object = format!("  {}{more}", found.object_among(&homonyms));
            table.add_row([Cell::new(object), Cell::new(found.what()), Cell::new(&found.remedy)]);
        }
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", summary(scan))?;
    writeln!(out, "{FAINT}{}{FAINT:#}", judged_by(situation))
}
