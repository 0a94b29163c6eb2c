//! The user's `config.toml`.
//!
//! Invariants:
//! - an unknown key is an error with file, line and the nearest known key;
//! - every problem of the file is reported, not only the first;
//! - the default file may be missing, a named file may not;
//! - findings accepted in the console (`accepted.toml` in the same folder) count like `[[accept]]` in the config.
//!
//! Elsewhere: the meaning of settings. Gates and policy are types of `trueup_core::engine`, and every check reads its own
//! table (`SettingsTable`). A new check needs no change here.

mod budgets;
mod clouds;
mod clusters;
mod console;
mod controller;
mod defaults;
mod domains;
mod egress;
mod exec;
mod file;
mod journal;
mod rules;
mod safety;

use std::path::Path;

pub use console::{AlertSetting, ConsoleSettings, FLEET, ViewSettings};
pub use defaults::FlagDefaults;
pub use domains::EnabledDomains;
pub use file::{ACCEPTED_FILE, CONFIG_BYTES_MAX, ConfigError, ConfigFile, ConfigProblem, accept_line, read_config};
pub use trueup_checks::{BadDuration, parse_duration};

use trueup_checks::registry::Entry;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_controller::settings::ControllerSettings;
use trueup_core::engine::AcceptRule;
use trueup_operate::Settings;

/// The parsed config.
#[derive(Debug)]
pub struct Config {
    /// What every front end needs.
    pub settings: Settings,
    /// The enabled checks, made from their tables.
    pub domains: EnabledDomains,
    pub console: ConsoleSettings,
    /// `[controller]`, for `trueup run`.
    pub controller: ControllerSettings,
    /// Values of flags that a command line leaves out.
    pub defaults: FlagDefaults,
}

const KNOWN_KEYS: [&str; 13] = [
    "clusters",
    "policy",
    "safety",
    "domains",
    "accept",
    "clouds",
    "egress",
    "exec",
    "budgets",
    "journal",
    "console",
    "controller",
    "defaults",
];

/// Parses a config. Relative paths in it are relative to `folder`.
///
/// # Errors
/// Every problem found.
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
            egress: egress::read(&root, &mut problems),
            exec_allow: exec::read(&root, &mut problems),
            budgets: budgets::read(&root, &mut problems),
            publish: journal::read(&root, folder, &mut problems),
        },
        domains: domains::read(&root, entries, &mut problems),
        console: console::read(&root, folder, entries, &mut problems),
        controller: controller::read(&root, entries, &mut problems),
        defaults: defaults::read(&root, &mut problems),
    };
    problems.none_or(config)
}

/// Parses the file of findings accepted in the console: `[[accept]]` and nothing else.
///
/// # Errors
/// Every problem found.
pub fn parse_accepted(text: &str) -> Result<Vec<AcceptRule>, Vec<SettingsProblem>> {
    let root = SettingsTable::parse("the accepted findings", text)?;
    let mut problems = Problems::default();
    problems.extend(root.unknown_keys(&["accept"]));
    let rules = rules::accept(&root, &mut problems);
    problems.none_or(rules)
}

/// Problems found so far; parsing continues after each.
#[derive(Default)]
struct Problems(Vec<SettingsProblem>);

impl Problems {
    /// Returns the value, or records the problem.
    fn keep<T>(&mut self, read: Result<T, SettingsProblem>) -> Option<T> {
        read.map_err(|problem| self.0.push(problem)).ok()
    }

    /// Returns the value of an optional key, or records the problem.
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
