//! `trueup oidc backup`: users, groups, identities, OAuth clients and role bindings, sealed.
//!
//! Exit codes: 0 everything is sealed; 3 something could not be listed or sealed; 1 for invalid input.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use super::super::context::Context;
use super::super::error::CliError;
use super::super::terminal::print;
use super::{NOT_ACCEPTED, chosen};
use trueup_core::engine::text::Printable;

pub async fn run(context: &Context, cluster: Option<&str>, folder: &Path) -> Result<u8, CliError> {
    let fleet = chosen::connect(context).await?;
    let named = cluster.map(str::to_owned);
    let chosen = fleet.ask(move |live| chosen::choose(live.view(), named.as_deref()).map(|one| one.name.clone())).await;
    let cluster = chosen.map_err(|error| CliError::operate("oidc", &error))??;
    if fleet.recording().is_some() {
        let hint = "name a live cluster with --context";
        return Err(CliError::failed("oidc backup", "a snapshot does not hold every user", hint));
    }
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let hint = "name a folder that can be written";
    made.map_err(|error| CliError::failed(folder.display().to_string(), error.to_string(), hint))?;
    let sealed = fleet.back_up_logins(&cluster, folder).await.map_err(|error| CliError::operate("oidc", &error))?;
    let mut code = 0;
    for one in sealed {
        match one.result {
            Ok(path) => {
                let line = format!("{} sealed to {}\n", one.kind, context.terminal.safe(&path.display().to_string()));
                print(&Printable::lines(&line))?;
            }
            Err(why) => {
                context.note(&format!("{} not sealed: {why}", one.kind));
                code = NOT_ACCEPTED;
            }
        }
    }
    Ok(code)
}
