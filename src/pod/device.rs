//! Odigos' device in the resources of containers.

use super::container::{Container, Devices};
use crate::edit::Edit;
use crate::field::{Field, Unreadable};
use crate::finding::{Finding, Report};
use crate::kubernetes::quantity::Quantity;
use crate::message::{Message, name};
use crate::odigos::{DEVICE, DISTRO_WITHOUT_DEVICE, Tier};
use crate::path::Path;
use crate::rule::Rule;
use crate::settings::Settings;
use crate::situation::Situation;

/// Judges the devices of a pod, which the settings' selector may have selected.
pub fn judge(
    spec: &Field,
    containers: &[Container],
    init_containers: &[Container],
    selected: bool,
    situation: &Situation,
    report: &mut Report,
) -> Result<(), Unreadable> {
    let uses_device = situation.uses_device();
    let all =
        containers.iter().map(|container| (container, false)).chain(init_containers.iter().map(|init| (init, true)));
    for (container, init) in all {
        let asked = container.devices.names();
        if !uses_device {
            report.findings.extend(asked.iter().map(|resource| orphaned(&container.resources_path(), resource)));
            continue;
        }
        let unknown: Vec<&str> = asked.iter().copied().filter(|resource| *resource != DEVICE).collect();
        if asked.contains(DEVICE) {
            report.findings.extend(unbalanced(container));
        } else if unknown.is_empty() && !init && needs_device(container, selected, situation.settings) {
            report.findings.push(missing(&container.resources_path()));
        }
        report.findings.extend(unknown.iter().enumerate().map(|(i, resource)| {
            let replaced = i == 0 && !asked.contains(DEVICE);
            self::unknown(&container.resources_path(), resource, replaced)
        }));
    }
    let pod_level = spec.at("resources")?;
    let asked = Devices::read(&pod_level)?.names();
    report.findings.extend(asked.iter().map(|resource| orphaned(&pod_level.path(), resource)));
    Ok(())
}

/// Whether Odigos instruments a container by the device. The distributions of the `onprem` tier
/// are not all known, so there only the settings say so.
fn needs_device(container: &Container, selected: bool, settings: &Settings) -> bool {
    let containers = &settings.pods.containers;
    let named = selected && (containers.is_empty() || containers.contains(&container.name));
    let instrumented = !container.distro.is_empty() && settings.tier != Tier::Onprem;
    (named || instrumented) && container.distro != DISTRO_WITHOUT_DEVICE
}

fn missing(resources: &Path) -> Finding {
    Finding {
        rule: Rule::DeviceMissing,
        path: resources.clone(),
        problem: Message::from(["lacks ".into(), DEVICE.into(), ", by which Odigos' files come".into()]),
        remedy: "set it to \"1\" in requests and limits".into(),
        edits: one_device(resources).into(),
    }
}

fn unbalanced(container: &Container) -> Option<Finding> {
    let is_one = |list: &[(&str, Option<Quantity>)]| {
        let quantity = list.iter().find(|(resource, _)| *resource == DEVICE).and_then(|(_, quantity)| *quantity);
        quantity.and_then(|quantity| quantity.integer()) == Some(1)
    };
    if is_one(&container.devices.requests) && is_one(&container.devices.limits) {
        return None;
    }
    let resources = container.resources_path();
    Some(Finding {
        rule: Rule::DeviceUnbalanced,
        path: resources.clone(),
        problem: Message::from([DEVICE.into(), " is not 1 in both requests and limits".into()]),
        remedy: "set it to \"1\" in both".into(),
        edits: one_device(&resources).into(),
    })
}

fn unknown(resources: &Path, resource: &str, replaced: bool) -> Finding {
    let mut edits = removal(resources, resource);
    if replaced {
        edits.extend(one_device(resources));
    }
    Finding {
        rule: Rule::DeviceUnknown,
        path: resources.clone(),
        problem: Message::from([name(resource), " is a device of an older Odigos, which nothing advertises".into()]),
        remedy: Message::from(["ask for ".into(), DEVICE.into(), " instead".into()]),
        edits,
    }
}

fn orphaned(resources: &Path, resource: &str) -> Finding {
    Finding {
        rule: Rule::DeviceOrphaned,
        path: resources.clone(),
        problem: Message::from([name(resource), " is advertised by no node here".into()]),
        remedy: "remove it from requests and limits".into(),
        edits: removal(resources, resource),
    }
}

/// Kubernetes refuses an extended resource whose request and limit differ.
fn one_device(resources: &Path) -> [Edit; 2] {
    ["requests", "limits"].map(|list| Edit::Set(resources.clone().key(list).name(DEVICE), r#""1""#.into()))
}

fn removal(resources: &Path, resource: &str) -> Vec<Edit> {
    ["requests", "limits"].map(|list| Edit::Remove(resources.clone().key(list).name(resource))).into()
}
