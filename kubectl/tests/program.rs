//! The program, as a user runs it.

#[path = "program/collect.rs"]
mod collect;
#[path = "program/input.rs"]
mod input;
#[path = "program/order.rs"]
mod order;
#[path = "program/output.rs"]
mod output;
#[path = "program/plan.rs"]
mod plan;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    code: i32,
    out: String,
    err: String,
}

/// Runs the program among the test data.
fn run(arguments: &[&str], stdin: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-odigos_karpenter"))
        .args(arguments)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _it_may_not_read = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Compares with a file of `tests/golden`. With UPDATE_GOLDEN in the environment, it writes it.
fn assert_golden(name: &str, actual: &str) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == actual, "{name} is no longer what it was. It is now:\n{actual}");
}
