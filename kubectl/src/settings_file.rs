//! The settings, out of a file of theirs or out of the manifest of a policy.

use std::path::Path;

use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::settings::Settings;

use crate::{Error, yaml};

/// How the `apiVersion` of Kubewarden's policies begins.
const KUBEWARDEN: &str = "policies.kubewarden.io/";

/// The settings that hold where none are given.
const DEFAULTS: &[u8] = b"{}";

/// Reads the text of the settings, as JSON, out of a file: the settings themselves, or
/// ClusterAdmissionPolicies and AdmissionPolicies, of which `policy` names one; else the first serves.
/// `None` for the defaults.
pub fn read(file: Option<&Path>, policy: Option<&str>) -> Result<Vec<u8>, Error> {
    let Some(file) = file else { return Ok(DEFAULTS.to_vec()) };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| Error::Usage(format!("{name}: {error}")))?;
    settings(&text, policy).map_err(|reason| Error::Usage(format!("{name}: {reason}")))
}

/// Checks settings as the policy does.
pub fn check<'s>(view: &'s View<'s>) -> Result<Settings<'s>, Error> {
    Settings::read(view).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Error::Usage(format!("the settings can't be used:\n  {}", lines.join("\n  ")))
    })
}

fn settings(text: &str, policy: Option<&str>) -> Result<Vec<u8>, String> {
    let mut documents = Vec::new();
    yaml::documents(text, |document| {
        match document.items().filter(|_| document.text("kind").is_some_and(|kind| kind.ends_with("List"))) {
            Some(items) => {
                for item in items {
                    documents.push(item?.text);
                }
            }
            None => documents.push(document.json()?.text),
        }
        Ok(())
    })
    .map_err(|flaw| format!("line {}, column {}: {}", flaw.line, flaw.column, flaw.reason))?;
    let views: Vec<View> = documents.iter().map(|text| View::new(text)).collect();
    let is_policy = |view: &&View| {
        let of = |key| view.get(key).and_then(View::as_str).unwrap_or_default();
        of("apiVersion").starts_with(KUBEWARDEN) && of("kind").ends_with("AdmissionPolicy")
    };
    let name =
        |view: &&View| view.get("metadata").and_then(|metadata| metadata.get("name")).and_then(View::as_str) == policy;
    let mut policies = views.iter().filter(is_policy).peekable();
    if policies.peek().is_none() {
        return match (views.as_slice(), policy) {
            (_, Some(policy)) => Err(format!("has no policy {policy}")),
            ([], _) => Ok(DEFAULTS.to_vec()),
            ([settings], _) if settings.get("apiVersion").is_none() => Ok(settings.text().to_vec()),
            _ => Err("has neither settings nor a policy of Kubewarden's".to_owned()),
        };
    }
    let found = match policy {
        Some(policy) => policies.find(name).ok_or_else(|| format!("has no policy {policy}"))?,
        None => policies.next().ok_or("has no policy")?,
    };
    let settings = found.get("spec").and_then(|spec| spec.get("settings"));
    Ok(settings.map_or(DEFAULTS, View::text).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const POLICIES: &str = "
kind: ClusterRole
---
apiVersion: policies.kubewarden.io/v1
kind: PolicyServer
metadata: {name: server}
---
apiVersion: policies.kubewarden.io/v1
kind: ClusterAdmissionPolicy
metadata: {name: first}
spec: {settings: {tier: cloud}}
---
apiVersion: v1
kind: List
items:
- apiVersion: policies.kubewarden.io/v1
  kind: AdmissionPolicy
  metadata: {name: second}
  spec: {}
";

    #[rstest]
    #[case("tier: cloud", None, r#"{"tier":"cloud"}"#)]
    #[case("", None, "{}")]
    #[case(POLICIES, None, r#"{"tier":"cloud"}"#)]
    #[case(POLICIES, Some("second"), "{}")]
    fn out_of_a_file(#[case] text: &str, #[case] policy: Option<&str>, #[case] expected: &str) {
        assert_eq!(settings(text, policy).unwrap(), expected.as_bytes());
    }

    #[rstest]
    #[case("a: [", None, "line 2")]
    #[case("tier: cloud", Some("x"), "has no policy x")]
    #[case(POLICIES, Some("third"), "has no policy third")]
    #[case("apiVersion: v1", None, "has neither")]
    fn errors(#[case] text: &str, #[case] policy: Option<&str>, #[case] expected: &str) {
        let error = settings(text, policy).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
