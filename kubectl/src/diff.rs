//! What the policy would change in an object.

use std::fmt::Write as _;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use odigos_karpenter_policy::json::splice::splice;
use odigos_karpenter_policy::json::view::View;
use similar::{ChangeTag, TextDiff};

use crate::block;
use crate::judge::Judged;
use crate::plain::plain;

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const PLACE: Style = AnsiColor::Cyan.on_default();

/// The object as the policy would have it; `None` where it would change nothing.
pub fn changed(object: &[u8], judged: &Judged) -> Option<Vec<u8>> {
    let edits = judged.edits();
    if edits.is_empty() {
        return None;
    }
    let mut after = Vec::with_capacity(object.len() + 256);
    splice(&View::new(object), &edits, &mut after)?;
    (after != object).then_some(after)
}

/// A unified diff of an object as YAML; `None` where the policy would change nothing.
pub fn unified(object: &[u8], judged: &Judged, name: &str) -> Option<String> {
    let after = changed(object, judged)?;
    let (before, after) = (block::yaml(&View::new(object)), block::yaml(&View::new(&after)));
    let diff = TextDiff::from_lines(&before, &after);
    let mut out = format!("--- {name}\n+++ {name}\n");
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        let _in_memory = writeln!(out, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            out.push(sign);
            out.push_str(change.value());
        }
    }
    Some(out)
}

/// Writes a diff with ANSI colours, which `out` may leave out.
///
/// # Errors
///
/// What `out` fails with.
pub fn write(out: &mut impl Write, diff: &str) -> io::Result<()> {
    for line in diff.lines() {
        let line = plain(line);
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => Style::new().bold(),
            [b'@', ..] => PLACE,
            [b'+', ..] => ADDED,
            [b'-', ..] => REMOVED,
            _ => Style::new(),
        };
        writeln!(out, "{style}{line}{style:#}")?;
    }
    Ok(())
}
