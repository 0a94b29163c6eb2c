//! `trueup apply`: carries out a saved plan, exactly what it shows or nothing.
//!
//! Exit codes: 0 all applied and verified, or nothing selected; 2 partly; 3 refused for safety; 4 stale plan or other id;
//! 130 interrupted before anything was sent.

use std::path::Path;

use jiff::Timestamp;

use super::apply_live;
use super::args::{ApplyArgs, ConsentArgs};
use super::ask;
use super::context::Context;
use super::error::CliError;
use super::terminal::print;
use trueup_core::engine::{
    Admission, Answers, ApprovedPlan, Chosen, Plan, PlanReadError, Refusal, RefusalClass, TargetSource, approve,
};

const DOING: &str = "apply";

/// A plan file is a few hundred bytes a finding; this is room for a hundred thousand.
const FILE_BYTES_MAX: u64 = 256 << 20;

pub async fn run(context: &Context, args: &ApplyArgs) -> Result<u8, CliError> {
    let plan = read(&args.file)?;
    let chosen = match args.only.is_empty() {
        true => Chosen::Selected,
        false => Chosen::Only(args.only.iter().cloned().collect()),
    };
    tokio::select! {
        biased;
        code = super::interrupted() => code,
        approved = consent(context, plan, &chosen, &args.consent) => match approved? {
            Some(approved) => apply_live::run(context, approved, &args.consent).await,
            None => Ok(0),
        },
    }
}

/// Asks for approval the way the terminal allows. Nothing when nothing is chosen.
///
/// # Errors
/// The plan is refused.
pub async fn consent(
    context: &Context,
    plan: Plan,
    chosen: &Chosen,
    args: &ConsentArgs,
) -> Result<Option<ApprovedPlan>, CliError> {
    let admission = Admission::as_planned(plan, chosen, Timestamp::now()).map_err(refusal)?;
    let (plan, questions) = (admission.plan(), admission.questions());
    if questions.is_empty() {
        return nothing_chosen(plan).map(|()| None);
    }
    refuse_recordings(context, plan)?;
    let answers = match &args.expect {
        None if ask::is_interactive(context) => ask::ask(plan, &questions).await?,
        expect => Answers::flags(expect.clone(), args.confirm_clusters.iter().cloned()),
    };
    approve(admission, &answers, Timestamp::now()).map(Some).map_err(refusal)
}

fn nothing_chosen(plan: &Plan) -> Result<(), CliError> {
    let blocked = plan.actions.iter().filter(|action| action.selected).find_map(|action| action.blocked_by.first());
    if let Some(blocked) = blocked {
        let cause =
            format!("every selected action is blocked; the first by {}: {}", blocked.gate.as_str(), blocked.why);
        return Err(CliError::refused(DOING, cause, "plan again once that is out of the way"));
    }
    print("nothing is selected in this plan: nothing to apply\n")?;
    Ok(())
}

/// A recording can't be written to; only a live cluster that is the same one can.
fn refuse_recordings(context: &Context, plan: &Plan) -> Result<(), CliError> {
    let recorded = plan.targets.iter().any(|target| target.source == TargetSource::Snapshot);
    if context.globals.from.is_some() || (recorded && context.globals.contexts.is_empty()) {
        let hint = "name the live cluster with --context, or plan on it";
        return Err(CliError::refused(DOING, "a folder can be judged, but not written to", hint));
    }
    Ok(())
}

fn read(path: &Path) -> Result<Plan, CliError> {
    let doing = format!("{DOING} {}", path.display());
    let failed = |cause: String| CliError::failed(&*doing, cause, "name a file that trueup plan --out wrote");
    let length = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if length > FILE_BYTES_MAX {
        return Err(failed(format!("{length} bytes are more than a plan has")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    Plan::read(&text).map_err(|error| match error {
        PlanReadError::OtherId { .. } => CliError::stale(&*doing, error.to_string(), "plan again"),
        PlanReadError::Shape(_)
        | PlanReadError::Schema { .. }
        | PlanReadError::Number(_)
        | PlanReadError::Action(_) => failed(error.to_string()),
    })
}

fn refusal(refusal: Refusal) -> CliError {
    // Names that only look alike are told apart by their escapes.
    let cause = ask::unmistakable(&refusal.to_string());
    match refusal.class() {
        RefusalClass::Stale => CliError::stale(DOING, cause, ""),
        RefusalClass::Usage => CliError::usage(DOING, cause, ""),
        RefusalClass::Safety => CliError::refused(DOING, cause, ""),
    }
}
