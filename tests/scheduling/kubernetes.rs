//! How Kubernetes' scheduler decides, as far as it matters here: written anew from its documentation,
//! so that it shares no mistake with the policy.

use std::collections::BTreeMap;

use serde_json::Value;

/// A node as the scheduler sees it.
#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Value>,
    /// Extended resources that are left on it.
    pub allocatable: BTreeMap<String, u64>,
    /// Whether it registered with all its taints, and Karpenter added none.
    pub brings_taints: bool,
}

/// Whether a pod may be put on a node.
pub fn lands(pod: &Value, node: &Node) -> bool {
    selects(pod, node)
        && affinity_allows(pod, node)
        && node.taints.iter().all(|taint| is_tolerated(pod, taint))
        && resources(pod).iter().all(|(resource, count)| node.allocatable.get(resource).unwrap_or(&0) >= count)
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The entries of the list at a pointer; none where there is none.
pub fn entries<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn selects(pod: &Value, node: &Node) -> bool {
    let selector = pod.pointer("/spec/nodeSelector").and_then(Value::as_object);
    selector.into_iter().flatten().all(|(key, value)| node.labels.get(key).map(String::as_str) == value.as_str())
}

/// The required terms of a pod; `None` where it requires nothing.
pub fn required_terms(pod: &Value) -> Option<&[Value]> {
    let required = pod.pointer("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution")?;
    (!required.is_null()).then(|| entries(required, "/nodeSelectorTerms"))
}

/// Terms are ORed.
fn affinity_allows(pod: &Value, node: &Node) -> bool {
    required_terms(pod).is_none_or(|terms| terms.iter().any(|term| matches_term(term, node)))
}

/// Expressions and fields of a term are ANDed; a term without any matches nothing.
fn matches_term(term: &Value, node: &Node) -> bool {
    let (expressions, fields) = (entries(term, "/matchExpressions"), entries(term, "/matchFields"));
    let label = |key: &str| node.labels.get(key).map(String::as_str);
    let field = |key: &str| (key == "metadata.name").then_some(node.name.as_str());
    !(expressions.is_empty() && fields.is_empty())
        && expressions.iter().all(|expression| holds(expression, label(text(expression, "key"))))
        && fields.iter().all(|expression| holds(expression, field(text(expression, "key"))))
}

/// Whether an expression holds for the value of a label.
pub fn holds(expression: &Value, value: Option<&str>) -> bool {
    let values: Vec<&str> = entries(expression, "/values").iter().filter_map(Value::as_str).collect();
    let compare = |with: fn(&i64, &i64) -> bool| {
        let number = |text: &str| text.parse::<i64>().ok();
        matches!((value.and_then(number), values.first().copied().and_then(number)), (Some(a), Some(b)) if with(&a, &b))
    };
    match text(expression, "operator") {
        "In" => value.is_some_and(|value| values.contains(&value)),
        "NotIn" => value.is_none_or(|value| !values.contains(&value)),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compare(i64::gt),
        "Lt" => compare(i64::lt),
        _ => false,
    }
}

/// Whether a taint keeps the pod away no longer.
pub fn is_tolerated(pod: &Value, taint: &Value) -> bool {
    !["NoSchedule", "NoExecute"].contains(&text(taint, "effect"))
        || entries(pod, "/spec/tolerations").iter().any(|toleration| tolerates(toleration, taint))
}

pub fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let of = |key| text(toleration, key);
    (of("effect").is_empty() || of("effect") == text(taint, "effect"))
        && (of("key") == text(taint, "key") || (of("key").is_empty() && of("operator") == "Exists"))
        && (of("operator") == "Exists" || of("value") == text(taint, "value"))
}

/// What a pod asks for of extended resources: the sum over its containers, or what an init container
/// asks for where that is more.
pub fn resources(pod: &Value) -> BTreeMap<String, u64> {
    let of = |container: &Value| -> BTreeMap<String, u64> {
        let requests = container.pointer("/resources/requests").and_then(Value::as_object);
        let extended = requests.into_iter().flatten().filter(|(resource, _)| resource.contains('/'));
        extended.map(|(resource, quantity)| (resource.clone(), count(quantity))).collect()
    };
    let mut sum: BTreeMap<String, u64> = BTreeMap::new();
    for (resource, count) in entries(pod, "/spec/containers").iter().flat_map(of) {
        *sum.entry(resource).or_default() += count;
    }
    for (resource, count) in entries(pod, "/spec/initContainers").iter().flat_map(of) {
        let most = sum.entry(resource).or_default();
        *most = count.max(*most);
    }
    sum
}

fn count(quantity: &Value) -> u64 {
    quantity.as_u64().or_else(|| quantity.as_str()?.parse().ok()).unwrap_or(0)
}
