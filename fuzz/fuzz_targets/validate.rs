//! Payloads of any bytes: no panic, and an answer that the host can read to all that is JSON.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use odigos_karpenter_fuzz::answer;
use odigos_karpenter_fuzz::change::change_text;
use odigos_karpenter_policy::cluster::NoCluster;
use odigos_karpenter_policy::policy;
use serde_json::Value;

fuzz_target!(|payload: &[u8]| {
    let answered = policy::validate(payload, &NoCluster);
    if serde_json::from_slice::<Value>(payload).is_ok() {
        answer::read(&answered);
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = if seed.is_multiple_of(2) { change_text(data, size, max_size, seed / 2) } else { None };
    changed.unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});
