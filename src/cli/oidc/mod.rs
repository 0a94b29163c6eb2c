//! `trueup oidc`: renders a cluster's external OIDC configuration and tests tokens against it.
//!
//! Exit codes: `render` 0 valid or not OIDC; `login` 0 accepted; `matrix` 0 every cluster read; 3 otherwise, 1 for
//! invalid input.

mod backup;
mod candidate;
mod chosen;
mod login;
mod matrix;
mod render;
mod request;
mod review;

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
        OidcWhat::Matrix { claims, format } => {
            let token = claims.as_deref().map(login::read_token).transpose()?;
            matrix::run(context, token.map(|(token, _)| token), *format).await
        }
        OidcWhat::Login { claims, review, cluster, file, format } => {
            // Before connecting, so that an invalid file fails at once.
            let (token, text) = login::read_token(claims)?;
            let sent = if *review { Some(text.ok_or_else(review::no_token)?) } else { None };
            let asked = Asked::new(cluster.clone(), file.as_deref())?;
            login::run(context, asked, token, sent, *format).await
        }
    }
}

/// Exit code when the result is not valid or not accepted.
const NOT_ACCEPTED: u8 = 3;
