//! Label selectors.

use serde::Serialize;

use super::requirement::Requirement;

/// A label selector: all of it must match; with nothing in it, it matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector<'v> {
    /// Labels and the value that each must have.
    pub match_labels: Vec<(&'v str, &'v str)>,
    /// Expressions that must all admit the labels.
    pub match_expressions: Vec<Requirement<'v>>,
}

impl LabelSelector<'_> {
    /// Whether it selects what has these labels. `label` gives the value of one.
    pub fn matches<'l, E>(&self, label: impl Fn(&str) -> Result<Option<&'l str>, E>) -> Result<bool, E> {
        for (key, value) in &self.match_labels {
            if label(key)? != Some(value) {
                return Ok(false);
            }
        }
        for requirement in &self.match_expressions {
            if !requirement.admits(label(requirement.key)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
