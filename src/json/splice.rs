//! Applying edits to the text of an object.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::view::{Content, Members, View, quoted};
use crate::edit::Edit;
use crate::path::Step;

/// Writes an object with [edits](Edit) applied to the end of `out`. What no edit names keeps its
/// text, numbers and order among it.
///
/// `None` where the text is no JSON on the way to what is edited; `out` may end in a part of the
/// object then.
pub fn splice(object: &View, edits: &[Edit], out: &mut Vec<u8>) -> Option<()> {
    let mut place = Place::default();
    for edit in edits {
        place.add(edit);
    }
    match place.write(Some(object), false, out)? {
        Outcome::Stays => Some(()),
        Outcome::Goes => None,
    }
}

/// The edits of a place and of those inside it.
#[derive(Default)]
struct Place<'e> {
    set: Option<&'e str>,
    appended: Vec<&'e str>,
    removed: bool,
    members: BTreeMap<&'e str, Place<'e>>,
    entries: BTreeMap<usize, Place<'e>>,
    /// Which member of a map it is, where it is one that is there.
    met: Cell<Option<usize>>,
}

/// What becomes of a place. What goes has nothing of it written that would stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Stays,
    Goes,
}

impl<'e> Place<'e> {
    fn add(&mut self, edit: &'e Edit) {
        let mut place = self;
        for step in edit.path().steps() {
            place = match step {
                Step::Key(key) => place.members.entry(key).or_default(),
                Step::Name(name) => place.members.entry(name).or_default(),
                Step::Index(index) => place.entries.entry(*index).or_default(),
            };
        }
        match edit {
            Edit::Set(_, value) => place.set = Some(value),
            Edit::Append(_, value) => place.appended.push(value),
            Edit::Remove(_) => place.removed = true,
        }
    }

    /// Writes what comes of a value, or of nothing. Where it is emptied it goes, if it `may_go`.
    fn write(&self, value: Option<&View>, may_go: bool, out: &mut Vec<u8>) -> Option<Outcome> {
        if self.removed {
            return Some(Outcome::Goes);
        }
        if let Some(value) = self.set {
            out.extend_from_slice(value.as_bytes());
            return Some(Outcome::Stays);
        }
        match value.filter(|value| !value.is_null()) {
            None => self.write_new(value, out),
            Some(value) => match value.content() {
                Content::Map(members) => self.write_map(members, may_go, out),
                Content::List(list) => self.write_list(list, may_go, out),
                Content::Broken => None,
                _ => {
                    out.extend_from_slice(value.text());
                    Some(Outcome::Stays)
                }
            },
        }
    }

    /// Writes what is made where nothing is, or a `null`.
    fn write_new(&self, null: Option<&View>, out: &mut Vec<u8>) -> Option<Outcome> {
        if !self.appended.is_empty() {
            return self.write_list(&[], false, out);
        }
        if self.makes_something() {
            return self.write_map(&Members::default(), false, out);
        }
        let Some(null) = null else { return Some(Outcome::Goes) };
        out.extend_from_slice(null.text());
        Some(Outcome::Stays)
    }

    /// Whether it makes a place where there is none.
    fn makes_something(&self) -> bool {
        !self.removed
            && (self.set.is_some() || !self.appended.is_empty() || self.members.values().any(Place::makes_something))
    }

    fn write_map(&self, members: &Members, may_go: bool, out: &mut Vec<u8>) -> Option<Outcome> {
        let mut separator = b'{';
        let mut places = Vec::with_capacity(members.len());
        for (index, (key, _)) in members.iter().enumerate() {
            let place = self.members.get(key.as_str());
            if let Some(place) = place {
                place.met.set(Some(index));
            }
            places.push(place);
        }
        for (index, ((key, value), place)) in members.iter().zip(places).enumerate() {
            match place {
                // Of a key that is there twice only the last one counts.
                Some(place) if place.met.get() == Some(index) => {
                    place.write_member(key.text(), key.as_str(), Some(value), &mut separator, out)?;
                }
                Some(_) => {}
                None => {
                    push(out, &mut separator, key.text());
                    out.push(b':');
                    out.extend_from_slice(value.text());
                }
            }
        }
        for (name, place) in self.members.iter().filter(|(_, place)| place.met.get().is_none()) {
            place.write_member(quoted(name).as_bytes(), name, None, &mut separator, out)?;
        }
        Some(close(out, separator, b"{}", may_go && !members.is_empty()))
    }

    /// Writes it as a member of a map.
    fn write_member(
        &self,
        key: &[u8],
        name: &str,
        value: Option<&View>,
        separator: &mut u8,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let (length, before) = (out.len(), *separator);
        push(out, separator, key);
        out.push(b':');
        if self.write(value, name != "spec", out)? == Outcome::Goes {
            out.truncate(length);
            *separator = before;
        }
        Some(())
    }

    fn write_list(&self, list: &[View], may_go: bool, out: &mut Vec<u8>) -> Option<Outcome> {
        let mut separator = b'[';
        for (index, entry) in list.iter().enumerate() {
            let (length, before) = (out.len(), separator);
            push(out, &mut separator, b"");
            match self.entries.get(&index) {
                Some(place) => {
                    if place.write(Some(entry), false, out)? == Outcome::Goes {
                        out.truncate(length);
                        separator = before;
                    }
                }
                None => out.extend_from_slice(entry.text()),
            }
        }
        for entry in &self.appended {
            push(out, &mut separator, entry.as_bytes());
        }
        Some(close(out, separator, b"[]", may_go && !list.is_empty()))
    }
}

