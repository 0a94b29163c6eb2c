//! Appearance of the console: the meaning of a text is a [`Role`], and a [`Theme`] styles each role.
//!
//! Invariants:
//! - no other module names a colour: views use roles;
//! - every theme styles every role, through its parents if not itself;
//! - a state is never shown by colour alone: [`Glyphs`] has a glyph for each, and an ASCII one.
//!
//! Elsewhere: reading theme files (`cli`), colour depth (`terminal::color`).

mod glyphs;
mod ground;
mod role;
mod style;
mod themes;

pub use glyphs::{GlyphSet, Glyphs};
pub use ground::select;
pub use role::Role;
pub use themes::{DEFAULT, Theme, ThemeProblem, Themes};
#[cfg(test)]
mod tests;
