//! What the console asks of the fleet: plans, undo, apply, dry runs and the journal, as replies for its loop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;

use crate::console::ReplySender;
use crate::console::task::{PlanTarget, Planned, Stage, TaskReply, Tried};
use trueup_core::engine::executor::Progress;
use trueup_core::engine::journal::{Entry, entries};
use trueup_core::engine::{Action, ApprovedPlan, Glob, Plan, PlanScope, UndoPlan};
use trueup_operate::{
    ApplyOptions, DryRunAnswer, Fleet, OperateError, PlanRequest, Reach, apply as apply_plan,
    plan_undo as plan_inverse, read_history,
};

/// Plans for what was pointed at.
///
/// # Errors
/// One sentence.
pub async fn plan(fleet: &Fleet, wanted: PlanTarget) -> Result<Plan, String> {
    let settle = fleet.session().settings.settle();
    let request = PlanRequest { scope: scope(wanted), settle, ..PlanRequest::default() };
    fleet.plan_settled(request).await.map(|planned| planned.plan).map_err(|error| sentence(&error))
}

/// The part of the fleet that was pointed at.
fn scope(wanted: PlanTarget) -> PlanScope {
    let (domains, subjects) = match wanted {
        PlanTarget::Everything => (Vec::new(), None),
        PlanTarget::Check(name) => (Glob::parse(name.0).into_iter().collect(), None),
        PlanTarget::Subjects(subjects) => (Vec::new(), Some(subjects)),
    };
    PlanScope { acts_only: true, domains, subjects, ..PlanScope::default() }
}

/// Plans the undo of a plan, or of one of its actions.
///
/// # Errors
/// One sentence.
pub async fn plan_undo(fleet: &Fleet, plan: &str, action: Option<&str>) -> Result<Planned, String> {
    let asked = action.map_or_else(|| plan.to_owned(), |action| format!("{plan}/{action}"));
    let undone = plan_inverse(fleet.session(), &mut Reach::Connected(fleet.clone()), &asked).await;
    let UndoPlan { plan, mut left_out, not_restored } = undone.map_err(|error| sentence(&error))?;
    if plan.actions.is_empty() {
        return Err(format!("cannot undo: {}", left_out.join("; ")));
    }
    left_out.extend(not_restored);
    Ok(Planned { plan, left_out })
}

/// Applies a plan and reports its progress.
pub async fn apply(
    fleet: Fleet,
    tell: ReplySender,
    approved: Box<ApprovedPlan>,
    stop: Arc<AtomicBool>,
    reference_scan_after: Duration,
) -> TaskReply {
    let mut progress = |action: &Action, progress: Progress<'_>| {
        let stage = match progress {
            Progress::Intended => Stage::Intended,
            Progress::Sent => Stage::Sent,
            Progress::Answered => Stage::Answered,
            Progress::Waiting { so_far, why } => Stage::Waiting { so_far, why: why.to_owned() },
            Progress::Ended(end) => Stage::Ended(end.clone()),
        };
        tell.tell(TaskReply::Progress { action: action.id.clone(), at: Timestamp::now(), stage });
    };
    let options = ApplyOptions { reference_scan_after, ..ApplyOptions::default() };
    let report = apply_plan(&fleet, *approved, options, &stop, &mut progress).await;
    TaskReply::Applied { report: report.map(Box::new).map_err(|error| sentence(&error)) }
}

/// Sends dry runs of actions and reports each answer.
pub async fn run_dry(fleet: Fleet, tell: ReplySender, plan: Box<Plan>, actions: Vec<String>) {
    let report = |action: &Action, answer: DryRunAnswer| {
        let tried = match answer {
            DryRunAnswer::Ok => Tried::Fine,
            DryRunAnswer::Refused(why) => Tried::Refused(why),
            DryRunAnswer::Unknown(why) => Tried::Unknown(why),
        };
        tell.tell(TaskReply::DryRun { plan: plan.id.clone(), action: action.id.clone(), tried });
    };
    fleet.dry_run(&plan, &actions, report).await;
}

/// The entries of the journal.
///
/// # Errors
/// One sentence.
pub fn history(fleet: &Fleet) -> Result<Vec<Entry>, String> {
    let history = read_history(fleet.session()).map_err(|error| sentence(&error))?;
    Ok(entries(history.lines.iter().map(|line| &line.record)))
}

/// An error with what to do about it.
fn sentence(error: &OperateError) -> String {
    match (error.cause(), error.advice()) {
        (cause, advice) if advice.is_empty() => cause,
        (cause, advice) => format!("{cause}; {advice}"),
    }
}
