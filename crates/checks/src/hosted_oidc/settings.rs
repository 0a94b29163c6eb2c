//! This check's own table in the config.

use trueup_core::engine::glob::Glob;

/// `[domains.hosted-oidc]`
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub copies: Copies,
    /// Names worth a look although nothing marks them. Never deletable by that alone.
    pub name_patterns: Vec<Glob>,
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
    known_keys: &["copies", "name_patterns"],
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
        if problems.is_empty() { Ok(Self { copies: copies.unwrap_or_default(), name_patterns }) } else { Err(problems) }
    }
}
