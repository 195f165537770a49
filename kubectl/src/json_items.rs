//! The objects of a file of JSON: one or more values, each an object, a list of the API or an array of objects.

use std::borrow::Cow;
use std::io::Read;

use odigos_karpenter_policy::json::cursor::Cursor;
use odigos_karpenter_policy::json::view::{Content, View};
use serde::de::IgnoredAny;

use crate::Flaw;
use crate::item::{Item, Lines, offset_in};
use crate::window::Window;

/// What a list says of its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Its `apiVersion`, which is theirs.
    pub api_version: String,
    /// The kind of its items: `Pod` for a `PodList`; empty for a `List`, whose items have their own.
    pub kind: String,
}

/// How a file is walked through.
pub struct Walk<'w> {
    /// The name of the file.
    pub file: &'w str,
    /// What the lists of the file say of their items, where it is known from a walk before: `kind` may
    /// come after the items.
    pub headers: &'w [Header],
    /// Whether each object is checked to be JSON throughout.
    pub checks: bool,
    /// In how many lists what is walked through is.
    pub depth: usize,
}

/// What a walk has come to know.
#[derive(Debug, Default)]
pub struct Walked {
    /// What each list says of its items.
    pub headers: Vec<Header>,
    /// Whether there were items without a kind before their list had said what they are.
    pub came_early: bool,
}

impl Walk<'_> {
    /// Shows each object to `visit`, in the order of the file.
    pub fn json(&self, reader: impl Read, visit: &mut dyn FnMut(&Item)) -> (Walked, Result<(), Flaw>) {
        let mut window = Window::new(reader);
        let mut walked = Walked::default();
        let result = self.values(&mut window, &mut walked, visit);
        (walked, result)
    }

    fn values<R: Read>(
        &self,
        window: &mut Window<R>,
        walked: &mut Walked,
        visit: &mut dyn FnMut(&Item),
    ) -> Result<(), Flaw> {
        while window.rest().len() < 3 && window.more()? {}
        if window.rest().starts_with(b"\xef\xbb\xbf") {
            window.pass(3);
        }
        while window.peek()?.is_some() {
            if window.rest().starts_with(b"{") {
                self.object_or_list(window, walked, visit)?;
            } else if window.rest().starts_with(b"---") {
                window.pass(3);
            } else if window.rest().starts_with(b"[") {
                self.items(window, &Header::default(), walked, visit)?;
            } else {
                let length = window.value()?;
                let text = window.rest().get(..length).unwrap_or_default();
                self.show(window, text, window.line(), &Header::default(), walked, visit)?;
                window.pass(length);
            }
        }
        Ok(())
    }

    fn object_or_list<R: Read>(
        &self,
        window: &mut Window<R>,
        walked: &mut Walked,
        visit: &mut dyn FnMut(&Item),
    ) -> Result<(), Flaw> {
        let known = self.headers.get(walked.headers.len()).cloned();
        window.short_value()?;
        if !Top::read(window.rest()).is_list() {
            let length = window.value()?;
            let text = window.rest().get(..length).unwrap_or_default();
            self.show(window, text, window.line(), &Header::default(), walked, visit)?;
            window.pass(length);
            return Ok(());
        }
        let mut header = known.unwrap_or_default();
        let mut found = Header::default();
        let index = walked.headers.len();
        walked.headers.push(Header::default());
        window.expect(b'{')?;
        if window.peek()? != Some(b'}') {
            loop {
                let key = text_of(window)?;
                window.expect(b':')?;
                match key.as_str() {
                    "items" if window.peek()? == Some(b'[') => {
                        if header == Header::default() {
                            header = found.clone();
                        }
                        self.items(window, &header, walked, visit)?;
                    }
                    "kind" => found.kind = text_of(window)?.strip_suffix("List").unwrap_or_default().to_owned(),
                    "apiVersion" => found.api_version = text_of(window)?,
                    _ => {
                        let length = window.value()?;
                        window.pass(length);
                    }
                }
                if window.peek()? != Some(b',') {
                    break;
                }
                window.pass(1);
            }
        }
        window.expect(b'}')?;
        walked.headers[index] = found;
        Ok(())
    }

    fn items<R: Read>(
        &self,
        window: &mut Window<R>,
        header: &Header,
        walked: &mut Walked,
        visit: &mut dyn FnMut(&Item),
    ) -> Result<(), Flaw> {
        window.expect(b'[')?;
        if window.peek()? != Some(b']') {
            loop {
                let length = window.value()?;
                let text = window.rest().get(..length).unwrap_or_default();
                self.show(window, text, window.line(), header, walked, visit)?;
                window.pass(length);
                if window.peek()? != Some(b',') {
                    break;
                }
                window.pass(1);
            }
        }
        window.expect(b']')
    }

    fn show<R: Read>(
        &self,
        window: &Window<R>,
        text: &[u8],
        line: usize,
        header: &Header,
        walked: &mut Walked,
        visit: &mut dyn FnMut(&Item),
    ) -> Result<(), Flaw> {
        if self.checks {
            if serde_json::from_slice::<IgnoredAny>(text).is_err() {
                return Err(window.flaw(text));
            }
            Flaw::check_text(text, line)?;
        }
        self.show_text(text, Lines::From(line), header, walked, visit);
        Ok(())
    }

    /// Shows an object, if it has a kind of its own or by its list.
    pub fn show_text(
        &self,
        text: &[u8],
        lines: Lines,
        header: &Header,
        walked: &mut Walked,
        visit: &mut dyn FnMut(&Item),
    ) {
        let top = Top::read(text);
        if top.is_list() {
            self.show_list(text, lines, walked, visit);
            return;
        }
        let Top { api_version, kind, .. } = top;
        let or_of_list =
            |own: Cow<'_, str>, of_list: &str| if own.is_empty() { of_list.to_owned() } else { own.into_owned() };
        walked.came_early |= kind.is_empty() && header.kind.is_empty();
        let kind = or_of_list(kind, &header.kind);
        let api_version = or_of_list(api_version, &header.api_version);
        if !kind.is_empty() {
            visit(&Item { text, api_version: api_version.into(), kind: kind.into(), file: self.file, lines });
        }
    }
}

