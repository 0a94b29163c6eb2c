//! The log: a file the user names, or the console's own in the state folder; never the terminal.
//!
//! Invariants:
//! - only lines of trueup are logged. kube logs whole bodies when decoding fails, so other crates are off, and no
//!   environment variable turns them on;
//! - an event is one line of printable text, whatever its values hold.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use trueup_core::engine::text::Printable;

use super::args::Globals;
use super::error::CliError;
use super::log_json::JsonLines;

/// The console's default log, in the state folder.
const OWN_FOLDER: &str = "logs";
const OWN_FILE: &str = "console.log";
/// A larger default log is renamed to `.log.1` at the next start.
const OWN_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Sets the console's default log, unless the user named another. If it cannot be created, there is no log.
pub fn set_default(globals: &mut Globals, state: Option<PathBuf>) {
    if globals.log.is_none() {
        globals.log = state.and_then(|state| own(&state).ok());
    }
}

fn own(state: &Path) -> std::io::Result<PathBuf> {
    let folder = state.join(OWN_FOLDER);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let path = folder.join(OWN_FILE);
    if std::fs::metadata(&path).is_ok_and(|found| found.len() > OWN_BYTES_MAX) {
        std::fs::rename(&path, path.with_extension("log.1"))?;
    }
    open(&path)?;
    Ok(path)
}

/// Starts logging if a file is named. The log is complete once the guard is dropped.
///
/// # Errors
/// The file can't be opened.
pub fn start(globals: &Globals) -> Result<Option<WorkerGuard>, CliError> {
    let Some(path) = &globals.log else { return Ok(None) };
    let file = open(path).map_err(|error| {
        CliError::failed(format!("--log {}", path.display()), error.to_string(), "name a file you can write")
    })?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let filter = EnvFilter::new(if globals.verbose { "off,trueup=debug" } else { "off,trueup=info" });
    let writer = PrintableEvents(writer);
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).init();
    Ok(Some(guard))
}

/// Starts a log on stderr with one JSON object a line: what a cluster collects from its pods.
///
/// # Errors
/// Never; the same shape as [`start`].
pub fn start_json(globals: &Globals) -> Result<Option<WorkerGuard>, CliError> {
    let (writer, guard) = tracing_appender::non_blocking(io::stderr());
    let filter = EnvFilter::new(if globals.verbose { "off,trueup=debug" } else { "off,trueup=info" });
    let writer = PrintableEvents(writer);
    tracing_subscriber::fmt().event_format(JsonLines).with_env_filter(filter).with_writer(writer).init();
    Ok(Some(guard))
}

/// Writes each event as one printable line.
#[derive(Clone)]
struct PrintableEvents<W>(W);

impl<'w> MakeWriter<'w> for PrintableEvents<NonBlocking> {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

impl<W: Write> Write for PrintableEvents<W> {
    /// Takes one event: the formatter writes each with one call.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = Printable::line(text.strip_suffix('\n').unwrap_or(&text)).ended();
        self.0.write_all(line.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Opens a log to append to it. A link is not followed, and the mode of a file that exists is not changed.
fn open(path: &Path) -> std::io::Result<std::fs::File> {
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(no_link).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use clap::Parser as _;
    use std::os::unix::fs::PermissionsExt as _;

    fn globals() -> Globals {
        Cli::try_parse_from(["trueup"]).unwrap().globals
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_console_s_own_log_is_for_its_owner_alone_and_is_put_aside_when_it_is_long() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state/trueup");
        let mut globals = globals();
        set_default(&mut globals, Some(state.clone()));
        let path = globals.log.unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap()), mode(&state)), (0o600, 0o700, 0o700));
        std::fs::write(&path, vec![b'x'; usize::try_from(OWN_BYTES_MAX).unwrap() + 1]).unwrap();
        assert_eq!(own(&state).unwrap(), path);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
        assert_eq!(std::fs::metadata(path.with_extension("log.1")).unwrap().len(), OWN_BYTES_MAX + 1);
    }

    #[test]
    fn a_value_cannot_forge_a_line_or_steer_the_terminal_of_a_reader() {
        let mut log = PrintableEvents(Vec::new());
        log.write_all("INFO cluster=a\n2026 INFO forged\x1b[2J\u{202e}\u{9b}\n".as_bytes()).unwrap();
        log.write_all(b"INFO next\n").unwrap();
        let text = String::from_utf8(log.0).unwrap();
        assert_eq!(text, "INFO cluster=a\\u{a}2026 INFO forged\\u{1b}[2J\\u{202e}\\u{9b}\nINFO next\n");
    }

    #[test]
    fn a_log_follows_no_link_and_leaves_the_mode_of_a_file_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        std::fs::write(&target, "kept").unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(open(&link).is_err());
        open(&target).unwrap();
        assert_eq!((mode(&target), std::fs::read_to_string(&target).unwrap()), (0o640, "kept".to_owned()));
    }

    #[test]
    fn a_log_that_can_not_be_made_or_was_named_otherwise_is_not_the_console_s_own() {
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("taken");
        std::fs::write(&taken, "a file").unwrap();
        let mut globals = globals();
        set_default(&mut globals, Some(taken));
        set_default(&mut globals, None);
        assert_eq!(globals.log, None);
        globals.log = Some("mine.log".into());
        set_default(&mut globals, Some(dir.path().to_owned()));
        assert_eq!(globals.log, Some("mine.log".into()));
    }
}
