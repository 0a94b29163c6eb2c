//! `trueup show`: a saved plan as `trueup plan` would print it, and whether it can still be applied.
//!
//! Exit codes: 0 it can be applied; 3 something stands in the way; 4 its content is not what its id says.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use jiff::Timestamp;

use super::args::{PlanFormat, ShowArgs};
use super::context::Context;
use super::diff::{self, Sides};
use super::error::CliError;
use super::output::{self, Matches, Page};
use super::terminal::print_parts;
use super::{apply, fleet};
use trueup_core::engine::{Chosen, ForeignPlan, Plan, Provenance};
use trueup_operate::{OperateError, admit, check_plan};

const DOING: &str = "show";
/// Exit code when something stands in the way.
const NOT_APPLICABLE: u8 = 3;

pub async fn run(context: &Context, args: &ShowArgs) -> Result<u8, CliError> {
    let plan = apply::read(DOING, &args.file)?;
    match args.diff {
        true => diff::show(context, &plan.actions.iter().map(Sides::of_action).collect::<Vec<_>>()).await?,
        false => show(context, args.format, &plan)?,
    }
    let obstacles = obstacles(context, plan).await?;
    if obstacles.is_empty() {
        context.note("plan can be applied");
        return Ok(0);
    }
    obstacles.iter().for_each(|line| context.note(line));
    Ok(NOT_APPLICABLE)
}

/// Prints a plan.
///
/// # Errors
/// Stdout cannot be written.
pub fn show(context: &Context, format: PlanFormat, plan: &Plan) -> Result<(), CliError> {
    let matches = if context.globals.verbose { Matches::Listed } else { Matches::Counted };
    let (now, zone) = (Timestamp::now(), context.zone());
    let page = Page { plan, now, zone, terminal: context.terminal, matches };
    print_parts(|write| output::plan(&page, format, |write| write(&plan.file_text()), write))?;
    Ok(())
}

/// What stands in the way of applying a plan, a line each.
async fn obstacles(context: &Context, plan: Plan) -> Result<Vec<String>, CliError> {
    let config = context.config()?;
    let session = context.session(config.settings.clone());
    let mut obstacles = Vec::new();
    match check_plan(&session, &plan, ForeignPlan::Accept) {
        Ok(Provenance::Here) => {}
        Ok(Provenance::Foreign) => {
            obstacles.push("plan has no valid mark of this state folder: apply needs --foreign-plan".to_owned());
        }
        Err(error) => return Ok(vec![error.cause()]),
    }
    let judged = async {
        let (fleet, _) = fleet::connect(context, config).await?;
        let admission = admit(&fleet, plan, Chosen::Selected, ForeignPlan::Accept).await;
        admission.map_err(|error: OperateError| CliError::operate(DOING, &error))
    };
    match judged.await {
        Ok(admission) => {
            obstacles.extend(admission.refusal_lines());
            if admission.applicable().next().is_none() && obstacles.is_empty() {
                obstacles.push("plan has no selected action that is not blocked".to_owned());
            }
        }
        Err(error) => obstacles.push(error.cause),
    }
    Ok(obstacles)
}
