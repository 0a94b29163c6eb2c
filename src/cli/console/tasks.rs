//! Tasks of the console on the fleet: plan, undo, apply, dry run, history.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;

use crate::console::ReplySender;
use crate::console::task::{PlanTarget, Planned, PlannedObject, Stage, TaskReply, Tried, TypedApproval};
use trueup_core::engine::executor::Progress;
use trueup_core::engine::journal::{Entry, entries};
use trueup_core::engine::{Action, ForeignPlan, Glob, Plan, PlanScope, SubjectId, UndoPlan, approve};
use trueup_fleet::live::Live;
use trueup_operate::{
    ApplyOptions, DryRunAnswer, Fleet, OperateError, PlanRequest, Reach, admit, apply as apply_plan,
    plan_undo as plan_inverse, read_history,
};

/// Plans the fixes for the target.
///
/// # Errors
/// One message.
pub async fn plan(fleet: &Fleet, target: PlanTarget) -> Result<Planned, String> {
    let subjects = match &target {
        PlanTarget::Everything | PlanTarget::Check(_) => BTreeSet::new(),
        PlanTarget::Subjects(subjects) => subjects.clone(),
    };
    let settle = fleet.session().settings.settle();
    let request = PlanRequest { scope: scope(target), settle, ..PlanRequest::default() };
    let plan = fleet.plan_settled(request).await.map_err(|error| message(&error))?;
    let objects = objects(fleet, &plan, subjects).await;
    Ok(Planned { plan: marked(fleet, plan), left_out: Vec::new(), objects })
}

/// What the checks know of the objects of a plan, by action. An object without a finding of its own is left out.
async fn objects(fleet: &Fleet, plan: &Plan, subjects: BTreeSet<SubjectId>) -> BTreeMap<String, PlannedObject> {
    let acted: BTreeSet<String> =
        plan.findings.iter().filter(|finding| !finding.actions.is_empty()).map(|finding| finding.id.clone()).collect();
    let found = move |live: &Live| {
        let mut objects: BTreeMap<String, PlannedObject> = BTreeMap::new();
        for check in live.domains().iter() {
            let pass = check.pass(live.view());
            let own = subjects.iter().filter(|subject| subject.domain == check.name());
            for (id, subject) in own.map(|subject| (subject.to_string(), subject)).filter(|(id, _)| acted.contains(id))
            {
                let Some(ruled) = pass.rule(subject) else { continue };
                let (created, relations) = (ruled.explanation().created, ruled.relations());
                objects.insert(id, PlannedObject { created, relations });
            }
        }
        objects
    };
    let found = fleet.ask(found).await.unwrap_or_default();
    let own = plan.findings.iter().flat_map(|finding| {
        let is_own = |id: &&String| {
            let action = plan.actions.iter().find(|action| action.id == **id);
            action.is_some_and(|action| {
                action.target.name == finding.subject.name && action.target.kind == finding.subject.kind
            })
        };
        let object = found.get(&finding.id);
        finding.actions.iter().filter(is_own).filter_map(move |id| Some((id.clone(), object?.clone())))
    });
    own.collect()
}

/// The plan scope of a target.
fn scope(target: PlanTarget) -> PlanScope {
    let (domains, subjects) = match target {
        PlanTarget::Everything => (Vec::new(), None),
        PlanTarget::Check(name) => (Glob::parse(name.0).into_iter().collect(), None),
        PlanTarget::Subjects(subjects) => (Vec::new(), Some(subjects)),
    };
    PlanScope { acts_only: true, domains, subjects, ..PlanScope::default() }
}

/// Plans the undo of a plan, or of one of its actions.
///
/// # Errors
/// One message.
pub async fn plan_undo(fleet: &Fleet, plan: &str, action: Option<&str>) -> Result<Planned, String> {
    let asked = action.map_or_else(|| plan.to_owned(), |action| format!("{plan}/{action}"));
    let undone = plan_inverse(fleet.session(), &mut Reach::Connected(fleet.clone()), &asked).await;
    let UndoPlan { plan, mut left_out, not_restored } = undone.map_err(|error| message(&error))?;
    if plan.actions.is_empty() {
        return Err(format!("cannot undo: {}", left_out.join("; ")));
    }
    left_out.extend(not_restored);
    Ok(Planned { plan: marked(fleet, plan), left_out, objects: BTreeMap::new() })
}

/// The plan with the mark of the state folder. Without a key it is unmarked, and apply reports the problem of the folder.
fn marked(fleet: &Fleet, plan: Plan) -> Plan {
    match fleet.session().mark_key() {
        Ok(key) => plan.marked(&key),
        Err(_) => plan,
    }
}

/// Judges the plan again, applies the approved actions, and reports progress.
pub async fn apply(
    fleet: Fleet,
    replies: ReplySender,
    approval: TypedApproval,
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
        replies.send(TaskReply::Progress { action: action.id.clone(), at: Timestamp::now(), stage });
    };
    let options = ApplyOptions { reference_scan_after, ..ApplyOptions::default() };
    let report = async {
        let TypedApproval { plan, chosen, answers } = approval;
        let admission = admit(&fleet, plan, chosen, ForeignPlan::Refuse).await?;
        let approved = approve(admission, &answers, Timestamp::now()).map_err(OperateError::Refused)?;
        apply_plan(&fleet, approved, options, &stop, &mut progress).await
    };
    let report = report.await;
    TaskReply::Applied { report: report.map(Box::new).map_err(|error| message(&error)) }
}

/// Sends dry runs of actions and reports each answer.
pub async fn run_dry(fleet: Fleet, replies: ReplySender, plan: Box<Plan>, actions: Vec<String>) {
    let report = |action: &Action, answer: DryRunAnswer| {
        let tried = match answer {
            DryRunAnswer::Ok => Tried::Fine,
            DryRunAnswer::Refused(why) => Tried::Refused(why),
            DryRunAnswer::Unknown(why) => Tried::Unknown(why),
        };
        replies.send(TaskReply::DryRun { plan: plan.id.clone(), action: action.id.clone(), tried });
    };
    fleet.dry_run(&plan, &actions, report).await;
}

/// The entries of the journal.
///
/// # Errors
/// One message.
pub fn history(fleet: &Fleet) -> Result<Vec<Entry>, String> {
    let history = read_history(fleet.session()).map_err(|error| message(&error))?;
    Ok(entries(history.lines.iter().map(|line| &line.record)))
}

/// Error message with advice.
fn message(error: &OperateError) -> String {
    match (error.cause(), error.advice()) {
        (cause, advice) if advice.is_empty() => cause,
        (cause, advice) => format!("{cause}; {advice}"),
    }
}
