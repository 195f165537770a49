//! What a scan has found.

use std::collections::{BTreeMap, BTreeSet};

use odigos_karpenter_policy::message::Message;
use odigos_karpenter_policy::path::Path;
use odigos_karpenter_policy::rule::Rule;
use serde::Serialize;

use crate::flaw::Unreadable;
use crate::item::Item;
use crate::judge::Judged;
use crate::plain::plain;

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A finding.
    Error,
    /// A hint.
    Warning,
}

/// A finding or a hint in an object of the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The rule; `None` for a shape that can't be read.
    pub rule: Option<Rule>,
    /// How much it matters.
    pub level: Level,
    /// The kind of the object.
    pub kind: String,
    /// Its namespace; empty where it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Where in the object; empty for the object as a whole.
    pub path: String,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
    /// Whether the policy has an edit for it.
    pub fixable: bool,
    /// The kind and name of the object that made it, where one did.
    pub controller: Option<(String, String)>,
    /// The file that it is in.
    pub file: String,
    /// The line in it.
    pub line: usize,
    /// Which object of the input it is: on one line there may be several without a name.
    index: usize,
}

/// Kind, namespace and name.
pub type Name<'f> = (&'f str, &'f str, &'f str);

/// All that was found, in an order that does not depend on that of the input.
#[derive(Debug, Default)]
pub struct Scan {
    found: BTreeSet<Found>,
    /// How many objects of each kind were judged.
    pub judged: BTreeMap<String, usize>,
    /// What could not be read.
    pub unreadable: BTreeSet<Unreadable>,
}

/// The name of the group of what is no rule's.
pub const NO_RULE: &str = "unreadable";

impl Found {
    /// The name of the rule, or [`NO_RULE`].
    pub fn rule_name(&self) -> &'static str {
        self.rule.map_or(NO_RULE, Rule::name)
    }

    /// `NodePool default`, `Pod shop/web`.
    pub fn object(&self) -> String {
        let name = if self.name.is_empty() { "without a name" } else { &self.name };
        let object = match self.namespace.as_str() {
            "" => format!("{} {name}", self.kind),
            namespace => format!("{} {namespace}/{name}", self.kind),
        };
        plain(&object).into_owned()
    }

    /// The same, and where it is if that name alone does not tell.
    pub fn object_among(&self, homonyms: &BTreeSet<Name>) -> String {
        if homonyms.contains(&self.full_name()) {
            return format!("{} in {}:{}", self.object(), plain(&self.file), self.line);
        }
        self.object()
    }

    fn full_name(&self) -> Name<'_> {
        (&self.kind, &self.namespace, &self.name)
    }

    /// The path and the problem.
    pub fn what(&self) -> String {
        if self.path.is_empty() { self.problem.clone() } else { format!("{}: {}", self.path, self.problem) }
    }
}

impl Scan {
    /// Counts an object, and takes what was found in it.
    pub fn add(&mut self, item: &Item, judged: &Judged) {
        *self.judged.entry(judged.kind.clone()).or_default() += 1;
        let index = self.objects();
        let mut add = |rule, level, path: &Path, problem: &Message, remedy: &Message, fixable| {
            self.found.insert(Found {
                rule,
                level,
                kind: judged.kind.clone(),
                namespace: judged.namespace.clone(),
                name: judged.name.clone(),
                path: path.to_string(),
                problem: problem.within(usize::MAX),
                remedy: remedy.within(usize::MAX),
                fixable,
                controller: judged.controller.clone(),
                file: item.file.to_owned(),
                line: item.line(path),
                index,
            });
        };
        for finding in &judged.findings {
            let fixable = !finding.edits.is_empty();
            add(Some(finding.rule), Level::Error, &finding.path, &finding.problem, &finding.remedy, fixable);
        }
        for hint in &judged.hints {
            add(hint.rule, Level::Warning, &hint.path, &hint.problem, &hint.remedy, false);
        }
    }

    /// All of it: by rule, in the order of the README, then by object.
    pub fn all(&self) -> impl Iterator<Item = &Found> {
        let unruly = self.found.iter().filter(|found| found.rule.is_none());
        self.found.iter().filter(|found| found.rule.is_some()).chain(unruly)
    }

    /// The same by rule.
    pub fn by_rule(&self) -> Vec<(&'static str, Vec<&Found>)> {
        let mut groups: Vec<(&'static str, Vec<&Found>)> = Vec::new();
        for found in self.all() {
            match groups.last_mut() {
                Some((name, group)) if *name == found.rule_name() => group.push(found),
                _ => groups.push((found.rule_name(), vec![found])),
            }
        }
        groups
    }

    /// How many there are of a level.
    pub fn count(&self, level: Level) -> usize {
        self.found.iter().filter(|found| found.level == level).count()
    }

    /// How many objects were judged.
    pub fn objects(&self) -> usize {
        self.judged.values().sum()
    }
}

/// The names that objects in different files have.
pub fn homonyms<'f>(group: &[&'f Found]) -> BTreeSet<Name<'f>> {
    let mut files: BTreeMap<Name, &str> = BTreeMap::new();
    let is_elsewhere = |found: &&&'f Found| *files.entry(found.full_name()).or_insert(&found.file) != found.file;
    group.iter().filter(is_elsewhere).map(|found| found.full_name()).collect()
}

/// Those of a rule that say the same of objects that one controller made, such as the pods of a
/// Deployment, as one.
pub fn alike<'f>(group: &[&'f Found]) -> Vec<(&'f Found, usize)> {
    type Key<'f> = (&'f str, Option<&'f (String, String)>, &'f str, &'f str, &'f str);
    let mut rows: Vec<(&Found, usize)> = Vec::new();
    let mut seen: BTreeMap<Key, usize> = BTreeMap::new();
    for found in group {
        let key = (
            found.namespace.as_str(),
            found.controller.as_ref(),
            found.path.as_str(),
            found.problem.as_str(),
            found.remedy.as_str(),
        );
        match seen.get(&key).and_then(|row| rows.get_mut(*row)) {
            Some((_, count)) if found.controller.is_some() => *count += 1,
            _ => {
                seen.insert(key, rows.len());
                rows.push((found, 1));
            }
        }
    }
    rows
}
