//! The floor *skip*: checks that the payload is JSON, keeps nothing of it, and accepts.

use serde::de::IgnoredAny;
use wapc_guest::{CallResult, register_function};

/// Called by the host once for each fresh instance.
#[cfg_attr(target_arch = "wasm32", allow(unsafe_code), unsafe(no_mangle))]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
}

fn validate(payload: &[u8]) -> CallResult {
    serde_json::from_slice::<IgnoredAny>(payload)?;
    Ok(br#"{"accepted":true}"#.to_vec())
}
