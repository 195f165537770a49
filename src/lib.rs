//! Kubewarden policy that makes [Odigos](https://odigos.io) work on nodes that
//! [Karpenter](https://karpenter.sh) launches.
//!
//! One principle: *a startup taint goes only where something will take it away, and a scheduling
//! constraint is put on a pod only where something can satisfy it.*
//!
//! The data goes one way:
//!
//! | step | module |
//! | --- | --- |
//! | bytes → request | [`policy`], [`request`], [`settings`] |
//! | what rules go by | [`situation`]: the settings, and where they say so the [`cluster`] |
//! | request → findings | [`karpenter`], [`node`], [`pod`], each rule named in [`rule`] |
//! | findings → decision | [`decision`], the only one that knows `mutate`, `reject` and `warn` |
//! | decision → response | [`response`] |
//!
//! Rules read the object through [`field`], which takes its text apart as far as they look into it,
//! and never change it: a [`finding`] carries [edits](edit), which are [spliced](json::splice) into the
//! text as it came.

#![deny(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

pub mod cluster;
pub mod decision;
pub mod edit;
pub mod field;
pub mod finding;
pub mod json;
pub mod karpenter;
pub mod kind;
pub mod kubernetes;
pub mod message;
pub mod node;
pub mod odigos;
pub mod path;
pub mod pod;
pub mod policy;
pub mod reach;
pub mod request;
pub mod response;
pub mod rule;
pub mod settings;
pub mod situation;
pub mod startup_taint;

use cluster::host::HostCluster;
use kubewarden_policy_sdk::protocol_version_guest;
use wapc_guest::{CallResult, host_call, register_function};

/// Called by the host once for each fresh instance, which is to say for each request.
#[cfg_attr(target_arch = "wasm32", allow(unsafe_code), unsafe(no_mangle))]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings);
    register_function("protocol_version", protocol_version_guest);
}

fn validate(payload: &[u8]) -> CallResult {
    let call = |operation: &str, payload: &[u8]| {
        host_call("kubewarden", "kubernetes", operation, payload).map_err(|error| error.to_string())
    };
    Ok(policy::validate(payload, &HostCluster(call)))
}

fn validate_settings(payload: &[u8]) -> CallResult {
    Ok(policy::validate_settings(payload))
}
