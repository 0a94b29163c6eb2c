//! `trueup proposals show`: the plan as `trueup show` prints it, with approvals and results.

use super::{hub_error, name_of, plan_of};
use crate::cli::args::PlanFormat;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::show;
use trueup_controller::api::{ApprovalRecord, Proposal};
use trueup_controller::hub::Hub;

pub async fn run(context: &Context, hub: &Hub, asked: &str, format: PlanFormat) -> Result<u8, CliError> {
    let doing = format!("show {asked}");
    let proposal = hub.find(asked).await.map_err(|error| hub_error(&doing, &error))?;
    let plan = plan_of(&doing, &proposal)?;
    show::show(context, format, &plan)?;
    for line in notes(context, &proposal) {
        context.note(&line);
    }
    Ok(0)
}

/// What is known beside the plan, a line each.
fn notes(context: &Context, proposal: &Proposal) -> Vec<String> {
    let spec = &proposal.spec;
    let mut lines = vec![format!(
        "proposal {}: {}, {}, expires {}",
        name_of(proposal),
        proposal.phase().as_str(),
        spec.tier,
        context.time(spec.expires_at)
    )];
    lines.push("mark: checked by the controller before it applies the plan".to_owned());
    let Some(status) = &proposal.status else { return lines };
    for ApprovalRecord { name: _, approver, rule, at } in &status.approvals {
        let by = rule.as_ref().map_or_else(|| approver.clone(), |rule| format!("{approver} ({rule})"));
        lines.push(format!("approved by {by} at {}", context.time(*at)));
    }
    for action in &status.actions {
        let message = if action.message.is_empty() { String::new() } else { format!(": {}", action.message) };
        lines.push(format!("{}  {}{message}", action.id, action.outcome));
    }
    for condition in &status.conditions {
        lines.push(format!("{}: {} ({})", condition.type_, condition.message, condition.reason));
    }
    if let Some(journal) = &status.journal {
        lines.push(format!("journal entry {}, last hash {}", journal.entry, journal.last_hash));
    }
    lines
}
