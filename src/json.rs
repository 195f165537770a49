//! JSON text: finding the way in it, reading what is looked into, and changing it in place, so
//! that what a request is mostly made of is neither parsed nor written anew.

pub mod cursor;
pub mod scan;
pub mod splice;
pub mod view;
