//! `trueup oidc`: what a cluster's Authentication becomes, and who a token would be.
//!
//! Exit codes: `render` 0 valid, or not OIDC at all; `login` 0 accepted; both 3 otherwise, 1 for input that can't be used.

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
            // Before clusters are asked: a slip in the file should not cost a minute.
            let token = login::read_token(claims)?;
            login::run(context, cluster.as_deref(), token, *format).await
        }
    }
}

/// The exit code for an answer that is no plain yes.
const NOT_CLEAR: u8 = 3;
