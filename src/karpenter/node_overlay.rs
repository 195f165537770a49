//! NodeOverlays: what Karpenter is told of devices that it can't know.

use crate::field::{Field, Unreadable};
use crate::finding::{Finding, Hint, Report};
use crate::kind::Operation;
use crate::kubernetes::quantity::Quantity;
use crate::message::Message;
use crate::odigos::{DEVICE, is_device};
use crate::path::Path;
use crate::request::Request;
use crate::rule::Rule;
use crate::situation::Situation;

/// Judges a NodeOverlay. Only a `/spec/capacity` that is new or changed makes a finding.
pub fn judge<'r>(request: &'r Request<'r>, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    let root = Field::root(&request.object);
    let capacity = root.below(&["spec", "capacity"])?;
    let devices: Vec<_> = capacity.members()?.filter(|(resource, _)| is_device(resource)).collect();
    if devices.is_empty() || !situation.karpenter_enabled() {
        return Ok(());
    }
    let changed = match request.operation {
        Operation::Create => true,
        Operation::Update => match &request.old_object {
            Some(old) => Field::root(old).below(&["spec", "capacity"])?.canonical()? != capacity.canonical()?,
            None => false,
        },
    };
    for (resource, quantity) in devices {
        let path = quantity.path();
        if !situation.uses_device() {
            report.hints.push(orphaned(path));
        } else if let Some((problem, remedy)) = wrong(resource, &quantity) {
            let rule = Rule::OverlayDeviceCapacity;
            if changed {
                report.findings.push(Finding { rule, path, problem, remedy, edits: Vec::new() });
            } else {
                report.hints.push(Hint { rule: Some(rule), path, problem, remedy });
            }
        }
    }
    Ok(())
}

/// `overlay-device-capacity`
fn wrong(resource: &str, quantity: &Field) -> Option<(Message, Message)> {
    if resource != DEVICE {
        let problem = Message::from("is advertised by no node");
        Some((problem, Message::from(["name ".into(), DEVICE.into(), " instead".into()])))
    } else if Quantity::read(quantity).and_then(|quantity| quantity.integer()).is_none_or(|count| count < 1) {
        let problem = Message::from("must be a whole number of at least 1");
        Some((problem, "set it to \"1024\", as Odigos' device plugin does".into()))
    } else {
        None
    }
}

/// `overlay-device-orphaned`
fn orphaned(path: Path) -> Hint {
    Hint {
        rule: Some(Rule::OverlayDeviceOrphaned),
        path,
        problem: "is on no node, so what Karpenter launches for it never initializes".into(),
        remedy: "remove it, or the overlay".into(),
    }
}
