//! Prints what requests cost a policy.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use odigos_karpenter_bench::meter::Meter;
use odigos_karpenter_bench::report::{Floors, Report};
use odigos_karpenter_bench::request::{Outcome, payload};
use odigos_karpenter_bench::{budget, readme, table};
use serde_json::Value;

/// Counts what requests cost a policy, in fuel of Wasmtime and bytes of memory.
#[derive(Debug, Parser)]
#[command(name = "odigos-karpenter-bench", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure this project's requests, beside the floors, and print the table and the budgets
    Table {
        /// The policy, a .wasm file
        policy: PathBuf,
        /// The guest that skips its payload
        #[arg(long, value_name = "FILE")]
        skip: PathBuf,
        /// The guest that parses its payload
        #[arg(long, value_name = "FILE")]
        value: PathBuf,
        /// Write the table into this file too
        #[arg(long, value_name = "FILE")]
        readme: Option<PathBuf>,
    },
    /// Measure any policy on any requests
    Measure {
        /// The policy, a .wasm file
        policy: PathBuf,
        /// Its settings, a JSON file
        settings: PathBuf,
        /// AdmissionRequests, as JSON files
        #[arg(required = true)]
        requests: Vec<PathBuf>,
    },
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Table { policy, skip, value, readme } => print_table(&policy, &skip, &value, readme.as_deref()),
        Command::Measure { policy, settings, requests } => measure(&policy, &settings, &requests),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_table(policy: &Path, skip: &Path, value: &Path, readme: Option<&Path>) -> Result<()> {
    let floors = Floors { skip: Meter::from_path(skip)?, value: Meter::from_path(value)? };
    let report = Report::new(&Meter::from_path(policy)?, &floors)?;
    let table = table::markdown(&report);
    println!("{table}");
    for check in budget::checks(&report) {
        println!("{check}");
    }
    if let Some(path) = readme {
        let text = read(path)?;
        let text = readme::with_table(&text, &table)
            .ok_or_else(|| format!("{} has no place for the table, or more than one", path.display()))?;
        std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

fn measure(policy: &Path, settings: &Path, requests: &[PathBuf]) -> Result<()> {
    let meter = Meter::from_path(policy)?;
    let settings = json(settings)?;
    println!("module: {} bytes", meter.size());
    for path in requests {
        let request = json(path)?;
        let payload = payload(request.get("request").unwrap_or(&request), &settings);
        let it = meter.measure(&payload)?;
        println!(
            "{}: {:?}, {} bytes, start-up {} fuel, call {} fuel ({:.2} per byte), {} bytes of memory",
            path.display(),
            Outcome::of(&it.answer),
            payload.len(),
            it.start_up_fuel,
            it.call_fuel,
            it.call_fuel as f64 / payload.len() as f64,
            it.peak_memory,
        );
    }
    Ok(())
}

fn json(path: &Path) -> Result<Value> {
    Ok(serde_json::from_str(&read(path)?).map_err(|error| format!("{} is no JSON: {error}", path.display()))?)
}

fn read(path: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?)
}
