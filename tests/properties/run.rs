//! How a property is run: the same cases each time, unless more or others are asked for.

use std::fmt::Debug;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestCaseResult, TestRng, TestRunner};

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A runner over `cases` cases. `PROPTEST_CASES` sets how many there are for every property, and
/// `PROPTEST_SEED` which ones.
fn runner(cases: u32) -> TestRunner {
    let cases = from_environment("PROPTEST_CASES").map_or(cases, |cases| cases.try_into().unwrap());
    let mut seed = [0x0d; 32];
    seed[..8].copy_from_slice(&from_environment("PROPTEST_SEED").unwrap_or(0).to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4096, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// Holds a property to cases; panics with the smallest that breaks it.
pub fn hold<S: Strategy>(cases: u32, strategy: S, property: impl Fn(S::Value) -> TestCaseResult)
where
    S::Value: Debug,
{
    if let Err(error) = runner(cases).run(&strategy, property) {
        panic!("{error}");
    }
}

/// Cases to count something in.
#[allow(dead_code, reason = "not every test counts")]
pub fn sample<S: Strategy>(cases: u32, strategy: S) -> impl Iterator<Item = S::Value> {
    let mut runner = runner(cases);
    (0..runner.config().cases).map(move |_| strategy.new_tree(&mut runner).unwrap().current())
}

/// That a property holds, or else why not.
pub fn require(holds: bool, why: impl FnOnce() -> String) -> TestCaseResult {
    if holds { Ok(()) } else { Err(TestCaseError::fail(why())) }
}
