//! Expressions on a label: of node affinity, of Karpenter's requirements, of label selectors.

use serde::Serialize;

use crate::field::{Field, Unreadable};

/// `{"key": …, "operator": …, "values": […]}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Requirement<'v> {
    /// The label.
    pub key: &'v str,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`; Karpenter's have `Gte` and `Lte` too.
    pub operator: &'v str,
    /// What `In` and `NotIn` list, or the one number that the others compare with.
    pub values: Vec<&'v str>,
}

impl<'v> Requirement<'v> {
    /// Reads an expression.
    pub fn read(field: &Field<'v, '_>) -> Result<Self, Unreadable> {
        let list = field.at("values")?;
        let mut values = Vec::new();
        for value in list.entries()? {
            values.push(value.text()?.ok_or_else(|| value.unreadable("a string"))?);
        }
        Ok(Requirement {
            key: field.at("key")?.text()?.unwrap_or_default(),
            operator: field.at("operator")?.text()?.unwrap_or_default(),
            values,
        })
    }

    /// Reads a list of expressions; none where it is absent.
    pub fn read_all(list: &Field<'v, '_>) -> Result<Vec<Self>, Unreadable> {
        list.entries()?.map(|entry| Requirement::read(&entry)).collect()
    }

    /// Whether the label may have this value, or for `None` be absent. What has an operator that
    /// Kubernetes doesn't know admits everything: it is the API server's to refuse.
    pub fn admits(&self, value: Option<&str>) -> bool {
        let among = |value| self.values.contains(&value);
        let compared = |holds: fn(i64, i64) -> bool| {
            let bound = self.values.first().and_then(|bound| bound.parse().ok());
            let number = value.and_then(|value| value.parse().ok());
            number.zip(bound).is_some_and(|(number, bound)| holds(number, bound))
        };
        match self.operator {
            "In" => value.is_some_and(among),
            "NotIn" => !value.is_some_and(among),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => compared(|number, bound| number > bound),
            "Gte" => compared(|number, bound| number >= bound),
            "Lt" => compared(|number, bound| number < bound),
            "Lte" => compared(|number, bound| number <= bound),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("In", &["a", "b"], Some("a"), true)]
    #[case("In", &["a"], Some("c"), false)]
    #[case("In", &["a"], None, false)]
    #[case("NotIn", &["a"], Some("a"), false)]
    #[case("NotIn", &["a"], Some("b"), true)]
    #[case("NotIn", &["a"], None, true)]
    #[case("Exists", &[], Some("a"), true)]
    #[case("Exists", &[], None, false)]
    #[case("DoesNotExist", &[], Some("a"), false)]
    #[case("DoesNotExist", &[], None, true)]
    #[case("Gt", &["3"], Some("4"), true)]
    #[case("Gt", &["3"], Some("true"), false)]
    #[case("Lte", &["3"], Some("3"), true)]
    #[case("Like", &["3"], Some("x"), true)]
    fn admits(#[case] operator: &str, #[case] values: &[&str], #[case] value: Option<&str>, #[case] expected: bool) {
        let requirement = Requirement { key: "k", operator, values: values.to_vec() };
        assert_eq!(requirement.admits(value), expected);
    }
}
