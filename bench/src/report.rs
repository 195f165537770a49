//! What all requests took, beside the floors.

use crate::meter::{Error, Measurement, Meter};
use crate::request::Request;

/// Guests in the policy's own profile that do nothing but read the payload. They say what a
/// policy costs before it has looked at anything.
pub struct Floors {
    /// Skips the payload: `serde_json` to `IgnoredAny`.
    pub skip: Meter,
    /// Parses the payload: `serde_json` to `Value`.
    pub value: Meter,
}

/// What the requests took of one policy.
#[derive(Debug, Clone)]
pub struct Report {
    /// The size of the module, in bytes.
    pub wasm_bytes: usize,
    /// The fuel of the start, which is the same for every request.
    pub start_up_fuel: u64,
    /// A row for each request.
    pub rows: Vec<Row>,
}

/// What one request took.
#[derive(Debug, Clone)]
pub struct Row {
    /// The request.
    pub request: Request,
    /// Of the policy.
    pub policy: Measurement,
    /// Of the floor *skip*, in fuel of the call.
    pub skip_fuel: u64,
    /// Of the floor *value*, in fuel of the call.
    pub value_fuel: u64,
}

// === impl Report ===

impl Report {
    /// Measures a policy and the floors on all requests.
    ///
    /// # Errors
    ///
    /// As [`Meter::measure`].
    pub fn new(policy: &Meter, floors: &Floors) -> Result<Self, Error> {
        let mut rows = Vec::new();
        for request in Request::all() {
            rows.push(Row {
                policy: policy.measure(&request.payload)?,
                skip_fuel: floors.skip.measure(&request.payload)?.call_fuel,
                value_fuel: floors.value.measure(&request.payload)?.call_fuel,
                request,
            });
        }
        let start_up_fuel = rows.iter().map(|row| row.policy.start_up_fuel).max().unwrap_or(0);
        Ok(Self { wasm_bytes: policy.size(), start_up_fuel, rows })
    }

    /// The row of a request.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.request.name == name)
    }
}

// === impl Row ===

impl Row {
    /// The fuel of the call for each byte of the payload.
    pub fn fuel_per_byte(&self) -> f64 {
        self.policy.call_fuel as f64 / self.request.payload.len() as f64
    }
}
