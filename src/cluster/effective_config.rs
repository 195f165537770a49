//! Odigos' effective configuration: what its scheduler made of the user's configuration and the
//! profiles (Odigos, `common/odigos_config.go` and `common/consts/consts.go`).

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::json::view::{Content, View};
use crate::odigos::MountMethod;

/// The ConfigMap, in odiglet's namespace.
pub const NAME: &str = "effective-config";

/// The key of the ConfigMap's `data`; its value is YAML.
const KEY: &str = "config.yaml";

/// What decides over nodes and pods in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffectiveConfig {
    /// `mountMethod`; Odigos takes none or an unknown one for virtual devices
    /// (`scheduler/controllers/odigosconfiguration`).
    pub mount_method: MountMethod,
    /// `karpenterEnabled`
    pub karpenter_enabled: bool,
}

impl EffectiveConfig {
    /// Reads it out of the ConfigMap. The error says what can't be read.
    pub fn read(config_map: &[u8]) -> Result<Self, String> {
        let config_map = View::new(config_map);
        let config = config_map.get("data").and_then(|data| data.get(KEY)).and_then(View::as_str);
        Self::parse(config.ok_or_else(|| format!("it has no {KEY}"))?)
    }

    fn parse(yaml: &str) -> Result<Self, String> {
        let mut config = EffectiveConfig::default();
        for (key, value) in top_level(yaml)? {
            let Value::Scalar(text, style) = value else {
                if matches!(key.as_str(), "mountMethod" | "karpenterEnabled") {
                    return Err(format!("{key} of {KEY} can't be read"));
                }
                continue;
            };
            let plain = style == ScalarStyle::Plain;
            match key.as_str() {
                "mountMethod" => {
                    let known = MountMethod::ALL.iter().find(|(name, _)| *name == text);
                    config.mount_method = known.map(|(_, method)| *method).unwrap_or_default();
                }
                "karpenterEnabled" => {
                    config.karpenter_enabled = match text.as_str() {
                        "true" | "True" | "TRUE" if plain => true,
                        "false" | "False" | "FALSE" | "null" | "Null" | "NULL" | "~" | "" if plain => false,
                        _ => return Err(format!("{key} of {KEY} is neither true nor false")),
                    }
                }
                _ => {}
            }
        }
        Ok(config)
    }
}

/// The value of a key.
enum Value {
    Scalar(String, ScalarStyle),
    Other,
}

/// The keys of the map that a YAML document is, each with its value.
fn top_level(yaml: &str) -> Result<Vec<(String, Value)>, String> {
    let mut members = Vec::new();
    let mut key = None;
    let mut depth = 0_usize;
    let mut is_map = false;
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| format!("{KEY} is no YAML: {error}"))?;
        let value = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                is_map |= depth == 0 && matches!(event, Event::MappingStart(..));
                depth += 1;
                if depth == 2 { Value::Other } else { continue }
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                continue;
            }
            Event::Scalar(text, style, ..) if depth == 1 => Value::Scalar(text.into_owned(), style),
            Event::Alias(_) if depth == 1 => Value::Other,
            Event::DocumentEnd => break,
            _ => continue,
        };
        match (key.take(), value) {
            (Some(key), value) => members.push((key, value)),
            (None, Value::Scalar(text, _)) => key = Some(text),
            (None, Value::Other) => key = Some(String::new()),
        }
    }
    if is_map { Ok(members) } else { Err(format!("{KEY} is no map")) }
}

/// Whether Odigos injects its agents into the pods of a workload, as its InstrumentationConfig says
/// (Odigos, `api/odigos/v1alpha1/instrumentationconfig_types.go`).
pub fn injects_agents(instrumentation_config: &[u8]) -> bool {
    let config = View::new(instrumentation_config);
    let enabled = config.get("spec").and_then(|spec| spec.get("agentInjectionEnabled"));
    matches!(enabled.map(View::content), Some(Content::Boolean(true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("mountMethod: k8s-csi-driver\nkarpenterEnabled: true\n", MountMethod::CsiDriver, true)]
    #[case("{}", MountMethod::VirtualDevice, false)]
    #[case("x:\n  mountMethod: k8s-csi-driver\ny: [karpenterEnabled, true]\n", MountMethod::VirtualDevice, false)]
    #[case("? {a: b}\n: karpenterEnabled\nmountMethod: k8s-host-path", MountMethod::HostPath, false)]
    fn read(#[case] yaml: &str, #[case] mount_method: MountMethod, #[case] karpenter_enabled: bool) {
        assert_eq!(EffectiveConfig::parse(yaml), Ok(EffectiveConfig { mount_method, karpenter_enabled }));
    }

    #[rstest]
    #[case("- a", "config.yaml is no map")]
    #[case("", "config.yaml is no map")]
    #[case("karpenterEnabled: \"true\"", "karpenterEnabled of config.yaml is neither true nor false")]
    #[case("mountMethod: [a]", "mountMethod of config.yaml can't be read")]
    #[case("a: &a x\nmountMethod: *a", "mountMethod of config.yaml can't be read")]
    fn unreadable(#[case] yaml: &str, #[case] expected: &str) {
        assert_eq!(EffectiveConfig::parse(yaml), Err(expected.to_owned()));
    }

    #[test]
    fn what_is_no_yaml_is_told() {
        assert!(EffectiveConfig::parse("a: [b").unwrap_err().starts_with("config.yaml is no YAML: "));
    }
}
