//! The log: a file the user names, never the terminal.
//!
//! Always true: only our own lines are in it. The client library logs whole bodies when it can't decode them, so
//! everything that is not ours is off, and no variable can turn it on.

use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use super::args::Globals;
use super::error::CliError;

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
