//! `trueup man`

use clap::CommandFactory as _;

use super::args::Cli;
use super::error::CliError;
use super::terminal::print_exact;

pub fn run() -> Result<u8, CliError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut page)
        .map_err(|error| CliError::failed("writing the manual", error.to_string(), ""))?;
    print_exact(&String::from_utf8_lossy(&page))?;
    Ok(0)
}
