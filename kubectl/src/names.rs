//! The names of what settings choose from: mount methods and tiers.

/// The name of a value in a list of all.
pub fn name_of<T: Copy + PartialEq>(all: &[(&'static str, T)], value: T) -> &'static str {
    all.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// The value of a name in a list of all.
pub fn named<T: Copy>(all: &[(&str, T)], name: Option<&str>) -> Option<T> {
    all.iter().find(|(known, _)| Some(*known) == name).map(|(_, it)| *it)
}
