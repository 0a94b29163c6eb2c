//! The front ends of trueup: the console and the headless commands.
//!
//! - [`config`]: the user's file, with errors that name the line and the nearest known key.
//! - [`console`]: the interactive screen: a pure core and one loop around it.
//! - [`render`]: CSV and Markdown, escaped, for the commands and the console.
//! - [`cli`]: the commands, one file each, and their exit codes.
//!
//! The libraries under `crates/` hold everything else; `docs/architecture.md` is the map.

pub mod cli;
pub mod config;
pub mod console;
pub mod render;
