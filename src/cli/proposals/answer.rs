//! `trueup proposals approve` and `reject`: asks what the tier asks for, and creates an Approval in the user's name.
//!
//! Invariants: nothing is created without the right answer; the approver is the user that the API server names.
//! Elsewhere: whether the Approval counts (admission, and the controller).

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use jiff::Timestamp;

use super::{hub_error, name_of, plan_of};
use crate::cli::ask;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::terminal::print;
use trueup_controller::api::{Approval, ApprovalSpec, Decision, Phase, Proposal};
use trueup_controller::hub::Hub;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Answers, ClusterQuestion, Plan, Refusal, check_answers};
use trueup_operate::OperateError;

/// The answer of a script.
pub struct Flags<'a> {
    pub expect: Option<&'a str>,
    pub confirmed: &'a [String],
}

/// Approves a Proposal.
///
/// # Errors
/// It cannot be approved any more, the answer is not the one that is asked for, or the API server refuses.
pub async fn approve(
    context: &Context,
    hub: &Hub,
    asked: &str,
    only: &[String],
    flags: &Flags<'_>,
) -> Result<u8, CliError> {
    let doing = format!("approve {asked}");
    let proposal = hub.find(asked).await.map_err(|error| hub_error(&doing, &error))?;
    check_open(&doing, &proposal, Timestamp::now())?;
    let plan = plan_of(&doing, &proposal)?;
    let refusal = |refusal: Refusal| CliError::operate(&doing, &OperateError::Refused(refusal));
    let Some(question) = proposal.spec.question(&plan, only).map_err(refusal)? else {
        return Err(CliError::refused(&*doing, "no action of it is selected", "name actions with --only"));
    };
    let questions = [question];
    let answers = answers(context, &plan, &questions, flags).await?;
    check_answers(&plan, &questions, &answers).map_err(refusal)?;
    let [question] = questions;
    let words = question.asks.word();
    create(hub, &doing, &proposal, Answer { decision: Decision::Approve, words, actions: only, reason: "" }).await
}

/// Rejects a Proposal.
///
/// # Errors
/// It has ended, or the API server refuses.
pub async fn reject(context: &Context, hub: &Hub, asked: &str, reason: &str) -> Result<u8, CliError> {
    let doing = format!("reject {asked}");
    let proposal = hub.find(asked).await.map_err(|error| hub_error(&doing, &error))?;
    if proposal.phase() != Phase::Proposed && proposal.phase() != Phase::Approved {
        return Err(ended(&doing, &proposal));
    }
    if reason.is_empty() {
        context.note("no --reason was given: the Proposal's readers see none");
    }
    create(hub, &doing, &proposal, Answer { decision: Decision::Reject, words: String::new(), actions: &[], reason })
        .await
}

struct Answer<'a> {
    decision: Decision,
    words: String,
    actions: &'a [String],
    reason: &'a str,
}

async fn create(hub: &Hub, doing: &str, proposal: &Proposal, answer: Answer<'_>) -> Result<u8, CliError> {
    let failed = |error| hub_error(doing, &error);
    let approver = hub.user().await.map_err(failed)?;
    let spec = ApprovalSpec {
        proposal: name_of(proposal).to_owned(),
        plan_id: proposal.spec.plan_id.clone(),
        tier: proposal.spec.tier,
        approver,
        words: answer.words,
        actions: answer.actions.to_vec(),
        decision: answer.decision,
        reason: answer.reason.to_owned(),
    };
    let verb = match answer.decision {
        Decision::Approve => "approved",
        Decision::Reject => "rejected",
    };
    let line = format!("proposal/{} {verb} by {}", spec.proposal, spec.approver);
    let name = hub.create(&Approval::new(hub.namespace(), spec)).await.map_err(failed)?;
    print(&Printable::line(&format!("approval/{name} created: {line}")).ended())?;
    Ok(0)
}

/// The line of a person, or the flags of a script.
async fn answers(
    context: &Context,
    plan: &Plan,
    questions: &[ClusterQuestion],
    flags: &Flags<'_>,
) -> Result<Answers, CliError> {
    match flags.expect {
        None if ask::is_interactive(context) => ask::ask(plan, questions).await,
        expect => Ok(Answers::flags(expect.map(str::to_owned), flags.confirmed.iter().cloned())),
    }
}

fn check_open(doing: &str, proposal: &Proposal, now: Timestamp) -> Result<(), CliError> {
    if proposal.phase().is_terminal() || proposal.phase() == Phase::Applying {
        return Err(ended(doing, proposal));
    }
    if now >= proposal.spec.expires_at {
        let cause = format!("expired-plan: proposal expired at {}", proposal.spec.expires_at);
        return Err(CliError::stale(doing, cause, "the controller proposes it again while it is needed"));
    }
    Ok(())
}

fn ended(doing: &str, proposal: &Proposal) -> CliError {
    let cause = format!("proposal {} is {}", name_of(proposal), proposal.phase().as_str());
    CliError::refused(doing, cause, "list those that wait with trueup proposals list")
}
