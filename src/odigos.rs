//! Odigos' own words: mount methods, tiers, labels, the startup taint and the device.

use serde::Serialize;

/// The key of the startup taint that odiglet removes once it has prepared a node
/// (Odigos, `k8sutils/pkg/node/node.go`).
pub const TAINT_KEY: &str = "odigos.io/needs-init";

/// The effect of the startup taint; odiglet removes no other.
pub const TAINT_EFFECT: &str = "NoSchedule";

/// The startup taint as people write it.
pub const TAINT: &str = "odigos.io/needs-init:NoSchedule";

/// The extended resource by which Odigos' device plugin puts its files into a container
/// (Odigos, `common/consts/consts.go`).
pub const DEVICE: &str = "instrumentation.odigos.io/generic";

/// The domain of [`DEVICE`], and of the devices that older releases of Odigos had for each language.
pub const DEVICE_DOMAIN: &str = "instrumentation.odigos.io/";

/// The value of every label that odiglet sets.
pub const LABEL_VALUE: &str = "true";

/// The label that Odigos' documentation names and no release of odiglet sets.
pub const LABEL_OF_DOCS: &str = "odigos.io/odiglet-installed";

/// Pod label that Odigos' webhook sets on what it has instrumented, with the hash of the agents'
/// configuration or empty (Odigos, `api/k8sconsts/agentenabled.go`).
pub const AGENTS_HASH_LABEL: &str = "odigos.io/agents-meta-hash";

/// The volume by which Odigos mounts its files.
pub const AGENT_VOLUME: &str = "odigos-agent";

/// The init container by which Odigos copies its files.
pub const AGENT_INIT_CONTAINER: &str = "odigos-agents";

/// Environment variable with the name of a container's OpenTelemetry distribution.
pub const DISTRO_ENV: &str = "ODIGOS_DISTRO_NAME";

/// Environment variable with the name of an instrumented container.
pub const CONTAINER_ENV: &str = "ODIGOS_CONTAINER_NAME";

/// The one distribution that needs no device (Odigos, `distros/yamls`).
pub const DISTRO_WITHOUT_DEVICE: &str = "opentelemetry-ebpf-instrumentation";

/// How Odigos hands its files to a pod (Odigos, `common/odigos_config.go`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum MountMethod {
    /// A device that a device plugin advertises.
    #[default]
    #[serde(rename = "k8s-virtual-device")]
    VirtualDevice,
    /// A directory of the node.
    #[serde(rename = "k8s-host-path")]
    HostPath,
    /// A CSI volume.
    #[serde(rename = "k8s-csi-driver")]
    CsiDriver,
    /// An init container that copies them. Odiglet then has no `init` container and no right to
    /// change nodes: nobody removes the startup taint or sets a label.
    #[serde(rename = "k8s-init-container")]
    InitContainer,
}

impl MountMethod {
    /// All, by Odigos' names.
    pub const ALL: &[(&str, MountMethod)] = &[
        ("k8s-virtual-device", MountMethod::VirtualDevice),
        ("k8s-host-path", MountMethod::HostPath),
        ("k8s-csi-driver", MountMethod::CsiDriver),
        ("k8s-init-container", MountMethod::InitContainer),
    ];

    /// Whether a pod needs odiglet's files on its node, and has no device to wait for them.
    pub fn needs_prepared_node(self) -> bool {
        matches!(self, MountMethod::HostPath | MountMethod::CsiDriver)
    }
}

/// Odigos' tier, which decides the label that odiglet sets
/// (Odigos, `k8sutils/pkg/node/node.go`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The open source distribution.
    #[default]
    Community,
    /// Odigos Cloud.
    Cloud,
    /// Odigos Enterprise.
    Onprem,
}

impl Tier {
    /// All, by Odigos' names.
    pub const ALL: &[(&str, Tier)] =
        &[("community", Tier::Community), ("cloud", Tier::Cloud), ("onprem", Tier::Onprem)];

    /// The label that odiglet of this tier sets to `"true"` on a node that it has prepared.
    pub const fn label(self) -> &'static str {
        match self {
            Tier::Community | Tier::Cloud => "odigos.io/odiglet-oss-installed",
            Tier::Onprem => "odigos.io/odiglet-enterprise-installed",
        }
    }
}

/// The labels that say that odiglet has prepared a node: those of the tiers, and the one of the
/// documentation.
pub const LABELS: [&str; 3] =
    ["odigos.io/odiglet-oss-installed", "odigos.io/odiglet-enterprise-installed", LABEL_OF_DOCS];

/// The label of this name, where it is one that says that odiglet has prepared a node.
pub fn odiglet_label(key: &str) -> Option<&'static str> {
    LABELS.into_iter().find(|label| *label == key)
}

/// The label or device of this name, where it is one of Odigos'.
pub fn word(name: &str) -> Option<&'static str> {
    odiglet_label(name).or((name == DEVICE).then_some(DEVICE))
}

/// Whether a resource is Odigos' device, or one of an older release.
pub fn is_device(resource: &str) -> bool {
    resource.starts_with(DEVICE_DOMAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_of_each_tier_is_known() {
        for (_, tier) in Tier::ALL {
            assert_eq!(odiglet_label(tier.label()), Some(tier.label()));
        }
    }
}
