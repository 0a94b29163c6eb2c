//! `trueup proposals`: the Proposals of a controller, through the context that `--hub` names.
//!
//! Exit codes: 0 done; 3 refused by the API server, the answer or the Proposal's state; 4 another plan than expected;
//! 1 other errors.
//!
//! Invariants: what is approved was read from the Proposal's own plan, whose id is computed again here.

mod answer;
mod list;
mod show;

use super::args::{ProposalsArgs, ProposalsWhat};
use super::context::Context;
use super::error::CliError;
use trueup_controller::api::{Proposal, ProposalFault};
use trueup_controller::hub::{Hub, HubError};
use trueup_core::engine::{Plan, PlanReadError};
use trueup_fleet::connect::KubeconfigError;

const DOING: &str = "proposals";

pub async fn run(context: &Context, args: &ProposalsArgs) -> Result<u8, CliError> {
    let hub = connect(context, &args.namespace).await?;
    match &args.what {
        ProposalsWhat::List { format } => list::run(context, &hub, *format).await,
        ProposalsWhat::Show { proposal, format } => show::run(context, &hub, proposal, *format).await,
        ProposalsWhat::Approve { proposal, only, expect, confirm_clusters } => {
            let flags = answer::Flags { expect: expect.as_deref(), confirmed: confirm_clusters };
            answer::approve(context, &hub, proposal, only, &flags).await
        }
        ProposalsWhat::Reject { proposal, reason } => answer::reject(context, &hub, proposal, reason).await,
    }
}

/// The cluster of the controller: that of `--hub`, else the one context that is selected.
async fn connect(context: &Context, namespace: &str) -> Result<Hub, CliError> {
    let session = context.session(context.config()?.settings);
    let failed =
        |error: KubeconfigError| CliError::failed("kubeconfig", error.to_string(), "name a context with --hub");
    let name = match &context.globals.hub {
        Some(name) => name.clone(),
        None => {
            let names = session.read_kubeconfig().and_then(|read| read.select(&session.contexts.selection));
            match names.map_err(failed)?.as_slice() {
                [one] => one.clone(),
                several => {
                    let cause = format!("{} contexts are selected, and a controller runs in one", several.len());
                    return Err(CliError::usage(DOING, cause, "name it with --hub"));
                }
            }
        }
    };
    let connected = session.connect(&name).await;
    let connection =
        connected.map_err(|error| CliError::failed(DOING, error.to_string(), "check it with trueup doctor"))?;
    Ok(Hub::new(connection.client, namespace))
}

/// An error of the hub, with what to do.
fn hub_error(doing: &str, error: &HubError) -> CliError {
    let cause = error.to_string();
    match error {
        HubError::NoController => CliError::failed(doing, cause, "name its cluster with --hub, or install it"),
        HubError::NoSuchProposal { .. } => CliError::usage(doing, cause, "list them with trueup proposals list"),
        HubError::Several { .. } => CliError::usage(doing, cause, "name one of them"),
        HubError::Refused { .. } => CliError::refused(doing, cause, ""),
        HubError::Unread(_) => CliError::failed(doing, cause, ""),
    }
}

/// The plan of a Proposal.
///
/// # Errors
/// It is not what the spec says, or not a plan.
fn plan_of(doing: &str, proposal: &Proposal) -> Result<Plan, CliError> {
    proposal.spec.read_plan().map_err(|fault| {
        let cause = fault.to_string();
        match fault {
            ProposalFault::Plan(PlanReadError::OtherId { .. })
            | ProposalFault::Spelling
            | ProposalFault::Contradiction { .. } => CliError::stale(doing, cause, "the controller refuses it as well"),
            ProposalFault::Plan(_) | ProposalFault::TooLarge { .. } => {
                CliError::failed(doing, cause, "read it with the trueup of the controller's version")
            }
        }
    })
}

fn name_of(proposal: &Proposal) -> &str {
    proposal.metadata.name.as_deref().unwrap_or_default()
}
