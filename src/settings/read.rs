//! From JSON to settings, with every error.

use std::fmt;

use serde_json::Value;

use super::{Action, Include, NodeClaims, NodePools, Nodes, Odiglet, Pods, Settings, check};
use crate::field::Field;
use crate::kubernetes::names::is_dns_label;
use crate::odigos::{MountMethod, Tier};

/// The most characters of a value that an error quotes.
const QUOTE_LIMIT: usize = 60;

/// Said where an action is refused.
const NEVER_BLOCKED: &str = " (a rejected Node can't join, a rejected NodeClaim can't launch)";

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

/// Reads the settings as a whole.
pub fn settings(value: &Value) -> Result<Settings<'_>, Vec<SettingsError>> {
    let mut errors = Errors(Vec::new());
    let root = Field::root(value);
    errors.map(&root);
    let settings = Settings {
        mount_method: errors.choice(&root.get("mountMethod"), MountMethod::ALL, "").unwrap_or_default(),
        karpenter_enabled: errors.boolean(&root.get("karpenterEnabled"), false),
        tier: errors.choice(&root.get("tier"), Tier::ALL, "").unwrap_or_default(),
        action: errors.choice(&root.get("action"), Action::ALL, "").unwrap_or_default(),
        node_pools: node_pools(&root.get("nodePools"), &mut errors),
        node_claims: node_claims(&root.get("nodeClaims"), &mut errors),
        nodes: nodes(&root.get("nodes"), &mut errors),
        pods: pods(&root.get("pods"), &mut errors),
        odiglet: odiglet(&root.get("odiglet"), &mut errors),
    };
    errors.unknown_keys(
        &root,
        &["mountMethod", "karpenterEnabled", "tier", "action", "nodePools", "nodeClaims", "nodes", "pods", "odiglet"],
    );
    if errors.0.is_empty() { Ok(settings) } else { Err(errors.0) }
}

fn node_pools<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> NodePools<'s> {
    errors.map(field);
    let node_pools = NodePools {
        action: errors.choice(&field.get("action"), Action::ALL, ""),
        retrofit: errors.boolean(&field.get("retrofit"), false),
        exclude: errors.texts(&field.get("exclude")),
    };
    errors.unknown_keys(field, &["action", "retrofit", "exclude"]);
    node_pools
}

fn node_claims(field: &Field, errors: &mut Errors) -> NodeClaims {
    errors.map(field);
    let node_claims = NodeClaims { action: errors.choice(&field.get("action"), Action::NEVER_BLOCKING, NEVER_BLOCKED) };
    errors.unknown_keys(field, &["action"]);
    node_claims
}

fn nodes(field: &Field, errors: &mut Errors) -> Nodes {
    errors.map(field);
    let nodes = Nodes {
        action: errors.choice(&field.get("action"), Action::NEVER_BLOCKING, NEVER_BLOCKED),
        include: errors.choice(&field.get("include"), Include::ALL, "").unwrap_or_default(),
    };
    errors.unknown_keys(field, &["action", "include"]);
    nodes
}

fn pods<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Pods<'s> {
    errors.map(field);
    let pods = Pods {
        action: errors.choice(&field.get("action"), Action::ALL, ""),
        selector: check::label_selector(&field.get("selector"), errors),
        containers: errors.texts(&field.get("containers")),
    };
    errors.unknown_keys(field, &["action", "selector", "containers"]);
    pods
}

fn odiglet<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Odiglet<'s> {
    errors.map(field);
    let defaults = Odiglet::default();
    let odiglet = Odiglet {
        installed: errors.boolean(&field.get("installed"), defaults.installed),
        namespace: namespace(&field.get("namespace"), errors).unwrap_or(defaults.namespace),
        node_selector: check::node_selector(&field.get("nodeSelector"), errors).unwrap_or(defaults.node_selector),
        tolerations: check::tolerations(&field.get("tolerations"), errors).unwrap_or(defaults.tolerations),
    };
    errors.unknown_keys(field, &["installed", "namespace", "nodeSelector", "tolerations"]);
    odiglet
}

fn namespace<'s>(field: &Field<'s, '_>, errors: &mut Errors) -> Option<&'s str> {
    let namespace = errors.text(field)?;
    if !is_dns_label(namespace) {
        errors.add(field, "the name of a namespace (at most 63 of a-z, 0-9 and -)");
    }
    Some(namespace)
}

