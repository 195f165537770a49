//! Judging an object as an audit does.

use odigos_karpenter_policy::cluster::Cluster;
use odigos_karpenter_policy::edit::Edit;
use odigos_karpenter_policy::finding::{Finding, Hint, Report};
use odigos_karpenter_policy::json::scan::may_say_odigos;
use odigos_karpenter_policy::json::view::View;
use odigos_karpenter_policy::kind::Kind;
use odigos_karpenter_policy::policy;
use odigos_karpenter_policy::request::Request;
use odigos_karpenter_policy::settings::Settings;
use odigos_karpenter_policy::situation::Situation;

use crate::gathered::{Gathered, controller};
use crate::item::Item;
use crate::template;

/// The rules under given settings, in a cluster that answers.
pub struct Judge<'s> {
    /// The settings.
    pub settings: &'s Settings<'s>,
    gathered: &'s Gathered,
    on_pods: Situation<'s>,
    on_others: Situation<'s>,
}

/// An object that rules have something to say to, and what they say.
#[derive(Debug)]
pub struct Judged {
    /// Its kind, which is that of the workload where it is a template that was judged.
    pub kind: String,
    /// Its namespace; empty where it has none.
    pub namespace: String,
    /// Its name, or what the API server makes one of.
    pub name: String,
    /// The kind and name of the object that made it, where one did.
    pub controller: Option<(String, String)>,
    /// What was found in it. Paths are those of the object, of a workload as a whole.
    pub findings: Vec<Finding>,
    /// What is worth a word.
    pub hints: Vec<Hint>,
}

impl Judged {
    /// The edits of all findings.
    pub fn edits(&self) -> Vec<Edit> {
        self.findings.iter().flat_map(|finding| finding.edits.iter().cloned()).collect()
    }
}

impl<'s> Judge<'s> {
    /// The rules under `settings`, where `cluster` answers what they have it asked.
    pub fn new(settings: &'s Settings<'s>, cluster: &'s dyn Cluster, gathered: &'s Gathered) -> Self {
        let situation = |kind| Situation::in_cluster(settings, cluster, kind);
        Judge { settings, gathered, on_pods: situation(Kind::Pod), on_others: situation(Kind::NodePool) }
    }

    /// What rules go by for objects other than pods.
    pub fn situation(&self) -> &Situation<'s> {
        &self.on_others
    }

    /// Judges an object as if it were created now; `None` where rules do not speak of it.
    pub fn judge(&self, item: &Item) -> Option<Judged> {
        let view = View::new(item.text);
        if let Some(kind) = Kind::of(item.group(), &item.kind) {
            let request = Request::audit_of(kind, "", view).ok()??;
            let report = if kind == Kind::Pod && self.is_plain(request.object.get("spec"), item.text) {
                Report::on(request.object())
            } else {
                self.find(kind, &request)
            };
            return Some(judged(item, &request.object, report));
        }
        if template::is_idle(item, &view) || self.gathered.has_owner_of(&view) {
            return None;
        }
        let pod = template::pod_of(item, &view)?;
        let namespace = namespace_of(&view).to_owned();
        let mut report = {
            let pod = View::new(&pod.text);
            let request = Request::audit_of(Kind::Pod, &namespace, pod).ok()??;
            self.find(Kind::Pod, &request)
        };
        for finding in &mut report.findings {
            finding.path = pod.place.join(&finding.path);
            finding.edits = std::mem::take(&mut finding.edits).into_iter().map(|edit| edit.below(&pod.place)).collect();
        }
        for hint in &mut report.hints {
            hint.path = pod.place.join(&hint.path);
        }
        Some(judged(item, &view, report))
    }

    fn find<'r>(&self, kind: Kind, request: &'r Request<'r>) -> Report {
        policy::find(request, if kind == Kind::Pod { &self.on_pods } else { &self.on_others })
    }

    /// Whether a pod's text alone tells that no rule has anything to say to it, as it does to the
    /// policy ([`odigos_karpenter_policy::pod::is_none_of_odigos`]).
    fn is_plain(&self, spec: Option<&View>, text: &[u8]) -> bool {
        self.settings.pods.selector.is_none()
            && !self.settings.from_cluster.instrumentation_configs
            && spec.is_some_and(View::is_map)
            && !may_say_odigos(text)
    }
}

fn namespace_of<'v>(object: &'v View) -> &'v str {
    let metadata = object.get("metadata");
    metadata.and_then(|metadata| metadata.get("namespace")).and_then(View::as_str).unwrap_or_default()
}

fn judged(item: &Item, object: &View, report: Report) -> Judged {
    let metadata = |key| {
        let metadata = object.get("metadata").and_then(|metadata| metadata.get(key)).and_then(View::as_str);
        metadata.filter(|text| !text.is_empty())
    };
    Judged {
        kind: item.kind.clone().into_owned(),
        namespace: namespace_of(object).to_owned(),
        name: metadata("name").or(metadata("generateName")).unwrap_or_default().to_owned(),
        controller: controller(object),
        findings: report.findings,
        hints: report.hints,
    }
}
