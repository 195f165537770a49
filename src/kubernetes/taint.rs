//! Taints of nodes.

use crate::field::{Field, Unreadable};

/// A taint: `{"key": …, "value": …, "effect": …}`. What is absent is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taint<'v> {
    /// Its key.
    pub key: &'v str,
    /// Its value, which does not tell taints apart.
    pub value: &'v str,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    pub effect: &'v str,
}

impl<'v> Taint<'v> {
    /// Reads an entry of a list of taints. A `null` there is no taint: the API server refuses it.
    pub fn read(field: &Field<'v, '_>) -> Result<Self, Unreadable> {
        field.must_be_map()?;
        Ok(Taint {
            key: field.at("key")?.text()?.unwrap_or_default(),
            value: field.at("value")?.text()?.unwrap_or_default(),
            effect: field.at("effect")?.text()?.unwrap_or_default(),
        })
    }

    /// Whether it keeps a pod that does not tolerate it from the node.
    pub fn repels(&self) -> bool {
        matches!(self.effect, "NoSchedule" | "NoExecute")
    }
}
