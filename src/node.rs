//! Nodes.

use crate::field::{Field, Unreadable};
use crate::finding::{Cost, Hint, Report};
use crate::karpenter::pools_of_labels;
use crate::kind::Operation;
use crate::kubernetes::taint::Taint;
use crate::message::Message;
use crate::odigos::{LABEL_VALUE, LABELS, TAINT};
use crate::reach;
use crate::request::Request;
use crate::rule::Rule;
use crate::settings::Include;
use crate::situation::Situation;
use crate::startup_taint::Occurrences;

/// Set by a provider whose nodes register with all taints of their claim, so that Karpenter adds
/// none of them (Karpenter, `pkg/controllers/nodeclaim/lifecycle/registration.go`).
const DO_NOT_SYNC_LABEL: &str = "karpenter.sh/do-not-sync-taints";

/// The taint that every node of Karpenter's registers with.
const UNREGISTERED_TAINT: &str = "karpenter.sh/unregistered";

/// Set to `"true"` by Karpenter once all startup taints are gone.
const INITIALIZED_LABEL: &str = "karpenter.sh/initialized";

/// Judges a Node. On an UPDATE it is only freed of a taint that nothing removes, and in passing:
/// odiglet removes the taint with an UPDATE, and NodeRestriction refuses a kubelet's update in
/// which taints change.
pub fn judge<'r>(request: &'r Request<'r>, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    match request.operation {
        Operation::Create => judge_new(request, situation, report),
        Operation::Update => {
            report.cost = Cost::Silent;
            if !request.by_kubelet && judge_new(request, situation, report).is_ok() {
                report.findings.retain(|finding| finding.rule == Rule::StartupTaintOrphaned);
            } else {
                report.findings.clear();
            }
            report.hints.clear();
            Ok(())
        }
    }
}

fn judge_new<'r>(request: &'r Request<'r>, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    let settings = situation.settings;
    let root = Field::root(&request.object);
    let labels = root.below(&["metadata", "labels"])?;
    let node = reach::Node {
        name: root.below(&["metadata", "name"])?.text()?.unwrap_or_default(),
        labels,
        taints: root.below(&["spec", "taints"])?,
    };
    let pools = pools_of_labels(&labels)?;
    let brings_its_taints = !labels.member(DO_NOT_SYNC_LABEL)?.is_absent();
    let karpenters = !pools.is_empty() || brings_its_taints || has_taint(&node.taints, UNREGISTERED_TAINT)?;
    if !karpenters && settings.nodes.include == Include::Karpenter || pools.iter().any(|pool| settings.excludes(pool)) {
        return Ok(());
    }
    let occurrences = Occurrences::read(&node.taints, None)?;
    let reached = || situation.placement(|odiglet| reach::reaches_node(odiglet, &node));
    let untainted = || Ok(situation.untainting() && reached()?);
    if !occurrences.is_empty() {
        report.findings.extend(if untainted()? { occurrences.misplaced() } else { occurrences.orphaned() });
        return Ok(());
    }
    if request.operation == Operation::Update {
        return Ok(());
    }
    let may_be_excluded = karpenters && pools.is_empty() && !settings.node_pools.exclude.is_empty();
    let may_start = || situation.placement(|odiglet| reach::may_start_on(odiglet, &node));
    if may_be_excluded
        || is_prepared(&labels)?
        || !(situation.asks_after_odiglet() || reached()? && may_start()?)
        || !situation.gated()
        || !untainted()?
        || !may_start()?
        || situation.none_ready_of().is_some()
    {
        return Ok(());
    }
    if brings_its_taints {
        report.hints.push(Hint {
            rule: Some(Rule::StartupTaintMissing),
            path: node.taints.path(),
            problem: Message::from([
                "its NodeClaim lacks ".into(),
                TAINT.into(),
                ", so Karpenter takes it for permanent".into(),
            ]),
            remedy: "let the policy see NodeClaims, then replace it".into(),
        });
    } else {
        report.findings.push(occurrences.missing());
    }
    Ok(())
}

/// Whether odiglet has been here, or Karpenter waits for nothing more.
fn is_prepared(labels: &Field) -> Result<bool, Unreadable> {
    for label in LABELS {
        if labels.member(label)?.text()? == Some(LABEL_VALUE) {
            return Ok(true);
        }
    }
    Ok(labels.member(INITIALIZED_LABEL)?.text()? == Some("true"))
}

fn has_taint(taints: &Field, key: &str) -> Result<bool, Unreadable> {
    for entry in taints.entries()? {
        if Taint::read(&entry)?.key == key {
            return Ok(true);
        }
    }
    Ok(false)
}
