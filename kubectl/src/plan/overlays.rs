//! NodeOverlays that tell Karpenter of the device.

use std::collections::BTreeSet;

use odigos_karpenter_policy::cluster::daemon_set::DaemonSet;
use odigos_karpenter_policy::field::{Field, Unreadable};
use odigos_karpenter_policy::json::view::{Content, View, quoted};
use odigos_karpenter_policy::kubernetes::names::is_dns_subdomain;
use odigos_karpenter_policy::odigos::{DEVICE, is_device};
use odigos_karpenter_policy::reach::{self, Template};

use super::lists::shell;

/// The capacity that Odigos' device plugin advertises.
const CAPACITY: &str = "1024";

/// The command that creates the overlay of a pool, under a name that none of those that exist has.
pub fn command<'g>(pool: &str, existing: impl Iterator<Item = &'g str>) -> String {
    let name = format!("odigos-{pool}");
    let mut name = if is_dns_subdomain(&name) { name } else { "odigos-instrumentation".to_owned() };
    let existing: BTreeSet<&str> = existing.collect();
    while existing.contains(name.as_str()) {
        name.push_str("-device");
    }
    let pool = quoted(pool);
    format!(
        "kubectl apply -f - <<'EOF'\n\
         apiVersion: karpenter.sh/v1alpha1\n\
         kind: NodeOverlay\n\
         metadata:\n  name: {name}\n\
         spec:\n  requirements:\n  - key: karpenter.sh/nodepool\n    operator: In\n    values: [{pool}]\n  \
         capacity:\n    {DEVICE}: \"{CAPACITY}\"\n\
         EOF"
    )
}

/// Whether an overlay has a device of Odigos'.
pub fn has_device(overlay: &str) -> bool {
    let view = View::new(overlay.as_bytes());
    let root = Field::root(&view);
    let devices = || -> Result<bool, Unreadable> {
        Ok(root.below(&["spec", "capacity"])?.members()?.any(|(resource, _)| is_device(resource)))
    };
    devices().unwrap_or_default()
}

/// The command that takes Odigos' devices out of an overlay: with the overlay where there is nothing
/// else in it.
pub fn removal(name: &str, overlay: &str) -> Option<String> {
    let view = View::new(overlay.as_bytes());
    let spec = view.get("spec")?;
    let capacity = spec.get("capacity")?;
    let Content::Map(resources) = capacity.content() else { return None };
    let name = shell(name);
    let has = |key| spec.get(key).is_some_and(|value| !value.is_null());
    let (devices, others): (Vec<&str>, Vec<&str>) =
        resources.by_key().into_keys().partition(|resource| is_device(resource));
    if others.is_empty() && !has("price") && !has("priceAdjustment") {
        return Some(format!("kubectl delete nodeoverlays.karpenter.sh {name} --ignore-not-found"));
    }
    let mut operations = format!(r#"{{"op":"test","path":"/spec/capacity","value":{}}}"#, capacity.canonical()?);
    for device in devices {
        let pointer = quoted(&format!("/spec/capacity/{}", device.replace('~', "~0").replace('/', "~1")));
        operations.push_str(&format!(r#",{{"op":"remove","path":{pointer}}}"#));
    }
    Some(format!("kubectl patch nodeoverlays.karpenter.sh {name} --type=json -p {}", shell(&format!("[{operations}]"))))
}

/// Whether the pods of a DaemonSet can run on the nodes of a NodePool.
pub fn can_run_on<'v>(daemon_set: &str, pool: &'v View<'v>) -> bool {
    let reaches = || -> Result<bool, Unreadable> {
        let root = Field::root(pool);
        let spec = root.below(&["spec", "template", "spec"])?;
        let template = Template {
            labels: root.below(&["spec", "template", "metadata", "labels"])?,
            pool: root.below(&["metadata", "name"])?.text()?,
            requirements: spec.at("requirements")?,
            taints: spec.at("taints")?,
        };
        let Ok(daemon_set) = DaemonSet::read(daemon_set.as_bytes().to_vec()) else { return Ok(false) };
        daemon_set.placement(|placement| reach::reaches_template(placement, &template))
    };
    reaches().unwrap_or_default()
}
