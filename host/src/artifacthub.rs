//! The package of a policy on Artifact Hub: `artifacthub-pkg.yml`, made of `metadata.yml` and
//! `questions-ui.yml`.
//!
//! The fields are those of `ArtifactHubPkg` in `policy_artifacthub.rs` of Kubewarden's
//! policy-evaluator, which is behind `kwctl scaffold artifacthub`. There the provider is Kubewarden,
//! here it is the policy's first author; and the time is told, so that the same input makes the same
//! file.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Metadata;

/// What the file begins with.
const HEADER: &str = "\
# The package on Artifact Hub. `make artifacthub-pkg.yml` makes it of metadata.yml and
# questions-ui.yml: change those.
";

/// The Helm chart that a user of the policy needs first.
const KUBEWARDEN_CHART: &str = "https://artifacthub.io/packages/helm/kubewarden/kubewarden-controller";

/// A package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactHubPackage {
    version: String,
    name: String,
    display_name: String,
    created_at: String,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<String>,
    #[serde(rename = "homeURL", skip_serializing_if = "Option::is_none")]
    home_url: Option<String>,
    containers_images: Vec<Image>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keywords: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<Link>>,
    install: String,
    maintainers: Vec<Maintainer>,
    provider: Provider,
    recommendations: Vec<Recommendation>,
    annotations: BTreeMap<&'static str, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Image {
    name: &'static str,
    image: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Link {
    name: &'static str,
    url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Maintainer {
    name: String,
    email: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Provider {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Recommendation {
    url: &'static str,
}

// === impl ArtifactHubPackage ===

impl ArtifactHubPackage {
    /// The package of a policy. The questions are the text of `questions-ui.yml`, and the time of the
    /// version is in the format of RFC 3339.
    ///
    /// # Errors
    ///
    /// Which annotation is missing, or what is wrong with it.
    pub fn new(metadata: &Metadata, questions: Option<&str>, created_at: &str) -> Result<Self, String> {
        let annotations = metadata.annotations.as_ref().ok_or("there are no annotations")?;
        let optional = |name: &str| annotations.get(name).cloned();
        let annotation = |name: &str| optional(name).ok_or_else(|| format!("the annotation {name} is missing"));

        if !is_time(created_at) {
            return Err(format!("the time {created_at:?} is not one of RFC 3339, such as 2026-01-31T12:00:00Z"));
        }
        let version = annotation("io.kubewarden.policy.version")?;
        if !is_semantic(&version) {
            return Err(format!("io.kubewarden.policy.version: {version:?} is no semantic version"));
        }
        let image = format!("{}:v{version}", annotation("io.kubewarden.policy.ociUrl")?);
        let source = optional("io.kubewarden.policy.source");
        let tag = optional("com.github.release.tag").unwrap_or_else(|| format!("v{version}"));
        let maintainers = maintainers(&annotation("io.kubewarden.policy.author")?)?;
        let provider = maintainers.first().map(|first| first.name.clone()).unwrap_or_default();
        let keywords = optional("io.artifacthub.keywords").map(|list| keywords(&list)).transpose()?;

        Ok(Self {
            name: annotation("io.kubewarden.policy.title")?,
            display_name: annotation("io.artifacthub.displayName")?,
            created_at: created_at.to_owned(),
            description: annotation("io.kubewarden.policy.description")?,
            license: optional("io.kubewarden.policy.license"),
            home_url: optional("io.kubewarden.policy.url"),
            keywords,
            links: source.map(|source| links(source, &tag)),
            install: install(&image),
            containers_images: vec![Image { name: "policy", image }],
            maintainers,
            provider: Provider { name: provider },
            recommendations: vec![Recommendation { url: KUBEWARDEN_CHART }],
            annotations: of_kubewarden(metadata, annotations, questions)?,
            version,
        })
    }

    /// The text of `artifacthub-pkg.yml`.
    ///
    /// # Errors
    ///
    /// What can't be written as YAML; there is nothing of that kind.
    pub fn to_yaml(&self) -> Result<String, String> {
        Ok(format!("{HEADER}{}", serde_yaml::to_string(self).map_err(|error| error.to_string())?))
    }
}

/// The annotations by which Artifact Hub and Rancher know a policy.
fn of_kubewarden(
    metadata: &Metadata,
    annotations: &BTreeMap<String, String>,
    questions: Option<&str>,
) -> Result<BTreeMap<&'static str, String>, String> {
    let mut result = BTreeMap::from([
        ("kubewarden/mutation", metadata.mutating.to_string()),
        ("kubewarden/rules", serde_yaml::to_string(&metadata.rules).map_err(|error| error.to_string())?),
    ]);
    let resources = &metadata.context_aware_resources;
    if !resources.is_empty() {
        let resources = serde_yaml::to_string(resources).map_err(|error| error.to_string())?;
        result.insert("kubewarden/contextAwareResources", resources);
    }
    match questions {
        Some("") => return Err("there are no questions in the file of questions".to_owned()),
        Some(questions) => {
            result.insert("kubewarden/questions-ui", questions.to_owned());
        }
        None => {}
    }
    for (name, of_kubewarden) in
        [("io.artifacthub.resources", "kubewarden/resources"), ("io.kubewarden.hidden-ui", "kubewarden/hidden-ui")]
    {
        if let Some(value) = annotations.get(name) {
            result.insert(of_kubewarden, value.clone());
        }
    }
    Ok(result)
}

/// A release has the module beside it only on GitHub.
fn links(source: String, tag: &str) -> Vec<Link> {
    let mut links = Vec::new();
    if source.starts_with("https://github.com/") {
        links.push(Link { name: "policy", url: format!("{source}/releases/download/{tag}/policy.wasm") });
    }
    links.push(Link { name: "source", url: source });
    links
}

fn install(image: &str) -> String {
    format!(
        "Fetch the policy with [`kwctl`](https://github.com/kubewarden/adm-controller):\n\n\
         ```console\nkwctl pull {image}\n```\n\n\
         `policy.yaml` in the source repository has the ClusterAdmissionPolicies to apply. What kwctl makes\n\
         of the metadata is a single one:\n\n\
         ```console\nkwctl scaffold manifest -t ClusterAdmissionPolicy registry://{image}\n```\n"
    )
}

fn keywords(list: &str) -> Result<Vec<String>, String> {
    let keywords: Vec<String> = list.split(',').map(|keyword| keyword.trim().to_owned()).collect();
    if keywords.iter().any(String::is_empty) {
        return Err(format!("io.artifacthub.keywords: {list:?} has an empty keyword"));
    }
    Ok(keywords)
}

/// `Name <address>`, separated by commas.
fn maintainers(authors: &str) -> Result<Vec<Maintainer>, String> {
    let maintainer = |author: &str| {
        let (name, rest) = author.trim().split_once('<')?;
        let email = rest.strip_suffix('>')?.trim();
        let (local, domain) = email.split_once('@')?;
        let is_address = !local.is_empty() && domain.contains('.') && !email.contains(char::is_whitespace);
        is_address.then(|| Maintainer { name: name.trim().to_owned(), email: email.to_owned() })
    };
    let parsed: Option<Vec<Maintainer>> = authors.split(',').map(maintainer).collect();
    parsed.ok_or_else(|| format!("io.kubewarden.policy.author: {authors:?} is no list of `Name <address>`"))
}

/// Whether it looks like `1.2.3`, with whatever may follow.
fn is_semantic(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let numbers: Vec<&str> = core.split('.').collect();
    numbers.len() == 3
        && numbers.iter().all(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
        && numbers.iter().all(|it| *it == "0" || !it.starts_with('0'))
}

/// Whether it looks like `2026-01-31T12:00:00Z`, or with `+01:00` in place of the `Z`.
fn is_time(time: &str) -> bool {
    let shape: String = time.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    ["0000-00-00T00:00:00Z", "0000-00-00T00:00:00+00:00", "0000-00-00T00:00:00-00:00"].contains(&shape.as_str())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const TIME: &str = "2026-01-31T12:00:00Z";

    /// Metadata with what is mandatory, and more annotations.
    fn metadata(more: &[(&str, &str)]) -> Metadata {
        let mut metadata = Metadata::from_yaml("{rules: [], mutating: true}").unwrap();
        let mandatory = [
            ("io.artifacthub.displayName", "A policy"),
            ("io.kubewarden.policy.author", "Ann <ann@example.com>, Bob <bob@example.com>"),
            ("io.kubewarden.policy.description", "Checks."),
            ("io.kubewarden.policy.ociUrl", "ghcr.io/example/a-policy"),
            ("io.kubewarden.policy.title", "a-policy"),
            ("io.kubewarden.policy.version", "1.2.3"),
        ];
        let all = mandatory.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        metadata.annotations = Some(all.collect());
        metadata
    }

    fn package(metadata: &Metadata, questions: Option<&str>) -> Value {
        let yaml = ArtifactHubPackage::new(metadata, questions, TIME).unwrap().to_yaml().unwrap();
        serde_yaml::from_str(&yaml).unwrap()
    }

    #[test]
    fn the_least() {
        let mut package = package(&metadata(&[]), None);
        let install = package.as_object_mut().unwrap().remove("install").unwrap();
        assert!(install.as_str().unwrap().contains("kwctl pull ghcr.io/example/a-policy:v1.2.3\n"));
        let expected = json!({
            "version": "1.2.3", "name": "a-policy", "displayName": "A policy", "createdAt": TIME, "description": "Checks.",
            "containersImages": [{"name": "policy", "image": "ghcr.io/example/a-policy:v1.2.3"}],
            "maintainers": [
                {"name": "Ann", "email": "ann@example.com"}, {"name": "Bob", "email": "bob@example.com"}
            ],
            "provider": {"name": "Ann"},
            "recommendations": [{"url": KUBEWARDEN_CHART}],
            "annotations": {"kubewarden/mutation": "true", "kubewarden/rules": "[]\n"},
        });
        assert_eq!(package, expected);
    }

    #[test]
    fn the_most() {
        let mut metadata = metadata(&[
            ("com.github.release.tag", "a-policy/v1.2.3"),
            ("io.artifacthub.keywords", "pod, node"),
            ("io.artifacthub.resources", "Pod"),
            ("io.kubewarden.hidden-ui", "true"),
            ("io.kubewarden.policy.license", "Apache-2.0"),
            ("io.kubewarden.policy.source", "https://github.com/example/a-policy"),
            ("io.kubewarden.policy.url", "https://example.com/a-policy"),
        ]);
        metadata.context_aware_resources = serde_yaml::from_str("[{apiVersion: v1, kind: ConfigMap}]").unwrap();
        let package = package(&metadata, Some("questions: []\n"));
        for (pointer, expected) in [
            ("/license", json!("Apache-2.0")),
            ("/homeURL", json!("https://example.com/a-policy")),
            ("/keywords", json!(["pod", "node"])),
            (
                "/links",
                json!([
                    {
                        "name": "policy",
                        "url": "https://github.com/example/a-policy/releases/download/a-policy/v1.2.3/policy.wasm"
                    },
                    {"name": "source", "url": "https://github.com/example/a-policy"},
                ]),
            ),
            ("/annotations/kubewarden~1contextAwareResources", json!("- apiVersion: v1\n  kind: ConfigMap\n")),
            ("/annotations/kubewarden~1hidden-ui", json!("true")),
            ("/annotations/kubewarden~1questions-ui", json!("questions: []\n")),
            ("/annotations/kubewarden~1resources", json!("Pod")),
        ] {
            assert_eq!(package.pointer(pointer), Some(&expected), "{pointer}");
        }
    }

    #[test]
    fn elsewhere_than_on_github_there_is_no_release() {
        let package = package(&metadata(&[("io.kubewarden.policy.source", "https://example.com/a")]), None);
        assert_eq!(package["links"], json!([{"name": "source", "url": "https://example.com/a"}]));
    }

    #[rstest]
    #[case::version("io.kubewarden.policy.version", "1.2", "no semantic version")]
    #[case::zero("io.kubewarden.policy.version", "1.02.3", "no semantic version")]
    #[case::keyword("io.artifacthub.keywords", "pod,", "empty keyword")]
    #[case::author("io.kubewarden.policy.author", "Ann", "no list of `Name <address>`")]
    #[case::address("io.kubewarden.policy.author", "Ann <ann>", "no list of `Name <address>`")]
    fn what_is_wrong_is_said(#[case] name: &str, #[case] value: &str, #[case] reason: &str) {
        let error = ArtifactHubPackage::new(&metadata(&[(name, value)]), None, TIME).unwrap_err();
        assert!(error.contains(name) && error.contains(reason), "{error}");
    }

    #[rstest]
    #[case("io.artifacthub.displayName")]
    #[case("io.kubewarden.policy.author")]
    #[case("io.kubewarden.policy.description")]
    #[case("io.kubewarden.policy.ociUrl")]
    #[case("io.kubewarden.policy.title")]
    #[case("io.kubewarden.policy.version")]
    fn what_is_missing_is_named(#[case] name: &str) {
        let mut metadata = metadata(&[]);
        metadata.annotations.as_mut().unwrap().remove(name);
        let error = ArtifactHubPackage::new(&metadata, None, TIME).unwrap_err();
        assert_eq!(error, format!("the annotation {name} is missing"));
    }

    #[rstest]
    #[case("2026-01-31T12:00:00+01:00", true)]
    #[case("2026-01-31", false)]
    #[case("yesterday", false)]
    fn times(#[case] time: &str, #[case] valid: bool) {
        assert_eq!(ArtifactHubPackage::new(&metadata(&[]), None, time).is_ok(), valid);
    }

    #[test]
    fn an_empty_form_is_none() {
        assert!(ArtifactHubPackage::new(&metadata(&[]), Some(""), TIME).is_err());
    }
}
