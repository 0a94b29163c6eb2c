//! Files the console writes, each with mode 600.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::path::{Path, PathBuf};

use jiff::Zoned;

use super::background::BackgroundWork;
use crate::cli::out_file::write_private;
use crate::console::ReplySender;
use crate::console::task::{SavedFile, TaskReply};
use trueup_core::engine::short_id;
use trueup_core::engine::text::Printable;
use trueup_core::files;

/// Lines of the log that the console shows.
const LOG_LINES: usize = 2_000;
/// Where these lines are: about 500 bytes each.
const LOG_TAIL_BYTES: u64 = 1 << 20;

/// Writes a file in the background; the reply names it.
pub fn spawn(background: &BackgroundWork, replies: &ReplySender, file: SavedFile, text: Printable) {
    let named = file.clone();
    let work = move || {
        let path = save(&file, &text);
        TaskReply::Saved { file, path }
    };
    background.spawn(replies.clone(), |message| TaskReply::Saved { file: named, path: Err(message) }, work);
}

/// Writes a file to the current folder and returns its name.
///
/// # Errors
/// The file cannot be written.
fn save(file: &SavedFile, text: &Printable) -> Result<String, String> {
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
        SavedFile::Bundle => format!("incident-{stamp}.tar.gz"),
    }
}

/// The last lines of the log, or a line with the option that creates one.
pub fn last_lines(log: Option<&Path>) -> Vec<String> {
    let Some(log) = log else {
        return vec!["no log: start with --log FILE, and -v for debug lines".to_owned()];
    };
    match files::read_tail(log, LOG_TAIL_BYTES) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| (*line).to_owned()).collect()
        }
        Err(error) => vec![format!("{}: {error}", log.display())],
    }
}
