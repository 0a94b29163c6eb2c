//! The user's `config.toml`: read once, checked to the last key.
//!
//! Always true:
//! - a key nobody knows is an error that names file, line and the nearest known key;
//! - every problem of the file is reported, not only the first;
//! - the default file may be missing, one that was named may not;
//! - what was accepted on the console (`accepted.toml` beside the config) counts as if it stood in the config.
//!
//! Each room owns what its settings mean: gates and policy are the engine's types, and every check reads its own table
//! (`domains::SettingsTable`). A new check needs no change here.

mod clouds;
mod clusters;
mod console;
mod domains;
mod duration;
mod file;
mod rules;
mod safety;

use std::path::Path;

pub use console::{AlertSetting, ConsoleSettings, FLEET, ViewSettings};
pub use domains::EnabledDomains;
pub use duration::{BadDuration, parse_duration};
pub use file::{ACCEPTED_FILE, ConfigError, ConfigFile, ConfigProblem, accept_line, read_config};

use trueup_checks::registry::Entry;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_core::engine::AcceptRule;
use trueup_operate::Settings;

/// Everything the file says.
#[derive(Debug)]
pub struct Config {
    /// What every front end needs.
    pub settings: Settings,
    /// The enabled checks, made from their tables.
    pub domains: EnabledDomains,
    pub console: ConsoleSettings,
}

const KNOWN_KEYS: [&str; 7] = ["clusters", "policy", "safety", "domains", "accept", "clouds", "console"];

/// Reads the text of a config. Paths in it are relative to `folder`.
///
/// # Errors
/// Everything in it that can't be meant as it stands.
pub fn parse_config(text: &str, folder: &Path, entries: &[Entry]) -> Result<Config, Vec<SettingsProblem>> {
    let root = SettingsTable::parse("the config", text)?;
    let mut problems = Problems::default();
    problems.extend(root.unknown_keys(&KNOWN_KEYS));
    let config = Config {
        settings: Settings {
            clusters: clusters::read(&root, &mut problems),
            policy: rules::policy(&root, &mut problems),
            safety: safety::read(&root, folder, &mut problems),
            accept: rules::accept(&root, &mut problems),
            clouds: clouds::read(&root, folder, &mut problems),
        },
        domains: domains::read(&root, entries, &mut problems),
        console: console::read(&root, folder, entries, &mut problems),
    };
    problems.none_or(config)
}

/// Reads the text of the file the console adds to when somebody accepts a finding: `[[accept]]` and nothing else.
///
/// # Errors
/// Everything in it that can't be meant as it stands.
pub fn parse_accepted(text: &str) -> Result<Vec<AcceptRule>, Vec<SettingsProblem>> {
    let root = SettingsTable::parse("the accepted findings", text)?;
    let mut problems = Problems::default();
    problems.extend(root.unknown_keys(&["accept"]));
    let rules = rules::accept(&root, &mut problems);
    problems.none_or(rules)
}

/// What is wrong so far, while the rest is still read.
#[derive(Default)]
struct Problems(Vec<SettingsProblem>);

impl Problems {
    /// Keeps the value, or notes the problem.
    fn keep<T>(&mut self, read: Result<T, SettingsProblem>) -> Option<T> {
        read.map_err(|problem| self.0.push(problem)).ok()
    }

    /// Keeps the value of a key that may be missing, or notes the problem.
    fn keep_given<T>(&mut self, read: Result<Option<T>, SettingsProblem>) -> Option<T> {
        self.keep(read).flatten()
    }

    fn push(&mut self, problem: SettingsProblem) {
        self.0.push(problem);
    }

    fn extend(&mut self, problems: impl IntoIterator<Item = SettingsProblem>) {
        self.0.extend(problems);
    }

    fn none_or<T>(mut self, value: T) -> Result<T, Vec<SettingsProblem>> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort_by_key(|problem| problem.span.start);
        Err(self.0)
    }
}

#[cfg(test)]
mod tests;
