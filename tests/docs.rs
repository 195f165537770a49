//! What people read: links lead somewhere, commands are shell, samples are what the policy says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use odigos_karpenter_policy::cluster::NoCluster;
use odigos_karpenter_policy::policy::validate;
use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages by their paths.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "deploy/README.md"]
            .iter()
            .map(|name| root().join(name))
            .collect();
    let docs = std::fs::read_dir(root().join("docs")).expect("docs/");
    paths.extend(
        docs.map(|entry| entry.expect("an entry").path()).filter(|path| path.extension().is_some_and(|it| it == "md")),
    );
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, text)
        })
        .collect()
}

/// A page without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// Blocks of code by language. A block in a list is indented.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
        let indent = line.len() - line.trim_start().len();
        let block: Vec<&str> = block.into_iter().map(|line| line.get(indent..).unwrap_or("")).collect();
        blocks.push((language.to_owned(), block.join("\n")));
    }
    blocks
}

/// The anchors of a page, as GitHub makes them of its headings.
fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            heading
                .chars()
                .filter(|it| it.is_alphanumeric() || " -_".contains(*it))
                .map(|it| if it == ' ' { '-' } else { it })
                .collect()
        })
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("a pattern");
    for (path, text) in pages() {
        for target in link.captures_iter(&prose(&text)).map(|captures| captures[1].to_owned()) {
            if target.contains("://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            assert!(file.exists(), "{}: {target}", path.display());
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&file).expect("a page");
                assert!(anchors(&text).contains(anchor), "{}: no heading for {target}", path.display());
            }
        }
    }
}

#[test]
fn commands_are_shell_and_samples_are_yaml_or_json() {
    for (path, text) in pages() {
        for (language, block) in blocks(&text) {
            match language.as_str() {
                "console" | "bash" => {
                    let output = Command::new("bash").args(["-n", "-c", &block]).output().expect("bash");
                    let error = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{}: {error}\n{block}", path.display());
                }
                "yaml" => {
                    for document in serde_yaml::Deserializer::from_str(&block) {
                        let read = Value::deserialize(document);
                        assert!(read.is_ok(), "{}: {read:?}\n{block}", path.display());
                    }
                }
                "json" => assert!(serde_json::from_str::<Value>(&block).is_ok(), "{}: {block}", path.display()),
                _ => {}
            }
        }
    }
}

/// Folders and files of the repository that commands name.
#[test]
fn commands_name_what_there_is() {
    let named =
        Regex::new(r"(?:-k |kustomize |--request-path |-r )((?:deploy|test_data)/[\w./-]+)").expect("a pattern");
    let mut seen = 0;
    for (path, text) in pages() {
        for captures in named.captures_iter(&text) {
            assert!(root().join(&captures[1]).exists(), "{}: {}", path.display(), &captures[1]);
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} names");
}

#[test]
fn the_sample_report_is_what_the_policy_says() {
    let (_, page) = pages().into_iter().find(|(path, _)| path.ends_with("observability.md")).expect("the page");
    let report: Value = blocks(&page)
        .iter()
        .filter(|(language, _)| language == "yaml")
        .map(|(_, block)| serde_yaml::from_str::<Value>(block).expect("YAML"))
        .find(|block| block["kind"] == "ClusterReport")
        .expect("a report");
    let review = std::fs::read(root().join("test_data/node-audit.json")).expect("a request");
    let review: Value = serde_json::from_slice(&review).expect("JSON");
    let settings = json!({"mountMethod": "k8s-init-container", "karpenterEnabled": true, "action": "reject"});
    let payload = json!({"request": review["request"], "settings": settings}).to_string();
    let answer: Value = serde_json::from_slice(&validate(payload.as_bytes(), &NoCluster)).expect("JSON");
    assert_eq!(answer["accepted"], false);
    assert_eq!(report["results"][0]["message"], answer["message"]);
    let object = &review["request"]["object"];
    for (field, expected) in [
        ("name", &object["metadata"]["name"]),
        ("uid", &object["metadata"]["uid"]),
        ("resourceVersion", &object["metadata"]["resourceVersion"]),
    ] {
        assert_eq!(&report["scope"][field], expected, "{field}");
    }
}

/// Alerts send people to headings of the page of symptoms.
#[test]
fn alerts_are_explained() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("a file");
    let rules: Value = serde_yaml::from_str(&read("deploy/alerts/prometheus-rule.yaml")).expect("YAML");
    let (observability, troubleshooting) = (read("docs/observability.md"), read("docs/troubleshooting.md"));
    let heading = Regex::new(r"docs/troubleshooting\.md, '([^']+)'").expect("a pattern");
    for rule in rules["spec"]["groups"][0]["rules"].as_array().expect("rules") {
        let name = rule["alert"].as_str().expect("a name");
        assert!(observability.contains(&format!("\n| `{name}` |")), "{name}");
        let description = rule["annotations"]["description"].as_str().expect("a description");
        for captures in heading.captures_iter(description) {
            assert!(troubleshooting.contains(&format!("\n## {}\n", &captures[1])), "{name}: {}", &captures[1]);
        }
    }
}
