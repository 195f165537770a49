//! Every case of `test_data/cases`, natively and through `policy.wasm`.
//!
//! The format is described in `test_data/cases/README.md`, and what answers host calls in
//! [`cluster`]. Both runs hold each case to what it expects and to what every answer must keep, see
//! [`check`]. The second one, moreover, holds the module to the native answer.

#[path = "cases/agreement.rs"]
mod agreement;
#[path = "cases/case.rs"]
mod case;
#[path = "cases/check.rs"]
mod check;
#[path = "cases/cluster.rs"]
mod cluster;
#[path = "cases/taints.rs"]
mod taints;
#[path = "cases/validity.rs"]
mod validity;
#[path = "cases/wording.rs"]
mod wording;

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use odigos_karpenter_host::Policy;
use odigos_karpenter_policy::policy;
use serde_json::Value;

use crate::cluster::Cluster;

/// Something that answers guest operations.
trait Guest {
    /// Returns the bytes of the answer, or how the guest failed. Its host calls are answered by
    /// `cluster`.
    fn call(&self, operation: &str, payload: &[u8], cluster: &Cluster) -> Result<Vec<u8>, String>;
}

/// The policy as a library.
struct Native;

/// The policy as Kubewarden runs it. An answer that differs from the native one is a failure.
struct Wasm(Policy);

impl Guest for Native {
    fn call(&self, operation: &str, payload: &[u8], cluster: &Cluster) -> Result<Vec<u8>, String> {
        let answer = || match operation {
            "validate" => Ok(policy::validate(payload, &cluster.native())),
            "validate_settings" => Ok(policy::validate_settings(payload)),
            unknown => Err(format!("there is no operation {unknown}")),
        };
        catch_unwind(AssertUnwindSafe(answer)).map_err(|_| format!("{operation} panicked, see above"))?
    }
}

impl Guest for Wasm {
    fn call(&self, operation: &str, payload: &[u8], cluster: &Cluster) -> Result<Vec<u8>, String> {
        let policy = self.0.with_capabilities(Arc::new(cluster.clone()));
        let answer = policy.call(operation, payload).map_err(|error| error.to_string())?;
        let native = Native.call(operation, payload, cluster)?;
        let read = |answer: &[u8]| serde_json::from_slice::<Value>(answer).ok();
        if read(&answer) == read(&native) {
            Ok(answer)
        } else {
            Err(format!(
                "the module and the library differ in {operation}:\n      module {}\n     library {}",
                String::from_utf8_lossy(&answer),
                String::from_utf8_lossy(&native),
            ))
        }
    }
}

#[test]
fn native() {
    run(&Native);
}

#[test]
fn through_wasm() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("policy.wasm");
    assert!(module.exists(), "there is no policy.wasm: run `make policy.wasm` first");
    run(&Wasm(Policy::from_path(module).unwrap()));
}

fn all_cases() -> Vec<case::Case> {
    case::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data/cases"))
}

fn run(guest: &dyn Guest) {
    let cases = all_cases();
    let mut failures = String::new();
    let mut failed = 0;
    for case in &cases {
        let problems = check::check(case, guest);
        if !problems.is_empty() {
            failed += 1;
            let _ = writeln!(failures, "\n{}: {}", case.file, case.name);
            for problem in problems {
                let _ = writeln!(failures, "  - {problem}");
            }
        }
    }
    println!("{} of {} cases pass", cases.len() - failed, cases.len());
    assert!(failed == 0, "{failed} of {} cases fail:\n{failures}", cases.len());
}
