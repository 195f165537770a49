//! Writes a dump of a large cluster to standard output: how many pods and nodes are its arguments.
//!
//! ```console
//! cargo run --release -p kubectl-odigos-karpenter --example dump -- 10000 1000 > dump.json
//! ```

use std::io::{self, BufWriter, Write};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|number| number.parse().unwrap_or(0));
    let (pods, nodes) = (arguments.next().unwrap_or(10_000), arguments.next().unwrap_or(1_000));
    let mut out = BufWriter::new(io::stdout().lock());
    list(&mut out, (0..10).map(pool))?;
    list(&mut out, (0..nodes).map(node))?;
    list(&mut out, (0..pods).map(pod))?;
    out.flush()
}

/// As `kubectl get -o json` writes it.
fn list(out: &mut impl Write, items: impl Iterator<Item = Value>) -> io::Result<()> {
    write!(out, "{{\n    \"apiVersion\": \"v1\",\n    \"items\": [")?;
    for (index, item) in items.enumerate() {
        let mut text = Vec::new();
        let indent = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        serde::Serialize::serialize(&item, &mut serde_json::Serializer::with_formatter(&mut text, indent))?;
        let text = String::from_utf8_lossy(&text).replace('\n', "\n        ");
        write!(out, "{}\n        {text}", if index > 0 { "," } else { "" })?;
    }
    writeln!(out, "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {{\"resourceVersion\": \"\"}}\n}}")
}

fn pool(index: usize) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": format!("pool-{index}")},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}],
        }}},
    })
}

fn node(index: usize) -> Value {
    let images: Vec<Value> = (0..50)
        .map(|image| {
            let name = format!("registry.example.com/team-{}/service-{image}", image % 7);
            json!({"names": [format!("{name}@sha256:{index:064x}"), format!("{name}:v1.{image}.0")], "sizeBytes": 52_428_800 + image})
        })
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": format!("ip-10-0-{}-{}.internal", index / 250, index % 250),
            "labels": {
                "karpenter.sh/nodepool": format!("pool-{}", index % 10), "kubernetes.io/os": "linux",
                "odigos.io/odiglet-oss-installed": "true", "topology.kubernetes.io/zone": "eu-west-1a",
            },
        },
        "spec": {"providerID": format!("aws:///eu-west-1a/i-{index:017x}"), "taints": taints(index)},
        "status": {"conditions": conditions(), "images": images},
    })
}

/// One node in a hundred has kept the startup taint.
fn taints(index: usize) -> Value {
    if index.is_multiple_of(100) { json!([{"key": "odigos.io/needs-init", "effect": "NoSchedule"}]) } else { json!([]) }
}

/// Half of the pods are instrumented, and carry the affinity of former days.
fn pod(index: usize) -> Value {
    let instrumented = index.is_multiple_of(2);
    let env: Vec<Value> = (0..30)
        .map(|variable| json!({"name": format!("SERVICE_SETTING_{variable}"), "value": format!("a value of \"{index}\", {variable}")}))
        .collect();
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("service-{}-6b7c8d9f5-{index:05x}", index / 20), "namespace": format!("team-{}", index % 40),
            "labels": {"app": format!("service-{}", index / 20), "pod-template-hash": "6b7c8d9f5"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                "name": format!("service-{}-6b7c8d9f5", index / 20), "uid": format!("{index:032x}")}],
        },
        "spec": {
            "nodeName": format!("ip-10-0-{}-{}.internal", index % 1000 / 250, index % 250),
            "containers": [
                {"name": "app", "image": "registry.example.com/service:v1", "env": env,
                 "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}}},
                {"name": "proxy", "image": "registry.example.com/proxy:v1", "args": ["--concurrency", "2"]},
            ],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
        },
        "status": {"phase": "Running", "conditions": conditions()},
    });
    if instrumented {
        pod["metadata"]["labels"]["odigos.io/agents-meta-hash"] = "3f1a9c".into();
        pod["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "odigos.io/odiglet-oss-installed", "operator": "In", "values": ["true"]}]}]}}});
    }
    pod
}

fn conditions() -> Value {
    ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
        .map(|kind| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z"}))
        .into_iter()
        .collect()
}
