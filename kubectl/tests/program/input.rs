//! What is read, what can't be, and the exit codes.

use rstest::rstest;

use crate::run;

const POOL: &str = r#"{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"}, "spec": {"template": {"spec": {}}}}"#;

/// A hint and no finding.
const HINT: &str = r#"{"apiVersion":"karpenter.sh/v1alpha1","kind":"NodeOverlay","metadata":{"name":"o"},"spec":{"capacity":{"instrumentation.odigos.io/generic":"1024"}}}"#;

#[rstest]
#[case::finding(POOL, "error", 1)]
#[case::finding_is_more_than_a_warning(POOL, "warning", 1)]
#[case::never(POOL, "never", 0)]
#[case::hint(HINT, "error", 0)]
#[case::hint_counts(HINT, "warning", 1)]
#[case::nothing("", "never", 2)]
#[case::an_empty_list(r#"{"apiVersion":"v1","kind":"List","items":[]}"#, "warning", 0)]
#[case::unreadable("{", "never", 2)]
#[case::array(
    "[{\"kind\": \"NodePool\", \"apiVersion\": \"karpenter.sh/v1\", \"spec\": {\"template\": {\"spec\": {}}}}]",
    "error",
    1
)]
#[case::array_of_yaml("- {kind: NodePool, apiVersion: karpenter.sh/v1, spec: {template: {spec: {}}}}", "error", 1)]
#[case::words_after_an_object("{} garbage", "never", 2)]
fn exit_codes(#[case] stdin: &str, #[case] fail_on: &str, #[case] code: i32) {
    let run = run(&["scan", "--settings", "settings.yaml", "--fail-on", fail_on], stdin);
    assert_eq!(run.code, code, "{run:?}");
}

#[test]
fn each_bad_file_is_named_and_the_rest_is_scanned() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.json", "{\"kind\":\n tru}"),
        ("b.yaml", "a: 1\nb: [c\n"),
        ("c.json", POOL),
        ("d.yaml", "kind: \u{fffd}"),
        ("values.yaml", "replicas: 3\n"),
    ] {
        let text = text.as_bytes();
        // What is no UTF-8.
        let text = if name == "d.yaml" { b"kind: x\ny: \xff".as_slice() } else { text };
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().display().to_string();
    let run = run(&["scan", &path, "--settings", "settings.yaml"], "");
    assert_eq!(run.code, 2);
    assert!(run.out.contains("NodePool p") && run.out.contains("1 finding and 0 hints in 1 object."), "{}", run.out);
    let lines: Vec<String> = run.err.lines().map(|line| line.replace(&path, "")).collect();
    let expected = ["error: /a.json:2:5: expected ident", "error: /b.yaml:3:1: ", "error: /d.yaml:2: is not UTF-8"];
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}");
    }
}

/// A configuration that can't be read is not one that is not there.
#[test]
fn an_unreadable_odigos_is_not_gone() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: effective-config, namespace: odigos-system}\n\
                  data: {config.yaml: 'a: [b'}\n";
    let marker = "---\n{apiVersion: odigos-karpenter/v1, kind: Collection, odigosNamespace: odigos-system, \
                  resources: [configmaps]}\n";
    let stdin = format!("{config}{marker}");
    let scan = run(&["scan", "--settings", "settings.yaml"], &stdin);
    assert!(scan.code == 2 && scan.out.contains("Judged for k8s-csi-driver with Karpenter on"), "{scan:?}");
    let plan = run(&["plan", "--uninstall"], &stdin);
    assert_eq!((plan.code, plan.out.as_str()), (2, ""));
}

#[rstest]
#[case::a_list_in_an_array(r#"[{"apiVersion":"v1","kind":"List","items":[POOL]}]"#, 1)]
#[case::a_list_in_a_list(
    r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[POOL]}]}"#,
    1
)]
#[case::yaml("kind: List\nitems:\n- kind: List\n  items: [POOL]\n", 1)]
#[case::yaml_that_begins_like_json("{\"a\": b} # no JSON\n---\nPOOL\n", 1)]
#[case::two_without_a_name("[POOL,POOL]", 2)]
fn each_object_is_found(#[case] stdin: &str, #[case] pools: usize) {
    let pool = r#"{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{"template":{"spec":{}}}}"#;
    let run = run(&["scan", "--settings", "settings.yaml"], &stdin.replace("POOL", pool));
    assert!(run.code == 1 && run.out.contains(&format!("startup-taint-missing ({pools} finding")), "{run:?}");
}

#[test]
fn a_name_says_nothing_to_the_terminal() {
    let pool = POOL.replace("\"p\"", r#""x\u001b]0;title\u0007\u001b[31mred\ny""#);
    for arguments in [&["scan"] as &[&str], &["scan", "-o", "markdown"], &["plan"], &["diff"]] {
        let run = run(&[arguments, &["--settings", "settings.yaml"]].concat(), &pool);
        assert!(!run.out.contains(['\u{1b}', '\u{7}']) && run.out.contains("x\u{fffd}"), "{run:?}");
    }
    let json = run(&["scan", "-o", "json", "--settings", "settings.yaml"], &pool).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["findings"][0]["name"], "x\u{1b}]0;title\u{7}\u{1b}[31mred\ny");
}

