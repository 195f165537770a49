//! What a module says of itself: `metadata.yml`, written into the module by `annotate`.
//!
//! The shape is `Metadata` in `policy_metadata.rs` of Kubewarden's policy-evaluator, and what is
//! checked is what is checked there; an unknown key is passed over there as well. In the module it is
//! JSON, in a custom section.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{ContextAwareResource, Error, Result, section};

/// The name of the section (`constants.rs` of Kubewarden's policy-evaluator).
pub const METADATA_SECTION: &str = "io.kubewarden.metadata";

/// The annotation with the text for users, Markdown.
const USAGE: &str = "io.kubewarden.policy.usage";

/// The metadata of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// What the module answers to the operation `protocol_version`; absent in a `metadata.yml`.
    pub protocol_version: Option<ProtocolVersion>,
    /// What the policy wants to be asked about.
    pub rules: Vec<Rule>,
    /// Title, version, licence and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// Whether it changes objects.
    pub mutating: bool,
    /// Whether audits make sense.
    #[serde(default = "yes")]
    pub background_audit: bool,
    /// How the module is run.
    #[serde(default)]
    pub execution_mode: ExecutionMode,
    /// What it is asked about.
    #[serde(default)]
    pub policy_type: PolicyType,
    /// What it reads in the cluster, if it is granted.
    #[serde(default)]
    pub context_aware_resources: BTreeSet<ContextAwareResource>,
    /// The host calls that it makes, such as `kubernetes/get_resource`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_capabilities: Option<BTreeSet<String>>,
    /// The first Kubewarden that it works with, a semantic version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_kubewarden_version: Option<String>,
}

/// The version of what host and guest say to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtocolVersion {
    /// The only one that there is.
    #[serde(rename = "v1")]
    V1,
}

/// How a module is run. There are others, for policies in Rego and for WASI, which this host can't
/// run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionMode {
    /// Over waPC.
    #[default]
    #[serde(rename = "kubewarden-wapc")]
    KubewardenWapc,
}

/// What a policy is asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyType {
    /// AdmissionRequests.
    #[default]
    Kubernetes,
    /// Anything.
    Raw,
}

/// `RuleWithOperations` of `admissionregistration.k8s.io/v1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Empty for the core group.
    pub api_groups: Vec<String>,
    /// Such as `v1`.
    pub api_versions: Vec<String>,
    /// Plural names, such as `pods`.
    pub resources: Vec<String>,
    /// `CREATE` and so on.
    pub operations: Vec<Operation>,
}

/// What is done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the words of Kubernetes")]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
    #[serde(rename = "*")]
    Any,
}

fn yes() -> bool {
    true
}

// === impl Metadata ===

impl Metadata {
    /// Reads a `metadata.yml`.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] where the file can't be read, [`Error::Contents`] where it is something else.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::from_yaml(&text).map_err(|reason| Error::Contents { path: path.to_owned(), reason })
    }

    /// As [`Metadata::from_path`], from the text.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn from_yaml(text: &str) -> Result<Self, String> {
        serde_yaml::from_str(text).map_err(|error| format!("is no metadata of a policy: {error}"))
    }

    /// Reads what is in a module; `None` where it is not annotated.
    ///
    /// # Errors
    ///
    /// [`Error::Metadata`] where the module can't be parsed, or has something else in the section.
    pub fn of_module(module: &[u8]) -> Result<Option<Self>> {
        let section =
            section::read(module, METADATA_SECTION).map_err(|error| Error::Metadata(format!("read: {error}")))?;
        section
            .map(|json| serde_json::from_slice(json).map_err(|error| Error::Metadata(format!("read: {error}"))))
            .transpose()
    }

    /// Puts a text for users, such as the README, into the annotations.
    #[must_use]
    pub fn with_usage(mut self, usage: String) -> Self {
        self.annotations.get_or_insert_default().insert(USAGE.to_owned(), usage);
        self
    }

    /// The module with these metadata, in place of those that it has.
    ///
    /// # Errors
    ///
    /// [`Error::Metadata`] where Kubewarden would not take them, or this is no module in the binary
    /// format.
    pub fn write_into(&self, module: &[u8]) -> Result<Vec<u8>> {
        let failure = |reason: String| Error::Metadata(format!("written: {reason}"));
        self.check().map_err(failure)?;
        let json = serde_json::to_vec(self).map_err(|error| failure(error.to_string()))?;
        section::write(module, METADATA_SECTION, &json).map_err(|reason| failure(format!("this {reason}")))
    }

    fn check(&self) -> Result<(), String> {
        if self.protocol_version.is_none() {
            return Err("the protocol version is not known".to_owned());
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check().map_err(|reason| format!("rules[{index}].{reason}"))?;
        }
        let nameless = |it: &ContextAwareResource| it.api_version.is_empty() || it.kind.is_empty();
        if self.context_aware_resources.iter().any(nameless) {
            return Err("contextAwareResources: apiVersion or kind is empty".to_owned());
        }
        Ok(())
    }
}

