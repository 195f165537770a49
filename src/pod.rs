//! Pods: which are Odigos' business, and what is judged in them.

pub mod affinity;
pub mod container;
pub mod device;
pub mod toleration;

use crate::cluster::workload;
use crate::field::{Field, Unreadable};
use crate::finding::Report;
use crate::json::scan::may_say_odigos;
use crate::json::view::View;
use crate::kubernetes::MIRROR_ANNOTATION;
use crate::kubernetes::requirement::Requirement;
use crate::odigos::{AGENT_INIT_CONTAINER, AGENT_VOLUME, AGENTS_HASH_LABEL};
use crate::request::{Envelope, Request};
use crate::settings::Settings;
use crate::situation::Situation;
use affinity::{REQUIRED, required_label, selected_label};
use container::{Container, Devices};

/// Judges a Pod that is new.
pub fn judge<'r>(request: &'r Request<'r>, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    let settings = situation.settings;
    let root = Field::root(&request.object);
    if request.namespace == settings.odiglet.namespace {
        return Ok(());
    }
    let metadata = root.at("metadata")?;
    if !metadata.at("annotations")?.member(MIRROR_ANNOTATION)?.is_absent() {
        return Ok(());
    }
    let spec = root.at("spec")?;
    spec.must_be_map()?;
    let labels = metadata.at("labels")?;
    if is_bound(&spec)? && !request.audit || is_windows(&spec)? || is_fargate(&spec, &labels)? {
        return Ok(());
    }
    let containers = Container::read_all(&spec, "containers")?;
    let init_containers = Container::read_all(&spec, "initContainers")?;
    let selected = match &settings.pods.selector {
        Some(selector) => selector.matches(|label| labels.member(label)?.text())?,
        None => false,
    };
    if !selected && !is_marked(&root, &labels, &containers, &init_containers)? {
        if situation.asks_for_instrumentation_configs() {
            return judge_before_odigos(&root, request, situation, report);
        }
        return Ok(());
    }
    affinity::judge(&root, situation, report)?;
    device::judge(&spec, &containers, &init_containers, selected, situation, report)?;
    toleration::judge(&spec, situation, report)
}

/// Judges a pod that bears no mark, for Odigos' webhook is yet to come: where the cluster says that it
/// will be instrumented, it is made to wait for a prepared node. The device is Odigos' to set.
fn judge_before_odigos(
    pod: &Field,
    request: &Request,
    situation: &Situation,
    report: &mut Report,
) -> Result<(), Unreadable> {
    let Some(config) = workload::instrumentation_config_of(&pod.at("metadata")?)? else { return Ok(()) };
    if affinity::waits_for_label(situation) && situation.will_instrument(&request.namespace, &config) {
        affinity::judge(pod, situation, report)?;
    }
    Ok(())
}

/// Whether the text alone tells that a pod is none of Odigos' business: neither a selector nor the
/// cluster could say that it is, and nowhere does it say `odigos`, as every mark does, unless by an
/// escape of a letter.
///
/// Nearly all pods are such ones, and parsing them is all that they would cost. That they have a
/// `spec` is seen to here; other shapes that can't be read matter only in a pod that is.
pub fn is_none_of_odigos(envelope: &Envelope, settings: &Settings) -> bool {
    let plain = |pod: &View| pod.get("spec").is_some_and(View::is_map) && !may_say_odigos(pod.text());
    let asks = settings.from_cluster.instrumentation_configs;
    settings.pods.selector.is_none() && !asks && envelope.object.as_ref().is_some_and(plain)
}

/// Whether the pod has its node already.
fn is_bound(spec: &Field) -> Result<bool, Unreadable> {
    Ok(spec.at("nodeName")?.text()?.is_some_and(|node| !node.is_empty()))
}

fn is_windows(spec: &Field) -> Result<bool, Unreadable> {
    let selector = spec.at("nodeSelector")?;
    Ok(spec.below(&["os", "name"])?.text()? == Some("windows")
        || selector.member("kubernetes.io/os")?.text()? == Some("windows")
        || selector.member("beta.kubernetes.io/os")?.text()? == Some("windows"))
}

fn is_fargate(spec: &Field, labels: &Field) -> Result<bool, Unreadable> {
    Ok(spec.at("schedulerName")?.text()? == Some("fargate-scheduler")
        || !labels.member("eks.amazonaws.com/fargate-profile")?.is_absent())
}

/// Whether the pod bears a mark of Odigos: its webhook has been here, or somebody has written
/// what it writes.
fn is_marked(
    pod: &Field,
    labels: &Field,
    containers: &[Container],
    init_containers: &[Container],
) -> Result<bool, Unreadable> {
    Ok(!labels.member(AGENTS_HASH_LABEL)?.is_absent()
        || containers.iter().any(|container| container.has_odigos_env)
        || containers.iter().chain(init_containers).any(|container| !container.devices.is_empty())
        || init_containers.iter().any(|container| container.name == AGENT_INIT_CONTAINER)
        || has_agent_volume(pod)?
        || !Devices::read(&pod.below(&["spec", "resources"])?)?.is_empty()
        || requires_prepared_node(pod)?)
}

fn has_agent_volume(pod: &Field) -> Result<bool, Unreadable> {
    for volume in pod.below(&["spec", "volumes"])?.entries()? {
        if volume.at("name")?.text()? == Some(AGENT_VOLUME) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an odiglet label is required, in a required term or in the node selector.
fn requires_prepared_node(pod: &Field) -> Result<bool, Unreadable> {
    for (key, value) in pod.below(&["spec", "nodeSelector"])?.members()? {
        if selected_label(key, &value)?.is_some() {
            return Ok(true);
        }
    }
    for term in pod.below(REQUIRED)?.at("nodeSelectorTerms")?.entries()? {
        for expression in term.at("matchExpressions")?.entries()? {
            if required_label(&Requirement::read(&expression)?).is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
