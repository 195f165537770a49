//! The steps of each kind of change, in the README's order.

use odigos_karpenter_policy::odigos::{MountMethod, Tier};
use odigos_karpenter_policy::settings::Settings;

use super::change::{Change, ChangeKind};
use super::lists::shell;
use super::overlays;
use super::script::Script;
use super::survey::Survey;
use crate::gathered::{CLAIMS, Gathered, NODES, OVERLAYS, PODS, POOLS};
use crate::names::name_of;
use crate::output::counted;

/// What the steps are made of.
pub struct Ground<'p> {
    /// What is to be done as things are.
    pub now: &'p Survey,
    /// What of the input answers for the cluster.
    pub gathered: &'p Gathered,
    /// The settings.
    pub settings: &'p Settings<'p>,
    /// Whether Odigos is there.
    pub installed: bool,
}

/// Adds the steps of a change. Where another one follows it leaves to that what would have to be done
/// twice otherwise: workloads, overlays, pools and nodes.
pub fn of(ground: &Ground, change: &Change, survey: &Survey, is_last: bool, script: &mut Script) {
    let mut steps = Steps { ground, change, survey, script };
    match change.kind {
        ChangeKind::KarpenterOn if !is_last => {
            steps.policy(false);
            steps.odigos();
        }
        ChangeKind::OtherTier | ChangeKind::KarpenterOff if !is_last => {
            steps.odigos();
            steps.policy(false);
        }
        ChangeKind::OtherTier => {
            steps.odigos();
            steps.policy(false);
            steps.workloads();
            steps.pools();
            steps.nodes(survey);
        }
        ChangeKind::Settle => {
            steps.policy(false);
            steps.overlays();
            steps.workloads();
            steps.unneeded_overlays();
            steps.waiting_claims();
            steps.pools();
            steps.nodes(survey);
        }
        ChangeKind::KarpenterOn => {
            steps.policy(true);
            steps.odigos();
            steps.overlays();
            steps.workloads();
            steps.unneeded_overlays();
            steps.waiting_claims();
            steps.policy_of_pools();
            steps.pools();
            steps.nodes(survey);
        }
        ChangeKind::KarpenterOff => {
            steps.odigos();
            steps.policy(false);
            steps.workloads();
            steps.pools();
            steps.nodes(survey);
        }
        ChangeKind::ToInitContainer | ChangeKind::Uninstall => {
            steps.policy(false);
            steps.pools();
            steps.nodes(ground.now);
            steps.wait_for_nodes();
            steps.odigos();
            steps.workloads();
            steps.unneeded_overlays();
            steps.waiting_claims();
            steps.leftovers();
        }
        ChangeKind::FromInitContainer => {
            steps.overlays();
            steps.odigos();
            steps.policy(false);
            steps.workloads();
            steps.unneeded_overlays();
            steps.waiting_claims();
            steps.pools();
            steps.nodes(survey);
        }
        ChangeKind::FromVirtualDevice => {
            steps.odigos();
            steps.workloads();
            steps.unneeded_overlays();
            steps.waiting_claims();
            steps.policy(false);
            steps.pools();
            steps.nodes(survey);
        }
        ChangeKind::ToVirtualDevice => {
            steps.overlays();
            steps.odigos();
            steps.policy(false);
            steps.workloads();
            steps.pools();
            steps.nodes(survey);
        }
        ChangeKind::OtherMount => {
            steps.odigos();
            steps.policy(false);
            steps.workloads();
            steps.unneeded_overlays();
            steps.waiting_claims();
            steps.pools();
            steps.nodes(survey);
        }
    }
}

/// Waits until the policy server answers with the settings that were applied, and not until it had any.
const POLICIES_SERVE: &str = "kubectl wait --for=condition=PolicyUniquelyReachable --timeout=5m clusteradmissionpolicies \\\n  \
     odigos-karpenter odigos-karpenter-audit odigos-pods-and-nodes odigos-pods-and-nodes-audit";

