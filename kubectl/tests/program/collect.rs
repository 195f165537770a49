//! The script, run with a kubectl that answers from memory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::run;

const KUBECTL: &str = r#"#!/bin/sh
echo "$*" >> "$CALLS"
case "$1 $2" in
  "api-resources --verbs=list") printf '%s\n' configmaps pods nodes nodepools.karpenter.sh daemonsets.apps; exit 1;;
  "get nodepools.karpenter.sh") echo '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"p"},"spec":{"template":{"spec":{"startupTaints":[{"key":"odigos.io/needs-init","effect":"NoSchedule"}]}}}}]}';;
  "get nodes") echo 'forbidden' >&2; exit 1;;
  "get configmaps") ;;
  *) echo '{"apiVersion":"v1","kind":"List","items":[]}';;
esac
"#;

/// The calls of the script for an Odigos in a namespace, and what it writes.
fn collected(namespace: &str) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let (kubectl, calls) = (folder.path().join("kubectl"), folder.path().join("calls"));
    fs::write(&kubectl, KUBECTL).unwrap();
    fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).unwrap();
    let script = run(&["collect", "--odigos-namespace", namespace], "").out;
    fs::write(folder.path().join("collect.sh"), script).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let collected = Command::new("sh")
        .arg(folder.path().join("collect.sh"))
        .env("PATH", path)
        .env("CALLS", &calls)
        .output()
        .unwrap();
    // What can't be read is told, after all else.
    let err = String::from_utf8(collected.stderr).unwrap();
    assert!(collected.status.code() == Some(1) && err.ends_with("\nNot collected: nodes\n"), "{err}");
    let calls = fs::read_to_string(calls).unwrap();
    (calls.lines().map(str::to_owned).collect(), String::from_utf8(collected.stdout).unwrap())
}

#[test]
fn what_is_collected_is_what_is_scanned() {
    let (calls, dump) = collected("it's");
    assert_eq!(
        calls,
        [
            "api-resources --verbs=list -o name",
            "get nodepools.karpenter.sh -o json",
            "get nodes -o json",
            "get pods -o json --all-namespaces",
            "get daemonsets.apps -o json --all-namespaces",
            "get configmaps -o json --namespace it's effective-config --ignore-not-found",
        ]
    );
    let last = dump.lines().last().unwrap();
    assert_eq!(
        last,
        r#"{"apiVersion": "odigos-karpenter/v1", "kind": "Collection", "odigosNamespace": "it's", "resources": ["nodepools.karpenter.sh","pods","daemonsets.apps","configmaps"]}"#
    );
    // Odigos is known not to be there, so that nobody takes the taint away.
    let scan = run(&["scan", "--settings", "settings.yaml", "--fail-on", "warning"], &collected("odigos-system").1);
    assert_eq!(scan.code, 1, "{scan:?}");
    assert!(scan.out.contains("startup-taint-orphaned") && scan.out.contains("without Odigos"), "{}", scan.out);
    // It was looked for elsewhere: the settings serve.
    let scan = run(&["scan", "--settings", "settings.yaml", "--fail-on", "warning"], &dump);
    assert!(!scan.out.contains("startup-taint-orphaned") && !scan.out.contains("without Odigos"), "{}", scan.out);
}
