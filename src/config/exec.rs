//! `[exec]`: the credential plugins that may run.

use super::Problems;
use trueup_checks::{SettingsProblem, SettingsTable};

const KNOWN_KEYS: [&str; 1] = ["allow"];

/// The list, if there is one. An empty list allows no plugin.
pub(super) fn read(root: &SettingsTable, problems: &mut Problems) -> Option<Vec<String>> {
    let table = problems.keep_given(root.take_table("exec"))?;
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let entries = problems.keep_given(table.take_strings("allow"))?;
    let entry = |text: toml::Spanned<&str>| {
        let is_usable = match text.get_ref() {
            path if path.contains('/') => path.starts_with('/'),
            name => !name.is_empty(),
        };
        let wrong = || SettingsProblem::at(text.span(), "write a command name, or a full path that begins with /");
        problems.keep(if is_usable { Ok((*text.get_ref()).to_owned()) } else { Err(wrong()) })
    };
    Some(entries.into_iter().filter_map(entry).collect())
}
