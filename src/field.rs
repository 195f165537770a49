//! Reading a JSON value field by field, with the path at hand where something can't be read.

use crate::json::view::{Content, Members, View};
use crate::path::{Path, Step};

/// A value inside an object, and where it is.
///
/// An absent field and an explicit `null` are alike: [`Field::is_absent`]. The place is a chain
/// of borrowed steps, so that reading costs no allocation until a path is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Field<'v, 'p> {
    value: Option<&'v View<'v>>,
    place: Place<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Place<'p> {
    Root,
    Keys(&'p Place<'p>, &'static [&'static str]),
    Key(&'p Place<'p>, &'static str),
    Name(&'p Place<'p>, &'p str),
    Index(&'p Place<'p>, usize),
}

/// A shape that a rule must read and can't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Where.
    pub path: Path,
    /// What is there: "a string", "nothing".
    pub found: &'static str,
    /// What belongs there: "a list".
    pub expected: &'static str,
}

impl Unreadable {
    /// What is no JSON, or nested too deep.
    pub fn broken(path: Path) -> Self {
        Unreadable { path, found: "no JSON that can be read", expected: "a value" }
    }
}

impl<'v, 'p> Field<'v, 'p> {
    /// The whole of an object.
    pub fn root(value: &'v View<'v>) -> Self {
        Field { value: Some(value), place: Place::Root }
    }

    /// The text of what is here; `None` where the field is missing.
    pub fn view(&self) -> Option<&'v View<'v>> {
        self.value
    }

    /// What is here; `None` where the field is missing.
    pub fn content(&self) -> Option<&'v Content<'v>> {
        self.value.map(View::content)
    }

    /// What is here, the same text for all values that are the same: see [`View::canonical`].
    pub fn canonical(&self) -> Result<String, Unreadable> {
        match self.value {
            Some(value) => value.canonical().ok_or_else(|| Unreadable::broken(self.path())),
            None => Ok("null".to_owned()),
        }
    }

    /// Whether there is nothing here, or an explicit `null`.
    pub fn is_absent(&self) -> bool {
        self.value.is_none_or(View::is_null)
    }

    /// The field `key` of this map.
    pub fn at(&'p self, key: &'static str) -> Result<Field<'v, 'p>, Unreadable> {
        self.map()?;
        Ok(self.get(key))
    }

    /// The field `key`, absent also where this is no map.
    pub fn get(&'p self, key: &'static str) -> Field<'v, 'p> {
        Field { value: self.value.and_then(|view| view.get(key)), place: Place::Key(&self.place, key) }
    }

    /// The field that a chain of keys leads to: `below(&["spec", "template"])`.
    pub fn below(&'p self, keys: &'static [&'static str]) -> Result<Field<'v, 'p>, Unreadable> {
        let mut value = self.value;
        for (depth, key) in keys.iter().enumerate() {
            let here = Field { value, place: Place::Keys(&self.place, keys.get(..depth).unwrap_or_default()) };
            value = here.map()?.and_then(|members| members.get(key));
        }
        Ok(Field { value, place: Place::Keys(&self.place, keys) })
    }

    /// The entries of a list; none where it is absent.
    pub fn entries(&'p self) -> Result<impl Iterator<Item = Field<'v, 'p>> + use<'v, 'p>, Unreadable> {
        let list = match self.content() {
            None | Some(Content::Null) => &[],
            Some(Content::List(list)) => list.as_slice(),
            Some(_) => return Err(self.unreadable("a list")),
        };
        let entry = |(index, value)| Field { value: Some(value), place: Place::Index(&self.place, index) };
        Ok(list.iter().enumerate().map(entry))
    }

    /// The entries of a map that are not `null`, in the order of their keys; none where it is absent.
    pub fn members(&'p self) -> Result<impl Iterator<Item = (&'v str, Field<'v, 'p>)> + use<'v, 'p>, Unreadable> {
        let members = self.map()?.map(Members::by_key).unwrap_or_default();
        Ok(members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, Field { value: Some(value), place: Place::Name(&self.place, name) })))
    }

    /// The entry `name` of a map whose keys its author chose, such as labels.
    pub fn member(&'p self, name: &'p str) -> Result<Field<'v, 'p>, Unreadable> {
        let value = self.map()?.and_then(|members| members.get(name));
        Ok(Field { value, place: Place::Name(&self.place, name) })
    }

    /// A string; `None` where it is absent.
    pub fn text(&self) -> Result<Option<&'v str>, Unreadable> {
        match self.content() {
            None | Some(Content::Null) => Ok(None),
            Some(Content::Text(text)) => Ok(Some(text.as_ref())),
            Some(_) => Err(self.unreadable("a string")),
        }
    }

    /// A map; `None` where it is absent.
    pub fn map(&self) -> Result<Option<&'v Members<'v>>, Unreadable> {
        match self.content() {
            None | Some(Content::Null) => Ok(None),
            Some(Content::Map(members)) => Ok(Some(members)),
            Some(_) => Err(self.unreadable("a map")),
        }
    }

    /// That a map is here.
    pub fn must_be_map(&self) -> Result<(), Unreadable> {
        match self.map()? {
            Some(_) => Ok(()),
            None => Err(self.unreadable("a map")),
        }
    }

    /// The error that says that something else belongs here.
    pub fn unreadable(&self, expected: &'static str) -> Unreadable {
        Unreadable { path: self.path(), found: self.value.map_or("nothing", View::shape), expected }
    }

    /// Where this is.
    pub fn path(&self) -> Path {
        let mut steps = Vec::new();
        let mut place = &self.place;
        loop {
            place = match place {
                Place::Root => break,
                Place::Keys(parent, keys) => {
                    steps.extend(keys.iter().rev().map(|key| Step::Key(key)));
                    parent
                }
                Place::Key(parent, key) => {
                    steps.push(Step::Key(key));
                    parent
                }
                Place::Name(parent, name) => {
                    steps.push(Step::Name((*name).to_owned()));
                    parent
                }
                Place::Index(parent, index) => {
                    steps.push(Step::Index(*index));
                    parent
                }
            };
        }
        steps.into_iter().rev().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_and_null_are_alike() {
        let object = View::new(br#"{"a": null}"#);
        let root = Field::root(&object);
        assert!(root.at("a").unwrap().is_absent());
        assert!(root.at("b").unwrap().is_absent());
        assert!(root.below(&["a", "b", "c"]).unwrap().is_absent());
        assert_eq!(root.at("a").unwrap().entries().unwrap().count(), 0);
    }

    #[test]
    fn an_error_says_where_and_what() {
        let object = View::new(br#"{"spec": {"template": [], "taints": [{"key": 5}]}}"#);
        let root = Field::root(&object);
        let error = root.below(&["spec", "template", "spec"]).unwrap_err();
        assert_eq!(
            (error.path.to_string().as_str(), error.found, error.expected),
            ("spec.template", "a list", "a map")
        );
        let taints = root.below(&["spec", "taints"]).unwrap();
        let taint = taints.entries().unwrap().next().unwrap();
        let error = taint.at("key").unwrap().text().unwrap_err();
        assert_eq!(error.path.to_string(), "spec.taints[0].key");
    }
}
