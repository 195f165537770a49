//! Tolerations of pods.

use serde::Serialize;

use super::taint::Taint;
use crate::field::{Field, Unreadable};

/// A toleration: `{"key": …, "operator": …, "value": …, "effect": …}`. What is absent is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Toleration<'v> {
    /// The key; empty, with `Exists`, is every key.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub key: &'v str,
    /// `Equal` or `Exists`; empty is `Equal`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub operator: &'v str,
    /// The value that `Equal` asks for.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub value: &'v str,
    /// The effect; empty is every effect.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub effect: &'v str,
}

impl<'v> Toleration<'v> {
    /// `{"operator": "Exists"}`, which tolerates everything.
    pub const EVERYTHING: Toleration<'static> = Toleration { key: "", operator: "Exists", value: "", effect: "" };

    /// Reads an entry of a list of tolerations.
    pub fn read(field: &Field<'v, '_>) -> Result<Self, Unreadable> {
        Ok(Toleration {
            key: field.at("key")?.text()?.unwrap_or_default(),
            operator: field.at("operator")?.text()?.unwrap_or_default(),
            value: field.at("value")?.text()?.unwrap_or_default(),
            effect: field.at("effect")?.text()?.unwrap_or_default(),
        })
    }

    /// Whether a pod with it may run beside the taint, as the scheduler decides
    /// (Kubernetes, `staging/src/k8s.io/component-helpers/scheduling/corev1`). Comparing
    /// operators ask for a number, and no taint that matters here has one.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let effect = self.effect.is_empty() || self.effect == taint.effect;
        effect
            && match self.operator {
                "Exists" => self.key.is_empty() || self.key == taint.key,
                "" | "Equal" => !self.key.is_empty() && self.key == taint.key && self.value == taint.value,
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::view::View;
    use rstest::rstest;

    #[rstest]
    #[case::everything(r#"{"operator": "Exists"}"#, true)]
    #[case::every_key_of_the_effect(r#"{"operator": "Exists", "effect": "NoSchedule"}"#, true)]
    #[case::another_effect(r#"{"operator": "Exists", "effect": "NoExecute"}"#, false)]
    #[case::key_exists(r#"{"key": "a", "operator": "Exists"}"#, true)]
    #[case::key_equal_by_default(r#"{"key": "a"}"#, true)]
    #[case::another_value(r#"{"key": "a", "operator": "Equal", "value": "x"}"#, false)]
    #[case::another_key(r#"{"key": "b", "operator": "Exists"}"#, false)]
    #[case::no_key_is_not_every_key(r#"{"operator": "Equal"}"#, false)]
    #[case::a_number_is_asked_for(r#"{"key": "a", "operator": "Gt", "value": "5"}"#, false)]
    #[case::nothing("{}", false)]
    fn tolerates(#[case] toleration: &str, #[case] expected: bool) {
        let toleration = View::new(toleration.as_bytes());
        let toleration = Toleration::read(&Field::root(&toleration)).unwrap();
        assert_eq!(toleration.tolerates(&Taint { key: "a", value: "", effect: "NoSchedule" }), expected);
    }
}
