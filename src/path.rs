//! Where in an object something is.

use std::fmt;

/// One step from a JSON value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A field that an API defines, such as `spec`.
    Key(&'static str),
    /// A key that the object's author chose, such as a label or the name of a resource.
    Name(String),
    /// The place in a list, from 0.
    Index(usize),
}

impl Step {
    /// The key that this step goes by, where it goes into a map.
    pub fn key(&self) -> Option<&str> {
        match self {
            Step::Key(key) => Some(key),
            Step::Name(name) => Some(name),
            Step::Index(_) => None,
        }
    }
}

/// The way from the root of an object to a place in it.
///
/// Shown as Kubernetes shows field paths: `spec.taints[0].key`, `spec.nodeSelector[disk]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<Step>);

impl Path {
    /// The path of a field below the root, such as `["spec", "taints"]`.
    pub fn of(keys: &[&'static str]) -> Self {
        Path(keys.iter().map(|key| Step::Key(key)).collect())
    }

    /// The field `key` of the map at this path.
    pub fn key(mut self, key: &'static str) -> Self {
        self.0.push(Step::Key(key));
        self
    }

    /// The entry `name` of the map at this path.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.push(Step::Name(name.into()));
        self
    }

    /// Entry number `index`, from 0, of the list at this path.
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// The place that `rest` leads to from here.
    pub fn join(&self, rest: &Path) -> Self {
        self.0.iter().chain(&rest.0).cloned().collect()
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Path(steps.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if i == 0 => write!(f, "{key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Name(name) => write!(f, "[{name}]")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_as_kubernetes_does() {
        let path = Path::of(&["spec", "containers"]).index(2).key("requests").name("example.com/a~b");
        assert_eq!(path.to_string(), "spec.containers[2].requests[example.com/a~b]");
    }
}
