//! Where the config is, and what to say when it can't be used.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::{Config, parse_accepted, parse_config};
use trueup_checks::SettingsProblem;
use trueup_checks::registry::Entry;
use trueup_core::engine::AcceptRule;

/// Beside the config: what was accepted on the console.
pub const ACCEPTED_FILE: &str = "accepted.toml";

/// The file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigFile {
    /// Named by the user: it has to be there.
    Named(PathBuf),
    /// Where it would be if there were one.
    Default(PathBuf),
    /// Neither `XDG_CONFIG_HOME` nor `HOME` says where to look.
    Nowhere,
}

/// Why there is no config to go by.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("config {} does not exist; check --config", .path.display())]
    Missing { path: PathBuf },
    #[error("config {} can't be read", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}", Lines { path, problems })]
    Wrong { path: PathBuf, problems: Vec<ConfigProblem> },
}

/// Something on a line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// From 1.
    pub line: usize,
    pub says: String,
}

impl ConfigFile {
    /// The named file, else `trueup/config.toml` in the user's config folder. `env` answers for environment variables.
    pub fn locate(named: Option<PathBuf>, env: impl Fn(&str) -> Option<OsString>) -> Self {
        if let Some(path) = named {
            return Self::Named(path);
        }
        // The XDG specification: a relative path there is to be ignored.
        let absolute = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
        folder.map_or(Self::Nowhere, |folder| Self::Default(folder.join("trueup").join("config.toml")))
    }

    /// The folder it is in, where its companions are: `keys.toml`, `themes/`, `accepted.toml`.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Named(path) | Self::Default(path) => path.parent(),
            Self::Nowhere => None,
        }
    }
}

/// Reads the config, or the defaults when the default file is not there.
///
/// # Errors
/// A named file is missing, a file can't be read, or something in it can't be meant as it stands.
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

/// A rule as the file holds it, to be added at its end.
pub fn accept_line(rule: &AcceptRule) -> String {
    let AcceptRule { finding, reason, until } = rule;
    let text = |text: &str| toml::Value::from(text).to_string();
    format!("\n[[accept]]\nfinding = {}\nreason = {}\nuntil = {until}\n", text(finding.as_str()), text(reason))
}

fn wrong(path: &Path, text: &str, problems: Vec<SettingsProblem>) -> ConfigError {
    let problems = problems.into_iter().map(|problem| on_line(problem, text)).collect();
    ConfigError::Wrong { path: path.to_owned(), problems }
}

/// The text of the file, or nothing when it is not there.
fn read_text(path: &Path) -> Result<Option<String>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConfigError::Unreadable { path: path.to_owned(), source }),
    }
}

fn missing(path: &Path) -> ConfigError {
    ConfigError::Missing { path: path.to_owned() }
}

fn on_line(problem: SettingsProblem, text: &str) -> ConfigProblem {
    let before = &text.as_bytes()[..problem.span.start.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    ConfigProblem { line, says: problem.says }
}

/// One problem a line, each with its place.
struct Lines<'a> {
    path: &'a Path,
    problems: &'a [ConfigProblem],
}

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}:{}: {}", self.path.display(), problem.line, problem.says)?;
        }
        Ok(())
    }
}
