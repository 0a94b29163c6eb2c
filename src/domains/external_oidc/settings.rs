//! This check's own table in the config.

use super::super::registry::Entry;
use super::super::{SettingsProblem, SettingsTable};

/// `[domains.external-oidc]`
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub hands: Hands,
}

/// Who does what the operators should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hands {
    /// They do; we only show what they should be doing, and which condition says why they aren't.
    #[default]
    Off,
    /// We do, where the plan is approved: `manage = true`.
    On,
}

/// How the registry makes this check.
pub const ENTRY: Entry = Entry {
    name: super::NAME,
    known_keys: &["manage"],
    build: |table| Ok(Box::new(super::ExternalOidc::new(Settings::read(table)?))),
};

impl Settings {
    fn read(table: &SettingsTable) -> Result<Self, Vec<SettingsProblem>> {
        let manage = table.take_bool("manage").map_err(|problem| vec![problem])?;
        Ok(Self { hands: if manage == Some(true) { Hands::On } else { Hands::Off } })
    }
}
