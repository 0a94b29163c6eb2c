//! `trueup undo`: plans the inverse of what was applied, then asks for the same approval.
//!
//! Exit codes: as `trueup apply`; with `--out` 0 when the plan was written.

use jiff::Timestamp;

use super::args::UndoArgs;
use super::context::Context;
use super::error::CliError;
use super::history::{journal_error, pick};
use super::out_file::write_private;
use super::{apply, apply_live, ask, output};
use crate::engine::journal::{StateFolder, entries, read};
use crate::engine::{Chosen, UndoPlan, undo};

const DOING: &str = "undo";

pub async fn run(context: &Context, args: &UndoArgs) -> Result<u8, CliError> {
    let UndoPlan { plan, left_out } = planned(context, &args.entry)?;
    for sentence in &left_out {
        context.note(&format!("not taken back: {sentence}"));
    }
    if plan.actions.is_empty() {
        return Err(CliError::refused(DOING, "nothing of it can be taken back", "see trueup history show"));
    }
    if let Some(path) = &args.out {
        let doing = format!("--out {}", path.display());
        write_private(path, &output::json(&plan))
            .map_err(|cause| CliError::failed(doing, cause, "name a file in a folder you can write to"))?;
        context.note(&format!("plan {} written to {}", plan.id, path.display()));
        return Ok(0);
    }
    if !ask::is_interactive(context) {
        let hint = "write the plan with --out, and apply it with trueup apply FILE --expect ID";
        return Err(CliError::usage(DOING, "there is no terminal to ask on", hint));
    }
    tokio::select! {
        biased;
        code = super::interrupted() => code,
        approved = apply::consent(context, plan, &Chosen::Selected, &args.consent) => match approved? {
            Some(approved) => apply_live::run(context, approved, &args.consent).await,
            None => Ok(0),
        },
    }
}

fn planned(context: &Context, entry: &str) -> Result<UndoPlan, CliError> {
    let path = context.state_path();
    let path = path.ok_or_else(|| CliError::failed(DOING, "neither XDG_STATE_HOME nor HOME is set", "set HOME"))?;
    let folder = StateFolder::look(&path).map_err(|error| journal_error(DOING, &error.into()))?;
    let history = folder.map(|folder| read(&folder)).transpose().map_err(|error| journal_error(DOING, &error))?;
    let records: Vec<_> = history.into_iter().flat_map(|history| history.lines).map(|line| line.record).collect();
    let entries = entries(&records);
    let (entry, action) = pick(&entries, entry)?;
    undo(entry, action.map(|action| action.id.as_str()), Timestamp::now())
        .map_err(|error| CliError::failed(DOING, error.to_string(), "report this"))
}
