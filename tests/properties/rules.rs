//! The rules, as the README's table has them.

use std::collections::BTreeMap;

/// What a rule makes of what it finds: `edit`, `no edit` or `hint`, by its name.
pub fn outcomes() -> BTreeMap<String, String> {
    let readme = include_str!("../../README.md");
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim);
        let (Some(""), Some(rule), Some(_), Some(outcome)) = (cells.next(), cells.next(), cells.next(), cells.next())
        else {
            return None;
        };
        let rule = rule.strip_prefix('`')?.strip_suffix('`')?;
        ["edit", "no edit", "hint"].contains(&outcome).then(|| (rule.to_owned(), outcome.to_owned()))
    };
    let outcomes: BTreeMap<_, _> = readme.lines().filter_map(row).collect();
    assert!(outcomes.len() >= 20, "only {} rules in the README", outcomes.len());
    outcomes
}

/// The rules without an edit: only they may be found in what was put right.
pub fn without_edit() -> Vec<String> {
    outcomes().into_iter().filter(|(_, outcome)| outcome == "no edit").map(|(rule, _)| rule).collect()
}