/// How deep a list may be in lists.
const LISTS: usize = 8;

impl Walk<'_> {
    /// Shows the objects of a list that is itself an item.
    fn show_list(&self, text: &[u8], lines: Lines, walked: &mut Walked, visit: &mut dyn FnMut(&Item)) {
        if self.depth >= LISTS {
            return;
        }
        let list = View::new(text);
        let of = |key| list.get(key).and_then(View::as_str).unwrap_or_default();
        let kind = of("kind").strip_suffix("List").unwrap_or_default().to_owned();
        let header = Header { api_version: of("apiVersion").to_owned(), kind };
        let within = Walk { depth: self.depth + 1, ..*self };
        let Some(Content::List(items)) = list.get("items").map(View::content) else { return };
        // Counted on from item to item.
        let (mut rest, mut lines) = (text, lines);
        for item in items {
            lines = lines.within(rest, item.text());
            rest = text.get(offset_in(text, item.text())..).unwrap_or_default();
            within.show_text(item.text(), lines, &header, walked, visit);
        }
    }
}

/// What an object or a list says of itself.
#[derive(Debug, Default)]
pub struct Top<'t> {
    /// `apiVersion`
    pub api_version: Cow<'t, str>,
    /// `kind`
    pub kind: Cow<'t, str>,
    has_items: bool,
}

impl<'t> Top<'t> {
    /// Reads the first level of a JSON text, as far as `apiVersion` and `kind` where they come first. Of
    /// a list the beginning is enough.
    pub fn read(text: &'t [u8]) -> Self {
        let mut top = Top::default();
        let mut cursor = Cursor::new(text);
        let _: Option<()> = cursor.map(|cursor, key| {
            match key.as_bytes() {
                b"apiVersion" => top.api_version = cursor.text()?,
                b"kind" => top.kind = cursor.text()?,
                b"items" => {
                    top.has_items = cursor.peek()? == b'[';
                    cursor.skip()?;
                }
                _ => {
                    // An object's own, which is as good as read: only a list has its items after these.
                    if !top.kind.is_empty() && !top.api_version.is_empty() && !top.kind.ends_with("List") {
                        return None;
                    }
                    cursor.skip()?;
                }
            }
            Some(())
        });
        top
    }

