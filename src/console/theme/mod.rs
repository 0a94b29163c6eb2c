//! How the console looks: what a text means is a [`Role`], and a [`Theme`] says how each looks.
//!
//! Invariants:
//! - nothing outside this room names a colour: views ask for roles;
//! - every theme styles every role, through its parents if not itself;
//! - a state is never told by colour alone: [`Glyphs`] has a sign for each, and a plain one beside it.
//!
//! Elsewhere: reading theme files (`run`), fewer colours than a theme has (`terminal::color`).

mod glyphs;
mod role;
mod style;
mod themes;

pub use glyphs::{Glyphs, Signs};
pub use role::Role;
pub use themes::{DEFAULT, Theme, ThemeProblem, Themes};
#[cfg(test)]
mod contrast;
