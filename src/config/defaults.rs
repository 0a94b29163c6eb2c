//! `[defaults]`: values of flags that a command line leaves out, by command.
//!
//! Elsewhere: which flags there are, and adding the values to a command line (`cli::defaults`).

use std::collections::BTreeMap;

use super::Problems;
use crate::cli::defaults::{Flag, FlagKind, known_flags};
use trueup_checks::{SettingsProblem, SettingsTable};

/// Values by command (`plan`, `oidc login`) and flag.
pub type FlagDefaults = BTreeMap<String, BTreeMap<String, Vec<String>>>;

pub(super) fn read(root: &SettingsTable, problems: &mut Problems) -> FlagDefaults {
    let Some(table) = problems.keep_given(root.take_table("defaults")) else { return FlagDefaults::new() };
    let known = known_flags();
    problems.extend(table.unknown_keys(&known.keys().map(String::as_str).collect::<Vec<_>>()));
    let mut defaults = FlagDefaults::new();
    for (command, flags) in &known {
        let Some(own) = problems.keep_given(table.take_table(command)) else { continue };
        problems.extend(own.unknown_keys(&flags.iter().map(|flag| flag.name.as_str()).collect::<Vec<_>>()));
        let values = flags.iter().filter_map(|flag| Some((flag.name.clone(), problems.keep_given(values(own, flag))?)));
        let values: BTreeMap<String, Vec<String>> = values.collect();
        defaults.insert(command.clone(), values);
    }
    defaults
}

fn values(table: &SettingsTable, flag: &Flag) -> Result<Option<Vec<String>>, SettingsProblem> {
    let Some(key) = table.keys().find(|key| *key.get_ref() == flag.name) else { return Ok(None) };
    let name = flag.name.as_str();
    let values = match flag.kind {
        FlagKind::Switch => table.take_bool(name)?.map(|flag| vec![flag.to_string()]),
        FlagKind::Many => {
            table.take_strings(name)?.map(|all| all.iter().map(|text| (*text.get_ref()).to_owned()).collect())
        }
        FlagKind::One => {
            let text = table.take_str(name).map(|text| text.map(|text| text.into_inner().to_owned()));
            // A number needs no quotes.
            let value = text.or_else(|problem| match table.take_integer(name, 0..=i64::MAX) {
                Ok(number) => Ok(number.map(|number| number.to_string())),
                Err(_) => Err(problem),
            })?;
            value.map(|value| vec![value])
        }
    };
    for value in values.iter().flatten().filter(|_| flag.kind != FlagKind::Switch) {
        flag.check(value).map_err(|reason| SettingsProblem::at(key.span(), format!("{} {reason}", table.title())))?;
    }
    Ok(values)
}
