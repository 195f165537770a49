//! Settings of any bytes: no panic, an answer that the host can read, and settings that are called
//! valid are used.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use odigos_karpenter_fuzz::answer;
use odigos_karpenter_fuzz::change::change_text;
use odigos_karpenter_policy::cluster::NoCluster;
use odigos_karpenter_policy::policy;
use serde_json::{Value, json};

fuzz_target!(|settings: &[u8]| {
    answer::read_settings(&policy::validate_settings(settings));
    let Ok(settings) = serde_json::from_slice::<Value>(settings) else { return };
    // As the host has read and written them.
    let valid = answer::read_settings(&policy::validate_settings(settings.to_string().as_bytes()));
    let object = json!({"metadata": {"name": "p"}, "spec": {"template": {"spec": {}}}});
    let kind = json!({"group": "karpenter.sh", "version": "v1", "kind": "NodePool"});
    let request = json!({"uid": "1", "kind": kind, "operation": "CREATE", "object": object});
    let payload = json!({"request": request, "settings": settings}).to_string();
    let response = answer::read(&policy::validate(payload.as_bytes(), &NoCluster));
    let unusable = response.warnings.iter().flatten().any(|warning| warning.contains("settings can't be used"));
    assert_eq!(valid, !unusable, "{:?}", response.warnings);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = if seed.is_multiple_of(2) { change_text(data, size, max_size, seed / 2) } else { None };
    changed.unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});
