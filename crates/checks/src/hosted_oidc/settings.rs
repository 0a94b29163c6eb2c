//! This check's own table in the config.

use std::time::Duration;

use trueup_core::engine::glob::Glob;

/// A console operator that runs reports its client on every sync, which takes minutes at most.
const CLIENT_GRACE: Duration = Duration::from_secs(60 * 60);

/// `[domains.hosted-oidc]`
#[derive(Debug, Clone)]
pub struct Settings {
    pub copies: Copies,
    /// Names worth a look although nothing marks them. Never deletable by that alone.
    pub name_patterns: Vec<Glob>,
    /// How long a client counts as in use after it was last reported.
    pub client_grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { copies: Copies::default(), name_patterns: Vec::new(), client_grace: CLIENT_GRACE }
    }
}

/// Who writes missing and stale copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Copies {
    /// The hosted cluster config operator; we only show what it should be doing.
    #[default]
    Observe,
    /// We do, where the plan is approved.
    Manage,
}

use super::super::registry::Entry;
use super::super::{SettingsProblem, SettingsTable};

/// How the registry makes this check.
pub const ENTRY: Entry = Entry {
    name: super::NAME,
    known_keys: &["client_grace", "copies", "name_patterns"],
    build: |table| Ok(Box::new(super::HostedOidc::new(Settings::read(table)?))),
};

impl Settings {
    /// Reads the check's own table.
    fn read(table: &SettingsTable) -> Result<Self, Vec<SettingsProblem>> {
        let mut problems = Vec::new();
        let words = [("observe", Copies::Observe), ("manage", Copies::Manage)];
        let copies = table.take_choice("copies", &words).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let client_grace = table.take_duration("client_grace").unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let patterns = table.take_strings("name_patterns").unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let mut name_patterns = Vec::new();
        for text in patterns.unwrap_or_default() {
            match Glob::parse(text.get_ref()) {
                Ok(glob) => name_patterns.push(glob),
                Err(error) => problems.push(SettingsProblem::at(text.span(), format!("`name_patterns`: {error}"))),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let client_grace = client_grace.unwrap_or(CLIENT_GRACE);
        Ok(Self { copies: copies.unwrap_or_default(), name_patterns, client_grace })
    }
}
