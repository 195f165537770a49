//! An object of the input, and where it is written.

use std::borrow::Cow;

use odigos_karpenter_policy::json::view::{Content, View};
use odigos_karpenter_policy::path::{Path, Step};

/// An object as it came, as JSON.
#[derive(Debug)]
pub struct Item<'t> {
    /// Its JSON text.
    pub text: &'t [u8],
    /// Its `apiVersion`, or what the list that it is an item of says of its items.
    pub api_version: Cow<'t, str>,
    /// Its `kind`, or what its list says.
    pub kind: Cow<'t, str>,
    /// The file that it is in, as it was named.
    pub file: &'t str,
    /// Its lines in the file.
    pub lines: Lines<'t>,
}

/// Where the lines of a text are in the file.
#[derive(Clone, Copy, Debug)]
pub enum Lines<'t> {
    /// The text is from the file, and begins in this line.
    From(usize),
    /// The text was made of YAML: the line of the value at each offset, in the order of the offsets, and at
    /// which of these the text begins.
    Of(&'t [(usize, usize)], usize),
}

/// Where in a text a part of it begins.
pub fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}

impl<'t> Lines<'t> {
    /// Those of a text that is part of another whose lines these are.
    pub fn within(self, whole: &[u8], part: &[u8]) -> Self {
        let offset = offset_in(whole, part);
        match self {
            Lines::From(line) => Lines::From(line + whole.iter().take(offset).filter(|byte| **byte == b'\n').count()),
            Lines::Of(lines, skipped) => Lines::Of(lines, skipped + offset),
        }
    }
}

impl Item<'_> {
    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The line of what is at a path, or of the innermost thing on the way to it that is there.
    pub fn line(&self, path: &Path) -> usize {
        let offset = offset(self.text, path);
        match self.lines {
            Lines::From(line) => line + self.text.iter().take(offset).filter(|byte| **byte == b'\n').count(),
            Lines::Of(lines, skipped) => {
                let after = lines.partition_point(|(at, _)| *at <= skipped + offset);
                after.checked_sub(1).and_then(|last| lines.get(last)).map_or(1, |(_, line)| *line)
            }
        }
    }
}

fn offset(text: &[u8], path: &Path) -> usize {
    let root = View::new(text);
    let mut here = &root;
    for step in path.steps() {
        let next = match (step, here.content()) {
            (Step::Index(index), Content::List(list)) => list.get(*index),
            (step, Content::Map(members)) => step.key().and_then(|key| members.get(key)),
            _ => None,
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    (here.text().as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_path() {
        let text = b"{\n \"spec\": {\n  \"taints\": [\n   {},\n   {\"key\": 1}]}}";
        let item = Item {
            text,
            api_version: "karpenter.sh/v1".into(),
            kind: "NodePool".into(),
            file: "pool.json",
            lines: Lines::From(10),
        };
        assert_eq!(item.group(), "karpenter.sh");
        let taints = Path::of(&["spec", "taints"]);
        assert_eq!(item.line(&taints), 12);
        assert_eq!(item.line(&taints.clone().index(1).key("key")), 14);
        assert_eq!(item.line(&taints.index(7)), 12);
        assert_eq!(item.line(&Path::of(&["status"])), 10);
    }
}
