//! Karpenter's NodePools and NodeClaims, their forerunners Provisioner and Machine, and
//! NodeOverlays.

pub mod drift;
pub mod node_overlay;

use crate::edit::Edit;
use crate::field::{Field, Unreadable};
use crate::finding::{Cost, Finding, Hint, Report};
use crate::kind::{Kind, Operation};
use crate::message::Message;
use crate::odigos::{DEVICE, TAINT, is_device};
use crate::reach::{self, NODEPOOL_LABEL, Template};
use crate::request::Request;
use crate::rule::Rule;
use crate::settings::Settings;
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
pub fn judge_pool<'r>(request: &'r Request<'r>, settings: &Settings, report: &mut Report) -> Result<(), Unreadable> {
    let root = Field::root(&request.object);
    let change = match request.operation {
        Operation::Create => Change::Created,
        Operation::Update => match &request.old_object {
            Some(old) => drift::change(&Field::root(old), &root)?,
            None => Change::Nothing,
        },
    };
    let pool = root.below(&["metadata", "name"])?.text()?;
    if pool.is_some_and(|pool| settings.excludes(pool)) {
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
    judge_taints(&spec, &template, settings, report)?;
    match change {
        Change::Created | Change::Hash if nodepool => hints(&spec, &template, settings, report),
        Change::Created | Change::Hash => Ok(()),
        Change::Spec | Change::Nothing => {
            report.cost = Cost::Drift { spec_changes: change == Change::Spec };
            Ok(())
        }
    }
}

/// Judges a NodeClaim or a Machine that is new.
pub fn judge_claim<'r>(request: &'r Request<'r>, settings: &Settings, report: &mut Report) -> Result<(), Unreadable> {
    let root = Field::root(&request.object);
    let labels = root.below(&["metadata", "labels"])?;
    if pools_of_labels(&labels)?.iter().any(|pool| settings.excludes(pool)) {
        return Ok(());
    }
    let spec = root.at("spec")?;
    spec.must_be_map()?;
    let template = Template { labels, pool: None, requirements: spec.at("requirements")?, taints: spec.at("taints")? };
    judge_taints(&spec, &template, settings, report)?;
    if request.kind == Kind::NodeClaim { judge_device(&spec, &template, settings, report) } else { Ok(()) }
}

/// `startup-taint-…`
fn judge_taints<'v>(
    spec: &Field<'v, '_>,
    template: &Template<'v, '_>,
    settings: &Settings,
    report: &mut Report,
) -> Result<(), Unreadable> {
    let occurrences = Occurrences::read(&spec.at("startupTaints")?, Some(&template.taints))?;
    let untainted = || Ok(settings.untainting() && reach::reaches_template(&settings.odiglet, template)?);
    if occurrences.is_empty() {
        if settings.gated() && untainted()? {
            report.findings.push(occurrences.missing());
        }
    } else if untainted()? {
        report.findings.extend(occurrences.misplaced());
    } else {
        report.findings.extend(occurrences.orphaned());
    }
    Ok(())
}

/// `karpenter-integration-off` and `odiglet-intolerant`
fn hints(spec: &Field, template: &Template, settings: &Settings, report: &mut Report) -> Result<(), Unreadable> {
    let needs_prepared_node = settings.odiglet.installed && settings.mount_method.needs_prepared_node();
    let integration_off = needs_prepared_node && !settings.karpenter_enabled;
    let intolerant = settings.gated() && !settings.odiglet_tolerates_startup_taint();
    if !(integration_off || intolerant) || !reach::reaches_template(&settings.odiglet, template)? {
        return Ok(());
    }
    report.hints.push(if integration_off {
        Hint {
            rule: Some(Rule::KarpenterIntegrationOff),
            path: spec.path(),
            problem: "Odigos' node affinity keeps Karpenter from provisioning for instrumented pods".into(),
            remedy: "enable Odigos' Karpenter integration, then set karpenterEnabled".into(),
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

/// `device-orphaned`, for a claim: it waits until its node has every resource that it asks for.
fn judge_device(spec: &Field, template: &Template, settings: &Settings, report: &mut Report) -> Result<(), Unreadable> {
    let requests = spec.below(&["resources", "requests"])?;
    let asked: Vec<_> = requests.members()?.filter(|(resource, _)| is_device(resource)).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let advertised = settings.uses_device() && reach::reaches_template(&settings.odiglet, template)?;
    for (resource, field) in asked {
        if advertised && resource == DEVICE {
            continue;
        }
        report.findings.push(Finding {
            rule: Rule::DeviceOrphaned,
            path: field.path(),
            problem: "is on none of its nodes, so the claim never initializes".into(),
            remedy: "remove it, and from the pods that ask for it".into(),
            edits: vec![Edit::Remove(field.path())],
        });
    }
    Ok(())
}
