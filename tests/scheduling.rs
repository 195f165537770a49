//! The principle of the policy, held against a model of scheduling: a startup taint goes only where
//! something takes it away, and a pod is kept only from where it could not work.
//!
//! Clusters, pods and the set-up of Odigos are generated. The model is small, and knows nothing of the
//! policy: what nodes take ([`kubernetes`]), what Karpenter launches ([`karpenter`]), what odiglet does
//! ([`odigos`]). What the README excepts is in [`exceptions`].

#[path = "scheduling/cluster.rs"]
mod cluster;
#[path = "scheduling/exceptions.rs"]
mod exceptions;
#[path = "scheduling/karpenter.rs"]
mod karpenter;
#[path = "scheduling/kubernetes.rs"]
mod kubernetes;
#[path = "scheduling/odigos.rs"]
mod odigos;
#[path = "scheduling/pods.rs"]
mod pods;
#[path = "properties/run.rs"]
mod run;
#[allow(dead_code, reason = "a model needs fewer words")]
#[path = "properties/words.rs"]
mod words;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestCaseResult};
use serde_json::Value;

use cluster::{created, odigos, plan};
use exceptions::*;
use karpenter::launches;
use kubernetes::{Node, entries, lands};
use odigos::Odigos;
use pods::{own, pod, without_devices};
use run::{hold, require, sample};
use words::{DEVICE, DEVICES, KEY};

const GATED: &[&str] = &["k8s-host-path", "k8s-csi-driver"];
const DEVICE_METHOD: &[&str] = &["k8s-virtual-device"];
const INIT_CONTAINER: &[&str] = &["k8s-init-container"];
const METHODS: &[&str] = &["k8s-virtual-device", "k8s-host-path", "k8s-csi-driver", "k8s-init-container"];

fn context(what: &str, before: &Value, after: &Value, node: &Node) -> TestCaseError {
    TestCaseError::fail(format!("{what}: {} became {}, on {node:?}", before["spec"], after["spec"]))
}

/// With Karpenter off: a pod lands only on nodes that odiglet has prepared, and on each of those that
/// it would have landed on by itself.
#[test]
fn host_path_and_csi_without_karpenter() {
    hold(1500, (odigos(GATED, Some(false), true), plan(), pod(true)), |(odigos, plan, before)| {
        let after = created(&before, &odigos);
        for node in plan.nodes(&odigos, false) {
            let (prepared, lands_after) = (odigos.has_prepared(&node), lands(&after, &node));
            if let Some(conflicting) = in_conflict(&before, &odigos) {
                // It is told of, and no worse off than by its own terms.
                let by_itself = prepared && lands(&before, &node) && lands(&own(&before), &node);
                if (by_itself || lands(&conflicting, &node)) && !lands_after {
                    return Err(context("stranded", &before, &after, &node));
                }
                continue;
            }
            if lands_after && !prepared && !may_run_where_it_is_pinned(&before, &odigos) {
                return Err(context("not prepared", &before, &after, &node));
            }
            if prepared && lands(&own(&before), &node) && !lands_after {
                return Err(context("kept away", &before, &after, &node));
            }
            if lands_after && !lands(&own(&before), &node) {
                return Err(context("escapes its own terms", &before, &after, &node));
            }
        }
        Ok(())
    });
}

/// With Karpenter on: on Karpenter's nodes a pod lands only once they are prepared, and Karpenter can
/// launch a node for it wherever it could by the pod's own terms.
#[test]
fn host_path_and_csi_with_karpenter() {
    hold(1500, (odigos(GATED, Some(true), true), plan(), pod(true)), |(odigos, plan, before)| {
        let after = created(&before, &odigos);
        lands_as_by_itself(&before, &after, &plan.nodes(&odigos, false))?;
        if !tolerates_startup_taint(&before) && !odiglet_does_not_tolerate_startup_taint(&odigos) {
            for node in plan.nodes(&odigos, false) {
                let karpenters = node.labels.contains_key("karpenter.sh/nodepool");
                if karpenters
                    && lands(&after, &node)
                    && !odigos.has_prepared(&node)
                    && !is_excluded(&node, &odigos)
                    && !is_out_of_reach(&node, &odigos)
                {
                    return Err(context("not prepared", &before, &after, &node));
                }
            }
        }
        launches_as_by_itself(&before, &after, &plan.pools, &odigos, &[])
    });
}

