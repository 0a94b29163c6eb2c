//! `[domains]`: disabled checks, and each check's own table, passed to the check unchanged.

use std::fmt;

use super::Problems;
use trueup_checks::registry::{Entry, announced};
use trueup_checks::{Check, SettingsProblem, SettingsTable};

/// The enabled checks, in registry order.
pub struct EnabledDomains(pub Vec<Box<dyn Check>>);

impl fmt::Debug for EnabledDomains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|domain| domain.name().0)).finish()
    }
}

const DISABLED: &str = "disabled";

pub(super) fn read(root: &SettingsTable, entries: &[Entry], problems: &mut Problems) -> EnabledDomains {
    let none = SettingsTable::empty("[domains]");
    let table = problems.keep_given(root.take_table("domains")).unwrap_or(&none);
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.0).collect();
    let disabled = problems.keep_given(table.take_strings(DISABLED)).unwrap_or_default();
    let is_known = |name: &str| names.contains(&name) || announced().contains(&name);
    problems.extend(
        disabled
            .iter()
            .filter(|name| !is_known(name.get_ref()))
            .map(|name| SettingsProblem::unknown(name, "domain", &names)),
    );
    problems.extend(unknown_tables(table, &names));
    let is_enabled = |entry: &Entry| !disabled.iter().any(|name| *name.get_ref() == entry.name.0);
    let built = entries.iter().filter_map(|entry| {
        // Built even when disabled, so that an error in its table is reported now.
        let domain = build(entry, table, problems)?;
        is_enabled(entry).then_some(domain)
    });
    EnabledDomains(built.collect())
}

fn unknown_tables(table: &SettingsTable, names: &[&str]) -> Vec<SettingsProblem> {
    let known: Vec<&str> = names.iter().copied().chain([DISABLED]).collect();
    table.unknown_keys(&known)
}

fn build(entry: &Entry, domains: &SettingsTable, problems: &mut Problems) -> Option<Box<dyn Check>> {
    let none = SettingsTable::empty(&format!("[domains.{}]", entry.name.0));
    let table = problems.keep(domains.take_table(entry.name.0))?.unwrap_or(&none);
    problems.extend(table.unknown_keys(entry.known_keys));
    (entry.build)(table).map_err(|found| problems.extend(found)).ok()
}
