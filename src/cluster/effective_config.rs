//! Odigos' effective configuration: what its scheduler made of the user's configuration and the
//! profiles (Odigos, `common/odigos_config.go` and `common/consts/consts.go`).

use odigos_karpenter_yaml::{Value, top_level};

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
        for (key, value) in top_level(yaml).map_err(|error| format!("{KEY} {error}"))? {
            match (key.as_str(), value) {
                ("mountMethod", Value::Plain(text) | Value::Text(text)) => {
                    let known = MountMethod::ALL.iter().find(|(name, _)| *name == text);
                    config.mount_method = known.map(|(_, method)| *method).unwrap_or_default();
                }
                ("karpenterEnabled", Value::Plain(text)) => {
                    config.karpenter_enabled = match text.as_str() {
                        "true" | "True" | "TRUE" => true,
                        "false" | "False" | "FALSE" | "null" | "Null" | "NULL" | "~" | "" => false,
                        _ => return Err(format!("{key} of {KEY} is neither true nor false")),
                    }
                }
                ("mountMethod" | "karpenterEnabled", _) => return Err(format!("{key} of {KEY} can't be read")),
                _ => {}
            }
        }
        Ok(config)
    }
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
    fn read(#[case] yaml: &str, #[case] mount_method: MountMethod, #[case] karpenter_enabled: bool) {
        assert_eq!(EffectiveConfig::parse(yaml), Ok(EffectiveConfig { mount_method, karpenter_enabled }));
    }

    #[rstest]
    #[case("- a", "config.yaml is no map")]
    #[case("", "config.yaml is no map")]
    #[case("karpenterEnabled: \"true\"", "karpenterEnabled of config.yaml can't be read")]
    #[case("karpenterEnabled: 1", "karpenterEnabled of config.yaml is neither true nor false")]
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
