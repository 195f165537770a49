//! The program as it is called: what it prints where, and how it ends.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use odigos_karpenter_host::Metadata;
use rstest::rstest;

const REQUEST: &str = r#"{"request": {
  "uid": "u-1", "operation": "CREATE", "userInfo": {"username": "alice"},
  "kind": {"group": "", "version": "v1", "kind": "Pod"},
  "resource": {"group": "", "version": "v1", "resource": "pods"},
  "object": {"metadata": {"name": "p"}, "a": 1}}}"#;
const ACCEPTED: &str = r#"{"uid":"u-1","allowed":true,"auditAnnotations":null,"warnings":null}"#;
const REJECTED: &str =
    r#"{"uid":"u-1","allowed":false,"status":{"message":"no"},"auditAnnotations":null,"warnings":null}"#;

const VALID: &str = r#"{"valid": true}"#;
const INVALID: &str = r#"{"valid": false, "message": "a: unknown"}"#;
const ACCEPT: &str = r#"{"accepted": true}"#;
const REJECT: &str = r#"{"accepted": false, "message": "no"}"#;
const MUTATE: &str = r#"{"accepted": true, "mutated_object": {"metadata": {"name": "p"}, "a": 2}}"#;

/// A file for one test.
fn file(test: &str, name: &str, text: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// A module, in the text format, that says the same of all settings, and of all requests. It tells
/// the operations apart by the length of their names.
fn module(test: &str, settings: &str, answer: &str) -> PathBuf {
    let text = format!(
        r#"(module
            (import "wapc" "__guest_response" (func $response (param i32 i32)))
            (memory (export "memory") 1)
            (data (i32.const 0) "{}")
            (data (i32.const 4096) "{}")
            (func (export "__guest_call") (param $operation i32) (param $payload i32) (result i32)
              (if (i32.eq (local.get $operation) (i32.const {}))
                (then (call $response (i32.const 0) (i32.const {})))
                (else (call $response (i32.const 4096) (i32.const {}))))
              (i32.const 1)))"#,
        settings.replace('"', "\\22"),
        answer.replace('"', "\\22"),
        "validate_settings".len(),
        settings.len(),
        answer.len(),
    );
    file(test, "policy.wasm", &text)
}

