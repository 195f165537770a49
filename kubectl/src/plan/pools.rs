//! NodePools that are to be patched, and the nodes that Karpenter replaces then.

use odigos_karpenter_policy::json::view::{Content, View, quoted};

use super::lists::{patch, shell};
use crate::diff;
use crate::item::Item;
use crate::judge::Judged;
use crate::output::counted;

/// What Karpenter takes where a pool has no budgets (Karpenter, `pkg/apis/v1/nodepool.go`).
const DEFAULT_BUDGETS: &str = r#"[{"nodes":"10%"}]"#;

/// A pool whose startup taints are to change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pool {
    pub name: String,
    /// With its group: others have NodePools too.
    resource: &'static str,
    patch: String,
    /// `spec.disruption.budgets` as JSON; `None` for a pool that has no such thing.
    budgets: Option<String>,
    knows_reasons: bool,
}

impl Pool {
    /// A pool with what is to be changed in it; `None` where nothing is.
    pub fn of(item: &Item, judged: &Judged) -> Option<Self> {
        let after = diff::changed(item.text, judged)?;
        let (before, after) = (View::new(item.text), View::new(&after));
        let is_nodepool = item.kind == "NodePool";
        let place: &[&str] = if is_nodepool { &["spec", "template", "spec"] } else { &["spec"] };
        let budgets = before.get("spec").and_then(|spec| spec.get("disruption")).and_then(|it| it.get("budgets"));
        let budgets = budgets.filter(|budgets| matches!(budgets.content(), Content::List(_))).and_then(View::canonical);
        Some(Pool {
            name: judged.name.clone(),
            resource: if is_nodepool { "nodepools.karpenter.sh" } else { "provisioners.karpenter.sh" },
            patch: patch(&before, &after, place, &["startupTaints", "taints"])?,
            budgets: is_nodepool.then(|| budgets.unwrap_or(DEFAULT_BUDGETS.to_owned())),
            knows_reasons: item.api_version == "karpenter.sh/v1",
        })
    }

    /// The command that changes it.
    pub fn command(&self) -> String {
        self.patch_command(&self.patch)
    }

    /// What the change does to its nodes, and how to keep that for later.
    ///
    /// `nodes`: how many it has, where that is known.
    pub fn notes(&self, nodes: Option<usize>) -> Vec<String> {
        if nodes == Some(0) {
            return vec![format!("{}: there is no node of it to be replaced.", self.name)];
        }
        let are = nodes.map_or("all its nodes, which the input does not have, are".to_owned(), are);
        let Some(budgets) = &self.budgets else {
            return vec![format!("{}: {are} replaced by drift, where drift is on.", self.name)];
        };
        let view = View::new(budgets.as_bytes());
        let (pace, told) = (nodes.map(|nodes| format!(", {}", pace(&view, nodes))).unwrap_or_default(), told(&view));
        let none = if self.knows_reasons { r#"{"nodes":"0","reasons":["Drifted"]}"# } else { r#"{"nodes":"0"}"# };
        let rest = budgets.trim_start_matches('[');
        let held = if rest == "]" { format!("[{none}]") } else { format!("[{none},{rest}") };
        vec![
            format!("{}: {are} replaced by drift{pace} (budgets: {told}).", self.name),
            format!(
                "To keep that for later{}, before:",
                if self.knows_reasons { "" } else { ", and consolidation with it" }
            ),
            format!("  {}", self.budget_command(budgets, &format!(r#""op":"add","value":{none}"#))),
            "and to let it go on:".to_owned(),
            format!("  {}", self.budget_command(&held, r#""op":"remove""#)),
        ]
    }

    /// The command that does something about the first of its budgets, where they are these.
    fn budget_command(&self, budgets: &str, operation: &str) -> String {
        let path = "/spec/disruption/budgets";
        let test = format!(r#"{{"op":"test","path":"{path}","value":{budgets}}}"#);
        self.patch_command(&format!(r#"[{test},{{{operation},"path":"{path}/0"}}]"#))
    }

    fn patch_command(&self, patch: &str) -> String {
        format!("kubectl patch {} {} --type=json -p {}", self.resource, shell(&self.name), shell(patch))
    }
}

fn are(nodes: usize) -> String {
    format!("{} {}", counted(nodes, "node"), if nodes == 1 { "is" } else { "are" })
}

/// How many nodes may be replaced at a time: the least of the budgets that hold for drift at any hour.
fn pace(budgets: &View, nodes: usize) -> String {
    let Content::List(list) = budgets.content() else { return "at a pace that can't be read".to_owned() };
    let mut least: Option<usize> = None;
    let mut scheduled = false;
    for budget in list {
        let for_drift = match budget.get("reasons").map(View::content) {
            Some(Content::List(reasons)) if !reasons.is_empty() => {
                reasons.iter().any(|reason| reason.as_str() == Some("Drifted"))
            }
            _ => true,
        };
        if !for_drift {
            continue;
        }
        if budget.get("schedule").is_some_and(|schedule| !schedule.is_null()) {
            scheduled = true;
            continue;
        }
        let allowed = budget.get("nodes").and_then(View::as_str).unwrap_or("10%");
        // Karpenter rounds up (`GetAllowedDisruptionsByReason`).
        let allowed = match allowed.strip_suffix('%') {
            Some(percent) => percent.parse::<usize>().ok().map(|percent| nodes.saturating_mul(percent).div_ceil(100)),
            None => allowed.parse().ok(),
        };
        least = [least, allowed].into_iter().flatten().min();
    }
    let at_times = if scheduled { ", and fewer at times" } else { "" };
    match least {
        Some(0) => "but none while its budget is 0".to_owned(),
        Some(least) => format!("at most {least} at a time{at_times}"),
        None => format!("with no budget that holds it back{at_times}"),
    }
}

fn told(budgets: &View) -> String {
    let Content::List(list) = budgets.content() else { return budgets.canonical().unwrap_or_default() };
    let one = |budget: &View| {
        let nodes = budget.get("nodes").and_then(View::as_str).unwrap_or("10%").to_owned();
        let reasons = match budget.get("reasons").map(View::content) {
            Some(Content::List(reasons)) => reasons.iter().filter_map(View::as_str).collect::<Vec<_>>().join(" and "),
            _ => String::new(),
        };
        let schedule = budget.get("schedule").and_then(View::as_str).map(|at| format!(" at {}", quoted(at)));
        let reasons = if reasons.is_empty() { String::new() } else { format!(" for {reasons}") };
        format!("{nodes}{reasons}{}", schedule.unwrap_or_default())
    };
    list.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"[{"nodes":"10%"}]"#, 25, "at most 3 at a time")]
    #[case(r#"[{"nodes":"10%"},{"nodes":"1"}]"#, 25, "at most 1 at a time")]
    #[case(r#"[{"nodes":"0","reasons":["Empty"]},{"nodes":"20%"}]"#, 10, "at most 2 at a time")]
    #[case(r#"[{"nodes":"0","reasons":["Drifted"]},{"nodes":"20%"}]"#, 10, "but none while its budget is 0")]
    #[case(
        r#"[{"nodes":"0","schedule":"0 9 * * 1-5","duration":"8h"},{"nodes":"5"}]"#,
        10,
        "at most 5 at a time, and fewer at times"
    )]
    #[case("[]", 10, "with no budget that holds it back")]
    fn paces(#[case] budgets: &str, #[case] nodes: usize, #[case] expected: &str) {
        assert_eq!(pace(&View::new(budgets.as_bytes()), nodes), expected);
    }
}
