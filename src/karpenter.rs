//! Karpenter's NodePools and NodeClaims, their forerunners Provisioner and Machine, and
//! NodeOverlays.

pub mod drift;
pub mod node_overlay;

use std::cell::OnceCell;

use crate::cluster::{self, Resource};
use crate::edit::Edit;
use crate::field::{Field, Unreadable};
use crate::finding::{Cost, Finding, Hint, Report};
use crate::kind::{Kind, Operation};
use crate::message::{Message, Piece};
use crate::odigos::{DEVICE, TAINT, is_device};
use crate::reach::{self, NODEPOOL_LABEL, Template};
use crate::request::Request;
use crate::rule::Rule;
use crate::situation::Situation;
use crate::startup_taint::Occurrences;
use drift::Change;

/// The label with the name of a v1alpha5 node's pool.
pub const PROVISIONER_LABEL: &str = "karpenter.sh/provisioner-name";

/// The names of the pools that labels name: none, or one by each of the two labels.
pub fn pools_of_labels<'v>(labels: &Field<'v, '_>) -> Result<Vec<&'v str>, Unreadable> {
    let (nodepool, provisioner) = (labels.member(NODEPOOL_LABEL)?.text()?, labels.member(PROVISIONER_LABEL)?.text()?);
    Ok(nodepool.into_iter().chain(provisioner).collect())
}

/// Judges a NodePool or a Provisioner.
pub fn judge_pool<'r>(request: &'r Request<'r>, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    let root = Field::root(&request.object);
    let pool = root.below(&["metadata", "name"])?.text()?;
    if pool.is_some_and(|pool| situation.settings.excludes(pool)) {
        return Ok(());
    }
    let nodepool = request.kind == Kind::NodePool;
    let spec = if nodepool { root.below(&["spec", "template", "spec"])? } else { root.at("spec")? };
    spec.must_be_map()?;
    let template = Template {
        labels: if nodepool { root.below(&["spec", "template", "metadata", "labels"])? } else { spec.at("labels")? },
        pool: pool.filter(|_| nodepool),
        requirements: spec.at("requirements")?,
        taints: spec.at("taints")?,
    };
    let nodes = NewNodes::of(template, situation);
    let occurrences = Occurrences::read(&spec.at("startupTaints")?, Some(&nodes.template.taints))?;
    if occurrences.is_empty() && nodes.are_known_out_of_reach()? {
        return Ok(());
    }
    if !occurrences.is_empty() && situation.is_gone() {
        report.hints.extend(occurrences.orphaned().into_iter().map(left_behind));
    } else {
        judge_taints(&occurrences, &nodes, report)?;
    }
    if nodepool && situation.asks_for_node_overlays() && drift::changes_template(request)? {
        node_overlays(&nodes, report)?;
    }
    let change = match request.operation {
        Operation::Create => Change::Created,
        Operation::Update => match &request.old_object {
            Some(old) => drift::change(&Field::root(old), &root)?,
            None => Change::Nothing,
        },
    };
    match change {
        Change::Created | Change::Hash if nodepool => hints(&spec, &nodes, report),
        Change::Created | Change::Hash => Ok(()),
        Change::Spec | Change::Nothing => {
            report.cost = Cost::Drift { spec_changes: change == Change::Spec };
            Ok(())
        }
    }
}

/// Judges a NodeClaim or a Machine that is new.
pub fn judge_claim<'r>(request: &'r Request<'r>, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    let root = Field::root(&request.object);
    let labels = root.below(&["metadata", "labels"])?;
    if pools_of_labels(&labels)?.iter().any(|pool| situation.settings.excludes(pool)) {
        return Ok(());
    }
    let spec = root.at("spec")?;
    spec.must_be_map()?;
    let template = Template { labels, pool: None, requirements: spec.at("requirements")?, taints: spec.at("taints")? };
    let nodes = NewNodes::of(template, situation);
    let occurrences = Occurrences::read(&spec.at("startupTaints")?, Some(&nodes.template.taints))?;
    if !occurrences.is_empty() || !nodes.are_known_out_of_reach()? {
        judge_taints(&occurrences, &nodes, report)?;
    }
    if request.kind == Kind::NodeClaim { judge_device(&spec, &nodes, report) } else { Ok(()) }
}

/// The nodes that are to be launched from a template, in a situation.
struct NewNodes<'v, 'p, 's> {
    template: Template<'v, 'p>,
    situation: &'s Situation<'s>,
    within_reach: OnceCell<bool>,
}

impl<'v, 'p, 's> NewNodes<'v, 'p, 's> {
    fn of(template: Template<'v, 'p>, situation: &'s Situation<'s>) -> Self {
        NewNodes { template, situation, within_reach: OnceCell::new() }
    }

