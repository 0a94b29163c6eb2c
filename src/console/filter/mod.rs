//! The filter language: `state:extra,drift cluster:eu* age>5m name~client !class:dev oidc`.
//!
//! Invariants:
//! - every term must match; of the values of one term, any;
//! - a term with `!` or `-` shows exactly what it hides without. Words differ: a word also matches the starts of words,
//!   and excludes only where it occurs as a whole, because excluding by starts hides too much;
//! - a printed filter parses to the same filter; parsing and matching never panic.
//!
//! | term | shows |
//! | --- | --- |
//! | `oidc` | rows with this text, or with words that start with its parts (`eksgam`: `eks-games`); the best fit first |
//! | `~extold` | rows with these letters in this order |
//! | `"ext-auth"` | rows with this text |
//! | `cluster:eu` | `eu`, `eu-west`, `eu.west`, `eu/west`: the value, or a prefix up to a separator |
//! | `cluster:eu*`, `cluster:"eu"` | a pattern over the whole value; the exact value |
//! | `name~client` | the value anywhere inside |
//! | `age>5m` | older than that; `<` younger. Units: s, m, h, d, w |
//!
//! ASCII case is ignored everywhere.

mod complete;
mod highlight;
mod matching;
mod parse;
mod starts;
mod term;
#[cfg(test)]
mod tests;

pub use complete::{Completions, Known, complete};
pub use matching::{Fields, Misfit, Scratch};
pub use parse::FilterProblem;
pub use term::Filter;