struct Steps<'p> {
    ground: &'p Ground<'p>,
    change: &'p Change,
    survey: &'p Survey,
    script: &'p mut Script,
}

impl Steps<'_> {
    fn mount_method(&self) -> &'static str {
        name_of(MountMethod::ALL, self.change.after.mount_method)
    }

    fn policy(&mut self, pools_last: bool) {
        let (method, after) = (self.mount_method(), self.change.after);
        let step = self.script.step("The policy");
        step.note("In every policy of policy.yaml the settings must have:").note("");
        if after.installed {
            step.note(format!("  mountMethod: {method}")).note(format!("  karpenterEnabled: {}", after.karpenter));
            step.note(format!("  tier: {}", name_of(Tier::ALL, after.tier)));
        } else {
            step.note("  odiglet: {installed: false}");
        }
        if pools_last {
            step.note("").note("and until the pools are changed, but not in the twins that only report:").note("");
            step.note("  nodePools: {action: warn}");
        }
        step.run("kubectl apply -f policy.yaml");
        step.run(POLICIES_SERVE);
    }

    fn policy_of_pools(&mut self) {
        let step = self.script.step("The policy, of pools too");
        step.note("Remove nodePools.action again.").run("kubectl apply -f policy.yaml").run(POLICIES_SERVE);
    }

    fn odigos(&mut self) {
        let namespace = shell(self.ground.settings.odiglet.namespace);
        let odiglet = shell(&format!("daemonset/{}", self.ground.settings.odiglet.daemon_set));
        let value = match self.change.kind {
            ChangeKind::KarpenterOn => "karpenter.enabled=true".to_owned(),
            ChangeKind::KarpenterOff => "karpenter.enabled=false".to_owned(),
            ChangeKind::OtherTier if self.change.after.tier == Tier::Onprem => {
                r#"onPremToken="${ODIGOS_ONPREM_TOKEN:?}""#.to_owned()
            }
            ChangeKind::OtherTier => "onPremToken=".to_owned(),
            _ => format!("instrumentor.mountMethod={}", self.mount_method()),
        };
        // What takes the taint away goes only when nothing waits for it any more.
        let goes = matches!(self.change.kind, ChangeKind::Uninstall | ChangeKind::ToInitContainer);
        let step = self.script.step("Odigos");
        let after = if goes && self.ground.installed {
            step.note("Only after the wait, in the same shell:");
            ": \"${nothing_waits:?wait first}\" &&\n  "
        } else {
            ""
        };
        if self.change.kind == ChangeKind::Uninstall {
            if !self.ground.installed {
                step.note("It is gone.");
                return;
            }
            step.note("Under the name that you installed it by:")
                .run(format!("{after}helm uninstall odigos --namespace {namespace} && odigos_is_gone=yes"));
            return;
        }
        step.note("Under the name that you installed it by, and from where:");
        if self.change.kind == ChangeKind::OtherTier && self.change.after.tier == Tier::Cloud {
            step.note("(with the key of Odigos Cloud beside, as its documentation says)");
        }
        step.run(format!("{after}version=$(helm get metadata odigos --namespace {namespace} -o json | jq -er .version) &&\n  \
             helm upgrade odigos odigos/odigos --namespace {namespace} --version \"$version\" --reuse-values --set {value}"));
        step.run(format!("kubectl -n {namespace} rollout status {odiglet}"));
        if self.change.kind == ChangeKind::KarpenterOff && !self.survey.unprovisioned.is_empty() {
            let pools: Vec<&str> = self.survey.unprovisioned.iter().map(String::as_str).collect();
            step.note(
                "Odigos gives the pods that it instruments a node affinity that Karpenter does not know: from now",
            );
            step.note(format!("on it launches no node for them. That is of {}.", pools.join(", ")));
        }
    }

    fn workloads(&mut self) {
        let workloads = &self.survey.workloads;
        let step = self.script.step("Workloads whose pods carry what Odigos once added");
        if !self.ground.gathered.knows(PODS) {
            step.note("The input has no Pods, so that there may be more than is said here.");
        }
        if workloads.is_empty() {
            step.note("There are none.");
            return;
        }
        step.note("Affinity and resources of a running pod can't be changed. DaemonSets come first, for Karpenter");
        step.note("counts the requests of a DaemonSet's newest pod for every new node.");
        for (note, command) in workloads.steps(self.ground.gathered) {
            step.note(note);
            if let Some(command) = command {
                step.run(command);
            }
        }
    }

    fn overlays(&mut self) {
        let overlays = self.survey.overlays(self.ground.gathered, self.ground.settings.odiglet.namespace);
        if overlays.is_empty() {
            return;
        }
        let existing = || self.ground.gathered.overlays().map(|(name, _)| name);
        let step = self.script.step("A NodeOverlay for each pool");
        if self.ground.gathered.lacks(OVERLAYS) {
            step.note(
                "STOP: the cluster does not serve NodeOverlays, or they could not be collected. Without them Karpenter",
            );
            step.note("launches nothing for the device.");
        }
        step.note("Without one Karpenter launches no node for a pod that asks for the device. It must be told to");
        step.note("apply them (feature gate NodeOverlay); EKS Auto Mode and AKS node auto-provisioning don't.");
        for (pool, daemon_sets) in overlays {
            match daemon_sets.as_slice() {
                [] => step.note(format!("{pool}: needed if it is to have nodes for instrumented pods.")),
                some => step
                    .note(format!("{pool}: needed for any node at all, for DaemonSet {} runs there.", some.join(", "))),
            };
            step.run(overlays::command(pool, existing()));
        }
    }

    fn unneeded_overlays(&mut self) {
        if self.change.after.installed && self.change.after.mount_method == MountMethod::VirtualDevice {
            return;
        }
        let with_device = self.ground.gathered.overlays().filter(|(_, text)| overlays::has_device(text));
        let removals: Vec<String> = with_device.filter_map(|(name, text)| overlays::removal(name, text)).collect();
        if removals.is_empty() {
            return;
        }
        let step = self.script.step("NodeOverlays with the device");
        step.note("Nothing advertises it any more: what Karpenter launches for it would never initialize.");
        for removal in removals {
            step.run(removal);
        }
    }

    fn waiting_claims(&mut self) {
        let claims = &self.survey.waiting_claims;
        if claims.is_empty() {
            return;
        }
        let step = self.script.step("NodeClaims that wait for the device");
        step.note("Those that are not initialized by now never will be. Karpenter launches others.");
        for claim in claims {
            let claim = shell(&format!("{CLAIMS}/{claim}"));
            step.run(format!(
                "initialized=$(kubectl get {claim} --ignore-not-found \\\n    \
                 -o jsonpath='{{.status.conditions[?(@.type==\"Initialized\")].status}}') &&\n  \
                 [ \"$initialized\" != True ] && kubectl delete {claim} --ignore-not-found --wait=false"
            ));
        }
    }

    fn pools(&mut self) {
        let step = self.script.step("Pools");
        if !self.ground.gathered.knows(POOLS) {
            step.note("The input has no NodePools: kubectl get nodepools.karpenter.sh -o json has them.");
        }
        if self.survey.intolerant {
            step.note("None gets the startup taint, for odiglet does not tolerate it: see to its tolerations first.");
        }
        if !self.survey.left_alone.is_empty() {
            let names: Vec<&str> = self.survey.left_alone.iter().map(String::as_str).collect();
            step.note("The settings exclude these, so that they are for you: nobody will take the taint away there.");
            step.note(format!("{}.", names.join(", ")));
        }
        if self.survey.pools.is_empty() {
            step.note("None needs a change.");
            return;
        }
        step.note("Karpenter replaces every node of a pool whose startup taints change. New nodes are put right");
        step.note("without that, by their NodeClaims, as long as the policy is there; so when to do each of these is");
        step.note(match self.change.kind {
            ChangeKind::ToInitContainer | ChangeKind::Uninstall => {
                "for you to decide, but before the policy ever goes."
            }
            _ => "for you to decide.",
        });
        for pool in &self.survey.pools {
            step.note("");
            for note in pool.notes(self.survey.nodes_of(&pool.name, self.ground.gathered)) {
                step.note(note);
            }
            step.run(pool.command());
        }
    }

    fn wait_for_nodes(&mut self) {
        let step = self.script.step("Wait until no node is uninitialized");
        if !self.ground.installed {
            step.note("Odigos is gone: what still waits for it waits for ever. See to the nodes above.");
            return;
        }
        step.note("odiglet must be there for as long as a node waits for it. This prints those that do, and ends");
        step.note(
            "when there are none, or with what kubectl says where it can't ask: then run it again. What waits for",
        );
        step.note(
            "something else (see kubectl describe) you may delete, and Karpenter launches another. Where there is",
        );
        step.note("no Karpenter nothing has to be waited for: nothing_waits=yes");
        step.run(format!(
            "waiting=unknown; while claims=$(kubectl get {} -o json) && waiting=$(printf '%s' \"$claims\" | jq -r '.items[]\n  \
             | select(all(.status.conditions[]?; (.type | endswith(\"Initialized\") | not) or .status != \"True\"))\n  \
             | .metadata.name' || echo unknown) && [ -n \"$waiting\" ] && [ \"$waiting\" != unknown ]; do\n  \
             echo \"$waiting\"; sleep 10; done; [ -z \"$waiting\" ] && nothing_waits=yes",
            self.ground.now.claims()
        ));
    }

    /// Nodes whose taint nobody removes, as a survey says.
    fn nodes(&mut self, survey: &Survey) {
        let Survey { stuck, came_late, waits, .. } = survey;
        let namespace = shell(self.ground.settings.odiglet.namespace);
        let odiglet = shell(&format!("daemonset/{}", self.ground.settings.odiglet.daemon_set));
        let step = self.script.step("Nodes that keep the taint");
        if !self.ground.gathered.knows(NODES) {
            step.note("The input has no Nodes: kubectl get nodes -o json has them.");
        } else if stuck.is_empty() && came_late.is_empty() && waits.is_empty() {
            step.note("There are none.");
        }
        if !stuck.is_empty() {
            step.note(format!("Nobody removes it from {}.", counted(stuck.len(), "node")));
        }
        for command in stuck.values() {
            step.run(command);
        }
        if !came_late.is_empty() {
            let names: Vec<&str> = came_late.iter().map(String::as_str).collect();
            step.note(format!(
                "It came to {} after odiglet, which removes it when it starts:",
                counted(names.len(), "node")
            ));
            step.note(format!("{}.", names.join(", ")));
            step.run(format!("kubectl -n {namespace} rollout restart {odiglet}"));
            step.run(format!("kubectl -n {namespace} rollout status {odiglet}"));
        }
        if !waits.is_empty() {
            let names: Vec<&str> = waits.iter().map(String::as_str).collect();
            let wait = if names.len() == 1 { "waits" } else { "wait" };
            step.note(format!("{} {wait} for odiglet: {}.", counted(names.len(), "node"), names.join(", ")));
            step.note("Where one still does in ten minutes, see why odiglet does not start there.");
        }
    }

    /// What is left on nodes once odiglet removes nothing any more.
    fn leftovers(&mut self) {
        let left = self.survey.stuck.iter().filter(|(node, _)| !self.ground.now.stuck.contains_key(*node));
        let step = self.script.step("What is left on nodes");
        if !self.change.after.installed {
            let labels = [Tier::Community, Tier::Onprem].map(|tier| format!("{}-", tier.label()));
            let gone = if self.ground.installed { ": \"${odigos_is_gone:?uninstall it first}\" &&\n  " } else { "" };
            step.run(format!("{gone}kubectl label nodes --all {}", labels.join(" ")));
        }
        step.note("Collect and plan again: a node that still has the taint has it for good. Those that had it when");
        step.note("this was made, which odiglet should have freed since:");
        let mut none = true;
        for (_, command) in left {
            none = false;
            step.run(command);
        }
        if none {
            step.note("none.");
        }
    }
}