// === impl Rule ===

impl Rule {
    fn check(&self) -> Result<(), String> {
        for (field, values, others_allowed) in [
            ("apiGroups", &self.api_groups, false),
            ("apiVersions", &self.api_versions, false),
            ("resources", &self.resources, true),
        ] {
            let any = values.iter().any(|value| value == "*") && !others_allowed;
            check_list(field, values.len(), any)?;
        }
        check_list("operations", self.operations.len(), self.operations.contains(&Operation::Any))
    }
}

/// A list has something in it, and nothing beside `*`.
fn check_list(field: &str, len: usize, any: bool) -> Result<(), String> {
    match len {
        0 => Err(format!("{field}: is empty")),
        1 => Ok(()),
        _ if any => Err(format!("{field}: '*' stands by itself")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const EMPTY: &[u8] = b"\0asm\x01\0\0\0";

    fn metadata(yaml: &str) -> Metadata {
        Metadata { protocol_version: Some(ProtocolVersion::V1), ..Metadata::from_yaml(yaml).unwrap() }
    }

    #[test]
    fn what_is_written_is_read() {
        let metadata = metadata(
            "{rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE]}], \
             mutating: true, annotations: {a: b}, policyType: raw, hostCapabilities: [kubernetes/can_i], \
             contextAwareResources: [{apiVersion: v1, kind: ConfigMap}], minimumKubewardenVersion: 1.15.0}",
        );
        let first = metadata.clone().with_usage("# Title".to_owned()).write_into(EMPTY).unwrap();
        let read = Metadata::of_module(&first).unwrap().unwrap();
        assert_eq!(read.annotations.as_ref().unwrap()[USAGE], "# Title");
        let second = metadata.write_into(&first).unwrap();
        assert_eq!(Metadata::of_module(&second).unwrap(), Some(metadata));
    }

    #[test]
    fn the_json_has_what_kwctl_writes() {
        let module = metadata("{rules: [], mutating: false, unknown: 1}").write_into(EMPTY).unwrap();
        let json: Value = serde_json::from_slice(section::read(&module, METADATA_SECTION).unwrap().unwrap()).unwrap();
        let expected = json!({
            "protocolVersion": "v1", "rules": [], "mutating": false, "backgroundAudit": true,
            "executionMode": "kubewarden-wapc", "policyType": "kubernetes", "contextAwareResources": [],
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn a_module_may_have_none() {
        assert_eq!(Metadata::of_module(EMPTY).unwrap(), None);
    }

    #[rstest]
    #[case::not_wasm(b"\0asm nonsense".to_vec())]
    #[case::another_section(section::write(EMPTY, METADATA_SECTION, b"[]").unwrap())]
    fn what_can_not_be_read(#[case] module: Vec<u8>) {
        let error = Metadata::of_module(&module).unwrap_err().to_string();
        assert!(error.starts_with("the module's metadata can't be read: "), "{error}");
    }

    #[rstest]
    #[case::no_rules("mutating: true", "missing field `rules`")]
    #[case::mode("{rules: [], mutating: true, executionMode: opa}", "unknown variant `opa`")]
    #[case::operation(
        "{mutating: true, rules: [{apiGroups: [a], apiVersions: [b], resources: [c], operations: [create]}]}",
        "unknown variant `create`"
    )]
    fn what_is_no_metadata(#[case] yaml: &str, #[case] reason: &str) {
        let error = Metadata::from_yaml(yaml).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }

    #[rstest]
    #[case::no_group("apiGroups: [], apiVersions: [v1], resources: [pods], operations: [CREATE]", "rules[0].apiGroups")]
    #[case::any_version(
        "apiGroups: [''], apiVersions: ['*', v1], resources: [pods], operations: [CREATE]",
        "rules[0].apiVersions: '*'"
    )]
    #[case::no_resource(
        "apiGroups: [''], apiVersions: ['*'], resources: [], operations: [CREATE]",
        "rules[0].resources"
    )]
    #[case::any_operation(
        "apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE, '*']",
        "rules[0].operations: '*'"
    )]
    fn a_rule_that_kubewarden_refuses(#[case] rule: &str, #[case] reason: &str) {
        let error = metadata(&format!("{{mutating: true, rules: [{{{rule}}}]}}")).write_into(EMPTY).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }

    #[rstest]
    #[case::protocol("{rules: [], mutating: true}", EMPTY, "the protocol version is not known")]
    #[case::text("{rules: [], mutating: true, protocolVersion: v1}", b"(module)".as_slice(), "this is no WebAssembly module")]
    #[case::resource(
        "{rules: [], mutating: true, protocolVersion: v1, contextAwareResources: [{apiVersion: v1, kind: ''}]}",
        EMPTY,
        "kind is empty"
    )]
    fn what_can_not_be_written(#[case] yaml: &str, #[case] module: &[u8], #[case] reason: &str) {
        let error = Metadata::from_yaml(yaml).unwrap().write_into(module).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}
