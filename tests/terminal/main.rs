//! The hold on the terminal, on a real one: what a program does to it, and whether it is as it was afterwards.
//!
//! The program under test is this test binary itself, started again behind a pty (`stage.rs`).

#[path = "../support/pty.rs"]
mod pty;

mod driver;
mod lifecycle;
mod stage;
