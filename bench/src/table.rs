//! The report as a table that is Markdown.

use std::fmt::Write as _;

use crate::meter::wasmtime_version;
use crate::report::{Report, Row};

const HEAD: &str = "\
| request | payload, bytes | fuel | fuel per byte | peak memory, KiB | of *skip* | of *value* |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// A row for each request, and a line about what is the same for all.
pub fn markdown(report: &Report) -> String {
    let mut table = HEAD.to_owned();
    for row in &report.rows {
        table.push_str(&line(row));
    }
    let _ = write!(
        table,
        "\nStart-up: {} fuel. Module: {} KiB. Counted by Wasmtime {}.\n",
        grouped(report.start_up_fuel),
        grouped(report.wasm_bytes.div_ceil(1024) as u64),
        wasmtime_version()
    );
    table
}

fn line(row: &Row) -> String {
    let fuel = row.policy.call_fuel;
    format!(
        "| {} | {} | {} | {:.1} | {} | {:.2} | {:.2} |\n",
        row.request.name,
        grouped(row.request.payload.len() as u64),
        grouped(fuel),
        row.fuel_per_byte(),
        grouped(row.policy.peak_memory.div_ceil(1024) as u64),
        fuel as f64 / row.skip_fuel as f64,
        fuel as f64 / row.value_fuel as f64,
    )
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::meter::Measurement;
    use crate::request::Request;

    #[test]
    fn a_report() {
        let policy = Measurement { start_up_fuel: 3_700, call_fuel: 7_826, peak_memory: 1_114_112, answer: json!({}) };
        let row = Row { request: Request::pod_uninstrumented(), policy, skip_fuel: 15_652, value_fuel: 78_260 };
        let report = Report { wasm_bytes: 300 * 1024 + 1, start_up_fuel: 3_700, rows: vec![row] };
        let expected = "\n| pod-uninstrumented | 3,913 | 7,826 | 2.0 | 1,088 | 0.50 | 0.10 |\n\n\
                        Start-up: 3,700 fuel. Module: 301 KiB. Counted by Wasmtime ";
        let table = markdown(&report);
        assert!(table.starts_with(HEAD) && table.contains(expected), "{table}");
    }

    #[test]
    fn groups_of_digits() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456")] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
