//! `trueup completions SHELL`

use clap::CommandFactory as _;

use super::args::Cli;
use super::error::CliError;
use super::terminal::write_stdout;

pub fn run(shell: clap_complete::Shell) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "trueup", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Prints what is made of the command line itself.
pub fn print(text: &str) -> Result<u8, CliError> {
    write_stdout(text).map_err(|error| CliError::failed("writing to stdout", error.to_string(), "free some space"))?;
    Ok(0)
}
