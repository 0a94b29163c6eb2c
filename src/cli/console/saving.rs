//! Files the console leaves behind, each for the user alone.

use std::path::{Path, PathBuf};

use jiff::Zoned;

use crate::cli::out_file::write_private;
use crate::console::task::SavedFile;
use trueup_core::engine::short_id;

/// How much of a log is worth reading on a screen.
const LOG_LINES: usize = 2_000;

/// Writes a file into the current folder; answers with its name.
///
/// # Errors
/// It can't be written, in a sentence.
pub fn save(file: &SavedFile, text: &str) -> Result<String, String> {
    let path = PathBuf::from(name(file));
    write_private(&path, text).map_err(|cause| format!("{}: {cause}", path.display()))?;
    Ok(path.display().to_string())
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
