//! Changes to an object.

use std::borrow::Cow;

use crate::path::Path;

/// A change of one place in an object. What is put into it is JSON text.
///
/// The paths of all edits of an object speak of it as it came, so no edit moves what another one
/// names; see [`splice`](crate::json::splice::splice). What is removed is gone whatever else names it,
/// what is set is as it was set, and what can't be reached is left alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Puts a value there; maps on the way that are absent or `null` are made.
    Set(Path, Cow<'static, str>),
    /// Adds an entry to the end of the list there, which is made where it is absent or `null`.
    Append(Path, Cow<'static, str>),
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

    /// The same change of an object that holds this one at `parent`.
    pub fn below(self, parent: &Path) -> Self {
        match self {
            Edit::Set(path, value) => Edit::Set(parent.join(&path), value),
            Edit::Append(path, value) => Edit::Append(parent.join(&path), value),
            Edit::Remove(path) => Edit::Remove(parent.join(&path)),
        }
    }
}
