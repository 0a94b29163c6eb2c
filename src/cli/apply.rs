//! `trueup apply`: applies a saved plan, exactly what it shows or nothing.
//!
//! Exit codes: 0 all applied and verified, or nothing selected; 2 partly; 3 refused for safety; 4 stale plan or other id;
//! 130 interrupted before anything was sent.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;

use super::args::{ApplyArgs, ConsentArgs};
use super::ask;
use super::context::Context;
use super::error::CliError;
use super::fleet;
use super::run_plan;
use super::terminal::print;
use trueup_core::engine::text::Printable;
use trueup_core::engine::{
    Answers, ApprovedPlan, Chosen, ForeignPlan, Plan, PlanReadError, Provenance, Refusal, TargetSource, approve,
    check_answers, questions,
};
use trueup_core::files;
use trueup_operate::{Fleet, OperateError, admit, check_plan};

const DOING: &str = "apply";

/// A plan file is a few hundred bytes a finding; this is enough for a hundred thousand.
const FILE_BYTES_MAX: u64 = 256 << 20;

pub async fn run(context: &Context, args: &ApplyArgs) -> Result<u8, CliError> {
    let plan = read(DOING, &args.file)?;
    let foreign = if args.foreign_plan { ForeignPlan::Accept } else { ForeignPlan::Refuse };
    let chosen = chosen(args, &plan);
    apply(context, plan, chosen, foreign, &args.consent).await
}

/// The actions that the command line means.
fn chosen(args: &ApplyArgs, plan: &Plan) -> Chosen {
    let ids = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<String>>();
    match (args.only.is_empty(), args.exclude.is_empty()) {
        (true, true) => Chosen::Selected,
        (true, false) => Chosen::Except(ids(&args.exclude)),
        (false, true) => Chosen::Only(ids(&args.only)),
        (false, false) => {
            // A group stands for its actions, so that one of them can be left out.
            let (only, excluded) = (ids(&args.only), ids(&args.exclude));
            let is_named = |names: &BTreeSet<String>, id: &str| {
                let action = plan.actions.iter().find(|action| action.id == id);
                names.contains(id) || action.and_then(|one| one.group.as_ref()).is_some_and(|one| names.contains(one))
            };
            let chosen = Chosen::Only(only.clone());
            let named = chosen.actions(plan).map(|action| action.id.clone());
            let unknown = only.iter().filter(|name| !plan.actions.iter().any(|one| one.group.as_ref() == Some(*name)));
            Chosen::Only(named.chain(unknown.cloned()).filter(|id| !is_named(&excluded, id)).collect())
        }
    }
}

/// Connects, judges the plan again, asks for approval and applies it.
///
/// # Errors
/// The plan is refused, or a cluster is not the one it was made for.
pub async fn apply(
    context: &Context,
    plan: Plan,
    chosen: Chosen,
    foreign: ForeignPlan,
    args: &ConsentArgs,
) -> Result<u8, CliError> {
    let failed = |error: OperateError| CliError::operate(DOING, &error);
    let config = context.config()?;
    let session = context.session(config.settings.clone());
    let provenance = check_plan(&session, &plan, foreign).map_err(failed)?;
    check_flags(context, &plan, &chosen, provenance, args)?;
    if chosen.actions(&plan).next().is_none() {
        return nothing_chosen(&plan).map(|()| 0);
    }
    refuse_recordings(context, &plan)?;
    let connected = async {
        let (fleet, _) = fleet::connect(context, config).await?;
        let approved = consent(context, &fleet, plan, chosen, foreign, args).await?;
        Ok::<_, CliError>((fleet, approved))
    };
    let (fleet, approved) = tokio::select! {
        biased;
        code = super::interrupted() => return code,
        connected = connected => connected?,
    };
    run_plan::run(context, &fleet, approved, args).await
}

/// Refuses flags that cannot approve the plan before anything is connected.
fn check_flags(
    context: &Context,
    plan: &Plan,
    chosen: &Chosen,
    provenance: Provenance,
    args: &ConsentArgs,
) -> Result<(), CliError> {
    if args.expect.is_none() && ask::is_interactive(context) || provenance == Provenance::Foreign {
        return Ok(());
    }
    let questions = questions(plan, chosen).map_err(refusal)?;
    check_answers(plan, &questions, &flags(args)).map(drop).map_err(refusal)
}

fn flags(args: &ConsentArgs) -> Answers {
    Answers::flags(args.expect.clone(), args.confirm_clusters.iter().cloned())
}

/// Judges the plan again and asks for approval the way the terminal allows.
async fn consent(
    context: &Context,
    fleet: &Fleet,
    plan: Plan,
    chosen: Chosen,
    foreign: ForeignPlan,
    args: &ConsentArgs,
) -> Result<ApprovedPlan, CliError> {
    let admission = admit(fleet, plan, chosen, foreign).await.map_err(|error| CliError::operate(DOING, &error))?;
    let questions = admission.questions();
    if !questions.is_empty() {
        admission.refusal_lines().iter().for_each(|line| context.note(line));
    }
    let answers = match &args.expect {
        None if ask::is_interactive(context) => ask::ask(admission.plan(), &questions).await?,
        Some(_) | None => flags(args),
    };
    approve(admission, &answers, Timestamp::now()).map_err(refusal)
}

fn nothing_chosen(plan: &Plan) -> Result<(), CliError> {
    let blocked = plan.actions.iter().filter(|action| action.selected).find_map(|action| action.blocked_by.first());
    if let Some(blocked) = blocked {
        let cause =
            format!("every selected action is blocked; the first by {}: {}", blocked.gate.as_str(), blocked.why);
        return Err(CliError::refused(DOING, cause, "plan again once that is resolved"));
    }
    print(&Printable::line("nothing is selected in this plan: nothing to apply").ended())?;
    Ok(())
}

/// A snapshot cannot be written to; a live cluster with the same identity can.
fn refuse_recordings(context: &Context, plan: &Plan) -> Result<(), CliError> {
    let recorded = plan.targets.iter().any(|target| target.source == TargetSource::Snapshot);
    if context.globals.from.is_some() || (recorded && context.globals.contexts.is_empty()) {
        let hint = "name the live cluster with --context, or plan on it";
        return Err(CliError::refused(DOING, "a snapshot folder cannot be written to", hint));
    }
    Ok(())
}

/// Reads a plan file, or standard input for `-`.
///
/// # Errors
/// It cannot be read, is not a plan, or its content is not what its id says.
pub fn read(command: &str, path: &Path) -> Result<Plan, CliError> {
    let doing = format!("{command} {}", path.display());
    let failed = |cause: String| CliError::failed(&*doing, cause, "name a file that trueup plan --out wrote");
    let text =
        if path == Path::new("-") { files::read_stdin(FILE_BYTES_MAX) } else { files::read_text(path, FILE_BYTES_MAX) };
    let text = text.map_err(|error| failed(error.to_string()))?;
    Plan::read(&text).map_err(|error| match error {
        PlanReadError::OtherId { .. } => CliError::stale(&*doing, error.to_string(), "run trueup plan --out FILE"),
        PlanReadError::Shape(_)
        | PlanReadError::Schema { .. }
        | PlanReadError::Number(_)
        | PlanReadError::RepeatedTarget { .. }
        | PlanReadError::Action(_) => failed(error.to_string()),
    })
}

fn refusal(refusal: Refusal) -> CliError {
    CliError::operate(DOING, &OperateError::Refused(refusal))
}
