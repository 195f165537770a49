//! odiglet's DaemonSet, as far as it tells where odiglet runs and what it does there.

use crate::field::{Field, Unreadable};
use crate::json::view::{Content, View};
use crate::kubernetes::requirement::Requirement;
use crate::kubernetes::toleration::Toleration;
use crate::reach::{Placement, Term};

/// The init container that prepares a node and takes the startup taint away
/// (Odigos, `helm/odigos/templates/odiglet/daemonset.yaml`).
const INIT_CONTAINER: &str = "init";

/// The DaemonSet. Where its pods may run is read anew from the text each time it is asked for.
#[derive(Clone, Debug)]
pub struct DaemonSet {
    text: Vec<u8>,
    /// Whether its pods prepare a node: it was rendered for a mount method that needs it.
    pub prepares_nodes: bool,
    /// How many pods are wanted, where not one of them is ready.
    pub none_ready_of: Option<u64>,
}

impl DaemonSet {
    /// Reads it. The error says what can't be read.
    pub fn read(text: Vec<u8>) -> Result<Self, String> {
        let (prepares_nodes, none_ready_of) = {
            let view = View::new(&text);
            facts(&Field::root(&view)).map_err(why)?
        };
        Ok(DaemonSet { text, prepares_nodes, none_ready_of })
    }

    /// What `ask` says of where its pods may run.
    pub fn placement<R>(&self, ask: impl FnOnce(&Placement) -> R) -> R {
        let view = View::new(&self.text);
        let placement = placement(&Field::root(&view)).unwrap_or_default();
        ask(&placement)
    }
}

fn facts<'v>(daemon_set: &Field<'v, '_>) -> Result<(bool, Option<u64>), Unreadable> {
    placement(daemon_set)?;
    let mut prepares_nodes = false;
    let spec = daemon_set.below(&["spec", "template", "spec"])?;
    spec.must_be_map()?;
    for container in spec.at("initContainers")?.entries()? {
        prepares_nodes |= container.at("name")?.text()? == Some(INIT_CONTAINER);
    }
    let status = daemon_set.at("status")?;
    let wanted = count(&status.at("desiredNumberScheduled")?)?;
    let ready = count(&status.at("numberReady")?)?;
    Ok((prepares_nodes, (wanted > 0 && ready == 0).then_some(wanted)))
}

fn placement<'v>(daemon_set: &Field<'v, '_>) -> Result<Placement<'v>, Unreadable> {
    let spec = daemon_set.below(&["spec", "template", "spec"])?;
    let mut node_selector = Vec::new();
    for (key, value) in spec.at("nodeSelector")?.members()? {
        node_selector.push((key, value.text()?.unwrap_or_default()));
    }
    let mut tolerations = Vec::new();
    for entry in spec.at("tolerations")?.entries()? {
        tolerations.push(Toleration::read(&entry)?);
    }
    let required = spec.below(&["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"])?;
    let mut terms = None;
    if !required.is_absent() {
        let mut read = Vec::new();
        for term in required.at("nodeSelectorTerms")?.entries()? {
            read.push(Term {
                expressions: Requirement::read_all(&term.at("matchExpressions")?)?,
                fields: Requirement::read_all(&term.at("matchFields")?)?,
            });
        }
        terms = Some(read);
    }
    Ok(Placement { node_selector: node_selector.into(), tolerations: tolerations.into(), terms })
}

/// A number of pods, 0 where there is none.
fn count(field: &Field) -> Result<u64, Unreadable> {
    match field.content() {
        None | Some(Content::Null) => Ok(0),
        Some(Content::Number(number)) => number.parse().map_err(|_| field.unreadable("a number of pods")),
        Some(_) => Err(field.unreadable("a number of pods")),
    }
}

fn why(unreadable: Unreadable) -> String {
    format!("{} is {} where {} belongs", unreadable.path, unreadable.found, unreadable.expected)
}
