//! The console on a real terminal: the binary itself, on the demo, driven by keys alone.
//!
//! The demo lives: what is waited for is what its story promises to leave alone.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

#[path = "../support/pty.rs"]
mod pty;

mod colours;
mod detail;
mod folder;
mod journey;
mod lifecycle;
mod login;
mod recording;
mod stage;
