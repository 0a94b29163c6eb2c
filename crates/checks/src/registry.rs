//! The list of checks. A new one is a folder beside this file and one line here.
//!
//! Invariants: a check's settings are its own. The config hands it its table and knows none of the keys.

use super::contract::Check;
use super::settings::{SettingsProblem, SettingsTable};
use trueup_core::engine::CheckName;

/// One check, before its settings are known.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub name: CheckName,
    /// The keys of its `[domains.<name>]` table; any other is an error.
    pub known_keys: &'static [&'static str],
    pub build: BuildDomain,
}

/// Makes a check from its table, which is empty when the file has none. All problems are reported at once.
pub type BuildDomain = fn(&SettingsTable) -> Result<Box<dyn Check>, Vec<SettingsProblem>>;

/// Every check there is.
pub fn entries() -> &'static [Entry] {
    &[
        super::hosted_oidc::ENTRY,
        super::external_oidc::ENTRY,
        super::kubeconfig::ENTRY,
        super::powervs_tags::ENTRY,
        super::machineset_capacity::ENTRY,
    ]
}

/// Checks this program promises and does not have yet. A config may already switch them off.
pub fn announced() -> &'static [&'static str] {
    &[]
}
