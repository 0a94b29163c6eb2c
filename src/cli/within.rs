//! `trueup plan --within FILE`: a fresh plan passes only if it does nothing that the reviewed plan does not hold.
//!
//! Exit codes: 4 when it does; then nothing is printed or written but the differences.

use std::path::Path;

use super::context::Context;
use super::error::CliError;
use super::output::count;
use trueup_core::engine::{Plan, not_reviewed, short_id};

/// Differences that are shown one by one.
const SHOWN_MAX: usize = 20;
/// Characters of one difference: a change may hold a whole file.
const LINE_CHARS_MAX: usize = 500;

/// Checks that a plan is within a reviewed one.
///
/// # Errors
/// It is not. The differences have been noted.
pub fn check<F>(context: &Context, path: &Path, plan: &Plan<F>, reviewed: &Plan) -> Result<(), CliError> {
    let gaps = not_reviewed(plan, reviewed);
    if gaps.is_empty() {
        return Ok(());
    }
    for gap in gaps.iter().take(SHOWN_MAX) {
        let action = gap.action;
        let (verb, target) = (action.verb().as_str(), &action.target);
        let line =
            format!("{} {verb} {} {} in {}: {}", action.id, target.kind, target.place(), action.cluster, gap.why);
        context.note(&cut(&line));
    }
    if gaps.len() > SHOWN_MAX {
        context.note(&format!("and {} more", gaps.len() - SHOWN_MAX));
    }
    let verb = if gaps.len() == 1 { "is" } else { "are" };
    let cause = format!("{} {verb} not within reviewed plan {}", count(gaps.len(), "action"), short_id(&reviewed.id));
    let hint = "have a new plan reviewed (trueup plan --out FILE), or narrow this one with --cluster or --domain";
    Err(CliError::stale(format!("plan --within {}", path.display()), cause, hint))
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}
