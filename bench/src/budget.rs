//! What the policy may cost at most. Every figure is here, and `tests/cost` holds the policy to
//! them.

use std::fmt::{self, Display, Formatter};

use crate::report::{Report, Row};
use crate::request::Outcome;

/// The fuel of the start: three functions are registered, and no more is done.
pub const START_UP_FUEL: u64 = 4_000;

/// The size of the module.
pub const WASM_BYTES: usize = 450 * KIB;

/// How often as much fuel a byte of a large Pod may take as one of a small Pod.
pub const GROWTH: f64 = 1.1;

/// The fuel of the call for each of the requests that a cluster sends.
pub const CALLS: [CallBudget; 4] = [
    CallBudget { request: "pod-uninstrumented", floor: Floor::Skip, fuel: 92_773 },
    CallBudget { request: "pod-instrumented", floor: Floor::Value, fuel: 477_407 },
    CallBudget { request: "nodepool", floor: Floor::Value, fuel: 163_586 },
    CallBudget { request: "node", floor: Floor::Value, fuel: 169_777 },
];

/// Pairs of a large Pod and the small one of which it is made.
const GROWN: [(&str, &str); 2] =
    [("pod-uninstrumented, 2 MB", "pod-uninstrumented"), ("pod-instrumented, 2 MB", "pod-instrumented")];

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// The linear memory for a large payload, in bytes. What is not changed needs the payload, a
/// buffer that has grown to hold it, and what the module itself takes; what is changed is
/// answered as a whole.
pub fn peak_memory(outcome: Outcome, payload_bytes: usize) -> usize {
    match outcome {
        Outcome::Accepted | Outcome::Rejected => payload_bytes * 2 + 12 * MIB / 10,
        Outcome::Mutated => payload_bytes * 8,
    }
}

/// What a call may cost: no more than a floor as it is built beside the policy, and no more than
/// that floor took when the budget was set.
#[derive(Debug, Clone, Copy)]
pub struct CallBudget {
    /// The name of the request.
    pub request: &'static str,
    /// The floor.
    pub floor: Floor,
    /// What the floor took when the budget was set.
    pub fuel: u64,
}

/// Which of [`Floors`](crate::report::Floors).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// Skipping the payload.
    Skip,
    /// Parsing the payload.
    Value,
}

/// A budget, and what is used of it.
#[derive(Debug, Clone)]
pub struct Check {
    /// What is counted, with its unit.
    pub what: String,
    /// How much it is.
    pub is: f64,
    /// How much it may be.
    pub most: f64,
}

/// All budgets, and what is used of them. A budget of which the report does not speak is used up.
pub fn checks(report: &Report) -> Vec<Check> {
    let mut checks = vec![
        Check::new("start-up: fuel", report.start_up_fuel as f64, START_UP_FUEL as f64),
        Check::new("module: bytes", report.wasm_bytes as f64, WASM_BYTES as f64),
    ];
    for budget in CALLS {
        let row = report.row(budget.request);
        let fuel = row.map_or(f64::INFINITY, |row| row.policy.call_fuel as f64);
        let most = row.map_or(budget.fuel, |row| budget.fuel.min(budget.floor.fuel(row)));
        checks.push(Check::new(format!("{}: fuel", budget.request), fuel, most as f64));
    }
    for (large, small) in GROWN {
        let (large, small) = (report.row(large), report.row(small));
        let (Some(large), Some(small)) = (large, small) else {
            checks.push(Check::new("a large Pod and a small one", f64::INFINITY, GROWTH));
            continue;
        };
        let name = large.request.name;
        let growth = large.fuel_per_byte() / small.fuel_per_byte();
        checks.push(Check::new(format!("{name}: fuel per byte, in that of the small one"), growth, GROWTH));
        let most = peak_memory(large.request.outcome, large.request.payload.len());
        checks.push(Check::new(format!("{name}: bytes of memory"), large.policy.peak_memory as f64, most as f64));
    }
    checks
}

// === impl Floor ===

impl Floor {
    fn fuel(self, row: &Row) -> u64 {
        match self {
            Self::Skip => row.skip_fuel,
            Self::Value => row.value_fuel,
        }
    }
}

// === impl Check ===

impl Check {
    fn new(what: impl Into<String>, is: f64, most: f64) -> Self {
        Self { what: what.into(), is, most }
    }

    /// Whether the budget is kept.
    pub fn holds(&self) -> bool {
        self.is <= self.most
    }
}

impl Display for Check {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds() { "kept" } else { "OVER" };
        let digits = if self.most.fract() == 0.0 { 0 } else { 3 };
        write!(formatter, "{verdict}  {}: {:.digits$} of {:.digits$}", self.what, self.is, self.most)
    }
}
