//! The binary as a shell sees it: an empty environment, stdout, stderr and exit code.

mod apply;
mod doctor;
mod fixture;
mod history;
mod input;
mod live;
mod plan;
mod secrets;
