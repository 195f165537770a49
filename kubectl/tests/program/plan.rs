//! What a plan says, and that it is safe to run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use rstest::rstest;
use serde_json::Value;

use crate::{assert_golden, run};

#[rstest]
#[case::settle(&[], "plan-settle.sh")]
#[case::karpenter_on(&["--karpenter", "on"], "plan-karpenter-on.sh")]
#[case::virtual_device(&["--to", "k8s-virtual-device", "--karpenter", "on"], "plan-virtual-device.sh")]
#[case::uninstall(&["--uninstall"], "plan-uninstall.sh")]
fn a_plan(#[case] arguments: &[&str], #[case] golden: &str) {
    let run = run(&[&["plan", "cluster"], arguments].concat(), "");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_golden(golden, &run.out);
}

const OVERLAY: &str = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\n\
                       spec: {requirements: [], capacity: {instrumentation.odigos.io/generic: 1024}}\n";

/// The first words of the titles of the steps, where Odigos is configured so and the cluster has an object.
fn titles(arguments: &[&str], config: &str, object: &str) -> String {
    let stdin = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: effective-config, namespace: odigos-system}}\n\
         data: {{config.yaml: '{config}'}}\n---\n{object}"
    );
    let out = run(&[&["plan"], arguments].concat(), &stdin).out;
    let titles = out.lines().filter_map(|line| line.strip_prefix("# === "));
    let words: Vec<&str> = titles.map(|title| title.split_once(". ").unwrap().1.split(' ').next().unwrap()).collect();
    words.join(" ")
}

#[rstest]
#[case::karpenter_on("mountMethod: k8s-csi-driver", &["--karpenter", "on"], "The Odigos Workloads NodeOverlays The Pools Nodes")]
#[case::karpenter_off("{mountMethod: k8s-csi-driver, karpenterEnabled: true}", &["--karpenter", "off"], "Odigos The Workloads Pools Nodes")]
#[case::to_init("mountMethod: k8s-csi-driver", &["--to", "k8s-init-container"], "The Pools Nodes Wait Odigos Workloads NodeOverlays What")]
#[case::uninstall("mountMethod: k8s-csi-driver", &["--uninstall"], "The Pools Nodes Wait Odigos Workloads NodeOverlays What")]
#[case::from_init("mountMethod: k8s-init-container", &["--to", "k8s-csi-driver"], "Odigos The Workloads NodeOverlays Pools Nodes")]
#[case::tier("mountMethod: k8s-csi-driver", &["--tier", "onprem"], "Odigos The Workloads Pools Nodes")]
#[case::tier_and_more("mountMethod: k8s-csi-driver", &["--tier", "onprem", "--karpenter", "on"], "Odigos The The Odigos Workloads NodeOverlays The Pools Nodes")]
#[case::from_device("{}", &["--to", "k8s-csi-driver"], "Odigos Workloads NodeOverlays The Pools Nodes")]
fn the_order_of_changes(#[case] config: &str, #[case] arguments: &[&str], #[case] expected: &str) {
    assert_eq!(titles(arguments, config, OVERLAY), expected);
}

/// Karpenter knows the device before a pod asks for it.
#[rstest]
#[case::from_init("{mountMethod: k8s-init-container, karpenterEnabled: true}", &["--to", "k8s-virtual-device"], "A Odigos The Workloads Pools Nodes")]
#[case::from_csi("{mountMethod: k8s-csi-driver, karpenterEnabled: true}", &["--to", "k8s-virtual-device"], "A Odigos The Workloads Pools Nodes")]
#[case::karpenter_on("{}", &["--karpenter", "on"], "The Odigos A Workloads The Pools Nodes")]
#[case::settle("karpenterEnabled: true", &[], "The A Workloads Pools Nodes")]
fn overlays_come_early(#[case] config: &str, #[case] arguments: &[&str], #[case] expected: &str) {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {}}}\n";
    assert_eq!(titles(arguments, config, pool), expected);
}