#[test]
fn objects_of_one_name_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["a.json", "b.json"] {
        std::fs::write(folder.path().join(file), format!("\n{POOL}")).unwrap();
    }
    std::fs::write(folder.path().join("c.json"), POOL.replace("\"p\"", "\"q\"")).unwrap();
    for format in ["table", "markdown"] {
        let out = run(&["scan", &folder.path().display().to_string(), "-o", format, "--settings", "settings.yaml"], "")
            .out
            .replace("\\_", "_");
        let out = if format == "table" { out.split_whitespace().collect::<Vec<_>>().join(" ") } else { out };
        assert!(out.contains("a.json:2") && out.contains("b.json:2") && !out.contains("c.json"), "{out}");
    }
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.json"), b"{\n\"kind\":\"Pod\xff\"}").unwrap();
    let run = run(&["scan", &folder.path().display().to_string()], "");
    assert!(run.code == 2 && run.err.contains("a.json:2: is not UTF-8"), "{run:?}");
}

/// What is nested without end is an error, and ends no scan.
#[test]
fn yaml_nested_without_end() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("deep.yaml"), format!("{}a", "- ".repeat(200_000))).unwrap();
    std::fs::write(folder.path().join("pool.yaml"), POOL).unwrap();
    let run = run(&["scan", &folder.path().display().to_string(), "--settings", "settings.yaml"], "");
    assert!(run.code == 2 && run.out.contains("NodePool p") && run.err.contains("nested too deep"), "{}", run.err);
}

#[rstest]
#[case(&["scan", "--settings", "none.yaml"], "none.yaml: ")]
#[case(&["scan", "--settings", "cluster/nodes.json"], "cluster/nodes.json: has neither settings nor a policy")]
#[case(&["scan", "--output", "xml"], "xml")]
#[case(&["plan", "--uninstall", "--karpenter", "on"], "cannot be used with")]
#[case(&["plan", "--to", "k8s-csi"], "k8s-csi-driver")]
#[case(&["scan", "none"], "none: ")]
#[case(&["frobnicate"], "frobnicate")]
#[case(&["man", "frobnicate"], "there is no subcommand frobnicate")]
fn bad_usage(#[case] arguments: &[&str], #[case] expected: &str) {
    let run = run(arguments, "");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains(expected), "{}", run.err);
}

#[test]
fn settings_that_can_not_be_used_are_told_as_the_policy_tells_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("settings.yaml");
    std::fs::write(&file, "tier: pro\nmountMethods: x\n").unwrap();
    let run = run(&["scan", "--settings", file.to_str().unwrap()], "");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("tier: found \"pro\"") && run.err.contains("mountMethods"), "{}", run.err);
}

#[test]
fn settings_of_the_policy_that_is_applied() {
    let run = run(&["scan", "--settings", "../../policy.yaml", "--policy", "odigos-karpenter-audit"], POOL);
    assert_eq!(run.code, 0, "{run:?}");
}

#[rstest]
#[case::deployment("apps/v1", "Deployment", r#"{"template": POD}"#, "spec.template.spec.nodeSelector")]
#[case::stateful_set("apps/v1", "StatefulSet", r#"{"template": POD}"#, "spec.template.spec.nodeSelector")]
#[case::daemon_set("apps/v1", "DaemonSet", r#"{"template": POD}"#, "spec.template.spec.nodeSelector")]
#[case::replica_set("apps/v1", "ReplicaSet", r#"{"template": POD}"#, "spec.template.spec.nodeSelector")]
#[case::job("batch/v1", "Job", r#"{"template": POD}"#, "spec.template.spec.nodeSelector")]
#[case::cron_job(
    "batch/v1",
    "CronJob",
    r#"{"jobTemplate": {"spec": {"template": POD}}}"#,
    "spec.jobTemplate.spec.template.spec.nodeSelector"
)]
fn templates_count_as_pods(#[case] api_version: &str, #[case] kind: &str, #[case] spec: &str, #[case] path: &str) {
    let spec = spec.replace("POD", r#"{"spec": {"nodeSelector": {"odigos.io/odiglet-oss-installed": "true"}}}"#);
    let text = format!(
        r#"{{"apiVersion": "{api_version}", "kind": "{kind}", "metadata": {{"name": "w", "namespace": "shop"}}, "spec": {spec}}}"#
    );
    let run = run(&["scan", "--settings", "settings.yaml", "-o", "json"], &text);
    let output: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(output["findings"][0]["kind"], kind, "{output:#}");
    assert!(output["findings"][0]["path"].as_str().unwrap().starts_with(path), "{output:#}");
}

#[test]
fn what_a_deployment_made_is_not_told_twice() {
    let spec = r#""spec": {"template": {"spec": {"nodeSelector": {"odigos.io/odiglet-oss-installed": "true"}}}}"#;
    let owned = r#""ownerReferences": [{"kind": "Deployment", "name": "w", "controller": true}]"#;
    let deployment =
        format!(r#"{{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {{"name": "w"}}, {spec}}}"#);
    let replica_set =
        format!(r#"{{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {{"name": "w-1", {owned}}}, {spec}}}"#);
    let findings = |text: &str| {
        let run = run(&["scan", "--settings", "settings.yaml", "-o", "json"], text);
        serde_json::from_str::<serde_json::Value>(&run.out).unwrap()["findings"].as_array().unwrap().len()
    };
    assert_eq!(findings(&replica_set), 1);
    assert_eq!(findings(&format!("{replica_set}{deployment}")), 1);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-odigos_karpenter"));
    let scan = ["scan", "cluster"];
    command.args(scan).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).env("CLICOLOR_FORCE", "1");
    let forced = command.output().unwrap();
    assert!(forced.stdout.contains(&0x1b));
    let not = command.env("NO_COLOR", "1").output().unwrap();
    assert!(!not.stdout.contains(&0x1b));
    assert!(!run(&scan, "").out.contains('\u{1b}'));
}