/// Ends a map or a list, of which nothing is written yet where the separator is still its opening
/// bracket. `goes_empty` says whether it goes then.
fn close(out: &mut Vec<u8>, separator: u8, brackets: &[u8; 2], goes_empty: bool) -> Outcome {
    let [opening, closing] = *brackets;
    if separator == opening {
        if goes_empty {
            return Outcome::Goes;
        }
        out.push(opening);
    }
    out.push(closing);
    Outcome::Stays
}

/// Writes a member or an entry, and what separates it from the one before.
fn push(out: &mut Vec<u8>, separator: &mut u8, text: &[u8]) {
    out.push(*separator);
    *separator = b',';
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;
    use rstest::rstest;

    fn taints() -> Path {
        Path::of(&["spec", "taints"])
    }

    fn container(index: usize) -> Path {
        Path::of(&["spec", "containers"]).index(index).key("resources").key("limits")
    }

    #[rstest]
    #[case::into_a_list(r#"{"spec":{"a":1.50,"taints":[{}]},"z":1e400}"#, vec![Edit::Append(taints(), "1".into())], r#"{"spec":{"a":1.50,"taints":[{},1]},"z":1e400}"#)]
    #[case::no_list_yet(r#"{"spec":{ "a" : 1 }}"#, vec![Edit::Append(taints(), "1".into())], r#"{"spec":{"a":1,"taints":[1]}}"#)]
    #[case::empty_spec(r#"{"spec":{}}"#, vec![Edit::Append(taints(), "1".into())], r#"{"spec":{"taints":[1]}}"#)]
    #[case::no_spec(r#"{"a":{}}"#, vec![Edit::Append(taints(), "1".into())], r#"{"a":{},"spec":{"taints":[1]}}"#)]
    #[case::null_spec(r#"{"spec":null}"#, vec![Edit::Append(taints(), "1".into())], r#"{"spec":{"taints":[1]}}"#)]
    #[case::emptied(r#"{"spec":{"taints":[1]}}"#, vec![Edit::Remove(taints().index(0))], r#"{"spec":{}}"#)]
    #[case::emptied_beside(r#"{"spec":{"taints":[1],"b":[]}}"#, vec![Edit::Remove(taints().index(0))], r#"{"spec":{"b":[]}}"#)]
    #[case::a_container(
        r#"{"spec":{"containers":[{"a":1},{"resources":{"limits":{"x":1,"y":2}}},[]]}}"#,
        vec![Edit::Remove(container(1).name("x")), Edit::Set(container(0).name("x"), "3".into()), Edit::Set(container(2).name("x"), "3".into())],
        r#"{"spec":{"containers":[{"a":1,"resources":{"limits":{"x":3}}},{"resources":{"limits":{"y":2}}},[]]}}"#
    )]
    #[case::innermost_spec(
        r#"{"spec":{"template":{"spec":{"b":0}}}}"#,
        vec![Edit::Append(Path::of(&["spec", "template", "spec", "taints"]), "1".into())],
        r#"{"spec":{"template":{"spec":{"b":0,"taints":[1]}}}}"#
    )]
    #[case::a_key_twice(r#"{"spec":{"taints":1,"taints":[2]}}"#, vec![Edit::Append(taints(), "1".into())], r#"{"spec":{"taints":[2,1]}}"#)]
    #[case::an_escaped_key(r#"{"sp\u0065c":{"taints":[2]}}"#, vec![Edit::Append(taints(), "1".into())], r#"{"sp\u0065c":{"taints":[2,1]}}"#)]
    #[case::makes_the_way("{}", vec![Edit::Append(taints(), "1".into())], r#"{"spec":{"taints":[1]}}"#)]
    #[case::null_is_absent(r#"{"spec":{"taints":null}}"#, vec![Edit::Append(taints(), "1".into())], r#"{"spec":{"taints":[1]}}"#)]
    #[case::indexes_are_those_of_the_original(
        r#"{"spec":{"taints":[0,1,2,3]}}"#,
        vec![Edit::Remove(taints().index(1)), Edit::Remove(taints().index(3)), Edit::Remove(taints().index(1)), Edit::Set(taints().index(2), r#""two""#.into())],
        r#"{"spec":{"taints":[0,"two"]}}"#
    )]
    #[case::emptied_goes_up_to_spec(r#"{"spec":{"a":{"b":{"c":1}}}}"#, vec![Edit::Remove(Path::of(&["spec", "a", "b"]).name("c"))], r#"{"spec":{}}"#)]
    #[case::empty_before_stays(r#"{"spec":{"a":{"b":[1],"c":{}}}}"#, vec![Edit::Remove(Path::of(&["spec", "a", "b"]).index(0))], r#"{"spec":{"a":{"c":{}}}}"#)]
    #[case::an_entry_stays(r#"{"spec":{"a":[{"b":1}]}}"#, vec![Edit::Remove(Path::of(&["spec", "a"]).index(0).key("b"))], r#"{"spec":{"a":[{}]}}"#)]
    #[case::inner_and_outer(
        r#"{"spec":{"a":{"b":[1,2]},"d":1}}"#,
        vec![Edit::Remove(Path::of(&["spec", "a"])), Edit::Remove(Path::of(&["spec", "a", "b"]).index(0))],
        r#"{"spec":{"d":1}}"#
    )]
    #[case::out_of_reach(r#"{"spec":"x"}"#, vec![Edit::Append(taints(), "1".into()), Edit::Remove(taints())], r#"{"spec":"x"}"#)]
    fn spliced(#[case] text: &str, #[case] edits: Vec<Edit>, #[case] expected: &str) {
        let mut spliced = Vec::new();
        splice(&View::new(text.as_bytes()), &edits, &mut spliced).unwrap();
        assert_eq!(String::from_utf8(spliced).unwrap(), expected);
    }
}
