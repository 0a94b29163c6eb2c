//! `trueup oidc`: renders a cluster's external OIDC configuration and tests tokens against it.
//!
//! Exit codes: `render` 0 valid or not OIDC; `login` 0 accepted; both 3 otherwise, 1 for invalid input.

mod backup;
mod candidate;
mod chosen;
mod login;
mod render;
mod request;

use super::args::{OidcArgs, OidcWhat};
use super::context::Context;
use super::error::CliError;
use request::Asked;

pub async fn run(context: &Context, args: &OidcArgs) -> Result<u8, CliError> {
    match &args.what {
        OidcWhat::Render { cluster, file, probe } => {
            let asked = Asked::new(cluster.clone(), file.as_deref())?;
            render::run(context, asked, *probe).await
        }
        OidcWhat::Backup { folder, cluster } => backup::run(context, cluster.as_deref(), folder).await,
        OidcWhat::Login { claims, cluster, file, format } => {
            // Before connecting, so that an invalid file fails at once.
            let token = login::read_token(claims)?;
            let asked = Asked::new(cluster.clone(), file.as_deref())?;
            login::run(context, asked, token, *format).await
        }
    }
}

/// Exit code when the result is not valid or not accepted.
const NOT_ACCEPTED: u8 = 3;
