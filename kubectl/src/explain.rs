//! What there is to know of a rule.
//!
//! What it finds and why is the README's text, of which there is one copy. The example is judged when
//! it is shown, so that the words and the remedy are those of the rule itself.

mod example;
mod sources;

use std::io::Write;

use odigos_karpenter_policy::rule::{Outcome, Rule};

use crate::{Error, diff};

const README: &str = include_str!("../../README.md");

/// Explains a rule, or lists all.
pub fn write(out: &mut impl Write, rule: Option<&str>) -> Result<(), Error> {
    let Some(name) = rule else {
        for rule in Rule::ALL {
            writeln!(out, "{:36}{}", rule.name(), rule.summary())?;
        }
        return Ok(());
    };
    let Some(rule) = Rule::ALL.iter().copied().find(|rule| rule.name() == name) else {
        return Err(Error::Usage(format!("there is no rule {name}; without a name, explain lists all")));
    };
    let outcome = match rule.outcome() {
        Outcome::Edit => "a finding, which the policy can put right",
        Outcome::NoEdit => "a finding, which a person must put right",
        Outcome::Hint => "a hint, which blocks nothing",
    };
    writeln!(out, "{name}\n\n{}\n", rule.summary())?;
    writeln!(out, "In:  {}\nIs:  {outcome}", rule.objects())?;
    if let Some(why) = why(rule) {
        writeln!(out, "\nWhy\n")?;
        paragraph(out, &why)?;
    }
    let example = example::of(rule);
    writeln!(out, "\nExample{}\n", example.setting())?;
    for line in example.yaml().lines() {
        writeln!(out, "    {line}")?;
    }
    writeln!(out, "\nRemedy\n")?;
    let judged = example.judged();
    for (path, problem, remedy) in judged.iter().flat_map(|judged| example::said(judged, rule)) {
        paragraph(
            out,
            &format!("{path}{}{problem}. To put it right: {remedy}.", if path.is_empty() { "" } else { ": " }),
        )?;
    }
    if let Some(diff) = judged.as_ref().and_then(|judged| diff::unified(&example.json(), judged, &judged.kind)) {
        writeln!(out)?;
        for line in diff.lines().skip(3) {
            writeln!(out, "    {line}")?;
        }
    }
    writeln!(out, "\nSources\n")?;
    for source in sources::of(rule) {
        writeln!(out, "    {source}")?;
    }
    Ok(())
}

/// What the README says of a rule beneath its table.
pub fn why(rule: Rule) -> Option<String> {
    let section = README.split_once("\n## Rules\n")?.1.split("\n## ").next()?;
    let lead = format!("- `{}`", rule.name());
    let (mut text, mut found, mut when) = (String::new(), false, "");
    for line in section.lines() {
        if found && !line.starts_with("  ") {
            break;
        }
        // When a rule holds is said once, of the first of several.
        if let Some(condition) = line.strip_prefix("- `").and_then(|line| line.split_once("` (")).map(|(_, it)| it) {
            when = condition.split(')').next().filter(|condition| *condition != "the same").unwrap_or(when);
        }
        if let Some(first) = line.strip_prefix(&lead) {
            found = true;
            text.push_str(&first.trim_start_matches(':').replacen("(the same)", &format!("({when})"), 1));
        } else if found {
            text.push(' ');
            text.push_str(line.trim());
        }
    }
    found.then(|| sentence(&text))
}

/// Text that goes on after a name, as a sentence of its own: `(host path): a pod` is `Host path: a pod`.
fn sentence(text: &str) -> String {
    let text = text.trim();
    // What leads to a block that is not taken along.
    let text = if text.ends_with(':') {
        text.rsplit_once(". ").map_or(text, |(text, _)| text).to_owned() + "."
    } else {
        text.to_owned()
    };
    let text = match text.strip_prefix('(').and_then(|text| text.split_once(')')) {
        Some((when, rest)) => format!("{when}{rest}"),
        None => text,
    };
    let mut characters = text.chars();
    let first = characters.next().filter(|_| !text.starts_with("odig"));
    first.map_or(text.clone(), |first| first.to_uppercase().chain(characters).collect())
}

/// Writes text in lines of at most 100 characters.
fn paragraph(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 96 {
            writeln!(out, "    {line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(out, "    {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_explains_every_rule_of_its_table() {
        for rule in Rule::ALL {
            let in_table = README.contains(&format!("| `{}` |", rule.name()));
            assert_eq!(why(*rule).is_some(), in_table, "{}", rule.name());
        }
        let why = why(Rule::OdigletIntolerant).unwrap();
        assert!(why.starts_with("odiglet could not start") && why.ends_with("toleration for it."), "{why}");
    }

    #[test]
    fn every_explanation_has_all_its_parts() {
        for rule in Rule::ALL {
            let mut out = Vec::new();
            write(&mut out, Some(rule.name())).unwrap();
            let text = String::from_utf8(out).unwrap();
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for part in [" Example", " Remedy ", "To put it right: ", " Sources "] {
                assert!(words.contains(part), "{part} in:\n{text}");
            }
        }
    }
}
