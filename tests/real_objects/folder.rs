//! The objects in a folder of manifests.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

/// An object, and where it is from.
#[derive(Clone, Debug)]
pub struct Found {
    pub place: String,
    pub object: Value,
}

/// What is in a folder.
#[derive(Default, Debug)]
pub struct Folder {
    pub objects: Vec<Found>,
    /// AdmissionRequests, bare or in an AdmissionReview.
    pub requests: Vec<Found>,
    /// What is neither: values of charts, snippets.
    pub others: Vec<String>,
    /// What is no YAML.
    pub unreadable: Vec<String>,
}

impl Folder {
    /// Reads every YAML and JSON file in a folder and below it. Templates are no input.
    pub fn read(folder: &Path) -> Self {
        let mut read = Folder::default();
        for path in files(folder) {
            let place = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{place}: {error}"));
            for (i, document) in serde_yaml::Deserializer::from_str(&text).enumerate() {
                let place = format!("{place} [{i}]");
                match Value::deserialize(document) {
                    Ok(document) => read.take(&place, document),
                    Err(_) => {
                        read.unreadable.push(place);
                        break;
                    }
                }
            }
        }
        read
    }

    fn take(&mut self, place: &str, document: Value) {
        let kind = document["kind"].as_str().unwrap_or_default().to_owned();
        if let Some(items) = document["items"].as_array() {
            let of = kind.strip_suffix("List").unwrap_or_default();
            for (i, item) in items.iter().enumerate() {
                let mut item = item.clone();
                if item.get("kind").is_none() && !of.is_empty() {
                    item["kind"] = json!(of);
                    item["apiVersion"] = document["apiVersion"].clone();
                }
                self.take(&format!("{place} item {i}"), item);
            }
        } else if document["request"].is_object() {
            self.requests.push(Found { place: place.to_owned(), object: document["request"].clone() });
        } else if document["operation"].is_string() {
            self.requests.push(Found { place: place.to_owned(), object: document });
        } else if !kind.is_empty() {
            self.take_object(place, document);
        } else {
            // Without a kind, as in the items of a list: a node or a pod by what it has.
            let is_pod = document.pointer("/spec/containers").is_some();
            let is_node = document.pointer("/status/nodeInfo").is_some()
                || document.pointer("/status/capacity").is_some()
                || document.pointer("/spec/providerID").is_some();
            if is_pod || is_node {
                let mut object = document;
                object["apiVersion"] = json!("v1");
                object["kind"] = json!(if is_pod { "Pod" } else { "Node" });
                self.take_object(place, object);
            } else if !document.is_null() {
                self.others.push(place.to_owned());
            }
        }
    }

    /// A workload stands for its pods too.
    fn take_object(&mut self, place: &str, object: Value) {
        let template =
            ["/spec/template", "/spec/jobTemplate/spec/template"].into_iter().find_map(|it| object.pointer(it));
        if let Some(template) = template.filter(|template| template.pointer("/spec/containers").is_some()) {
            let mut pod = template.clone();
            pod["apiVersion"] = json!("v1");
            pod["kind"] = json!("Pod");
            if !pod["metadata"].is_object() {
                pod["metadata"] = json!({});
            }
            pod["metadata"]["generateName"] =
                json!(format!("{}-", object["metadata"]["name"].as_str().unwrap_or("pod")));
            self.objects.push(Found { place: format!("{place} template"), object: pod });
        }
        self.objects.push(Found { place: place.to_owned(), object });
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|it| extension == *it)) {
            files.push(path);
        }
    }
    files.sort();
    files
}