/// A pod lands where it would without Odigos, no more and no less.
fn lands_as_by_itself(before: &Value, after: &Value, nodes: &[Node]) -> TestCaseResult {
    for node in nodes {
        match (lands(after, node), lands(&own(before), node)) {
            (true, false) => return Err(context("escapes its own terms", before, after, node)),
            (false, true) => return Err(context("kept away", before, after, node)),
            _ => {}
        }
    }
    Ok(())
}

/// Karpenter launches a node for a pod where it would without Odigos, from pools as the policy makes them.
fn launches_as_by_itself(
    before: &Value,
    after: &Value,
    pools: &[Value],
    odigos: &Odigos,
    overlay: &[&str],
) -> TestCaseResult {
    let known = [&["example.com/fuse"], overlay].concat();
    for pool in pools {
        let pool = created(pool, odigos);
        let (is, was) = (launches(after, &pool, &known), launches(&own(before), &pool, &known));
        require(is == was, || {
            format!("launches {is}, by its own terms {was}: {} became {} with {pool}", before["spec"], after["spec"])
        })?;
    }
    Ok(())
}

/// A pod that needs the device lands only where it is, and wherever it would otherwise. What affinity
/// it has is its own with Karpenter off, for odiglet sets the label under this mount method too.
#[test]
fn virtual_device() {
    hold(1500, (odigos(DEVICE_METHOD, None, true), plan(), pod(true)), |(odigos, plan, before)| {
        let after = created(&before, &odigos);
        let own = if odigos.karpenter { own(&before) } else { without_devices(&before) };
        let known_distribution = |container: &Value| {
            entries(container, "/env").iter().any(|variable| {
                let distro = variable["value"].as_str().unwrap_or_default();
                variable["name"] == "ODIGOS_DISTRO_NAME"
                    && !["", "opentelemetry-ebpf-instrumentation"].contains(&distro)
            })
        };
        let asked = |container: &Value, list: &str| {
            container.pointer(&format!("/resources/{list}")).and_then(Value::as_object).cloned().unwrap_or_default()
        };
        let mut needs = false;
        for list in ["/spec/containers", "/spec/initContainers"] {
            for (was, is) in entries(&before, list).iter().zip(entries(&after, list)) {
                let had = ["requests", "limits"]
                    .iter()
                    .any(|list| asked(was, list).keys().any(|resource| resource.starts_with(DEVICES)));
                let needed = had || (list == "/spec/containers" && odigos.tier != "onprem" && known_distribution(was));
                needs |= needed;
                for kind in ["requests", "limits"] {
                    let devices: Vec<_> =
                        asked(is, kind).into_iter().filter(|(resource, _)| resource.starts_with(DEVICES)).collect();
                    let right = match devices.as_slice() {
                        [] => !needed,
                        [(resource, count)] => resource == DEVICE && (count == "1" || count == 1),
                        _ => false,
                    };
                    require(right, || format!("{kind} of {devices:?}: {was} became {is}"))?;
                }
            }
        }
        for node in plan.nodes(&odigos, false) {
            let (prepared, lands_after, lands_by_itself) =
                (odigos.has_prepared(&node), lands(&after, &node), lands(&own, &node));
            if needs && lands_after && !prepared {
                return Err(context("not prepared", &before, &after, &node));
            }
            if (prepared || !needs) && lands_by_itself != lands_after {
                return Err(context("kept away, or let in", &before, &after, &node));
            }
        }
        if odigos.karpenter { launches_as_by_itself(&before, &after, &plan.pools, &odigos, &[DEVICE]) } else { Ok(()) }
    });
}

