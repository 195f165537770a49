//! That the policy keeps its budgets, and that a guest which does not is found out.

use odigos_karpenter_bench::budget::{Check, checks};
use odigos_karpenter_bench::report::Report;
use odigos_karpenter_bench::request::Outcome;

use super::{FLOORS, POLICY};

/// What is over its budget, one to a line.
fn over(report: &Report) -> String {
    let over: Vec<_> = checks(report).iter().filter(|check| !check.holds()).map(Check::to_string).collect();
    over.join("\n")
}

#[test]
fn every_budget_is_kept() {
    let report = Report::new(&POLICY, &FLOORS).unwrap();
    for row in &report.rows {
        assert_eq!(Outcome::of(&row.policy.answer), row.request.outcome, "{}", row.request.name);
    }
    let over = over(&report);
    assert!(over.is_empty(), "over budget:\n{over}");
}

#[test]
fn the_same_request_takes_the_same() {
    let count = || {
        let report = Report::new(&FLOORS.value, &FLOORS).unwrap();
        report.rows.iter().map(|row| (row.policy.call_fuel, row.policy.peak_memory)).collect::<Vec<_>>()
    };
    assert_eq!(count(), count());
}

/// Parsing is more than skipping may cost, and the tree of a large Pod is more memory than a Pod
/// may take that stays as it is.
#[test]
fn a_guest_that_parses_everything_is_over() {
    let report = Report::new(&FLOORS.value, &FLOORS).unwrap();
    let over = over(&report);
    assert!(over.contains("pod-uninstrumented: fuel"), "{over}");
    assert!(over.contains("pod-uninstrumented, 2 MB: bytes of memory"), "{over}");
}

#[test]
fn a_report_that_lacks_something_is_over() {
    let report = Report { wasm_bytes: usize::MAX, start_up_fuel: u64::MAX, rows: Vec::new() };
    assert!(checks(&report).iter().all(|check| !check.holds()));
}

/// The floors, too, are as cheap as when the budgets were set, or the ratios say nothing.
#[test]
fn the_floors_only_read_the_payload() {
    let report = Report::new(&FLOORS.skip, &FLOORS).unwrap();
    for row in &report.rows {
        assert_eq!(row.policy.call_fuel, row.skip_fuel, "{}", row.request.name);
        assert!(row.skip_fuel * 3 < row.value_fuel, "{}", row.request.name);
    }
}
