//! What a scan, a diff and an explanation look like.

use rstest::rstest;
use serde_json::Value;

use crate::{assert_golden, run};

#[rstest]
#[case::table("table", "scan.txt")]
#[case::markdown("markdown", "scan.md")]
#[case::json("json", "scan.json")]
fn a_scan(#[case] format: &str, #[case] golden: &str) {
    let run = run(&["scan", "cluster", "-o", format], "");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_golden(golden, &run.out);
}

#[test]
fn sarif_has_files_and_lines() {
    let run = run(&["scan", "cluster", "-o", "sarif"], "");
    let mut log: Value = serde_json::from_str(&run.out).unwrap();
    let rules = log["runs"][0]["tool"]["driver"]["rules"].take();
    let version = log["runs"][0]["tool"]["driver"]["version"].take();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    assert_golden("scan.sarif", &format!("{log:#}\n"));
}

#[test]
fn the_schema_holds() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/");
    let schema = std::fs::read_to_string(format!("{root}scan-output.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    for (arguments, stdin) in [
        (["scan", "cluster", "-o", "json"], ""),
        (["scan", "-", "-o", "json"], "{\"kind\":\"List\",\"items\":[]}"),
        (["scan", "-", "-o", "json"], "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"nodeSelector\":[]}}\n{"),
        (["scan", "none", "-o", "json"], ""),
    ] {
        let output: Value = serde_json::from_str(&run(&arguments, stdin).out).unwrap();
        let errors: Vec<String> = validator.iter_errors(&output).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?} in {output:#}");
    }
}

#[test]
fn a_diff() {
    let run = run(&["diff", "cluster"], "");
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert_golden("diff.txt", &run.out);
}

#[test]
fn what_the_diff_shows_needs_no_other() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nspec:\n  template:\n    spec:\n      startupTaints:\n      - key: odigos.io/needs-init\n        effect: NoSchedule\n";
    assert_eq!(run(&["diff", "--settings", "settings.yaml"], pool).code, 0);
}

#[test]
fn an_explanation() {
    assert_golden("explain.txt", &run(&["explain", "startup-taint-permanent"], "").out);
    let unknown = run(&["explain", "startup-taint"], "");
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""));
    assert!(unknown.err.contains("no rule startup-taint"), "{}", unknown.err);
}

#[rstest]
#[case(&["completions", "bash"], "_kubectl")]
#[case(&["completions", "zsh"], "#compdef kubectl-odigos_karpenter")]
#[case(&["man"], ".TH")]
#[case(&["man", "scan"], "\\-\\-fail\\-on")]
#[case(&["--help"], "Usage: kubectl odigos-karpenter")]
#[case(&["explain"], "node-overlay-missing")]
fn what_a_package_ships(#[case] arguments: &[&str], #[case] expected: &str) {
    let run = run(arguments, "");
    assert!(run.code == 0 && run.out.contains(expected), "{run:?}");
}
