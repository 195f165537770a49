//! Tolerations that let a pod in too early.

use crate::field::{Field, Unreadable};
use crate::finding::{Hint, Report};
use crate::kubernetes::taint::Taint;
use crate::kubernetes::toleration::Toleration;
use crate::message::Message;
use crate::odigos::{TAINT, TAINT_EFFECT, TAINT_KEY};
use crate::rule::Rule;
use crate::situation::Situation;

/// `startup-taint-tolerated`, for the first toleration that does it.
pub fn judge(spec: &Field, situation: &Situation, report: &mut Report) -> Result<(), Unreadable> {
    if !situation.gated() {
        return Ok(());
    }
    for entry in spec.at("tolerations")?.entries()? {
        if Toleration::read(&entry)?.tolerates(&Taint { key: TAINT_KEY, value: "", effect: TAINT_EFFECT }) {
            report.hints.push(Hint {
                rule: Some(Rule::StartupTaintTolerated),
                path: entry.path(),
                problem: Message::from(["tolerates ".into(), TAINT.into(), ", so it may start too early".into()]),
                remedy: "narrow it to the keys that the pod must tolerate".into(),
            });
            return Ok(());
        }
    }
    Ok(())
}
