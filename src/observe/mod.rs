//! Observation: for each interest a consistent list, then a watch, decoded straight into small facts.
//!
//! Secret bytes end here. What the rest of the program sees of a Secret is key names, lengths and keyed digests.

pub mod decode;
mod digest;
pub mod recorded;

pub use digest::Digester;
