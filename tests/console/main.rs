//! The console on a real terminal: the binary itself, on the demo, driven by keys alone.
//!
//! The demo lives: what is waited for is what its story promises to leave alone.

#[path = "../support/pty.rs"]
mod pty;

mod colours;
mod folder;
mod journey;
mod lifecycle;
mod login;
mod stage;
