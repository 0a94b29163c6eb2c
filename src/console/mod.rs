//! The console: the screen people came for.
//!
//! A pure core, `update` and `view`, and one loop around it that owns the terminal.
//!
//! - [`theme`]: what a text means, and how that looks: roles, styles, signs. Pure.
//! - [`capture`]: a painted screen as text and as a picture. Pure.
//! - [`terminal`]: the hold on the terminal, and the bytes that go there. IO.

pub mod capture;
pub mod terminal;
pub mod theme;
