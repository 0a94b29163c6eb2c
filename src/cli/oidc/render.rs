//! `trueup oidc render`: the exact bytes of `auth-config.json`.
//!
//! Invariants: stdout holds the bytes the operator would write, or nothing; everything else goes to stderr.

use super::super::context::Context;
use super::super::error::CliError;
use super::super::terminal::{print, print_exact};
use super::request::{Asked, JudgedSpec, judge};
use super::{NOT_ACCEPTED, chosen};
use trueup_checks::DiscoveryProbe;
use trueup_checks::external_oidc::{Checked, SpecVerdict, Warning};
use trueup_core::engine::text::Printable;
use trueup_core::world::View;
use trueup_operate::{Notice, discovery_code, fetch_discovery};

pub async fn run(context: &Context, asked: Asked, probing: bool) -> Result<u8, CliError> {
    let fleet = chosen::connect(context).await?;
    let shown = context.clone();
    let answer = fleet.ask(move |live| show(&shown, live.view(), &asked)).await;
    let (code, document) = answer.map_err(|error| CliError::operate("oidc", &error))??;
    match (probing, fleet.recording()) {
        (true, None) => show_discovery(context, document).await,
        (true, Some(_)) => context.note(&Notice::ProbeOfSnapshot.to_string()),
        (false, _) => {}
    }
    Ok(code)
}

/// Prints bytes and problems; returns the exit code and the discovery document to fetch.
fn show(context: &Context, view: View<'_>, asked: &Asked) -> Result<(u8, Option<DiscoveryProbe>), CliError> {
    let judged = judge(view, asked)?;
    judged.notes.iter().for_each(|note| context.note(note));
    print_problems(context, &judged.checked);
    let not_oidc = judged.not_oidc().map(str::to_owned);
    let JudgedSpec { title, checked, document, .. } = judged;
    if let (Some(kind), SpecVerdict::Valid) = (not_oidc, checked.verdict) {
        context.note(&format!("the type of {title} is {kind}, so there is no auth-config to render"));
        return Ok((0, document));
    }
    if let Some(bytes) = &checked.rendered {
        // A file or pipe gets the exact bytes; a terminal gets the same JSON with control characters escaped.
        match context.terminal.width {
            None => print_exact(bytes)?,
            Some(_) => print(&Printable::json(bytes).ended())?,
        };
    }
    match checked.verdict {
        SpecVerdict::Valid => Ok((0, document)),
        SpecVerdict::Lockout | SpecVerdict::Invalid | SpecVerdict::KasWouldRefuse | SpecVerdict::Unknown => {
            context.note(&format!("the verdict is {}", checked.verdict.as_str()));
            Ok((NOT_ACCEPTED, document))
        }
    }
}

/// Prints problems, warnings and unknowns.
pub fn print_problems(context: &Context, checked: &Checked) {
    for problem in &checked.problems {
        context.note(&format!("problem: {problem}"));
    }
    for warning in &checked.warnings {
        context.note(&format!("warning: {warning}"));
    }
    for unknown in &checked.unknowns {
        context.note(&format!("unknown: {unknown}"));
    }
}

/// Fetches the discovery document of the provider and prints the result.
async fn show_discovery(context: &Context, document: Option<DiscoveryProbe>) {
    let Some(document) = document else {
        return context.note("--probe: no provider has a discovery document to fetch");
    };
    let egress = context.config().map(|config| config.settings.egress).unwrap_or_default();
    let fetched = fetch_discovery(&document, &context.env, &egress).await;
    let message = match discovery_code(&fetched) {
        Some(code) => {
            let path = "spec.oidcProviders[0].issuer.issuerURL".to_owned();
            format!("warning: {}", Warning { code, path, value: document.issuer, message: fetched.message() })
        }
        None => fetched.message(),
    };
    context.note(&message);
}
