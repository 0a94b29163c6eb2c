//! The filter language: `state:extra,drift cluster:eu* age>5m name~client !class:dev oidc`.
//!
//! Invariants:
//! - every term has to hold; of the values of one term, any;
//! - a term with `!` or `-` in front shows exactly what it hides without, but for words: a word is found by its letters
//!   in order, with gaps, and excluded only where it stands as a whole, because excluding by gaps hides more than anybody means;
//! - what is printed reads back as the same filter; reading and matching never panic.
//!
//! | term | shows |
//! | --- | --- |
//! | `oidc` | rows with these letters in this order, scored by how well they fit |
//! | `"ext-auth"` | rows with this text |
//! | `cluster:eu` | `eu`, `eu-west`, `eu.west`, `eu/west`: the value or what goes on after a sign |
//! | `cluster:eu*`, `cluster:"eu"` | a pattern over the whole; the exact value |
//! | `name~client` | the value anywhere inside |
//! | `age>5m` | older than that; `<` younger. Units: s, m, h, d, w |
//!
//! Capital and small letters of ASCII are the same everywhere.

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
