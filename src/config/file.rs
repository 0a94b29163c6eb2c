//! Locating and reading the config files, with their errors.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::{Config, parse_accepted, parse_config};
use trueup_checks::SettingsProblem;
use trueup_checks::registry::Entry;
use trueup_core::engine::AcceptRule;
use trueup_core::files;

/// Findings accepted in the console, in the folder of the config.
pub const ACCEPTED_FILE: &str = "accepted.toml";

/// A config has a few kilobytes.
pub const CONFIG_BYTES_MAX: u64 = 16 << 20;

/// The config file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// Named by the user: it must exist.
    Named(PathBuf),
    /// The default path; the file may be missing.
    Default(PathBuf),
    /// Neither `XDG_CONFIG_HOME` nor `HOME` is set.
    Nowhere,
}

/// Why no config could be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("config {} does not exist; check --config", .path.display())]
    Missing { path: PathBuf },
    #[error("cannot read config {}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("config {} can be written by others (mode {mode:o}); run chmod go-w {}", .path.display(), .path.display())]
    WritableByOthers { path: PathBuf, mode: u32 },
    #[error("config {} belongs to user {uid}; make a copy of your own", .path.display())]
    OwnedByAnother { path: PathBuf, uid: u32 },
    #[error("{}", Lines { path, problems })]
    Wrong { path: PathBuf, problems: Vec<ConfigProblem> },
}

/// A problem on a line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Line number, counted from 1.
    pub line: usize,
    pub message: String,
}

impl ConfigFile {
    /// Returns the named file, else `trueup/config.toml` in the user's config folder. `env` reads environment variables.
    pub fn locate(named: Option<PathBuf>, env: impl Fn(&str) -> Option<OsString>) -> Self {
        if let Some(path) = named {
            return Self::Named(path);
        }
        // The XDG specification: relative paths are ignored.
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
        folder.map_or(Self::Nowhere, |folder| Self::Default(folder.join("trueup").join("config.toml")))
    }

    /// The folder of the config, which also holds `keys.toml`, `themes/` and `accepted.toml`.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Named(path) | Self::Default(path) => path.parent(),
            Self::Nowhere => None,
        }
    }
}

/// Reads the config, or the defaults when the default file is missing.
///
/// # Errors
/// A named file is missing, a file cannot be read, or its content is invalid.
pub fn read_config(file: &ConfigFile, entries: &[Entry]) -> Result<Config, ConfigError> {
    let (path, text) = match file {
        ConfigFile::Named(path) => (path.as_path(), read_text(path)?.ok_or_else(|| missing(path))?),
        ConfigFile::Default(path) => (path.as_path(), read_text(path)?.unwrap_or_default()),
        ConfigFile::Nowhere => (Path::new(""), String::new()),
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut config = parse_config(&text, folder, entries).map_err(|problems| wrong(path, &text, problems))?;
    if let Some(folder) = file.folder() {
        config.settings.accept.extend(read_accepted(&folder.join(ACCEPTED_FILE))?);
    }
    Ok(config)
}

fn read_accepted(path: &Path) -> Result<Vec<AcceptRule>, ConfigError> {
    let text = read_text(path)?.unwrap_or_default();
    parse_accepted(&text).map_err(|problems| wrong(path, &text, problems))
}

/// Renders a rule for appending to the file.
pub fn accept_line(rule: &AcceptRule) -> String {
    let AcceptRule { finding, reason, until } = rule;
    let text = |text: &str| toml::Value::from(text).to_string();
    format!("\n[[accept]]\nfinding = {}\nreason = {}\nuntil = {until}\n", text(finding.as_str()), text(reason))
}

fn wrong(path: &Path, text: &str, problems: Vec<SettingsProblem>) -> ConfigError {
    let problems = problems.into_iter().map(|problem| on_line(problem, text)).collect();
    ConfigError::Wrong { path: path.to_owned(), problems }
}

/// Reads the file; none when it is missing. A link whose target is missing is a config that cannot be read: its rules
/// would be lost without a word. The config decides what may be written and sent: a file that others can write is
/// refused. Links are followed and pipes are read.
fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed = |source: io::Error| ConfigError::Unreadable { path: path.to_owned(), source };
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mode = found.permissions().mode() & 0o777;
    let is_foreign = ![0, rustix::process::geteuid().as_raw()].contains(&found.uid());
    if found.is_file() && is_foreign {
        return Err(ConfigError::OwnedByAnother { path: path.to_owned(), uid: found.uid() });
    }
    if found.is_file() && mode & 0o022 != 0 {
        return Err(ConfigError::WritableByOthers { path: path.to_owned(), mode });
    }
    files::read_text(path, CONFIG_BYTES_MAX).map(|text| Some((**text).to_owned())).map_err(failed)
}

fn missing(path: &Path) -> ConfigError {
    ConfigError::Missing { path: path.to_owned() }
}

fn on_line(problem: SettingsProblem, text: &str) -> ConfigProblem {
    let before = &text.as_bytes()[..problem.span.start.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    ConfigProblem { line, message: problem.message }
}

/// Renders one problem per line, each with file and line.
struct Lines<'a> {
    path: &'a Path,
    problems: &'a [ConfigProblem],
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{}: {}", self.path.display(), problem.line, problem.message)?;
        }
        Ok(())
    }
}
