//! Files the console writes, each with mode 600.

use std::path::{Path, PathBuf};

use jiff::Zoned;

use crate::cli::out_file::write_private;
use crate::cli::output;
use crate::console::task::SavedFile;
use trueup_core::engine::{Plan, short_id};
use trueup_operate::Session;

/// How much of a log is worth reading on a screen.
const LOG_LINES: usize = 2_000;

/// Writes a file into the current folder; answers with its name.
///
/// # Errors
/// It can't be written, in a sentence.
pub fn save(session: &Session, file: &SavedFile, text: &str) -> Result<String, String> {
    let path = PathBuf::from(name(file));
    let marked = match file {
        SavedFile::Plan { .. } => Some(marked(session, text)?),
        SavedFile::ScreenText | SavedFile::ScreenSvg | SavedFile::ViewMarkdown | SavedFile::ViewCsv => None,
    };
    write_private(&path, marked.as_deref().unwrap_or(text)).map_err(|cause| format!("{}: {cause}", path.display()))?;
    Ok(path.display().to_string())
}

/// A plan with the mark of the state folder.
fn marked(session: &Session, text: &str) -> Result<String, String> {
    let plan = Plan::read(text).map_err(|error| error.to_string())?;
    let key = session.mark_key().map_err(|error| error.cause())?;
    Ok(output::json(&plan.marked(&key)))
}

fn name(file: &SavedFile) -> String {
    let stamp = Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    match file {
        SavedFile::Plan { id } => format!("trueup-plan-{}.json", short_id(id)),
        SavedFile::ScreenText => format!("trueup-screen-{stamp}.txt"),
        SavedFile::ScreenSvg => format!("trueup-screen-{stamp}.svg"),
        SavedFile::ViewMarkdown => format!("trueup-view-{stamp}.md"),
        SavedFile::ViewCsv => format!("trueup-view-{stamp}.csv"),
    }
}

/// The end of the log, or a line that says how to have one.
pub fn last_lines(log: Option<&Path>) -> Vec<String> {
    let Some(log) = log else {
        return vec!["nothing is logged: start with --log FILE to have a log, and -v for more in it".to_owned()];
    };
    match std::fs::read_to_string(log) {
        Ok(text) => {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| (*line).to_owned()).collect()
        }
        Err(error) => vec![format!("{}: {error}", log.display())],
    }
}
