//! `trueup explain FINDING`: one finding in full.
//!
//! Exit codes: 0 shown; 1 no finding or several match.

use super::args::{ExplainArgs, ExplainFormat, PlanArgs};
use super::context::Context;
use super::error::CliError;
use super::output::{self, Matches};
use super::plan;
use super::terminal::print;
use trueup_core::engine::Finding;

/// Candidates listed when the id does not match one finding.
const CANDIDATES_MAX: usize = 10;

pub async fn run(context: &Context, args: &ExplainArgs) -> Result<u8, CliError> {
    let planned = plan::make(context, &PlanArgs::default()).await?.planned;
    let finding = pick(&planned.plan.findings, &args.finding)?;
    let page = plan::page(context, &planned, Matches::Listed);
    let text = match args.format {
        ExplainFormat::Table => output::explain_text(&page, finding),
        ExplainFormat::Json => output::explain_json(&page, finding),
    };
    print(&text)?;
    Ok(0)
}

/// The finding with this id, or the only one whose id contains the text.
fn pick<'f>(findings: &'f [Finding], asked: &str) -> Result<&'f Finding, CliError> {
    if let Some(exact) = findings.iter().find(|finding| finding.id == asked) {
        return Ok(exact);
    }
    let candidates: Vec<&Finding> = findings.iter().filter(|finding| finding.id.contains(asked)).collect();
    match candidates.as_slice() {
        [one] => Ok(one),
        [] => {
            let nearest =
                trueup_fleet::connect::nearest_names(asked, findings.iter().map(|finding| finding.id.as_str()));
            let hint = match nearest.is_empty() {
                true => "there are no findings; see trueup plan".to_owned(),
                false => format!("similar ids: {}", nearest.join(", ")),
            };
            Err(CliError::usage("explain", format!("no finding matches \"{asked}\""), hint))
        }
        many => {
            let mut names: Vec<&str> = many.iter().take(CANDIDATES_MAX).map(|finding| finding.id.as_str()).collect();
            if many.len() > CANDIDATES_MAX {
                names.push("...");
            }
            let cause = format!("{} findings match \"{asked}\"", many.len());
            Err(CliError::usage("explain", cause, format!("name one of: {}", names.join(", "))))
        }
    }
}
