//! `trueup oidc`: renders a cluster's external OIDC configuration and tests tokens against it.
//!
//! Exit codes: `render` 0 valid or not OIDC; `login` 0 accepted; both 3 otherwise, 1 for invalid input.

mod chosen;
mod login;
mod render;

use super::args::{OidcArgs, OidcWhat};
use super::context::Context;
use super::error::CliError;

pub async fn run(context: &Context, args: &OidcArgs) -> Result<u8, CliError> {
    match &args.what {
        OidcWhat::Render { cluster, probe } => render::run(context, cluster.as_deref(), *probe).await,
        OidcWhat::Login { claims, cluster, format } => {
            // Before connecting, so that an invalid file fails at once.
            let token = login::read_token(claims)?;
            login::run(context, cluster.as_deref(), token, *format).await
        }
    }
}

/// Exit code when the result is not valid or not accepted.
const NOT_ACCEPTED: u8 = 3;
