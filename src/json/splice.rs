//! Applying edits to the text of an object.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cursor::Cursor;
use crate::edit::{self, Edit};
use crate::path::Step;

/// The text of an object with edits applied, as [`edit::apply`] applies them. Only the fields that
/// edits are in are parsed and written anew, their numbers as `serde_json` and so the host reads
/// them; all else stays as it came.
///
/// `None` where the text is no JSON.
pub fn splice(text: &[u8], edits: Vec<Edit>) -> Option<Vec<u8>> {
    let mut places = Places::default();
    for edit in &edits {
        places.add(edit);
    }
    let mut spliced = Vec::with_capacity(text.len() + 256);
    if places.write(&mut Cursor::new(text), 0, &mut spliced).is_some() {
        return Some(spliced);
    }
    let mut object: Value = serde_json::from_slice(text).ok()?;
    edit::apply(&mut object, edits);
    serde_json::to_vec(&object).ok()
}

/// The edits in a value, by the steps to the fields that are written anew.
#[derive(Default)]
struct Places<'e> {
    /// The edits of this field.
    edits: Vec<&'e Edit>,
    deeper: BTreeMap<&'e Step, Places<'e>>,
}

impl<'e> Places<'e> {
    fn add(&mut self, edit: &'e Edit) {
        let steps = edit.path().steps();
        let mut place = self;
        for step in steps.iter().take(steps_to_field(steps)) {
            place = place.deeper.entry(step).or_default();
        }
        place.edits.push(edit);
    }

    /// Writes the value at the cursor, `depth` steps from the root; `None` where the cursor finds
    /// no way, or a field twice.
    fn write(&self, cursor: &mut Cursor, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        match cursor.peek()? {
            b'{' => self.write_map(cursor, depth, out),
            b'[' => self.write_list(cursor, depth, out),
            _ => {
                out.extend_from_slice(cursor.skip()?);
                Some(())
            }
        }
    }

    fn write_map(&self, cursor: &mut Cursor, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        let mut written = Vec::new();
        let mut separator = b'{';
        cursor.map(|cursor, key| {
            let start = cursor.key_position();
            let Some((step, place)) = self.deeper.iter().find(|(step, _)| step.key() == Some(key)) else {
                cursor.skip()?;
                push(out, &mut separator, cursor.since(start)?);
                return Some(());
            };
            if written.contains(step) {
                return None;
            }
            written.push(*step);
            let name = cursor.since(start)?;
            if place.edits.is_empty() && matches!(cursor.peek()?, b'{' | b'[') {
                push(out, &mut separator, name);
                return place.write(cursor, depth + 1, out);
            }
            let value = serde_json::from_slice(cursor.skip()?).ok()?;
            if let Some(value) = place.edited(key, Some(value), depth) {
                push(out, &mut separator, name);
                serde_json::to_writer(&mut *out, &value).ok()?;
            }
            Some(())
        })?;
        for (step, place) in self.deeper.iter().filter(|(step, _)| !written.contains(step)) {
            if let Some(key) = step.key()
                && let Some(value) = place.edited(key, None, depth)
            {
                push(out, &mut separator, &serde_json::to_vec(key).ok()?);
                out.push(b':');
                serde_json::to_writer(&mut *out, &value).ok()?;
            }
        }
        if separator == b'{' {
            out.push(b'{');
        }
        out.push(b'}');
        Some(())
    }

    fn write_list(&self, cursor: &mut Cursor, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        let mut separator = b'[';
        cursor.list(|cursor, index| match self.deeper.get(&Step::Index(index)) {
            Some(place) => {
                push(out, &mut separator, b"");
                place.write(cursor, depth + 1, out)
            }
            None => {
                push(out, &mut separator, cursor.skip()?);
                Some(())
            }
        })?;
        if separator == b'[' {
            out.push(b'[');
        }
        out.push(b']');
        Some(())
    }

    /// The field `key` of a map at `depth`, with all edits in it applied; `None` where it goes.
    fn edited(&self, key: &str, value: Option<Value>, depth: usize) -> Option<Value> {
        let mut holder = Value::Object(value.map(|value| (key.to_owned(), value)).into_iter().collect::<Map<_, _>>());
        let mut edits = Vec::new();
        self.collect(&mut edits);
        edit::apply(&mut holder, edits.into_iter().map(|edit| edit.clone().within(depth)).collect());
        holder.as_object_mut()?.remove(key)
    }

