//! YAML as JSON text, with the lines that it came from.

mod node;
mod scalar;

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScanError};

use odigos_karpenter_policy::json::view::DEPTH_LIMIT;

use crate::Flaw;
use node::{Content, Node};

/// The most bytes that a document may come to, which aliases could make of a few; and of values, which take
/// more memory than the few bytes that they may have.
const LIMIT: usize = 32 << 20;
const VALUE_LIMIT: usize = 2 << 20;

/// A document as JSON.
#[derive(Debug, Default)]
pub struct Json {
    /// The text.
    pub text: Vec<u8>,
    /// The line of the value at each offset of the text, in order.
    pub lines: Vec<(usize, usize)>,
}

/// A document, of which parts can be had as JSON.
#[derive(Debug)]
pub struct Document(Rc<Node>);

impl Document {
    /// The whole of it.
    pub fn json(&self) -> Result<Json, Flaw> {
        json(&self.0)
    }

    /// The string of a key of the map that it is.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.0.get(key)?.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entries of the document, or of its `items`, each as JSON; `None` where neither is a list.
    pub fn items(&self) -> Option<impl Iterator<Item = Result<Json, Flaw>>> {
        let list = match &self.0.content {
            Content::List(list) => list,
            _ => match &self.0.get("items")?.content {
                Content::List(list) => list,
                _ => return None,
            },
        };
        Some(list.iter().map(|node| json(node)))
    }
}

fn json(node: &Node) -> Result<Json, Flaw> {
    let mut out = Json::default();
    node.write(&mut out, 0)?;
    Ok(out)
}

/// Reads all documents of a text and shows them to `visit`, as far as it can be read.
pub fn documents(yaml: &str, mut visit: impl FnMut(Document) -> Result<(), Flaw>) -> Result<(), Flaw> {
    let parser = Parser::new_from_str(yaml.strip_prefix('\u{feff}').unwrap_or(yaml));
    let mut builder = Builder::default();
    for next in parser {
        let (event, span) = next.map_err(|error| flaw(&error))?;
        if let Some(root) = builder.take(event, span.start)? {
            visit(Document(root))?;
        }
    }
    Ok(())
}

fn flaw(error: &ScanError) -> Flaw {
    let marker = error.marker();
    Flaw::at(marker.line(), marker.col() + 1, error.info().to_owned())
}

/// What is made of a document while its events come in.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
}

/// A list or a map whose end has not come yet.
struct Open {
    line: usize,
    anchor: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Rc<Node>>),
    Map { members: Vec<(String, Rc<Node>)>, key: Option<String> },
}

impl Builder {
    /// Takes an event; returns a document where it ends one.
    fn take(&mut self, event: Event, at: Marker) -> Result<Option<Rc<Node>>, Flaw> {
        let line = at.line();
        let (node, anchor) = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if self.open.len() > DEPTH_LIMIT => {
                return Err(Flaw::at(line, at.col() + 1, "is nested too deep".to_owned()));
            }
            Event::SequenceStart(anchor, _) => {
                self.open.push(Open { line, anchor, kind: OpenKind::List(Vec::new()) });
                return Ok(None);
            }
            Event::MappingStart(anchor, _) => {
                self.open.push(Open { line, anchor, kind: OpenKind::Map { members: Vec::new(), key: None } });
                return Ok(None);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { line, anchor, kind }) = self.open.pop() else { return Ok(None) };
                let content = match kind {
                    OpenKind::List(list) => Content::List(list),
                    OpenKind::Map { members, .. } => Content::Map(node::merged(members)),
                };
                (Rc::new(Node { line, content }), anchor)
            }
            Event::Scalar(text, style, anchor, tag) => {
                (Rc::new(Node { line, content: scalar::content(&text, style, tag.as_deref()) }), anchor)
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => (Rc::clone(node), 0),
                None => return Err(Flaw::at(line, at.col() + 1, "an alias of what it is in itself".to_owned())),
            },
            Event::DocumentEnd => {
                self.anchors.clear();
                return Ok(None);
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => return Ok(None),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => return Ok(Some(node)),
            Some(OpenKind::List(list)) => list.push(node),
            Some(OpenKind::Map { members, key }) => match key.take() {
                Some(key) => members.push((key, node)),
                None => *key = Some(node.as_key()),
            },
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn all(yaml: &str) -> Result<Vec<String>, Flaw> {
        let mut seen = Vec::new();
        documents(yaml, |document| {
            seen.push(String::from_utf8(document.json()?.text).unwrap());
            Ok(())
        })?;
        Ok(seen)
    }

    #[rstest]
    #[case("a: 1\n---\nb: [x, 'y', \"z\"]\n---\n# nothing\n", &[r#"{"a":1}"#, r#"{"b":["x","y","z"]}"#, "null"])]
    #[case("a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n", &[r#"{"a":{"b":1},"c":{"b":1},"d":{"e":2,"b":1}}"#])]
    #[case("a: |\n  x\n  y\nb: >-\n  x\n  y\n", &[r#"{"a":"x\ny\n","b":"x y"}"#])]
    #[case("{\"a\": [true, null, 1.5]}", &[r#"{"a":[true,null,1.5]}"#])]
    #[case("1: a\ntrue: b\n~: c\n", &[r#"{"1":"a","true":"b","null":"c"}"#])]
    fn as_json(#[case] yaml: &str, #[case] expected: &[&str]) {
        assert_eq!(all(yaml).unwrap(), expected);
    }

    #[test]
    fn lines_are_those_of_the_values() {
        documents("# x\na:\n  b:\n  - 1\n  - c: 2\n", |document| {
            let json = document.json()?;
            let text = String::from_utf8(json.text).unwrap();
            assert_eq!(text, r#"{"a":{"b":[1,{"c":2}]}}"#);
            assert_eq!(json.lines, [(0, 2), (5, 3), (10, 4), (11, 4), (13, 5), (18, 5)]);
            Ok(())
        })
        .unwrap();
    }

    #[rstest]
    #[case("a: 1\nb: [c\n", 3)]
    #[case("a:\n\t- b", 2)]
    #[case("a: {{ .Values.x }}\nb: {{- c }}\n", 2)]
    #[case("a: *b\n", 1)]
    fn flaws_have_a_line(#[case] yaml: &str, #[case] line: usize) {
        let flaw = all(yaml).unwrap_err();
        assert_eq!(flaw.line, line, "{flaw:?}");
        assert!(flaw.column > 0);
    }

    #[test]
    fn a_few_aliases_do_not_become_everything() {
        let mut yaml = "a0: &a0 [xxxxxxxxxx]\n".to_owned();
        for i in 1..12 {
            let last = format!("*a{}, ", i - 1).repeat(10);
            yaml.push_str(&format!("a{i}: &a{i} [{last}]\n"));
        }
        assert!(all(&yaml).unwrap_err().reason.contains("aliases"));
    }
}
