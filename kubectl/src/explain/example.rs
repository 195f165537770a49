//! An object that breaks a rule.

use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::message::Message;
use odigos_karpenter_policy::path::Path;
use odigos_karpenter_policy::rule::Rule;
use odigos_karpenter_policy::settings::Settings;

use crate::gathered::Gathered;
use crate::item::{Item, Lines};
use crate::json_items::Top;
use crate::judge::{Judge, Judged};
use crate::yaml;

/// An object that breaks a rule, under settings that its first line has after `# settings: `.
pub struct Example(&'static str);

macro_rules! examples {
    ($($rule:ident $file:literal,)*) => {
        /// The example of a rule.
        pub fn of(rule: Rule) -> Example {
            Example(match rule {
                $(Rule::$rule => include_str!(concat!("examples/", $file, ".yaml")),)*
            })
        }
    };
}

examples! {
    StartupTaintMissing "startup-taint-missing",
    StartupTaintEffect "startup-taint-effect",
    StartupTaintPermanent "startup-taint-permanent",
    StartupTaintDuplicate "startup-taint-duplicate",
    StartupTaintOrphaned "startup-taint-orphaned",
    KarpenterIntegrationOff "karpenter-integration-off",
    OdigletIntolerant "odiglet-intolerant",
    OdigletAffinityMissing "odiglet-affinity-missing",
    OdigletAffinityOred "odiglet-affinity-ored",
    OdigletAffinityTier "odiglet-affinity-tier",
    OdigletAffinityConflict "odiglet-affinity-conflict",
    OdigletAffinityBlocksKarpenter "odiglet-affinity-blocks-karpenter",
    OdigletAffinityOrphaned "odiglet-affinity-orphaned",
    DeviceMissing "device-missing",
    DeviceUnbalanced "device-unbalanced",
    DeviceUnknown "device-unknown",
    DeviceOrphaned "device-orphaned",
    StartupTaintTolerated "startup-taint-tolerated",
    OverlayDeviceCapacity "overlay-device-capacity",
    OverlayDeviceOrphaned "overlay-device-orphaned",
    NodeOverlayMissing "node-overlay-missing",
}

impl Example {
    /// The object as people write it.
    pub fn yaml(&self) -> &'static str {
        self.0.split_once('\n').unwrap_or_default().1
    }

    /// The settings, as YAML in braces.
    fn settings(&self) -> &'static str {
        self.0.lines().next().and_then(|line| line.strip_prefix("# settings: ")).unwrap_or_default()
    }

    /// For a headline: under which settings.
    pub fn setting(&self) -> String {
        match self.settings() {
            "" | "{}" => String::new(),
            settings => format!(", with the settings {settings}"),
        }
    }

    /// The object as JSON.
    pub fn json(&self) -> Vec<u8> {
        json(self.yaml())
    }

    /// What the rules say to it.
    pub fn judged(&self) -> Option<Judged> {
        let text = json(self.settings());
        let view = View::new(&text);
        let settings = Settings::read(&view).ok()?;
        let gathered = Gathered::default();
        let text = self.json();
        let Top { api_version, kind, .. } = Top::read(&text);
        let item = Item { text: &text, api_version, kind, file: "", lines: Lines::From(1) };
        Judge::new(&settings, &gathered, &gathered).judge(&item)
    }
}

/// Path, problem and remedy of what a rule says.
pub fn said(judged: &Judged, rule: Rule) -> Vec<(String, String, String)> {
    let words = |path: &Path, problem: &Message, remedy: &Message| {
        (path.to_string(), problem.within(usize::MAX), remedy.within(usize::MAX))
    };
    let findings = judged.findings.iter().filter(|it| it.rule == rule);
    let hints = judged.hints.iter().filter(|it| it.rule == Some(rule));
    findings
        .map(|it| words(&it.path, &it.problem, &it.remedy))
        .chain(hints.map(|it| words(&it.path, &it.problem, &it.remedy)))
        .collect()
}

fn json(yaml: &str) -> Vec<u8> {
    let mut text = Vec::new();
    let _of_ours = yaml::documents(yaml, |document| {
        text = document.json()?.text;
        Ok(())
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_example_breaks_its_rule_and_no_other() {
        for rule in Rule::ALL {
            let judged = of(*rule).judged().unwrap_or_else(|| panic!("{} is judged", rule.name()));
            let rules: Vec<_> =
                judged.findings.iter().map(|it| Some(it.rule)).chain(judged.hints.iter().map(|it| it.rule)).collect();
            assert!(!rules.is_empty() && rules.iter().all(|it| *it == Some(*rule)), "{}: {rules:?}", rule.name());
        }
    }
}
