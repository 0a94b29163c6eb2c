//! `trueup doctor`

use super::context::Context;
use super::error::CliError;

pub async fn run(_context: &Context) -> Result<u8, CliError> {
    Ok(0)
}