fn host(arguments: &[&str], input: &str) -> Output {
    let mut host = Command::new(env!("CARGO_BIN_EXE_odigos-karpenter-host"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Bad usage ends the program before it reads.
    let _ = host.stdin.take().unwrap().write_all(input.as_bytes());
    host.wait_with_output().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[track_caller]
fn assert_ends(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), stdout);
    assert!(errors.contains(stderr) && errors.is_empty() == stderr.is_empty(), "{errors}");
}

#[rstest]
#[case::accepted("accepted", ACCEPT, ACCEPTED)]
#[case::rejected("rejected", REJECT, REJECTED)]
fn an_answer_is_one_line(#[case] test: &str, #[case] answer: &str, #[case] line: &str) {
    let module = module(test, VALID, answer);
    let request = file(test, "request.json", REQUEST);
    let output = host(&["run", "-r", path(&request), path(&module)], "");
    assert_ends(&output, 0, &format!("{line}\n"), "");
}

#[test]
fn standard_input_and_text_for_people() {
    let module = module("pretty", VALID, MUTATE);
    let output = host(&["run", "-r", "-", "--output", "pretty", path(&module)], REQUEST);
    let text = "MUTATED Pod p (CREATE)\n@@ -1,3 +1,3 @@\n-a: 1\n+a: 2\n metadata:\n   name: p\n";
    assert_ends(&output, 0, text, "");
}

#[rstest]
#[case::yaml("a: [1]\n")]
#[case::json(r#"{"a": [1]}"#)]
#[case::empty("")]
fn settings_in_a_file(#[case] settings: &str) {
    let test = format!("settings-{}", settings.len());
    let module = module(&test, VALID, ACCEPT);
    let settings = file(&test, "settings.yaml", settings);
    let output = host(&["run", "-r", "-", "-s", path(&settings), path(&module)], REQUEST);
    assert_ends(&output, 0, &format!("{ACCEPTED}\n"), "");
}

#[test]
fn invalid_settings() {
    let module = module("invalid", INVALID, ACCEPT);
    let output = host(&["run", "-r", "-", "--settings-json", "{}", path(&module)], REQUEST);
    assert_ends(&output, 1, "", "Error: Provided settings are not valid: a: unknown\n");
}

#[rstest]
#[case::no_request(&["run", "-r", "no/such.json", "policy.wasm"], "cannot read no/such.json")]
#[case::no_module(&["run", "-r", "-", "no/such.wasm"], "cannot read no/such.wasm")]
#[case::no_settings(&["run", "-r", "-", "-s", "no/such.yaml", "policy.wasm"], "cannot read no/such.yaml")]
#[case::settings_json(&["run", "-r", "-", "--settings-json", "{", "policy.wasm"], "cannot read --settings-json")]
#[case::registry(&["run", "-r", "-", "registry://example.com/p:v1"], "nothing is pulled here")]
fn failures(#[case] arguments: &[&str], #[case] error: &str) {
    assert_ends(&host(arguments, REQUEST), 1, "", error);
}

#[test]
fn bad_usage() {
    let output = host(&["run", "policy.wasm"], "");
    assert_ends(&output, 2, "", "--request-path <FILE>");
}

#[test]
fn the_policies_of_a_yaml_file() {
    let test = "yaml";
    let module = module(test, VALID, MUTATE);
    let policy = |name: &str, rest: &str| {
        format!(
            "apiVersion: policies.kubewarden.io/v1\nkind: ClusterAdmissionPolicy\nmetadata: {{name: {name}}}\n\
             spec: {{module: 'registry://example.com/p:v1', {rest}}}\n---\n"
        )
    };
    let policies = policy("stopped", "mutating: false")
        + &policy("watching", "mutating: true, mode: monitor")
        + &policy("free", "mutating: true");
    let policies = file(test, "policies.yaml", &policies);

    let output = host(&["run", "-r", "-", path(&policies)], REQUEST);
    assert_ends(&output, 1, "", "registry://example.com/p:v1 is not a file");

    let output = host(&["run", "-r", "-", "--module", path(&module), path(&policies)], REQUEST);
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("policy stopped attempted to mutate"), "{}", lines[0]);
    assert_eq!(lines[1], ACCEPTED);
    assert!(lines[2].contains(r#""allowed":true,"patchType":"JSONPatch""#), "{}", lines[2]);
}

const CONFIG_MAP: &str =
    r#"{"api_version":"v1","kind":"ConfigMap","name":"c","namespace":"n","disable_cache":false,"field_masks":null}"#;
const METADATA: &str =
    "{rules: [], mutating: true, annotations: {a: b}, contextAwareResources: [{apiVersion: v1, kind: ConfigMap}]}";
const EXCHANGES: &str = "
- type: Exchange
  request: |
    !KubernetesGetResource {api_version: v1, kind: ConfigMap, name: c, namespace: n, disable_cache: false}
  response: {type: Success, payload: '{\"accepted\": true}'}
- type: Exchange
  request: |
    !KubernetesGetResource {api_version: v1, kind: ConfigMap, name: c, namespace: n, disable_cache: false}
  response: {type: Error, message: gone}
";

/// A module, in the binary format, that gets a ConfigMap in the cluster and answers with it, or fails
/// with the error.
fn asking_module(test: &str) -> PathBuf {
    let text = format!(
        r#"(module
            (import "wapc" "__guest_response" (func $response (param i32 i32)))
            (import "wapc" "__guest_error" (func $error (param i32 i32)))
            (import "wapc" "__host_call" (func $host (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
            (import "wapc" "__host_response_len" (func $host_response_len (result i32)))
            (import "wapc" "__host_response" (func $host_response (param i32)))
            (import "wapc" "__host_error_len" (func $host_error_len (result i32)))
            (import "wapc" "__host_error" (func $host_error (param i32)))
            (memory (export "memory") 1)
            (data (i32.const 0) "kubewardenkubernetesget_resource{}")
            (data (i32.const 4096) "{{\22valid\22: true}}\22v1\22")
            (func (export "__guest_call") (param $operation i32) (param $payload i32) (result i32)
              (if (i32.eq (local.get $operation) (i32.const {}))
                (then (call $response (i32.const 4096) (i32.const 15)) (return (i32.const 1))))
              (if (i32.eq (local.get $operation) (i32.const {}))
                (then (call $response (i32.const 4111) (i32.const 4)) (return (i32.const 1))))
              (if (call $host (i32.const 0) (i32.const 10) (i32.const 10) (i32.const 10) (i32.const 20)
                    (i32.const 12) (i32.const 32) (i32.const {}))
                (then
                  (call $host_response (i32.const 8192))
                  (call $response (i32.const 8192) (call $host_response_len))
                  (return (i32.const 1))))
              (call $host_error (i32.const 8192))
              (call $error (i32.const 8192) (call $host_error_len))
              (i32.const 0)))"#,
        CONFIG_MAP.replace('"', "\\22"),
        "validate_settings".len(),
        "protocol_version".len(),
        CONFIG_MAP.len(),
    );
    let path = file(test, "policy.wasm", "");
    std::fs::write(&path, wat::parse_str(text).unwrap()).unwrap();
    path
}

fn annotated_module(test: &str) -> PathBuf {
    let module = asking_module(test);
    let (metadata, usage) = (file(test, "metadata.yml", METADATA), file(test, "README.md", "# Title"));
    let annotated = module.with_file_name("annotated-policy.wasm");
    let output =
        host(&["annotate", "-m", path(&metadata), "-u", path(&usage), "-o", path(&annotated), path(&module)], "");
    assert_ends(&output, 0, "", "");
    annotated
}

#[test]
fn a_module_is_annotated() {
    let annotated = annotated_module("annotate");
    let metadata = Metadata::of_module(&std::fs::read(&annotated).unwrap()).unwrap();
    let expected = METADATA.replace("a: b", "a: b, io.kubewarden.policy.usage: '# Title'");
    let expected = Metadata::from_yaml(&expected.replace("rules:", "protocolVersion: v1, rules:")).unwrap();
    assert_eq!(metadata, Some(expected));
}

#[test]
fn a_module_that_is_not_annotated() {
    let test = "annotate-failure";
    let (module, metadata) = (asking_module(test), file(test, "metadata.yml", "rules: []"));
    let output = host(&["annotate", "-m", path(&metadata), "-o", "no/such.wasm", path(&module)], "");
    assert_ends(&output, 1, "", "is no metadata of a policy: missing field `mutating`");
    let metadata = file(test, "metadata.yml", METADATA);
    let output = host(&["annotate", "-m", path(&metadata), "-o", "no/such.wasm", path(&module)], "");
    assert_ends(&output, 1, "", "cannot write no/such.wasm");
}

#[rstest]
#[case::granted(true, true, ACCEPTED, "never asked")]
#[case::not_granted(false, true, "has not been granted access to Kubernetes v1/ConfigMap", "--allow-context-aware")]
#[case::no_cluster(true, false, "there is no cluster", "")]
fn what_the_cluster_answers(#[case] allow: bool, #[case] replay: bool, #[case] answer: &str, #[case] note: &str) {
    let test = format!("cluster-{allow}-{replay}");
    let (module, exchanges) = (annotated_module(&test), file(&test, "session.yml", EXCHANGES));
    let mut arguments = vec!["run", "-r", "-"];
    if allow {
        arguments.push("--allow-context-aware");
    }
    if replay {
        arguments.extend(["--replay-host-capabilities-interactions", path(&exchanges)]);
    }
    arguments.push(path(&module));
    let output = host(&arguments, REQUEST);
    let line = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(line.contains(answer), "{line}");
    assert_ends(&output, 0, &line, note);
}

#[test]
fn what_the_cluster_answers_to_the_policies_of_a_yaml_file() {
    let test = "cluster-yaml";
    let (module, exchanges) = (annotated_module(test), file(test, "session.yml", EXCHANGES));
    let policy = |kind: &str, resources: &str| {
        format!(
            "apiVersion: policies.kubewarden.io/v1\nkind: {kind}\nmetadata: {{name: p}}\n\
             spec: {{module: 'file://{}', mutating: true, contextAwareResources: {resources}}}\n---\n",
            module.display()
        )
    };
    let policies = policy("ClusterAdmissionPolicy", "[{apiVersion: v1, kind: ConfigMap}]")
        + &policy("ClusterAdmissionPolicy", "[]")
        + &policy("AdmissionPolicy", "[{apiVersion: v1, kind: ConfigMap}]");
    let policies = file(test, "policies.yaml", &policies);
    let replay = ["--replay-host-capabilities-interactions", path(&exchanges)];
    let output = host(&[&["run", "-r", "-"], &replay[..], &[path(&policies)]].concat(), REQUEST);
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0], ACCEPTED);
    assert!(lines[1].contains("has not been granted access"), "{}", lines[1]);
    assert!(lines[2].contains("has not been granted access"), "{}", lines[2]);
}

#[test]
fn exchanges_that_can_not_be_read() {
    let (module, exchanges) = (annotated_module("exchanges"), file("exchanges", "session.yml", "{}"));
    let output =
        host(&["run", "-r", "-", "--replay-host-capabilities-interactions", path(&exchanges), path(&module)], REQUEST);
    assert_ends(&output, 1, "", "session.yml: is not a list of exchanges");
}