    /// Whether odiglet can run on them.
    fn are_within_reach(&self) -> Result<bool, Unreadable> {
        if let Some(known) = self.within_reach.get() {
            return Ok(*known);
        }
        let reached = self.situation.placement(|odiglet| reach::reaches_template(odiglet, &self.template))?;
        Ok(*self.within_reach.get_or_init(|| reached))
    }

    /// Whether odiglet can't run on them by the settings, and the cluster is not asked.
    fn are_known_out_of_reach(&self) -> Result<bool, Unreadable> {
        Ok(!self.situation.asks_after_odiglet() && !self.are_within_reach()?)
    }

    /// Whether odiglet takes the startup taint away from them.
    fn are_untainted(&self) -> Result<bool, Unreadable> {
        Ok(self.situation.untainting() && self.are_within_reach()?)
    }
}

/// `startup-taint-…`
fn judge_taints(occurrences: &Occurrences, nodes: &NewNodes, report: &mut Report) -> Result<(), Unreadable> {
    let situation = nodes.situation;
    if occurrences.is_empty() {
        if situation.gated() && nodes.are_untainted()? && situation.none_ready_of().is_none() {
            report.findings.push(occurrences.missing());
        }
    } else if nodes.are_untainted()? {
        report.findings.extend(occurrences.misplaced());
    } else {
        report.findings.extend(occurrences.orphaned());
    }
    Ok(())
}

/// What is said of a leftover in a pool while Odigos is not in the cluster: it may be on its way, and
/// taking the taint away would replace every node.
fn left_behind(finding: Finding) -> Hint {
    Hint {
        rule: Some(finding.rule),
        path: finding.path,
        problem: Message::from([TAINT.into(), " stays, for Odigos is not in the cluster".into()]),
        remedy: "remove it unless Odigos is being installed".into(),
    }
}

/// `karpenter-integration-off` and `odiglet-intolerant`, and that odiglet is not ready: a bad image
/// must not block every new node.
fn hints(spec: &Field, nodes: &NewNodes, report: &mut Report) -> Result<(), Unreadable> {
    let situation = nodes.situation;
    let needs_prepared_node = situation.mount_method().needs_prepared_node() && situation.installed();
    let integration_off = needs_prepared_node && !situation.karpenter_enabled();
    let intolerant = situation.gated() && !situation.odiglet_tolerates_startup_taint();
    let none_ready_of = if situation.gated() && situation.untainting() { situation.none_ready_of() } else { None };
    if !(integration_off || intolerant || none_ready_of.is_some()) || !nodes.are_within_reach()? {
        return Ok(());
    }
    report.hints.push(if let Some(wanted) = none_ready_of {
        Hint {
            rule: Some(Rule::StartupTaintMissing),
            path: spec.path().key("startupTaints"),
            problem: Message::from([
                "no taint is added meanwhile, for none of odiglet's ".into(),
                Piece::Text(wanted.to_string().into()),
                " pods is ready".into(),
            ]),
            remedy: "see why odiglet does not start".into(),
        }
    } else if integration_off {
        Hint {
            rule: Some(Rule::KarpenterIntegrationOff),
            path: spec.path(),
            problem: "Karpenter launches nothing for pods with Odigos' node affinity".into(),
            remedy: "enable Karpenter in Odigos, then set karpenterEnabled".into(),
        }
    } else {
        Hint {
            rule: Some(Rule::OdigletIntolerant),
            path: spec.path().key("startupTaints"),
            problem: Message::from(["no taint set, for odiglet does not tolerate ".into(), TAINT.into()]),
            remedy: "add that toleration to odiglet and to odiglet.tolerations".into(),
        }
    });
    Ok(())
}

/// `node-overlay-missing`
fn node_overlays(nodes: &NewNodes, report: &mut Report) -> Result<(), Unreadable> {
    let situation = nodes.situation;
    if !situation.uses_device() || !situation.karpenter_enabled() || !nodes.are_within_reach()? {
        return Ok(());
    }
    let Some(list) = situation.node_overlays() else { return Ok(()) };
    match cluster::node_overlays::missing(&list, &nodes.template) {
        Ok(hints) => report.hints.extend(hints),
        Err(why) => situation.fail(Resource::NodeOverlay, "", why),
    }
    Ok(())
}

/// `device-orphaned`, for a claim: it waits until its node has every resource that it asks for.
fn judge_device(spec: &Field, nodes: &NewNodes, report: &mut Report) -> Result<(), Unreadable> {
    let requests = spec.below(&["resources", "requests"])?;
    let asked: Vec<_> = requests.members()?.filter(|(resource, _)| is_device(resource)).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let advertised = nodes.situation.uses_device() && nodes.are_within_reach()?;
    for (resource, field) in asked {
        if advertised && resource == DEVICE {
            continue;
        }
        report.findings.push(Finding {
            rule: Rule::DeviceOrphaned,
            path: field.path(),
            problem: "is on no node of its, so it never initializes".into(),
            remedy: "remove it, from the pods too".into(),
            edits: vec![Edit::Remove(field.path())],
        });
    }
    Ok(())
}