    fn collect(&self, edits: &mut Vec<&'e Edit>) {
        edits.extend(&self.edits);
        for place in self.deeper.values() {
            place.collect(edits);
        }
    }
}

/// How many steps of a path lead to the field that is written anew: the one below the innermost
/// `spec`, or the one of a container. What an edit empties never reaches further up.
fn steps_to_field(steps: &[Step]) -> usize {
    let spec = steps.iter().rposition(|step| *step == Step::Key("spec")).map_or(0, |spec| spec + 1);
    match steps.get(spec..) {
        Some([Step::Key("containers" | "initContainers"), Step::Index(_), _, ..]) => spec + 3,
        _ => (spec + 1).min(steps.len()),
    }
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
    use serde_json::json;

    fn taints() -> Path {
        Path::of(&["spec", "taints"])
    }

    fn container(index: usize) -> Path {
        Path::of(&["spec", "containers"]).index(index).key("resources").key("limits")
    }

    #[rstest]
    #[case::into_a_list(r#"{"spec":{"a":1.50,"taints":[{}]},"z":1e400}"#, vec![Edit::Append(taints(), json!(1))], r#"{"spec":{"a":1.50,"taints":[{},1]},"z":1e400}"#)]
    #[case::no_list_yet(r#"{"spec":{ "a" : 1 }}"#, vec![Edit::Append(taints(), json!(1))], r#"{"spec":{"a" : 1,"taints":[1]}}"#)]
    #[case::empty_spec(r#"{"spec":{}}"#, vec![Edit::Append(taints(), json!(1))], r#"{"spec":{"taints":[1]}}"#)]
    #[case::no_spec(r#"{"a":{}}"#, vec![Edit::Append(taints(), json!(1))], r#"{"a":{},"spec":{"taints":[1]}}"#)]
    #[case::null_spec(r#"{"spec":null}"#, vec![Edit::Append(taints(), json!(1))], r#"{"spec":{"taints":[1]}}"#)]
    #[case::emptied(r#"{"spec":{"taints":[1]}}"#, vec![Edit::Remove(taints().index(0))], r#"{"spec":{}}"#)]
    #[case::emptied_beside(r#"{"spec":{"taints":[1],"b":[]}}"#, vec![Edit::Remove(taints().index(0))], r#"{"spec":{"b":[]}}"#)]
    #[case::a_container(
        r#"{"spec":{"containers":[{"a":1},{"resources":{"limits":{"x":1,"y":2}}},[]]}}"#,
        vec![Edit::Remove(container(1).name("x")), Edit::Set(container(0).name("x"), json!(3)), Edit::Set(container(2).name("x"), json!(3))],
        r#"{"spec":{"containers":[{"a":1,"resources":{"limits":{"x":3}}},{"resources":{"limits":{"y":2}}},[]]}}"#
    )]
    #[case::innermost_spec(
        r#"{"spec":{"template":{"spec":{"b":0}}}}"#,
        vec![Edit::Append(Path::of(&["spec", "template", "spec", "taints"]), json!(1))],
        r#"{"spec":{"template":{"spec":{"b":0,"taints":[1]}}}}"#
    )]
    #[case::a_key_twice(r#"{"spec":{"taints":1,"taints":[2]}}"#, vec![Edit::Append(taints(), json!(1))], r#"{"spec":{"taints":[2,1]}}"#)]
    #[case::an_escaped_key(r#"{"sp\u0065c":{"taints":[2]}}"#, vec![Edit::Append(taints(), json!(1))], r#"{"sp\u0065c":{"taints":[2,1]}}"#)]
    fn spliced(#[case] text: &str, #[case] edits: Vec<Edit>, #[case] expected: &str) {
        let spliced = splice(text.as_bytes(), edits.clone()).unwrap();
        assert_eq!(String::from_utf8(spliced).unwrap(), expected);
        if let Ok(mut object) = serde_json::from_str::<Value>(text) {
            edit::apply(&mut object, edits);
            assert_eq!(serde_json::from_str::<Value>(expected).unwrap(), object);
        }
    }
}
