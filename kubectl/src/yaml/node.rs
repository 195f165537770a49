//! A value of a YAML document.

use std::rc::Rc;

use odigos_karpenter_policy::json::view::{DEPTH_LIMIT, quoted};

use super::{Json, LIMIT, VALUE_LIMIT};
use crate::Flaw;

/// The key by which a map takes the members of others.
const MERGE: &str = "<<";

/// A value, and the line in which it begins.
#[derive(Debug)]
pub struct Node {
    pub line: usize,
    pub content: Content,
}

/// What a value is.
#[derive(Debug)]
pub enum Content {
    Text(String),
    /// A number, a boolean or `null`, as JSON.
    Plain(String),
    List(Vec<Rc<Node>>),
    Map(Vec<(String, Rc<Node>)>),
}

impl Node {
    /// The member of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.content {
            Content::Map(members) => members.iter().rev().find(|(name, _)| name == key).map(|(_, node)| node.as_ref()),
            _ => None,
        }
    }

    /// What it is as a key of a map, which in JSON is a string.
    pub fn as_key(&self) -> String {
        match &self.content {
            Content::Text(text) | Content::Plain(text) => text.clone(),
            Content::List(_) | Content::Map(_) => String::new(),
        }
    }

    /// Writes it as JSON to the end of `out`.
    pub fn write(&self, out: &mut Json, depth: usize) -> Result<(), Flaw> {
        if depth > DEPTH_LIMIT || out.text.len() > LIMIT || out.lines.len() > VALUE_LIMIT {
            let what = if depth > DEPTH_LIMIT { "is nested too deep" } else { "is too large, by aliases of aliases" };
            return Err(Flaw::at(self.line, 0, what.to_owned()));
        }
        out.lines.push((out.text.len(), self.line));
        match &self.content {
            Content::Text(text) => out.text.extend_from_slice(quoted(text).as_bytes()),
            Content::Plain(json) => out.text.extend_from_slice(json.as_bytes()),
            Content::List(list) => {
                out.text.push(b'[');
                for (i, node) in list.iter().enumerate() {
                    if i > 0 {
                        out.text.push(b',');
                    }
                    node.write(out, depth + 1)?;
                }
                out.text.push(b']');
            }
            Content::Map(members) => {
                out.text.push(b'{');
                for (i, (key, node)) in members.iter().enumerate() {
                    if i > 0 {
                        out.text.push(b',');
                    }
                    out.text.extend_from_slice(quoted(key).as_bytes());
                    out.text.push(b':');
                    node.write(out, depth + 1)?;
                }
                out.text.push(b'}');
            }
        }
        Ok(())
    }
}

/// Members with those that they merge from other maps, as Kubernetes' own reader does; a map's own
/// members come before those that it takes.
pub fn merged(members: Vec<(String, Rc<Node>)>) -> Vec<(String, Rc<Node>)> {
    if !members.iter().any(|(key, _)| key == MERGE) {
        return members;
    }
    let (merges, mut own): (Vec<_>, Vec<_>) = members.into_iter().partition(|(key, _)| key == MERGE);
    for (_, node) in merges {
        let sources = match &node.content {
            Content::List(list) => list.clone(),
            _ => vec![Rc::clone(&node)],
        };
        for source in sources {
            let Content::Map(taken) = &source.content else { continue };
            for (key, value) in taken {
                if own.iter().all(|(name, _)| name != key) {
                    own.push((key.clone(), Rc::clone(value)));
                }
            }
        }
    }
    own
}
