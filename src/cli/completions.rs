//! `trueup completions SHELL`

use clap::CommandFactory as _;

use super::args::Cli;
use super::error::CliError;
use super::terminal::print_exact;

pub fn run(shell: clap_complete::Shell) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "trueup", &mut script);
    print_exact(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