/// Nothing prepares nodes, or it need not: a pod lands wherever it would by itself.
#[test]
fn init_container_or_odigos_gone() {
    let set_up = prop_oneof![odigos(INIT_CONTAINER, None, true), odigos(METHODS, None, false)];
    hold(1500, (set_up, plan(), pod(true)), |(odigos, plan, before)| {
        let after = created(&before, &odigos);
        lands_as_by_itself(&before, &after, &plan.nodes(&odigos, false))?;
        launches_as_by_itself(&before, &after, &plan.pools, &odigos, &[])
    });
}

/// Once odiglet has been wherever it comes, no node keeps the startup taint, nor one like it.
#[test]
fn no_node_keeps_a_taint_that_no_odiglet_removes() {
    let set_up = prop_oneof![3 => odigos(METHODS, None, true), 1 => odigos(METHODS, None, false)];
    hold(5000, (set_up, plan()), |(odigos, plan)| {
        for node in plan.nodes(&odigos, true) {
            let keeps = node.taints.iter().any(|taint| taint["key"] == KEY);
            let excepted = is_excluded(&node, &odigos)
                || is_not_judged(&node, &odigos)
                || has_another_taint_that_odiglet_does_not_tolerate(&node, &odigos);
            require(!keeps || excepted, || format!("{node:?} under {odigos:?}"))?;
        }
        for (claim, node) in plan.claims(&odigos) {
            let asks = [entries(&claim, "/spec/startupTaints"), entries(&claim, "/spec/taints")].concat();
            let in_vain = asks.iter().any(|taint| taint["key"] == KEY) && !odigos.runs_on(&node);
            let excepted = is_excluded(&node, &odigos) || is_left_open(&claim, "team");
            require(!in_vain || excepted, || format!("{claim} for {node:?} under {odigos:?}"))?;
        }
        Ok(())
    });
}

#[test]
fn a_pod_without_a_mark_is_untouched() {
    let set_up = prop_oneof![3 => odigos(METHODS, None, true), 1 => odigos(METHODS, None, false)];
    hold(1500, (set_up, pod(false)), |(odigos, before)| {
        // A wish about a label of odiglet's is none that requires it.
        let after = created(&before, &odigos);
        require(after == before, || format!("{before} became {after}"))
    });
}

/// The model is worth something: in it pods land and don't, on nodes of every sort.
#[test]
fn clusters_have_nodes_of_every_sort() {
    let (mut prepared, mut karpenters, mut tainted, mut landed, mut all) = (0, 0, 0, 0, 0);
    let (mut pods, mut conflicts, mut launched, mut pools) = (0, 0, 0, 0);
    for (odigos, plan, pod) in sample(400, (odigos(GATED, None, true), plan(), pod(true))) {
        pods += 1;
        conflicts += usize::from(in_conflict(&pod, &odigos).is_some());
        let after = created(&pod, &odigos);
        for node in plan.nodes(&odigos, false) {
            all += 1;
            prepared += usize::from(odigos.has_prepared(&node));
            karpenters += usize::from(node.labels.contains_key("karpenter.sh/nodepool"));
            tainted += usize::from(node.taints.iter().any(|taint| taint["key"] == KEY));
            landed += usize::from(lands(&after, &node));
        }
        for pool in &plan.pools {
            pools += 1;
            launched += usize::from(launches(&after, pool, &["example.com/fuse"]));
        }
    }
    println!("{all} nodes: {prepared} prepared, {karpenters} of Karpenter's, {tainted} tainted, {landed} landed on");
    println!("{pods} pods, {conflicts} in conflict; {pools} pools, {launched} launch");
    for (part, of) in
        [(prepared, all), (karpenters, all), (tainted, all), (landed, all), (launched, pools), (pods - conflicts, pods)]
    {
        assert!(part * 10 > of && part < of, "{part} of {of}");
    }
}