/// The errors found so far. What can't be read is said here, and has its default meanwhile.
pub struct Errors(Vec<SettingsError>);

impl Errors {
    /// Says that what is at a field is not what belongs there.
    pub fn add(&mut self, field: &Field, expected: impl fmt::Display) {
        let problem = format!("found {}, expected {expected}", quote(field.value()));
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
        let unknown = field.value().as_object().into_iter().flatten().filter(|(key, _)| !known.contains(&key.as_str()));
        for (key, value) in unknown {
            let lower = key.to_ascii_lowercase();
            let distance = |known: &&&str| strsim::osa_distance(&lower, &known.to_ascii_lowercase());
            let nearest = known.iter().min_by_key(distance).copied().unwrap_or_default();
            let parent = field.path().to_string();
            self.0.push(SettingsError {
                path: if parent.is_empty() { key.clone() } else { format!("{parent}.{key}") },
                problem: format!(
                    "unknown key (value {}); did you mean {nearest}? Known here: {}",
                    quote(value),
                    known.join(", ")
                ),
            });
        }
    }

    /// `true` or `false`.
    fn boolean(&mut self, field: &Field, default: bool) -> bool {
        match field.value() {
            Value::Null => default,
            Value::Bool(boolean) => *boolean,
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
        let named = field.value().as_str().and_then(|name| choices.iter().find(|(known, _)| *known == name));
        if named.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.add(field, format_args!("one of {}{why}", names.join(", ")));
        }
        named.map(|(_, choice)| *choice)
    }

    /// A list of strings.
    pub fn texts<'s>(&mut self, field: &Field<'s, '_>) -> Vec<&'s str> {
        self.list(field, |entry, errors| match entry.value() {
            Value::String(text) => Some(text.as_str()),
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
pub fn quote(value: &Value) -> String {
    let json = value.to_string();
    match json.char_indices().nth(QUOTE_LIMIT) {
        Some((end, _)) => format!("{}…", json.get(..end).unwrap_or_default()),
        None => json,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn errors(value: Value) -> Vec<String> {
        settings(&value).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[rstest]
    #[case::not_a_map(json!(["mountMethod"]), "settings: found [\"mountMethod\"], expected a map")]
    #[case::choice(json!({"tier": "pro"}), "tier: found \"pro\", expected one of community, cloud, onprem")]
    #[case::boolean(json!({"nodePools": {"retrofit": "yes"}}), "nodePools.retrofit: found \"yes\", expected true or false")]
    #[case::never_rejected(
        json!({"nodeClaims": {"action": "reject"}}),
        "nodeClaims.action: found \"reject\", expected one of mutate, warn (a rejected Node can't join, a rejected NodeClaim can't launch)"
    )]
    #[case::null_entry(json!({"nodePools": {"exclude": ["a", null]}}), "nodePools.exclude[1]: found null, expected a string")]
    #[case::list(json!({"pods": {"containers": "app"}}), "pods.containers: found \"app\", expected a list")]
    #[case::null_is_unknown_too(
        json!({"odiglet": {"instaled": null}}),
        "odiglet.instaled: unknown key (value null); did you mean installed? Known here: installed, namespace, nodeSelector, tolerations"
    )]
    #[case::namespace(
        json!({"odiglet": {"namespace": "Odigos"}}),
        "odiglet.namespace: found \"Odigos\", expected the name of a namespace (at most 63 of a-z, 0-9 and -)"
    )]
    #[case::long_values_are_cut(
        json!({"tier": "x".repeat(100)}),
        &format!("tier: found \"{}…, expected one of community, cloud, onprem", "x".repeat(59))
    )]
    fn one_error(#[case] value: Value, #[case] expected: &str) {
        assert_eq!(errors(value), [expected]);
    }

    #[test]
    fn all_errors_in_the_order_of_the_fields() {
        let value = json!({
            "zz": 1, "odiglet": {"installed": 1}, "action": "x", "mountMethod": 5,
            "nodePools": {"exclud": [], "action": "x"}, "pods": 3
        });
        let paths: Vec<String> = settings(&value).err().unwrap().into_iter().map(|error| error.path).collect();
        assert_eq!(
            paths,
            ["mountMethod", "action", "nodePools.action", "nodePools.exclud", "pods", "odiglet.installed", "zz"]
        );
    }
}
