//! This check's own table in the config.

use super::super::registry::Entry;
use super::super::{SettingsProblem, SettingsTable};

/// `[domains.external-oidc]`
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub hands: Hands,
    pub offer: Offer,
    pub crd_removal: CrdRemoval,
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

/// Whether turning a cluster over to OIDC is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Offer {
    #[default]
    Nothing,
    /// Where providers are listed and the type is another: `offer_switch = true`.
    Switch,
}

/// Whether removing the definition of RoleBindingRestrictions is offered: upstream never does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CrdRemoval {
    #[default]
    NotOffered,
    /// `offer_crd_removal = true`, together with `manage = true`.
    Offered,
}

/// How the registry makes this check.
pub const ENTRY: Entry = Entry {
    name: super::NAME,
    known_keys: &["manage", "offer_crd_removal", "offer_switch"],
    build: |table| Ok(Box::new(super::ExternalOidc::new(Settings::read(table)?))),
};

impl Settings {
    fn read(table: &SettingsTable) -> Result<Self, Vec<SettingsProblem>> {
        let manage = table.take_bool("manage").map_err(|problem| vec![problem])?;
        let switch = table.take_bool("offer_switch").map_err(|problem| vec![problem])?;
        let removal = table.take_bool("offer_crd_removal").map_err(|problem| vec![problem])?;
        Ok(Self {
            crd_removal: if removal == Some(true) { CrdRemoval::Offered } else { CrdRemoval::NotOffered },
            hands: if manage == Some(true) { Hands::On } else { Hands::Off },
            offer: if switch == Some(true) { Offer::Switch } else { Offer::Nothing },
        })
    }
}
