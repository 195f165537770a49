//! What is wrong with settings, said all at once.

use std::fmt;

use crate::field::Field;
use crate::json::view::{Content, View};

/// The most characters of a value that an error quotes.
const QUOTE_LIMIT: usize = 60;

/// What is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// Where: `nodePools.action`; empty for the settings as a whole.
    pub path: String,
    /// What was found, and what is known there.
    pub problem: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "settings" } else { &self.path };
        write!(f, "{path}: {}", self.problem)
    }
}

/// The errors found so far. What can't be read is said here, and has its default meanwhile.
#[derive(Debug, Default)]
pub struct Errors(Vec<SettingsError>);

impl From<Errors> for Vec<SettingsError> {
    fn from(errors: Errors) -> Self {
        errors.0
    }
}

impl Errors {
    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says that what is at a field is not what belongs there.
    pub fn add(&mut self, field: &Field, expected: impl fmt::Display) {
        let problem = format!("found {}, expected {expected}", quote(field.view()));
        self.0.push(SettingsError { path: field.path().to_string(), problem });
    }

    /// Says where neither a map nor nothing is.
    pub fn map(&mut self, field: &Field) {
        if field.map().is_err() {
            self.add(field, "a map");
        }
    }

    /// Says which keys of a map are not known, and what may have been meant.
    pub fn unknown_keys(&mut self, field: &Field, known: &[&str]) {
        let Some(Content::Map(members)) = field.content() else { return };
        for (key, value) in members.by_key().into_iter().filter(|(key, _)| !known.contains(key)) {
            let lower = key.to_ascii_lowercase();
            let distance = |known: &&&str| strsim::osa_distance(&lower, &known.to_ascii_lowercase());
            let nearest = known.iter().min_by_key(distance).copied().unwrap_or_default();
            let parent = field.path().to_string();
            self.0.push(SettingsError {
                path: if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") },
                problem: format!(
                    "unknown key (value {}); did you mean {nearest}? Known here: {}",
                    quote(Some(value)),
                    known.join(", ")
                ),
            });
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, field: &Field, default: bool) -> bool {
        match field.content() {
            None | Some(Content::Null) => default,
            Some(Content::Boolean(boolean)) => *boolean,
            _ => {
                self.add(field, "true or false");
                default
            }
        }
    }

    /// A string.
    pub fn text<'s>(&mut self, field: &Field<'s, '_>) -> Option<&'s str> {
        field.text().unwrap_or_else(|error| {
            self.add(field, error.expected);
            None
        })
    }

    /// One of some named values.
    pub fn choice<T: Copy>(&mut self, field: &Field, choices: &[(&str, T)], why: &str) -> Option<T> {
        if field.is_absent() {
            return None;
        }
        let named =
            field.view().and_then(View::as_str).and_then(|name| choices.iter().find(|(known, _)| *known == name));
        if named.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.add(field, format_args!("one of {}{why}", names.join(", ")));
        }
        named.map(|(_, choice)| *choice)
    }

    /// A list of strings.
    pub fn texts<'s>(&mut self, field: &Field<'s, '_>) -> Vec<&'s str> {
        self.list(field, |entry, errors| match entry.content() {
            Some(Content::Text(text)) => Some(text.as_ref()),
            _ => {
                errors.add(entry, "a string");
                None
            }
        })
        .unwrap_or_default()
    }

    /// A list, read entry by entry; an entry that is `null` is an error.
    pub fn list<'s, T>(
        &mut self,
        field: &Field<'s, '_>,
        mut read: impl FnMut(&Field<'s, '_>, &mut Errors) -> Option<T>,
    ) -> Option<Vec<T>> {
        if field.is_absent() {
            return None;
        }
        match field.entries() {
            Ok(entries) => Some(entries.filter_map(|entry| read(&entry, self)).collect()),
            Err(error) => {
                self.add(field, error.expected);
                None
            }
        }
    }
}

/// A value as JSON, cut where it is long.
fn quote(value: Option<&View>) -> String {
    let json = value.map_or(Some("null".to_owned()), View::canonical).unwrap_or_else(|| "no JSON".to_owned());
    match json.char_indices().nth(QUOTE_LIMIT) {
        Some((end, _)) => format!("{}…", json.get(..end).unwrap_or_default()),
        None => json,
    }
}
