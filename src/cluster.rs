//! The cluster, where the settings' `fromCluster` has the policy look into it.
//!
//! Rules ask [`Situation`](crate::situation::Situation), which asks a [`Cluster`]. The one that
//! Kubewarden's host stands for is [`host::HostCluster`]; tests answer from memory.

pub mod daemon_set;
pub mod effective_config;
pub mod host;
pub mod node_overlays;
pub mod workload;

/// What can be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Odigos' configuration as its scheduler resolved it.
    ConfigMap,
    /// odiglet's DaemonSet.
    DaemonSet,
    /// What Odigos instruments of a workload.
    InstrumentationConfig,
    /// What Karpenter is told of devices.
    NodeOverlay,
}

impl Resource {
    /// Its `apiVersion`.
    pub fn api_version(self) -> &'static str {
        match self {
            Resource::ConfigMap => "v1",
            Resource::DaemonSet => "apps/v1",
            Resource::InstrumentationConfig => "odigos.io/v1alpha1",
            Resource::NodeOverlay => "karpenter.sh/v1alpha1",
        }
    }

    /// Its `kind`.
    pub fn kind(self) -> &'static str {
        match self {
            Resource::ConfigMap => "ConfigMap",
            Resource::DaemonSet => "DaemonSet",
            Resource::InstrumentationConfig => "InstrumentationConfig",
            Resource::NodeOverlay => "NodeOverlay",
        }
    }

    /// The fields that are read of one, as dotted paths that pass through lists.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Resource::ConfigMap => &["data"],
            Resource::DaemonSet => &[
                "spec.template.spec.affinity.nodeAffinity",
                "spec.template.spec.initContainers.name",
                "spec.template.spec.nodeSelector",
                "spec.template.spec.tolerations",
                "status.desiredNumberScheduled",
                "status.numberReady",
            ],
            Resource::InstrumentationConfig => &["spec.agentInjectionEnabled"],
            Resource::NodeOverlay => &["spec.capacity", "spec.requirements", "status.conditions"],
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookUpError {
    /// The cluster has no such object.
    NotFound,
    /// Anything else, in words: no grant, no right, no time, nothing that can be read.
    Failed(String),
}

/// What a cluster answers. Answers are JSON text.
pub trait Cluster {
    /// The object of a name in a namespace.
    fn get(&self, resource: Resource, namespace: &str, name: &str) -> Result<Vec<u8>, LookUpError>;

    /// All objects, as a Kubernetes list: `{"items": […]}`. Only of what has no namespace.
    fn list(&self, resource: Resource) -> Result<Vec<u8>, LookUpError>;
}

/// No cluster to look into.
#[derive(Clone, Copy, Debug)]
pub struct NoCluster;

impl Cluster for NoCluster {
    fn get(&self, _: Resource, _: &str, _: &str) -> Result<Vec<u8>, LookUpError> {
        Err(LookUpError::Failed("there is no cluster to look into".to_owned()))
    }

    fn list(&self, _: Resource) -> Result<Vec<u8>, LookUpError> {
        Err(LookUpError::Failed("there is no cluster to look into".to_owned()))
    }
}