/// The JSON patches of a plan, by the object that each is for.
fn patches(plan: &str) -> BTreeMap<String, json_patch::Patch> {
    let commands = plan.lines().filter_map(|line| line.strip_prefix("kubectl patch "));
    commands
        .map(|command| {
            let (object, patch) = command.split_once(" --type=json -p ").unwrap();
            (object.to_owned(), serde_json::from_str(patch.trim_matches('\'')).unwrap())
        })
        .collect()
}

#[test]
fn patches_begin_with_a_test_and_do_their_work_once() {
    let plan = run(&["plan", "cluster", "--karpenter", "on"], "").out;
    let patches = patches(&plan);
    assert_eq!(
        patches.keys().collect::<Vec<_>>(),
        [
            "node node-w",
            "nodepools.karpenter.sh default",
            "nodepools.karpenter.sh gpu",
            "nodepools.karpenter.sh windows"
        ]
    );
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/karpenter.yaml")).unwrap();
    let mut patched = String::new();
    kubectl_odigos_karpenter::yaml::documents(&text, |document| {
        let mut pool: Value = serde_json::from_slice(&document.json()?.text).unwrap();
        let patch = &patches[&format!("nodepools.karpenter.sh {}", pool["metadata"]["name"].as_str().unwrap())];
        assert!(matches!(patch.0[0], json_patch::PatchOperation::Test(_)));
        json_patch::patch(&mut pool, patch).unwrap();
        let once = pool.clone();
        json_patch::patch(&mut pool, patch).unwrap_err();
        assert_eq!(pool, once);
        patched.push_str(&pool.to_string());
        Ok(())
    })
    .unwrap();
    // What is patched has nothing left to be patched.
    let again = run(&["plan", "--settings", "settings.yaml"], &patched);
    assert!(again.out.contains("None needs a change."), "{}", again.out);
    assert_eq!(run(&["scan", "--settings", "settings.yaml"], &patched).code, 0);
}

#[test]
fn names_are_words_of_the_shell() {
    let pool = r#"{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a'; touch x; '\nrm y"},"spec":{"template":{"spec":{}}}}"#;
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"karpenter.sh/nodepool":"a'; touch x; '\nrm y"}}}"#;
    let plan = run(&["plan", "--settings", "settings.yaml"], &format!("{pool}{node}")).out;
    assert!(plan.contains(r"kubectl patch nodepools.karpenter.sh 'a'\''; touch x; '\''"), "{plan}");
    assert!(!plan.lines().any(|line| line.trim_start().starts_with("rm y:")), "{plan}");
}

/// A pool's drift can be held back and let go on, each once, and its own budgets stay.
#[rstest]
#[case::none(r"[]")]
#[case::the_default(r#"[{"nodes":"10%"}]"#)]
#[case::of_its_own(r#"[{"nodes":"20%","reasons":["Drifted"]},{"duration":"8h","nodes":"0","schedule":"0 9 * * *"}]"#)]
fn drift_waits(#[case] budgets: &str) {
    let pool = format!(
        r#"{{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{{"name":"p"}},"spec":{{"disruption":{{"budgets":{budgets}}},"template":{{"spec":{{}}}}}}}}"#
    );
    let node =
        r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"karpenter.sh/nodepool":"p"}},"spec":{}}"#;
    let plan = run(&["plan", "--settings", "settings.yaml"], &format!("{pool}{node}")).out;
    let commands: Vec<json_patch::Patch> = plan
        .lines()
        .filter_map(|line| line.strip_prefix("#   kubectl patch nodepools.karpenter.sh p --type=json -p "))
        .map(|patch| serde_json::from_str(patch.trim_matches('\'')).unwrap())
        .collect();
    let [hold, release] = commands.as_slice() else { panic!("{plan}") };
    let before: Value = serde_json::from_str(&pool).unwrap();
    let mut pool = before.clone();
    json_patch::patch(&mut pool, release).unwrap_err();
    json_patch::patch(&mut pool, hold).unwrap();
    assert_eq!(pool["spec"]["disruption"]["budgets"][0], serde_json::json!({"nodes": "0", "reasons": ["Drifted"]}));
    json_patch::patch(&mut pool, hold).unwrap_err();
    json_patch::patch(&mut pool, release).unwrap();
    assert_eq!(pool, before);
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: effective-config, namespace: odigos}\n\
                      data: {config.yaml: 'mountMethod: k8s-csi-driver'}\n";
