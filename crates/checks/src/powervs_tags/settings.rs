//! This check's own table in the config.

use super::super::registry::Entry;
use super::super::{SettingsProblem, SettingsTable};

/// `[domains.powervs-tags]`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Whether user tags are also attached to resources a cluster uses and did not create.
    pub tag_references: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tag_references: true }
    }
}

/// How the registry makes this check.
pub const ENTRY: Entry = Entry {
    name: super::NAME,
    known_keys: &["tag_references"],
    build: |table| Ok(Box::new(super::PowerVsTags::new(Settings::read(table)?))),
};

impl Settings {
    fn read(table: &SettingsTable) -> Result<Self, Vec<SettingsProblem>> {
        let tag_references = table.take_bool("tag_references").map_err(|problem| vec![problem])?;
        Ok(Self { tag_references: tag_references.unwrap_or(Self::default().tag_references) })
    }
}
