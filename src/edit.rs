//! Changes to an object, and how they are applied to it as it came.

use serde_json::{Map, Value};

use crate::path::{Path, Step};

/// A change of one place in an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Puts a value there; maps on the way that are absent or `null` are made.
    Set(Path, Value),
    /// Adds an entry to the end of the list there, which is made where it is absent or `null`.
    Append(Path, Value),
    /// Takes away what is there. A list or map that this empties goes too, with the key that held
    /// it, and so on up to but not including a `spec` or an entry of a list.
    Remove(Path),
}

impl Edit {
    /// Where it changes something.
    pub fn path(&self) -> &Path {
        match self {
            Edit::Set(path, _) | Edit::Append(path, _) | Edit::Remove(path) => path,
        }
    }

    /// The same change of what is `depth` steps inside the object.
    pub fn within(self, depth: usize) -> Self {
        match self {
            Edit::Set(path, value) => Edit::Set(path.within(depth), value),
            Edit::Append(path, value) => Edit::Append(path.within(depth), value),
            Edit::Remove(path) => Edit::Remove(path.within(depth)),
        }
    }

    /// The same change of an object that holds this one at `parent`.
    pub fn below(self, parent: &Path) -> Self {
        match self {
            Edit::Set(path, value) => Edit::Set(parent.join(&path), value),
            Edit::Append(path, value) => Edit::Append(parent.join(&path), value),
            Edit::Remove(path) => Edit::Remove(parent.join(&path)),
        }
    }
}

/// Applies edits whose paths all speak of the object as it came.
///
/// Values are set, then entries appended, then places removed, the innermost first, so that no
/// edit moves what another one names. A place removed twice is removed once. What can't be reached
/// is left alone.
pub fn apply(object: &mut Value, edits: Vec<Edit>) {
    let mut appends = Vec::new();
    let mut removals = Vec::new();
    for edit in edits {
        match edit {
            Edit::Set(path, value) => {
                if let Some(place) = make(object, path.steps()) {
                    *place = value;
                }
            }
            Edit::Append(path, value) => appends.push((path, value)),
            Edit::Remove(path) => removals.push(path),
        }
    }
    for (path, value) in appends {
        match make(object, path.steps()) {
            Some(Value::Array(list)) => list.push(value),
            Some(place @ Value::Null) => *place = Value::Array(vec![value]),
            _ => {}
        }
    }
    removals.sort_by(|a, b| b.steps().len().cmp(&a.steps().len()).then_with(|| a.cmp(b)));
    removals.dedup();
    for siblings in removals.chunk_by(|a, b| a.parent() == b.parent()) {
        remove(object, siblings);
    }
}

/// The place that `steps` lead to, made on the way where it is absent or `null`.
fn make<'o>(mut value: &'o mut Value, steps: &[Step]) -> Option<&'o mut Value> {
    for step in steps {
        value = match step {
            Step::Index(index) => value.as_array_mut()?.get_mut(*index)?,
            Step::Key(_) | Step::Name(_) => {
                if value.is_null() {
                    *value = Value::Object(Map::new());
                }
                value.as_object_mut()?.entry(step.key()?).or_insert(Value::Null)
            }
        };
    }
    Some(value)
}

/// Removes places of one list or map, given in ascending order.
fn remove(object: &mut Value, siblings: &[Path]) {
    let Some(parent) = siblings.first().and_then(Path::parent) else { return };
    let mut doomed = siblings.iter().filter_map(|path| path.steps().last()).peekable();
    let emptied = match find(object, parent) {
        Some(Value::Array(list)) => {
            let before = list.len();
            let mut index = 0;
            list.retain(|_| {
                let here = Step::Index(index);
                index += 1;
                doomed.next_if(|step| **step == here).is_none()
            });
            list.is_empty() && before > 0
        }
        Some(Value::Object(map)) => {
            let before = map.len();
            for key in doomed.filter_map(Step::key) {
                map.remove(key);
            }
            map.is_empty() && before > 0
        }
        _ => false,
    };
    let holder = parent.last().and_then(Step::key);
    if emptied && holder.is_some_and(|key| key != "spec") {
        remove(object, &[Path::from_iter(parent.iter().cloned())]);
    }
}

fn find<'o>(mut value: &'o mut Value, steps: &[Step]) -> Option<&'o mut Value> {
    for step in steps {
        value = match step {
            Step::Index(index) => value.as_array_mut()?.get_mut(*index)?,
            Step::Key(_) | Step::Name(_) => value.as_object_mut()?.get_mut(step.key()?)?,
        };
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn taints() -> Path {
        Path::of(&["spec", "taints"])
    }

    #[rstest]
    #[case::makes_the_way(json!({}), vec![Edit::Append(taints(), json!(1))], json!({"spec": {"taints": [1]}}))]
    #[case::null_is_absent(json!({"spec": {"taints": null}}), vec![Edit::Append(taints(), json!(1))], json!({"spec": {"taints": [1]}}))]
    #[case::keeps_order(json!({"spec": {"taints": [3, 2]}}), vec![Edit::Append(taints(), json!(1))], json!({"spec": {"taints": [3, 2, 1]}}))]
    #[case::indexes_are_those_of_the_original(
        json!({"spec": {"taints": [0, 1, 2, 3]}}),
        vec![Edit::Remove(taints().index(1)), Edit::Remove(taints().index(3)), Edit::Remove(taints().index(1)), Edit::Set(taints().index(2), json!("two"))],
        json!({"spec": {"taints": [0, "two"]}})
    )]
    #[case::emptied_goes_up_to_spec(json!({"spec": {"a": {"b": {"c": 1}}}}), vec![Edit::Remove(Path::of(&["spec", "a", "b"]).name("c"))], json!({"spec": {}}))]
    #[case::empty_before_stays(json!({"spec": {"a": {"b": [1], "c": {}}}}), vec![Edit::Remove(Path::of(&["spec", "a", "b"]).index(0))], json!({"spec": {"a": {"c": {}}}}))]
    #[case::an_entry_stays(json!({"spec": {"a": [{"b": 1}]}}), vec![Edit::Remove(Path::of(&["spec", "a"]).index(0).key("b"))], json!({"spec": {"a": [{}]}}))]
    #[case::inner_before_outer(
        json!({"spec": {"a": {"b": [1, 2]}, "d": 1}}),
        vec![Edit::Remove(Path::of(&["spec", "a"])), Edit::Remove(Path::of(&["spec", "a", "b"]).index(0))],
        json!({"spec": {"d": 1}})
    )]
    #[case::out_of_reach(json!({"spec": "x"}), vec![Edit::Append(taints(), json!(1)), Edit::Remove(taints())], json!({"spec": "x"}))]
    fn applied(#[case] mut object: Value, #[case] edits: Vec<Edit>, #[case] expected: Value) {
        apply(&mut object, edits);
        assert_eq!(object, expected);
    }
}