const CONFIG_HERE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: effective-config, namespace: odigos-system}\n\
                           data: {config.yaml: '{}'}\n";
const NOTHING: &str =
    r#"{apiVersion: odigos-karpenter/v1, kind: Collection, odigosNamespace: odigos-system, resources: [configmaps]}"#;

/// What is not in the input is not taken for what is not in the cluster.
#[test]
fn what_was_not_collected_is_not_none() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {}}}\n";
    let plan = run(&["plan", "--settings", "settings.yaml"], pool).out;
    assert!(
        plan.contains("# p: all its nodes, which the input does not have, are replaced by drift (budgets"),
        "{plan}"
    );
    assert!(plan.contains("The input has no Pods") && plan.contains("The input has no Nodes"), "{plan}");
    let collected =
        "---\n{apiVersion: odigos-karpenter/v1, kind: Collection, resources: [nodes, pods, nodepools.karpenter.sh]}\n";
    let plan = run(&["plan", "--settings", "settings.yaml"], &format!("{pool}{collected}")).out;
    assert!(plan.contains("# p: there is no node of it") && !plan.contains("The input has no"), "{plan}");
    let nothing = "{apiVersion: odigos-karpenter/v1, kind: Collection, resources: [nodes]}";
    let plan = run(&["plan", "--settings", "settings.yaml"], nothing).out;
    assert!(plan.contains("The input has no NodePools"), "{plan}");
}

#[test]
fn half_an_input_makes_no_plan() {
    let plan = run(&["plan", "cluster", "none.yaml", "--uninstall"], "");
    assert_eq!((plan.code, plan.out.as_str()), (2, ""));
    assert!(plan.err.contains("none.yaml"), "{}", plan.err);
}

/// Runs a plan with tools that answer from memory: what they are called with.
fn played(plan: &str, kubectl: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (tool, script) in [("kubectl", kubectl), ("helm", "echo '{\"version\":\"1\"}'"), ("sleep", "")] {
        let path = folder.path().join(tool);
        fs::write(&path, format!("#!/bin/sh\necho \"{tool} $*\" >> \"$CALLS\"\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Of what is asked of it, it knows two things.
    let jq = "#!/bin/sh\ncase \"$*\" in *version*) echo 1;; *)\n\
              read -r text; case $text in waits) echo waits;; broken) exit 127;; esac;; esac\n";
    fs::write(folder.path().join("jq"), jq).unwrap();
    fs::set_permissions(folder.path().join("jq"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("plan.sh"), plan).unwrap();
    let calls = folder.path().join("calls");
    let output = Command::new("bash")
        .arg(folder.path().join("plan.sh"))
        .env("PATH", format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap()))
        .env("CALLS", &calls)
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("syntax error"), "{output:?}");
    fs::read_to_string(calls).unwrap()
}

/// odiglet stays for as long as a node waits for it, or that can't be known.
#[rstest]
#[case::none_waits("", true)]
#[case::one_waits_and_then_can_not_be_asked(
    "case $* in 'get nodeclaims'*) [ ! -e $CALLS.1 ] && touch $CALLS.1 && echo waits || exit 1;; esac",
    false
)]
#[case::can_not_be_asked("exit 1", false)]
#[case::can_not_be_read("case $* in 'get nodeclaims'*) echo broken;; esac", false)]
fn odigos_goes_last(#[case] kubectl: &str, #[case] goes: bool) {
    for (arguments, helm) in [
        (&["--uninstall"] as &[&str], "helm uninstall odigos"),
        (&["--to", "k8s-init-container"], "helm upgrade odigos"),
    ] {
        let plan = run(&[&["plan", "cluster"], arguments].concat(), "").out;
        let calls = played(&plan, kubectl);
        assert_eq!(calls.contains(helm), goes, "{calls}");
        // What comes after it does not come before it.
        assert!(goes || !calls.contains("label nodes") && !calls.contains("rollout restart deployment"), "{calls}");
    }
}

