//! `trueup undo`: plans the inverse of what was applied, then asks for the same approval.
//!
//! Exit codes: as `trueup apply`; with `--out` 0 when the plan was written.

use super::args::UndoArgs;
use super::context::Context;
use super::error::CliError;
use super::{apply, ask, fleet, plan};
use trueup_core::engine::{Chosen, ForeignPlan, UndoPlan};
use trueup_operate::plan_undo;

const DOING: &str = "undo";

pub async fn run(context: &Context, args: &UndoArgs) -> Result<u8, CliError> {
    tokio::select! {
        biased;
        code = super::interrupted() => code,
        planned = planned(context, &args.entry) => approve_and_run(context, args, planned?).await,
    }
}

async fn planned(context: &Context, asked: &str) -> Result<UndoPlan, CliError> {
    let (session, mut reach) = fleet::reach(context, context.config()?);
    plan_undo(&session, &mut reach, asked).await.map_err(|error| CliError::operate(DOING, &error))
}

async fn approve_and_run(context: &Context, args: &UndoArgs, undo: UndoPlan) -> Result<u8, CliError> {
    let UndoPlan { plan, left_out, not_restored } = undo;
    if plan.actions.is_empty() {
        let why = if left_out.is_empty() { "nothing was applied".to_owned() } else { left_out.join("; ") };
        return Err(CliError::refused(DOING, format!("cannot undo: {why}"), ""));
    }
    for sentence in &left_out {
        context.note(&format!("not undone: {sentence}"));
    }
    for sentence in &not_restored {
        context.note(sentence);
    }
    let session = context.session(context.config()?.settings);
    if let Some(path) = &args.out {
        return plan::save(context, path, &plan::marked(context, &session, plan)).map(|()| 0);
    }
    if !ask::is_interactive(context) {
        let hint = "write the plan with --out, and apply it with trueup apply FILE --expect ID";
        return Err(CliError::usage(DOING, "no terminal to ask on", hint));
    }
    let key = session.mark_key().map_err(|error| CliError::operate(DOING, &error))?;
    apply::apply(context, plan.marked(&key), Chosen::Selected, ForeignPlan::Refuse, &args.consent).await
}
