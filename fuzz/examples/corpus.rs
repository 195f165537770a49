//! Writes what fuzzing starts from: the requests, settings and clusters of `test_data`.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

/// Settings for requests that have none: each mount method.
const MOUNT_METHODS: [&str; 4] = ["k8s-virtual-device", "k8s-host-path", "k8s-csi-driver", "k8s-init-container"];

fn main() -> io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = fuzz.join("../test_data");
    let mut corpus = Corpus { folder: fuzz.join("corpus"), written: 0 };
    for path in files(&data, "json")? {
        let review: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        for method in MOUNT_METHODS {
            let settings = json!({"mountMethod": method, "karpenterEnabled": true});
            corpus.add_request(review.get("request").unwrap_or(&review), &settings, &json!({}))?;
        }
    }
    for folder in [data.join("cases"), data.join("cases/own")] {
        for path in files(&folder, "yaml")? {
            for document in serde_yaml::Deserializer::from_str(&std::fs::read_to_string(&path)?) {
                let case = Value::deserialize(document).map_err(io::Error::other)?;
                corpus.add_case(&case)?;
            }
        }
    }
    println!("{} files in {}", corpus.written, corpus.folder.display());
    Ok(())
}

fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|its| its == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

struct Corpus {
    folder: PathBuf,
    written: usize,
}

// === impl Corpus ===

impl Corpus {
    fn add_case(&mut self, case: &Value) -> io::Result<()> {
        let settings = case.get("settings").cloned().unwrap_or_else(|| json!({}));
        match case.get("request") {
            None => self.add("validate_settings", &settings),
            Some(request) => {
                self.add("validate_settings", &settings)?;
                self.add_request(&admission_request(request), &settings, &case["cluster"])
            }
        }
    }

    fn add_request(&mut self, request: &Value, settings: &Value, cluster: &Value) -> io::Result<()> {
        self.add("validate", &json!({"request": request, "settings": settings}))?;
        self.add("review", &json!({"request": request, "settings": settings, "cluster": cluster}))
    }

    fn add(&mut self, target: &str, input: &Value) -> io::Result<()> {
        let folder = self.folder.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("seed-{}", self.written)), input.to_string())?;
        self.written += 1;
        Ok(())
    }
}

/// The AdmissionRequest of a case.
fn admission_request(request: &Value) -> Value {
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str);
    let about = |key: &str| text(&format!("/object/{key}")).or_else(|| text(&format!("/oldObject/{key}")));
    let api_version = about("apiVersion").unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let mut user = json!({"username": text("/user").unwrap_or("kubernetes-admin"), "groups": request.get("groups")});
    if text("/user") == Some("") {
        user = json!({});
    }
    json!({
        "uid": "1",
        "kind": {"group": group, "version": version, "kind": about("kind")},
        "resource": {"group": group, "version": version, "resource": format!("{}s", about("kind").unwrap_or_default().to_lowercase())},
        "subResource": request.get("subResource"),
        "name": about("metadata/name"),
        "namespace": text("/namespace").or_else(|| about("metadata/namespace")),
        "operation": text("/operation").unwrap_or("CREATE"),
        "userInfo": user,
        "object": request.get("object"),
        "oldObject": request.get("oldObject"),
        "dryRun": request.get("dryRun"),
    })
}
