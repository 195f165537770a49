//! That what is generated is worth generating: rules find something in it, each of them.

use std::collections::BTreeMap;

use crate::answer::ask;
use crate::requests;
use crate::rules::outcomes;
use crate::run::sample;
use crate::settings;

#[test]
fn a_fair_share_is_changed_and_every_rule_is_heard() {
    let (mut asked, mut changed, mut judged) = (0, 0, 0);
    let mut heard: BTreeMap<String, usize> = BTreeMap::new();
    for ((_, request), settings) in sample(3000, (requests::rejectable(), settings::without_actions())) {
        let mutating = ask(&request.clone().into(), &settings::with_action(&settings, "mutate").into()).unwrap();
        let warning = ask(&request.into(), &settings::with_action(&settings, "warn").into()).unwrap();
        asked += 1;
        changed += usize::from(mutating.mutated.is_some());
        judged += usize::from(!warning.warnings.is_empty());
        for rule in warning.heard() {
            *heard.entry(rule).or_default() += 1;
        }
    }
    println!("{changed} changed and {judged} judged of {asked}; {heard:#?}");
    assert!(changed * 5 > asked, "only {changed} changed of {asked}");
    // What is found only in a cluster is heard in the acceptance cases.
    for rule in outcomes().keys().filter(|rule| *rule != "node-overlay-missing") {
        assert!(heard.contains_key(rule), "nothing is found by {rule}");
    }
}
