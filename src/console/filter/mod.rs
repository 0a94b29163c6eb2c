//! The filter language: `state:extra,drift cluster:eu* age>5m name~client !class:dev oidc`.
//!
//! Invariants:
//! - every term must match; of the values of one term, any;
//! - a term with `!` or `-` shows exactly what it hides without. Words differ: a word matches by its letters in order,
//!   with gaps, and excludes only where it occurs as a whole, because excluding with gaps hides too much;
//! - a printed filter parses to the same filter; parsing and matching never panic.
//!
//! | term | shows |
//! | --- | --- |
//! | `oidc` | rows with these letters in this order, scored by how well they fit |
//! | `"ext-auth"` | rows with this text |
//! | `cluster:eu` | `eu`, `eu-west`, `eu.west`, `eu/west`: the value, or a prefix up to a separator |
//! | `cluster:eu*`, `cluster:"eu"` | a pattern over the whole value; the exact value |
//! | `name~client` | the value anywhere inside |
//! | `age>5m` | older than that; `<` younger. Units: s, m, h, d, w |
//!
//! ASCII case is ignored everywhere.

mod complete;
mod matching;
mod parse;
mod term;
#[cfg(test)]
mod tests;

pub use complete::{Completions, Known, complete};
pub use matching::{Fields, Scratch};
pub use parse::FilterProblem;
pub use term::Filter;
