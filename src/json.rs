//! The request as JSON text, of which only what matters is parsed.
//!
//! The host sends each request to a fresh instance, most of them have nothing to do with Odigos,
//! and parsing is what a request costs. So the text is walked once with a [`cursor`], what rules
//! read of an object is [kept](keep) and the rest skipped, and edits are [spliced](splice) into
//! the text as it came, which also keeps every other byte of it.

pub mod cursor;
pub mod keep;
pub mod splice;
