//! Parses a file of JSON values into `serde_json::Value`s, for its time and memory to be compared with
//! those of a scan.
//!
//! ```console
//! /usr/bin/time -v target/release/examples/parse dump.json
//! ```

use std::time::Instant;

use serde_json::Value;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a file")?;
    let text = std::fs::read(path)?;
    let start = Instant::now();
    let values = serde_json::Deserializer::from_slice(&text).into_iter::<Value>().collect::<Result<Vec<_>, _>>()?;
    println!("{} values of {} bytes in {:.3} s", values.len(), text.len(), start.elapsed().as_secs_f64());
    Ok(())
}
