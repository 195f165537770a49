//! `kubectl odigos-karpenter`: judges a cluster or a repository by the policy's rules, and plans the
//! move.
//!
//! | step | module |
//! | --- | --- |
//! | paths → files | [`source`] |
//! | files → objects, as JSON text | [`input`], [`json_items`] by way of a [`window`], [`yaml`] |
//! | first pass: what answers for the cluster | [`gathered`] |
//! | second pass: each object → findings and hints | [`judge`], [`template`] |
//! | what is told | [`found`] and [`output`], [`diff`], [`explain`], [`plan`], [`collect`] |
//!
//! Objects are read one at a time and let go. The rules, the settings and the words are those of
//! [`odigos_karpenter_policy`].

#![deny(unsafe_code)]

pub mod arguments;
pub mod block;
pub mod collect;
pub mod commands;
pub mod diff;
pub mod error;
pub mod explain;
pub mod flaw;
pub mod found;
pub mod gathered;
pub mod input;
pub mod item;
pub mod json_items;
pub mod judge;
pub mod names;
pub mod output;
pub mod plain;
pub mod plan;
pub mod progress;
pub mod settings_file;
pub mod source;
pub mod template;
pub mod window;
pub mod yaml;

pub use error::Error;
pub use flaw::Flaw;