    /// Whether it is a list of objects.
    pub fn is_list(&self) -> bool {
        self.has_items && (self.kind.is_empty() || self.kind.ends_with("List"))
    }
}

fn text_of<R: Read>(window: &mut Window<R>) -> Result<String, Flaw> {
    let length = window.value()?;
    let text = window.rest().get(..length).unwrap_or_default();
    let view = View::new(text);
    let text = match view.content() {
        Content::Text(text) => text.clone().into_owned(),
        Content::Null => String::new(),
        _ => return Err(window.flaw(&[b"{", text].concat())),
    };
    window.pass(length);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn walk(text: &str, headers: &[Header]) -> (Vec<String>, Walked, Result<(), Flaw>) {
        let mut seen = Vec::new();
        let walk = Walk { file: "f", headers, checks: true, depth: 0 };
        let (walked, result) = walk.json(text.as_bytes(), &mut |item| {
            seen.push(format!("{} {} {}", item.api_version, item.kind, item.line(&Default::default())));
        });
        (seen, walked, result)
    }

    #[rstest]
    #[case::one(r#"{"apiVersion":"v1","kind":"Pod"}"#, &["v1 Pod 1"])]
    #[case::more("{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}\n---\n{\"apiVersion\":\"v1\",\"kind\":\"Node\"}", &["v1 Pod 1", "v1 Node 3"])]
    #[case::list("{\"apiVersion\":\"v1\",\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}],\"kind\":\"List\"}", &["v1 Pod 2"])]
    #[case::of_a_kind(r#"{"kind":"NodePoolList","apiVersion":"karpenter.sh/v1","metadata":{},"items":[{},{"kind":"X"}]}"#,
        &["karpenter.sh/v1 NodePool 1", "karpenter.sh/v1 X 1"])]
    #[case::empty_list(r#"{"kind":"PodList","apiVersion":"v1","items":[]}{}"#, &[])]
    #[case::null_items(r#"{"kind":"PodList","apiVersion":"v1","items":null}"#, &["v1 PodList 1"])]
    #[case::array(r#"[{"kind":"Pod","apiVersion":"v1"},{"kind":"Node","apiVersion":"v1"}]"#, &["v1 Pod 1", "v1 Node 1"])]
    #[case::others("[1] 2 null \"x\"", &[])]
    fn objects(#[case] text: &str, #[case] expected: &[&str]) {
        let (seen, _, result) = walk(text, &[]);
        assert_eq!(
            (seen.as_slice(), result),
            (expected.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), Ok(()))
        );
    }

    #[test]
    fn a_kind_after_the_items_is_known_the_second_time() {
        let text = r#"{"apiVersion":"v1","items":[{"a":1}],"kind":"PodList"}"#;
        let (seen, walked, _) = walk(text, &[]);
        assert!(seen.is_empty() && walked.came_early);
        assert_eq!(walk(text, &walked.headers).0, ["v1 Pod 1"]);
    }

    #[test]
    fn long_lists_and_long_objects() {
        let pod = format!(r#"{{"apiVersion":"v1","kind":"Pod","x":"{}"}}"#, "x".repeat(700_000));
        let text = format!("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{pod},\n{pod},\n{pod}]}}\n{pod}");
        assert_eq!(walk(&text, &[]).0, ["v1 Pod 1", "v1 Pod 2", "v1 Pod 3", "v1 Pod 4"]);
        let long = format!(r#"{{"apiVersion":"v1","kind":"Pod","x":"{}"}}"#, "x".repeat(3_000_000));
        assert_eq!(walk(&long, &[]).0, ["v1 Pod 1"]);
    }

    #[rstest]
    #[case("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}\n{\"kind\": tru}", 2, 13)]
    #[case("{\"items\":[\n{\"kind\":\"Pod\"}\n{}]}", 3, 1)]
    #[case("{\"kind\":\"Pod\"", 1, 13)]
    #[case("{\"kind\":\"Pod\"}\n garbage", 2, 2)]
    #[case("nul", 1, 3)]
    fn flaws(#[case] text: &str, #[case] line: usize, #[case] column: usize) {
        let flaw = walk(text, &[]).2.unwrap_err();
        assert_eq!((flaw.line, flaw.column), (line, column), "{flaw:?}");
    }
}
