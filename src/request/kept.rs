//! What is kept of an object: a rule that reads more must say so here.

use crate::json::keep::Keep;
use crate::kubernetes::MIRROR_ANNOTATION;
use crate::odigos::{AGENT_VOLUME, CONTAINER_ENV, DISTRO_ENV, is_device};

/// What rules read of an object, whatever its kind; a test holds it against every rule.
pub const READ_BY_RULES: Keep = Keep::Fields(&[("metadata", METADATA), ("spec", SPEC)]);

const METADATA: Keep = Keep::Fields(&[
    ("name", Keep::All),
    ("generateName", Keep::All),
    ("namespace", Keep::All),
    ("deletionTimestamp", Keep::All),
    ("labels", Keep::All),
    ("annotations", Keep::Members(|key| key == MIRROR_ANNOTATION)),
]);

const SPEC: Keep = Keep::Fields(&[
    ("affinity", Keep::Fields(&[("nodeAffinity", Keep::All)])),
    ("capacity", Keep::All),
    ("containers", CONTAINERS),
    ("initContainers", CONTAINERS),
    ("labels", Keep::All),
    ("nodeName", Keep::All),
    ("nodeSelector", Keep::All),
    ("os", Keep::All),
    ("requirements", Keep::All),
    ("resources", RESOURCES),
    ("schedulerName", Keep::All),
    ("startupTaints", Keep::All),
    ("taints", Keep::All),
    ("template", TEMPLATE),
    ("tolerations", Keep::All),
    ("volumes", Keep::Each(&Keep::Named(&[AGENT_VOLUME]))),
]);

const TEMPLATE: Keep = Keep::Fields(&[
    ("metadata", Keep::Fields(&[("labels", Keep::All)])),
    ("spec", Keep::Fields(&[("requirements", Keep::All), ("startupTaints", Keep::All), ("taints", Keep::All)])),
]);

const CONTAINERS: Keep = Keep::Each(&Keep::Fields(&[
    ("name", Keep::All),
    ("env", Keep::Each(&Keep::Named(&[DISTRO_ENV, CONTAINER_ENV]))),
    ("resources", RESOURCES),
]));

const RESOURCES: Keep = Keep::Fields(&[("requests", Keep::Members(is_device)), ("limits", Keep::Members(is_device))]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::keep::parse;
    use serde_json::json;

    #[test]
    fn only_what_rules_read() {
        let pod = json!({
            "apiVersion": "v1",
            "metadata": {"name": "p", "annotations": {"a": "b", "kubernetes.io/config.mirror": "x"}, "managedFields": [1]},
            "spec": {
                "containers": [{
                    "name": "app", "image": "x",
                    "env": [{"name": "A", "value": "b"}, {"value": "java", "name": "ODIGOS_DISTRO_NAME", "valueFrom": null}, 5],
                    "resources": {"limits": {"cpu": 1, "instrumentation.odigos.io/generic": 1.5}, "requests": "x"}
                }],
                "volumes": [{"name": "v", "csi": {}}, {"name": "odigos-agent", "csi": {}}],
                "initContainers": {"a": 1}, "affinity": {"podAffinity": {}, "nodeAffinity": {"x": [null]}}, "taints": true
            },
            "status": {"phase": "Running"}
        });
        let kept = parse(&serde_json::to_vec(&pod).unwrap(), &READ_BY_RULES).unwrap();
        assert_eq!(
            kept,
            json!({
                "metadata": {"name": "p", "annotations": {"kubernetes.io/config.mirror": "x"}},
                "spec": {
                    "containers": [{
                        "name": "app",
                        "env": [null, {"value": "java", "name": "ODIGOS_DISTRO_NAME"}, 5],
                        "resources": {"limits": {"instrumentation.odigos.io/generic": 1.5}, "requests": "x"}
                    }],
                    "volumes": [null, {"name": "odigos-agent"}],
                    "initContainers": {}, "affinity": {"nodeAffinity": {"x": [null]}}, "taints": true
                }
            })
        );
    }
}
