//! The floor *value*: parses the payload into a tree, does nothing with it, and accepts.

use serde_json::Value;
use wapc_guest::{CallResult, register_function};

/// Called by the host once for each fresh instance.
#[cfg_attr(target_arch = "wasm32", allow(unsafe_code), unsafe(no_mangle))]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
}

fn validate(payload: &[u8]) -> CallResult {
    serde_json::from_slice::<Value>(payload)?;
    Ok(br#"{"accepted":true}"#.to_vec())
}
