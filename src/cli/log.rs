//! The log: a file the user names, or the console's own in the state folder; never the terminal.
//!
//! Invariants: only our own lines are in it. The client library logs whole bodies when it can't decode them, so
//! everything that is not ours is off, and no variable can turn it on.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use super::args::Globals;
use super::error::CliError;

/// Where the console logs when nobody names a file, inside the state folder.
const OWN_FOLDER: &str = "logs";
const OWN_FILE: &str = "console.log";
/// From this size on, the console's own log is put aside at the next start, in place of the one before.
const OWN_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Names the console's own log in the globals, unless the user named another. Where it can't be made, there is none: a
/// console is of more use than its log.
pub fn name_own(globals: &mut Globals, state: Option<PathBuf>) {
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
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).init();
    Ok(Some(guard))
}

fn open(path: &Path) -> std::io::Result<std::fs::File> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use clap::Parser as _;

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
        name_own(&mut globals, Some(state.clone()));
        let path = globals.log.unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap()), mode(&state)), (0o600, 0o700, 0o700));
        std::fs::write(&path, vec![b'x'; usize::try_from(OWN_BYTES_MAX).unwrap() + 1]).unwrap();
        assert_eq!(own(&state).unwrap(), path);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
        assert_eq!(std::fs::metadata(path.with_extension("log.1")).unwrap().len(), OWN_BYTES_MAX + 1);
    }

    #[test]
    fn a_log_that_can_not_be_made_or_was_named_otherwise_is_not_the_console_s_own() {
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("taken");
        std::fs::write(&taken, "a file").unwrap();
        let mut globals = globals();
        name_own(&mut globals, Some(taken));
        name_own(&mut globals, None);
        assert_eq!(globals.log, None);
        globals.log = Some("mine.log".into());
        name_own(&mut globals, Some(dir.path().to_owned()));
        assert_eq!(globals.log, Some("mine.log".into()));
    }
}
