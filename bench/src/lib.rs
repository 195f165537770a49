//! Counts what a request costs the policy, and says what it may cost.
//!
//! A host gives every request an instance of its own, so a request pays for the start as well as
//! for what the guest does. Both are counted in fuel of Wasmtime, which depends on the module and
//! the request alone. Time depends on the machine; `benches/wall_time.rs` measures it, and no
//! budget speaks of it.

#![forbid(unsafe_code)]

pub mod budget;
pub mod meter;
pub mod readme;
pub mod report;
pub mod request;
pub mod table;
mod wapc;
