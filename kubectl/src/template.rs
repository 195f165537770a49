//! The pods that workloads make, as far as their templates tell.

use odigos_karpenter_policy::json::view::{View, quoted};
use odigos_karpenter_policy::path::Path;

use crate::item::Item;

/// The kinds whose template counts as a pod, with their API group and where the template is.
const WORKLOADS: &[(&str, &str, &[&str])] = &[
    ("apps", "DaemonSet", POD_TEMPLATE),
    ("apps", "StatefulSet", POD_TEMPLATE),
    ("apps", "Deployment", POD_TEMPLATE),
    ("apps", "ReplicaSet", POD_TEMPLATE),
    ("batch", "CronJob", &["spec", "jobTemplate", "spec", "template"]),
    ("batch", "Job", POD_TEMPLATE),
];

const POD_TEMPLATE: &[&str] = &["spec", "template"];

/// A pod that a template makes.
#[derive(Debug, PartialEq, Eq)]
pub struct Pod {
    /// As JSON, with what the rules read of a pod's metadata.
    pub text: Vec<u8>,
    /// Where its template is in the workload.
    pub place: Path,
}

/// Whether this is a workload with a template of pods.
pub fn is_workload(item: &Item) -> bool {
    find(item).is_some()
}

fn find(item: &Item) -> Option<&'static (&'static str, &'static str, &'static [&'static str])> {
    WORKLOADS.iter().find(|(group, kind, _)| *group == item.group() && *kind == item.kind)
}

/// The pod of a workload's template; `None` where this is no workload, or it has no template.
///
/// It is owned by the workload, as Odigos asks after the owner to know whether it instruments a pod.
pub fn pod_of(item: &Item, workload: &View) -> Option<Pod> {
    let (_, kind, place) = find(item)?;
    let mut template = workload;
    for key in *place {
        template = template.get(key)?;
    }
    let name = workload.get("metadata").and_then(|metadata| metadata.get("name")).and_then(View::as_str);
    let metadata = template.get("metadata");
    let of_metadata = |key| text_of(metadata.and_then(|metadata| metadata.get(key)));
    let name = quoted(name.unwrap_or_default());
    let mut text =
        format!(r#"{{"metadata":{{"name":{name},"ownerReferences":[{{"kind":"{kind}","name":{name}}}],"labels":"#)
            .into_bytes();
    text.extend_from_slice(of_metadata("labels"));
    text.extend_from_slice(br#","annotations":"#);
    text.extend_from_slice(of_metadata("annotations"));
    text.extend_from_slice(br#"},"spec":"#);
    text.extend_from_slice(text_of(template.get("spec")));
    text.push(b'}');
    Some(Pod { text, place: Path::of(place) })
}

fn text_of<'v>(view: Option<&'v View>) -> &'v [u8] {
    view.map_or(b"null", View::text)
}

/// Whether a ReplicaSet makes no pods: a Deployment keeps those of its former templates.
pub fn is_idle(item: &Item, workload: &View) -> bool {
    let replicas = workload.get("spec").and_then(|spec| spec.get("replicas"));
    item.kind == "ReplicaSet" && replicas.is_some_and(|replicas| replicas.text() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Lines;

    #[test]
    fn a_template_as_a_pod() {
        let text = br#"{"metadata":{"name":"nightly"},"spec":{"jobTemplate":{"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"x":1}}}}}}"#;
        let item =
            Item { text, api_version: "batch/v1".into(), kind: "CronJob".into(), file: "f", lines: Lines::From(1) };
        let pod = pod_of(&item, &View::new(text)).unwrap();
        assert_eq!(pod.place.to_string(), "spec.jobTemplate.spec.template");
        assert_eq!(
            String::from_utf8(pod.text).unwrap(),
            r#"{"metadata":{"name":"nightly","ownerReferences":[{"kind":"CronJob","name":"nightly"}],"labels":{"a":"b"},"annotations":null},"spec":{"x":1}}"#
        );
        assert_eq!(pod_of(&Item { kind: "Job".into(), ..item }, &View::new(b"{}")), None);
    }
}