#[rstest]
#[case::initialized_since("printf True", false)]
#[case::waits_on("printf Unknown", true)]
#[case::gone("", true)]
#[case::can_not_be_asked("exit 1", false)]
fn only_what_waits_is_deleted(#[case] kubectl: &str, #[case] deleted: bool) {
    let claim = "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c}\n\
                 spec: {resources: {requests: {instrumentation.odigos.io/generic: 1}}}\n";
    let plan = run(&["plan", "--to", "k8s-csi-driver"], &format!("{CONFIG_HERE}{claim}")).out;
    let calls = played(&plan, kubectl);
    assert_eq!(calls.contains("kubectl delete nodeclaims.karpenter.sh/c "), deleted, "{calls}");
}

/// What waits is asked for by all names that Karpenter has for it.
#[test]
fn both_of_karpenters_are_waited_for() {
    let old = "---\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: old}\nspec: {}\n";
    let new = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {}}}\n";
    for (objects, resources) in [
        (old.to_owned(), "get machines.karpenter.sh -o"),
        (new.to_owned(), "get nodeclaims.karpenter.sh -o"),
        (format!("{old}{new}"), "get nodeclaims.karpenter.sh,machines.karpenter.sh -o"),
    ] {
        let plan = run(&["plan", "--uninstall"], &format!("{CONFIG_HERE}{objects}")).out;
        assert!(plan.contains(resources), "{plan}");
    }
}

#[test]
fn what_is_excluded_is_named_where_its_taint_would_stay() {
    let pool = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: own}\n\
                spec: {template: {spec: {startupTaints: [{key: odigos.io/needs-init, effect: NoSchedule}]}}}\n";
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.yaml");
    fs::write(&settings, "nodePools: {exclude: [own]}\n").unwrap();
    let settings = settings.display().to_string();
    let stdin = format!("{CONFIG_HERE}{pool}");
    let plan = run(&["plan", "--uninstall", "--settings", &settings], &stdin).out;
    assert!(plan.contains("# NodePool own.\n"), "{plan}");
    assert!(!run(&["plan", "--settings", &settings], &stdin).out.contains("NodePool own"));
}

/// odiglet removes the taint when it starts, and it has been on this node.
#[test]
fn a_wrong_effect_on_a_prepared_node() {
    let node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {karpenter.sh/nodepool: p, \
                odigos.io/odiglet-oss-installed: 'true'}}\n\
                spec: {taints: [{key: odigos.io/needs-init, effect: NoExecute}]}\n";
    let plan = run(&["plan", "--uninstall"], &format!("{CONFIG_HERE}{node}")).out;
    assert!(
        plan.contains("It came to 1 node after odiglet") && plan.contains("rollout restart daemonset/odiglet"),
        "{plan}"
    );
}

#[test]
fn there_is_no_plan_of_two_clusters() {
    let other = CONFIG_HERE.replace("'{}'", "'mountMethod: k8s-csi-driver'");
    let plan = run(&["plan"], &format!("{CONFIG_HERE}---\n{other}"));
    assert_eq!((plan.code, plan.out.as_str()), (2, ""));
    assert!(plan.err.contains("leave out what is not of this cluster"), "{}", plan.err);
}

