//! What the fuzz targets have in common: what an answer must keep, and how JSON is changed so that
//! it stays JSON.
#![forbid(unsafe_code)]

pub mod answer;
pub mod change;
