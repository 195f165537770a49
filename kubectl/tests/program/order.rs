//! The same objects in another order, or written otherwise, give the same output.

use std::fs;

use rstest::rstest;
use serde_json::{Value, json};

use crate::run;

/// The objects of the test data, items of lists among them.
fn objects() -> Vec<Value> {
    let mut objects = Vec::new();
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        kubectl_odigos_karpenter::yaml::documents(&text, |document| {
            let value: Value = serde_json::from_slice(&document.json()?.text).unwrap();
            match (value["kind"].as_str(), value["items"].as_array()) {
                (Some("NodeList"), Some(items)) => objects.extend(items.iter().cloned().map(|mut node| {
                    node["apiVersion"] = "v1".into();
                    node["kind"] = "Node".into();
                    node
                })),
                (_, Some(items)) => objects.extend(items.iter().cloned()),
                _ => objects.push(value),
            }
            Ok(())
        })
        .unwrap();
    }
    objects
}

/// Puts them in another order, a different one for each seed.
fn shuffle(objects: &mut [Value], mut seed: u64) {
    for last in (1..objects.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        objects.swap(last, (seed >> 33) as usize % (last + 1));
    }
}

fn written(objects: &[Value], seed: u64) -> String {
    if seed.is_multiple_of(2) {
        let texts: Vec<String> = objects.iter().map(|object| format!("{object:#}")).collect();
        return texts.join("\n");
    }
    json!({"apiVersion": "v1", "items": objects, "kind": "List"}).to_string()
}

#[rstest]
#[case(&["scan"])]
#[case(&["scan", "-o", "json"])]
#[case(&["scan", "-o", "markdown"])]
#[case(&["diff"])]
#[case(&["plan"])]
#[case(&["plan", "--karpenter", "on"])]
#[case(&["plan", "--karpenter", "on", "--to", "k8s-virtual-device"])]
#[case(&["plan", "--uninstall"])]
fn the_order_does_not_matter(#[case] arguments: &[&str]) {
    let mut objects = objects();
    let expected = run(arguments, &written(&objects, 0));
    assert_eq!(expected.err, "");
    for seed in 1..8 {
        shuffle(&mut objects, seed);
        assert_eq!(run(arguments, &written(&objects, seed)), expected, "seed {seed}");
    }
}
