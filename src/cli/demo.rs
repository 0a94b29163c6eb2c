//! `trueup demo`

use super::args::DemoArgs;
use super::context::Context;
use super::error::CliError;

pub async fn run(_context: &Context, _args: &DemoArgs) -> Result<u8, CliError> {
    Err(CliError::failed("demo", "the embedded fleet is not in this build", "use --from with a snapshot folder"))
}
