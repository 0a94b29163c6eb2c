//! This check's own table in the config.

use super::super::registry::Entry;
use super::super::{SettingsProblem, SettingsTable};
use super::names::TAG_PREFIX;
use super::tags::{TAG_MAX, TagScheme, is_allowed};
use trueup_core::world::Glob;

/// The longest prefix with which the longest tag of ours fits: `tgconn:`, a uid of 36 characters, `.powervs`.
const PREFIX_MAX: usize = TAG_MAX - "tgconn:".len() - 36 - ".powervs".len();

/// `[domains.powervs-tags]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether user tags are also attached to resources a cluster uses and did not create.
    pub tag_references: bool,
    /// What tags of ours begin with.
    pub scheme: TagScheme,
    /// Tags by which others mark what is theirs.
    pub owner_tags: Vec<Glob>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tag_references: true, scheme: TagScheme::default(), owner_tags: Vec::new() }
    }
}

/// How the registry makes this check.
pub const ENTRY: Entry = Entry {
    name: super::NAME,
    known_keys: &["owner_tags", "tag_prefix", "tag_references"],
    build: |table| Ok(Box::new(super::PowerVsTags::new(Settings::read(table)?))),
};

impl Settings {
    fn read(table: &SettingsTable) -> Result<Self, Vec<SettingsProblem>> {
        let mut settings = Self::default();
        let mut problems = Vec::new();
        match table.take_bool("tag_references") {
            Ok(given) => settings.tag_references = given.unwrap_or(settings.tag_references),
            Err(problem) => problems.push(problem),
        }
        match table.take_str("tag_prefix") {
            Ok(None) => {}
            Ok(Some(prefix)) if is_prefix(prefix.get_ref()) => settings.scheme = TagScheme::new(prefix.get_ref()),
            Ok(Some(prefix)) => {
                let message = format!(
                    "invalid tag_prefix; use 1 to {PREFIX_MAX} letters, digits and _ - . without a colon, as {TAG_PREFIX}"
                );
                problems.push(SettingsProblem::at(prefix.span(), message));
            }
            Err(problem) => problems.push(problem),
        }
        match table.take_strings("owner_tags") {
            Ok(given) => {
                for text in given.into_iter().flatten() {
                    match Glob::parse(&text.get_ref().to_lowercase()) {
                        Ok(glob) => settings.owner_tags.push(glob),
                        Err(error) => problems.push(SettingsProblem::at(text.span(), error.to_string())),
                    }
                }
            }
            Err(problem) => problems.push(problem),
        }
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }
}

fn is_prefix(text: &str) -> bool {
    !text.is_empty() && text.len() <= PREFIX_MAX && is_allowed(text) && !text.contains([':', ' '])
}
