//! The cluster as it will be after a change.

use odigos_karpenter_policy::cluster::daemon_set::DaemonSet;
use odigos_karpenter_policy::cluster::{Cluster, LookUpError, Resource};
use odigos_karpenter_policy::edit::Edit;
use odigos_karpenter_policy::json::splice::splice;
use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::odigos::MountMethod;
use odigos_karpenter_policy::path::Path;

use super::change::State;
use crate::gathered::Gathered;

/// What is in the input, with odiglet as it will be rendered: where it prepares nodes it has the init
/// container that does, and it is ready.
pub struct Planned<'g> {
    gathered: &'g Gathered,
    odiglet: Option<Vec<u8>>,
}

impl<'g> Planned<'g> {
    /// The cluster after a change.
    pub fn new(gathered: &'g Gathered, after: State) -> Self {
        let odiglet = gathered.odiglet().map(|text| {
            let mut edits = vec![Edit::Set(Path::of(&["status"]), "{}".into())];
            if after.mount_method != MountMethod::InitContainer {
                let init_containers = Path::of(&["spec", "template", "spec", "initContainers"]);
                edits.push(Edit::Append(init_containers, r#"{"name":"init"}"#.into()));
            }
            let mut planned = Vec::new();
            match splice(&View::new(text.as_bytes()), &edits, &mut planned) {
                Some(()) => planned,
                None => text.as_bytes().to_vec(),
            }
        });
        Planned { gathered, odiglet }
    }
}

impl Cluster for Planned<'_> {
    fn get(&self, resource: Resource, namespace: &str, name: &str) -> Result<Vec<u8>, LookUpError> {
        match resource {
            Resource::DaemonSet => self.odiglet.clone().ok_or(LookUpError::NotFound),
            _ => self.gathered.get(resource, namespace, name),
        }
    }

    fn list(&self, resource: Resource) -> Result<Vec<u8>, LookUpError> {
        self.gathered.list(resource)
    }
}

/// How many pods of odiglet are wanted where none is ready now.
pub fn none_ready_of(gathered: &Gathered) -> Option<u64> {
    DaemonSet::read(gathered.odiglet()?.as_bytes().to_vec()).ok()?.none_ready_of
}
