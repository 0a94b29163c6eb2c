//! The binary as a shell sees it: an empty environment, stdout, stderr and exit code.

#[path = "../support/canaries.rs"]
mod canaries;

mod after;
mod apply;
mod doctor;
mod fixture;
mod history;
mod input;
mod live;
mod live_secrets;
mod plan;
mod prompt;
mod secrets;