/// An overlay of somebody else's is not written over.
#[test]
fn overlays_have_names_of_their_own() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {}}}\n";
    let overlay = "---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: odigos-p}\n\
                   spec: {requirements: [], capacity: {example.com/other: 5}}\n";
    let to = &["plan", "--settings", "settings.yaml", "--to", "k8s-virtual-device"];
    let plan = run(to, &format!("{pool}{overlay}")).out;
    assert!(plan.contains("  name: odigos-p-device\n") && !plan.contains("STOP"), "{plan}");
    let collected = "---\n{apiVersion: odigos-karpenter/v1, kind: Collection, resources: [nodes]}\n";
    assert!(run(to, &format!("{pool}{collected}")).out.contains("STOP: the cluster does not serve NodeOverlays"));
}

/// A claim that waits for the device never gets it once nothing advertises it.
#[test]
fn claims_that_wait_for_the_device_are_deleted() {
    let claim = |name: &str, status: &str| {
        format!(
            "---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: {name}}}\n\
             spec: {{resources: {{requests: {{instrumentation.odigos.io/generic: 1}}}}}}\n\
             status: {{conditions: [{{type: Initialized, status: '{status}'}}]}}\n"
        )
    };
    let stdin = format!("{CONFIG_HERE}{}{}", claim("ready", "True"), claim("waits", "Unknown"));
    for arguments in [&["plan", "--to", "k8s-csi-driver"] as &[&str], &["plan", "--to", "k8s-init-container"]] {
        let plan = run(arguments, &stdin).out;
        let delete = "[ \"$initialized\" != True ] && kubectl delete nodeclaims.karpenter.sh/waits --ignore-not-found --wait=false\n";
        assert!(plan.contains(delete), "{plan}");
        assert!(!plan.contains("nodeclaims.karpenter.sh/ready"), "{plan}");
    }
    assert!(!run(&["plan"], &stdin).out.contains("delete"));
}

#[test]
fn without_karpenter_some_pools_serve_no_more() {
    let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {}}}\n";
    let plan = run(&["plan", "--karpenter", "off", "--settings", "settings.yaml"], pool).out;
    assert!(plan.contains("it launches no node for them. That is of p."), "{plan}");
}

#[test]
fn daemon_sets_are_waited_for() {
    let set = |name: &str, strategy: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: {name}, namespace: n}}\n\
             spec: {{updateStrategy: {{type: {strategy}}}, template: {{spec: {{nodeSelector: \
             {{odigos.io/odiglet-oss-installed: 'true'}}, containers: [{{name: a}}]}}}}}}\n"
        )
    };
    let stdin = format!("{}{}", set("rolls", "RollingUpdate"), set("stays", "OnDelete"));
    let plan = run(&["plan", "--settings", "settings.yaml"], &stdin).out;
    assert!(
        plan.contains("rollout restart daemonset/rolls && kubectl -n n rollout status daemonset/rolls\n"),
        "{plan}"
    );
    assert!(plan.contains("updated OnDelete: delete its pods") && !plan.contains("restart daemonset/stays"), "{plan}");
    let set = set("db", "OnDelete").replace("DaemonSet", "StatefulSet");
    let plan = run(&["plan", "--settings", "settings.yaml"], &set).out;
    assert!(plan.contains("updated OnDelete") && !plan.contains("restart statefulset"), "{plan}");
}

/// Pods would be given a label that no node has.
#[test]
fn there_is_no_plan_for_another_tier() {
    let node = "---\napiVersion: v1\nkind: Node\n\
                metadata: {name: n, labels: {odigos.io/odiglet-enterprise-installed: 'true'}}\nspec: {}\n";
    let stdin = format!("{CONFIG_HERE}{node}");
    let plan = run(&["plan"], &stdin);
    assert_eq!((plan.code, plan.out.as_str()), (2, ""));
    assert!(plan.err.contains("which odiglet of tier community sets: say with --settings which"), "{}", plan.err);
    assert!(run(&["scan"], &stdin).err.contains("note: Nodes have odigos.io/odiglet-enterprise-installed"));
}

