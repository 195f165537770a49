//! The script that collects what the other commands read.

use std::io::{self, Write};

use crate::gathered::{COLLECTION, COLLECTION_API_VERSION};

const SCRIPT: &str = include_str!("collect.sh");

/// Writes the script, for an Odigos in this namespace.
///
/// # Errors
///
/// What `out` fails with.
pub fn write(out: &mut impl Write, odigos_namespace: &str) -> io::Result<()> {
    let script = SCRIPT
        .replace("@NAMESPACE@", &odigos_namespace.replace('\'', r"'\''"))
        .replace("@API_VERSION@", COLLECTION_API_VERSION)
        .replace("@KIND@", COLLECTION);
    out.write_all(script.as_bytes())
}
