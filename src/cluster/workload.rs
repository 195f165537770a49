//! Which workload a pod belongs to, as Odigos derives it
//! (Odigos, `k8sutils/pkg/workload/ownerreference.go`).

use crate::field::{Field, Unreadable};
use crate::kubernetes::names::is_dns_subdomain;

/// The label that Argo Rollouts puts on the pods of its ReplicaSets, in place of a Deployment's.
const ROLLOUT_LABEL: &str = "rollouts-pod-template-hash";

/// Kinds whose pods keep their name.
const WORKLOADS: &[&str] = &["deployment", "statefulset", "daemonset", "cronjob", "deploymentconfig", "rollout"];

/// The name of the InstrumentationConfig of the workload that owns a pod: `deployment-web`. `None`
/// where Odigos knows no such workload.
pub fn instrumentation_config_of(metadata: &Field) -> Result<Option<String>, Unreadable> {
    let is_rollout = metadata.at("labels")?.map()?.is_some_and(|labels| labels.get(ROLLOUT_LABEL).is_some());
    for owner in metadata.at("ownerReferences")?.entries()? {
        let kind = owner.at("kind")?.text()?.unwrap_or_default().to_ascii_lowercase();
        let name = owner.at("name")?.text()?.unwrap_or_default();
        let generated_by = match kind.as_str() {
            "replicaset" if is_rollout => "rollout",
            "replicaset" => "deployment",
            "replicationcontroller" => "deploymentconfig",
            "job" => "cronjob",
            kind if WORKLOADS.contains(&kind) => return Ok(named(kind, name)),
            _ => continue,
        };
        // The name was made of the workload's and a suffix. Where it has none, Odigos gives up.
        return Ok(name.rsplit_once('-').and_then(|(workload, _)| named(generated_by, workload)));
    }
    Ok(None)
}

/// `None` where no object can have the name: owners are checked only after mutation.
fn named(kind: &str, workload: &str) -> Option<String> {
    Some(format!("{kind}-{workload}").to_ascii_lowercase()).filter(|name| is_dns_subdomain(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::view::View;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"ownerReferences":[{"kind":"ReplicaSet","name":"web-api-5f7"}]}"#, Some("deployment-web-api"))]
    #[case(
        r#"{"labels":{"rollouts-pod-template-hash":""},"ownerReferences":[{"kind":"ReplicaSet","name":"web-5f7"}]}"#,
        Some("rollout-web")
    )]
    #[case(r#"{"ownerReferences":[{"kind":"Job","name":"report-28"}]}"#, Some("cronjob-report"))]
    #[case(r#"{"ownerReferences":[{"kind":"Job","name":"report"},{"kind":"DaemonSet","name":"a"}]}"#, None)]
    #[case(
        r#"{"ownerReferences":[{"kind":"Workflow","name":"x-y"},{"kind":"StatefulSet","name":"DB"}]}"#,
        Some("statefulset-db")
    )]
    #[case(r#"{"ownerReferences":[{"kind":"Node","name":"n"}]}"#, None)]
    #[case(r#"{"ownerReferences":[{"kind":"StatefulSet","name":"../x?y"}]}"#, None)]
    #[case("{}", None)]
    fn owners(#[case] metadata: &str, #[case] expected: Option<&str>) {
        let metadata = View::new(metadata.as_bytes());
        let name = instrumentation_config_of(&Field::root(&metadata)).unwrap();
        assert_eq!(name.as_deref(), expected);
    }
}