#[test]
fn what_is_gone_is_not_uninstalled() {
    let plan = run(&["plan", "--uninstall"], NOTHING).out;
    assert!(plan.contains("# It is gone.") && !plan.contains("helm uninstall"), "{plan}");
}

/// Odigos in a namespace that the settings don't know would be taken for gone, and its nodes ungated.
#[rstest]
#[case::elsewhere(&[], CONFIG, "Odigos is in namespace odigos, and odiglet.namespace of the settings is odigos-system")]
#[case::not_there(&[], NOTHING, "the input has no Odigos in namespace odigos-system: say --uninstall")]
#[case::not_there_and_to_be_changed(&["--karpenter", "on"], NOTHING, "the input has no Odigos")]
fn there_is_no_plan(#[case] arguments: &[&str], #[case] stdin: &str, #[case] expected: &str) {
    let run = run(&[&["plan"], arguments].concat(), stdin);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains(expected), "{}", run.err);
}

#[test]
fn what_else_is_in_an_overlay_stays() {
    let overlay = |name: &str, more: &str| {
        format!(
            "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {{name: {name}}}\n\
             spec: {{requirements: [], capacity: {{instrumentation.odigos.io/generic: 1024}}{more}}}\n---\n"
        )
    };
    let mixed = overlay("mixed", "").replace("{instrumentation", "{example.com/other: 5, instrumentation");
    let stdin = [mixed, overlay("priced", ", price: '1'"), overlay("alone", "")].concat();
    let plan = run(&["plan", "--uninstall"], &stdin).out;
    assert!(plan.contains("kubectl delete nodeoverlays.karpenter.sh alone --ignore-not-found\n"), "{plan}");
    assert!(
        !plan.contains("delete nodeoverlays.karpenter.sh mixed")
            && !plan.contains("delete nodeoverlays.karpenter.sh priced"),
        "{plan}"
    );
    let patches = patches(&plan);
    for (name, left) in [("mixed", r#"{"example.com/other":5}"#), ("priced", "{}")] {
        let mut object: Value = serde_json::json!({"spec": {"capacity": {"instrumentation.odigos.io/generic": 1024}}});
        if name == "mixed" {
            object["spec"]["capacity"]["example.com/other"] = 5.into();
        }
        json_patch::patch(&mut object, &patches[&format!("nodeoverlays.karpenter.sh {name}")]).unwrap();
        assert_eq!(object["spec"]["capacity"].to_string(), left);
    }
}

/// A claim has no template, and a pod that has ended is never scheduled again.
#[test]
fn only_what_can_be_restarted_is_a_workload() {
    let device = "resources: {requests: {instrumentation.odigos.io/generic: 1}}";
    let stdin = format!(
        "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {{name: claim}}\nspec: {{{device}}}\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: {{name: ended}}\n\
         spec: {{containers: [{{name: a, {device}}}]}}\nstatus: {{phase: Succeeded}}\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: {{name: running}}\nspec: {{containers: [{{name: a, {device}}}]}}\n"
    );
    let plan = run(&["plan", "--to", "k8s-init-container"], &stdin).out;
    assert!(plan.contains("running"), "{plan}");
    assert!(!plan.contains("claim:") && !plan.contains("ended"), "{plan}");
}

#[test]
fn a_budget_beyond_all_is_no_panic() {
    let stdin = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\n\
                 spec: {disruption: {budgets: [{nodes: '18446744073709551615%'}]}, template: {spec: {}}}\n---\n\
                 apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {karpenter.sh/nodepool: p}}\nspec: {}\n---\n\
                 apiVersion: v1\nkind: Node\nmetadata: {name: b, labels: {karpenter.sh/nodepool: p}}\nspec: {}\n";
    let run = run(&["plan", "--settings", "settings.yaml"], stdin);
    assert_eq!(run.code, 0, "{}", run.err);
}
