//! For a pull request.

use std::io::{self, Write};

use odigos_karpenter_policy::rule::Rule;
use odigos_karpenter_policy::situation::Situation;

use super::{counts, judged_by, summary};
use crate::found::{Scan, alike, homonyms};

/// The most rows of a table: a comment has its limits.
const ROWS: usize = 50;

/// Writes a table for each rule.
pub fn write(out: &mut impl Write, scan: &Scan, situation: &Situation) -> io::Result<()> {
    writeln!(out, "### Karpenter and Odigos\n\n{} {}", summary(scan), judged_by(situation))?;
    for unreadable in &scan.unreadable {
        writeln!(out, "\nCan't be read: {}", code(&unreadable.to_string()))?;
    }
    for (name, group) in scan.by_rule() {
        writeln!(out, "\n#### `{name}` ({})\n", counts(&group))?;
        if let Some(rule) = group.first().and_then(|found| found.rule) {
            writeln!(out, "{}\n", Rule::summary(rule))?;
        }
        writeln!(out, "| object | what | remedy |\n| --- | --- | --- |")?;
        let (rows, homonyms) = (alike(&group), homonyms(&group));
        for (found, count) in rows.iter().take(ROWS) {
            let more = if *count > 1 { format!(" and {} more like it", count - 1) } else { String::new() };
            writeln!(
                out,
                "| {}{more} | {} | {} |",
                cell(&found.object_among(&homonyms)),
                cell(&found.what()),
                cell(&found.remedy)
            )?;
        }
        if rows.len() > ROWS {
            writeln!(out, "\n… and {} more.", rows.len() - ROWS)?;
        }
    }
    Ok(())
}

/// Text in which nothing means anything to Markdown.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => cell.push_str("&lt;"),
            '&' => cell.push_str("&amp;"),
            '@' => cell.push_str("&#64;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '~' | '\\' | '#' => cell.extend(['\\', character]),
            '\n' | '\r' => cell.push(' '),
            _ => cell.push(character),
        }
    }
    cell
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace(['`', '\n'], "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        assert_eq!(cell("a|b <img> [x](y) @team `c`\nd"), "a\\|b &lt;img> \\[x\\](y) &#64;team \\`c\\` d");
    }
}
