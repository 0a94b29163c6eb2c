//! The hold on the terminal, on a real one: what a program does to it, and whether it is as it was afterwards.
//!
//! The program under test is this test binary itself, started again behind a pty (`stage.rs`).

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

#[path = "../support/pty.rs"]
mod pty;

mod driver;
mod lifecycle;
mod redraw;
mod stage;
mod start;
