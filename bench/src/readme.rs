//! The place in the README that `make bench` writes.

/// Before the table.
pub const BEGIN: &str = "<!-- written by `make bench` -->\n";
/// After the table.
pub const END: &str = "<!-- end of what `make bench` writes -->\n";

/// The README with this table in place of the one that it has. `None` where it has no place for
/// a table, or more than one.
pub fn with_table(readme: &str, table: &str) -> Option<String> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    if after.contains(BEGIN) {
        return None;
    }
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_replaced() {
        let readme = format!("a\n{BEGIN}old\n{END}b\n");
        let once = with_table(&readme, "new\n").unwrap();
        assert_eq!(once, format!("a\n{BEGIN}\nnew\n\n{END}b\n"));
        assert_eq!(with_table(&once, "new\n").as_deref(), Some(once.as_str()));
    }

    #[test]
    fn a_readme_without_one_place_for_it() {
        assert_eq!(with_table("a", "new"), None);
        assert_eq!(with_table(BEGIN, "new"), None);
        assert_eq!(with_table(&format!("{BEGIN}{END}{BEGIN}{END}"), "new"), None);
    }

    #[test]
    fn this_readme_has_one() {
        assert!(with_table(include_str!("../../README.md"), "").is_some());
    }
}
