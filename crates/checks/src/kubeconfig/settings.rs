//! This check's own table in the config.

use jiff::SignedDuration;

use super::super::registry::Entry;
use super::super::{SettingsProblem, SettingsTable, parse_duration};
use super::Kubeconfigs;

const CREATION_TIMEOUT: &str = "creation_timeout";

/// `[domains.kubeconfig]`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// How long a new cluster may go without a kubeconfig; CAPT's own timeouts where it is not set.
    pub creation_timeout: Option<SignedDuration>,
}

/// How the registry makes this check.
pub const ENTRY: Entry = Entry {
    name: super::NAME,
    known_keys: &[CREATION_TIMEOUT],
    build: |table| Ok(Box::new(Kubeconfigs::new(Settings::read(table)?))),
};

impl Settings {
    /// Reads the check's own table.
    fn read(table: &SettingsTable) -> Result<Self, Vec<SettingsProblem>> {
        let Some(text) = table.take_str(CREATION_TIMEOUT).map_err(|problem| vec![problem])? else {
            return Ok(Self::default());
        };
        let problem = |why: String| vec![SettingsProblem::at(text.span(), format!("`{CREATION_TIMEOUT}`: {why}"))];
        let timeout = parse_duration(text.get_ref()).map_err(|bad| problem(bad.to_string()))?;
        let timeout = SignedDuration::try_from(timeout).map_err(|_| problem("the duration is too long".to_owned()))?;
        Ok(Self { creation_timeout: Some(timeout) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_creation_timeout_is_a_duration() {
        let read = |text: &str| {
            let table = SettingsTable::parse("[domains.kubeconfig]", text).unwrap();
            Settings::read(&table).map_err(|problems| problems[0].message.clone())
        };
        let set = |minutes: i64| Settings { creation_timeout: Some(SignedDuration::from_mins(minutes)) };
        assert_eq!(read(""), Ok(Settings::default()));
        assert_eq!(read("creation_timeout = \"1h30m\""), Ok(set(90)));
        assert!(read("creation_timeout = \"soon\"").unwrap_err().contains("invalid duration `soon`"));
        assert!(read("creation_timeout = 3").unwrap_err().contains("wants a text in quotes"));
    }
}
