//! The files of cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cluster::Cluster;

/// Fewer files or cases than there are at least: a sign that they are looked for in a wrong place.
const LEAST_FILES: usize = 4;
const LEAST_CASES: usize = 80;

/// One YAML document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The file that it is in.
    #[serde(skip)]
    pub file: String,
    pub name: String,
    #[allow(dead_code, reason = "for people")]
    why: Option<String>,
    /// As kwctl does, without settings `{}` is sent.
    #[serde(default = "no_settings")]
    pub settings: Value,
    pub request: Option<Request>,
    /// Without it every host call is refused.
    #[serde(default)]
    pub cluster: Cluster,
    pub expect: Expect,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Request {
    #[serde(default = "create")]
    operation: String,
    pub object: Option<Value>,
    old_object: Option<Value>,
    user: Option<String>,
    groups: Option<Vec<String>>,
    sub_resource: Option<String>,
    namespace: Option<String>,
    dry_run: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Expect {
    pub settings_valid: Option<bool>,
    pub allowed: Option<bool>,
    pub unchanged: Option<bool>,
    pub after: Option<BTreeMap<String, Value>>,
    pub only_below: Option<Vec<String>>,
    pub message: Option<Pattern>,
    pub warning: Option<Pattern>,
    pub no_warning: Option<bool>,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(pub Regex);

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(expression: String) -> Result<Self, regex::Error> {
        Regex::new(&expression).map(Self)
    }
}

fn no_settings() -> Value {
    json!({})
}

fn create() -> String {
    "CREATE".to_owned()
}

/// Reads the cases in a directory, and those of its directory `own` where there is one.
pub fn load(directory: &Path) -> Vec<Case> {
    let mut files = yaml_files(directory);
    let own = directory.join("own");
    if own.exists() {
        files.append(&mut yaml_files(&own));
    }
    assert!(files.len() >= LEAST_FILES, "only {} files of cases in {}", files.len(), directory.display());
    let mut cases = Vec::new();
    for path in files {
        let file = path.strip_prefix(directory).unwrap_or(&path).display().to_string();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let parsed = parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        cases.extend(parsed.into_iter().map(|case| Case { file: file.clone(), ..case }));
    }
    assert!(cases.len() >= LEAST_CASES, "only {} cases", cases.len());
    cases
}

fn yaml_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

/// The documents of a file; an error says after which case it is.
pub fn parse(text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let case = Case::deserialize(document).map_err(|error| {
            let after = cases.last().map_or("the beginning", |last| &last.name);
            format!("in the case after '{after}': {error}")
        })?;
        cases.push(case);
    }
    Ok(cases)
}

// === impl Request ===

impl Request {
    /// The AdmissionRequest; in an audit, with an empty `user`, as the audit scanner makes it.
    pub fn admission_request(&self) -> Value {
        let audit = self.user.as_deref() == Some("");
        let about = self.object.as_ref().or(self.old_object.as_ref());
        let text = |pointer: &str| about.and_then(|object| object.pointer(pointer)).and_then(Value::as_str);
        let api_version = text("/apiVersion").unwrap_or_default();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = self.kind();
        let kind_object = json!({"group": group, "version": version, "kind": kind});
        let plural = format!("{}s", kind.to_lowercase());
        let resource = if audit { kind } else { &plural };
        let resource = json!({"group": group, "version": version, "resource": resource});

        let mut user = json!({});
        if !audit {
            user["username"] = json!(self.user.as_deref().unwrap_or("kubernetes-admin"));
        }
        if let Some(groups) = &self.groups {
            user["groups"] = json!(groups);
        }
        json!({
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind_object,
            "resource": resource,
            "subResource": self.sub_resource,
            "requestKind": kind_object,
            "requestResource": resource,
            "requestSubResource": self.sub_resource,
            "name": text("/metadata/name"),
            "namespace": self.namespace.as_deref().or_else(|| text("/metadata/namespace")),
            "operation": self.operation,
            "userInfo": user,
            "object": self.object,
            "oldObject": self.old_object,
            "dryRun": self.dry_run,
        })
    }

    /// The kind of the object, or of the old one in a DELETE.
    pub fn kind(&self) -> &str {
        self.object
            .as_ref()
            .or(self.old_object.as_ref())
            .and_then(|object| object.get("kind"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The same request with another object.
    pub fn with_object(&self, object: Value) -> Self {
        Self { object: Some(object), ..self.clone() }
    }
}

mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::whole("{name: n, why: w, settings: {}, request: {object: {}}, expect: {allowed: true}}", "")]
    #[case::key("{name: n, setting: {}, expect: {}}", "setting")]
    #[case::request_key("{name: n, request: {oldobject: {}}, expect: {}}", "oldobject")]
    #[case::expect_key("{name: n, expect: {allow: true}}", "allow")]
    #[case::nameless("{expect: {}}", "name")]
    #[case::cluster("{name: n, cluster: {a: {kind: Pod}, b: {error: e}}, expect: {}}", "")]
    #[case::list_of_clusters("{name: n, cluster: [a], expect: {}}", "invalid type: sequence")]
    #[case::expression("{name: n, expect: {message: '('}}", "unclosed")]
    #[case::second("{name: first, expect: {}}\n---\n{name: second}", "after 'first'")]
    fn a_typo_is_an_error(#[case] text: &str, #[case] error: &str) {
        match parse(text) {
            Ok(_) => assert_eq!(error, ""),
            Err(message) => assert!(!error.is_empty() && message.contains(error), "{message}"),
        }
    }

    fn request(text: &str) -> Value {
        let request: Request = serde_yaml::from_str(text).unwrap();
        request.admission_request()
    }

    #[test]
    fn big_numbers_and_aliases() {
        let request = request("object: {a: &a [18446744073709551615, 2.5, null], b: *a}");
        let list = json!([18_446_744_073_709_551_615_u64, 2.5, null]);
        assert_eq!(request["object"], json!({"a": list, "b": list}));
    }

    #[test]
    fn kind_and_resource_come_from_the_object() {
        let request = request(
            "{operation: DELETE, groups: [g], dryRun: true, oldObject: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}}}",
        );
        let kind = json!({"group": "karpenter.sh", "version": "v1", "kind": "NodePool"});
        let resource = json!({"group": "karpenter.sh", "version": "v1", "resource": "nodepools"});
        assert_eq!((&request["kind"], &request["requestKind"]), (&kind, &kind));
        assert_eq!(request["resource"], resource);
        assert_eq!(request["name"], "p");
        assert_eq!(request["dryRun"], true);
        assert_eq!(request["userInfo"], json!({"username": "kubernetes-admin", "groups": ["g"]}));
    }

    #[test]
    fn an_audit_is_as_the_audit_scanner_sends_it() {
        let request = request("{user: '', object: {apiVersion: v1, kind: Pod, metadata: {namespace: default}}}");
        assert_eq!(request["resource"], json!({"group": "", "version": "v1", "resource": "Pod"}));
        assert_eq!(request["operation"], "CREATE");
        assert_eq!(request["namespace"], "default");
        assert_eq!(request["userInfo"], json!({}));
    }
}
