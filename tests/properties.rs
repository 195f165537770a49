//! What must hold of every answer, whatever comes in.
//!
//! Requests and settings are generated, from well-formed to absurd, the same ones in each run.
//! `PROPTEST_CASES` asks for more of them, `PROPTEST_SEED` for others. What is right is what the README
//! says; nothing here looks into the policy.

#[path = "properties/absurd.rs"]
mod absurd;
#[path = "properties/actions.rs"]
mod actions;
#[path = "properties/answer.rs"]
mod answer;
#[path = "properties/coverage.rs"]
mod coverage;
#[path = "properties/json.rs"]
mod json;
#[path = "properties/lines.rs"]
mod lines;
#[path = "properties/mutation.rs"]
mod mutation;
#[path = "properties/objects.rs"]
mod objects;
#[path = "properties/own.rs"]
mod own;
#[path = "properties/requests.rs"]
mod requests;
#[path = "properties/robust.rs"]
mod robust;
#[path = "properties/rules.rs"]
mod rules;
#[path = "properties/run.rs"]
mod run;
#[path = "properties/settings.rs"]
mod settings;
#[path = "properties/words.rs"]
mod words;
