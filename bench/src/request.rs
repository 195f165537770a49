//! The requests that are measured.
//!
//! Four are what the API server sends for a Pod, a NodePool and a Node, with the settings of a
//! cluster whose gate is the startup taint. Two more are the Pods grown to the size that the API
//! server takes at most.

use serde_json::{Value, json};

/// How many containers a large Pod has.
const MANY_CONTAINERS: usize = 2_000;

const SETTINGS: &str = include_str!("../requests/settings.json");
const POD_UNINSTRUMENTED: &str = include_str!("../requests/pod-uninstrumented.json");
const POD_INSTRUMENTED: &str = include_str!("../requests/pod-instrumented.json");
const NODEPOOL: &str = include_str!("../requests/nodepool.json");
const NODE: &str = include_str!("../requests/node.json");

/// A request, and what a right answer to it is.
#[derive(Debug, Clone)]
pub struct Request {
    /// What it is called in tables and budgets.
    pub name: &'static str,
    /// What the guest gets: `{"request": …, "settings": …}`, without white space.
    pub payload: Vec<u8>,
    /// What the policy makes of it.
    pub outcome: Outcome,
}

/// What becomes of a request. None of those that are measured is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The object is admitted as it is.
    Accepted,
    /// The object is admitted with changes.
    Mutated,
    /// The request is refused.
    Rejected,
}

// === impl Request ===

impl Request {
    /// A Pod that has nothing to do with Odigos, as nearly all have.
    pub fn pod_uninstrumented() -> Self {
        Self::new("pod-uninstrumented", &parse(POD_UNINSTRUMENTED), Outcome::Accepted)
    }

    /// A Pod as Odigos has instrumented it, whose node affinity keeps Karpenter from launching a
    /// node.
    pub fn pod_instrumented() -> Self {
        Self::new("pod-instrumented", &parse(POD_INSTRUMENTED), Outcome::Mutated)
    }

    /// A NodePool that lacks the startup taint.
    pub fn nodepool() -> Self {
        Self::new("nodepool", &parse(NODEPOOL), Outcome::Mutated)
    }

    /// A Node that Karpenter launched, and that lacks the startup taint.
    pub fn node() -> Self {
        Self::new("node", &parse(NODE), Outcome::Mutated)
    }

    /// [`Request::pod_uninstrumented`] with 2,000 containers, about 2 MB.
    pub fn large_pod_uninstrumented() -> Self {
        Self::new("pod-uninstrumented, 2 MB", &grown(parse(POD_UNINSTRUMENTED)), Outcome::Accepted)
    }

    /// [`Request::pod_instrumented`] with 2,000 containers, about 2 MB.
    pub fn large_pod_instrumented() -> Self {
        Self::new("pod-instrumented, 2 MB", &grown(parse(POD_INSTRUMENTED)), Outcome::Mutated)
    }

    /// All of them, in the order of the table.
    pub fn all() -> Vec<Self> {
        vec![
            Self::pod_uninstrumented(),
            Self::pod_instrumented(),
            Self::nodepool(),
            Self::node(),
            Self::large_pod_uninstrumented(),
            Self::large_pod_instrumented(),
        ]
    }

    fn new(name: &'static str, request: &Value, outcome: Outcome) -> Self {
        Self { name, payload: payload(request, &parse(SETTINGS)), outcome }
    }
}

/// What a host sends to the guest operation `validate`.
pub fn payload(request: &Value, settings: &Value) -> Vec<u8> {
    json!({ "request": request, "settings": settings }).to_string().into_bytes()
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the files of requests are JSON")
}

/// The Pod with its containers again and again, each time under another name.
fn grown(mut request: Value) -> Value {
    let containers = &mut request["object"]["spec"]["containers"];
    let few = containers.as_array().cloned().unwrap_or_default();
    let many = few.iter().cycle().take(MANY_CONTAINERS).enumerate().map(|(number, container)| {
        let mut container = container.clone();
        container["name"] = json!(format!("container-{number}"));
        container
    });
    *containers = many.collect();
    request
}

// === impl Outcome ===

impl Outcome {
    /// What a guest's answer, a `ValidationResponse` of Kubewarden's policy SDK, says.
    pub fn of(answer: &Value) -> Self {
        match (answer["accepted"].as_bool(), &answer["mutated_object"]) {
            (Some(true), Value::Null) => Self::Accepted,
            (Some(true), _) => Self::Mutated,
            _ => Self::Rejected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that the budgets were set for.
    #[test]
    fn sizes() {
        let sizes: Vec<_> = Request::all().iter().map(|request| request.payload.len()).collect();
        assert_eq!(sizes[..4], [3_913, 4_697, 1_664, 1_795]);
        for size in &sizes[4..] {
            assert!((1_900_000..2_500_000).contains(size), "{size}");
        }
    }

    #[test]
    fn outcomes() {
        assert_eq!(Outcome::of(&json!({"accepted": true})), Outcome::Accepted);
        assert_eq!(Outcome::of(&json!({"accepted": true, "mutated_object": {}})), Outcome::Mutated);
        assert_eq!(Outcome::of(&json!({"accepted": false, "mutated_object": null})), Outcome::Rejected);
        assert_eq!(Outcome::of(&json!([])), Outcome::Rejected);
    }
}
