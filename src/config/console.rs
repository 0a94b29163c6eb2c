//! `[console]`: appearance and saved views of the console.
//!
//! Elsewhere: validating themes and filters, which the console does when it opens.

use std::path::{Path, PathBuf};

use super::Problems;
use super::rules::{required, take_words};
use super::safety::take_path;
use trueup_checks::registry::{Entry, announced};
use trueup_checks::{SettingsProblem, SettingsTable};

/// The settings of `[console]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleSettings {
    /// A theme's name, or `auto`. Absent: the terminal's own palette.
    pub theme: Option<String>,
    /// The key file. Absent: `keys.toml` beside the config, if it is there.
    pub keys: Option<PathBuf>,
    /// ASCII glyphs, no animation.
    pub plain: bool,
    pub mouse: bool,
    pub alert: AlertSetting,
    pub utc: bool,
    pub views: Vec<ViewSettings>,
}

/// How the console signals a verdict that became worse while the terminal is not focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertSetting {
    Off,
    Bell,
    Message,
}

const ALERTS: [(&str, AlertSetting); 3] =
    [("off", AlertSetting::Off), ("bell", AlertSetting::Bell), ("message", AlertSetting::Message)];

/// `[[console.views]]`: a named screen with a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewSettings {
    pub name: String,
    /// `fleet`, or the name of a check.
    pub screen: String,
    pub filter: String,
}

/// The fleet screen's name.
pub const FLEET: &str = "fleet";

const KNOWN_KEYS: [&str; 7] = ["theme", "keys", "plain", "mouse", "alert", "utc", "views"];

impl Default for ConsoleSettings {
    fn default() -> Self {
        Self {
            theme: None,
            keys: None,
            plain: false,
            mouse: true,
            alert: AlertSetting::Off,
            utc: false,
            views: Vec::new(),
        }
    }
}

pub(super) fn read(root: &SettingsTable, folder: &Path, entries: &[Entry], problems: &mut Problems) -> ConsoleSettings {
    let defaults = ConsoleSettings::default();
    let Some(table) = problems.keep_given(root.take_table("console")) else { return defaults };
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let views = problems.keep(table.take_tables("views")).unwrap_or_default();
    ConsoleSettings {
        theme: problems.keep_given(take_words(table, "theme")),
        keys: problems.keep_given(take_path(table, "keys", folder)),
        plain: problems.keep_given(table.take_bool("plain")).unwrap_or(defaults.plain),
        mouse: problems.keep_given(table.take_bool("mouse")).unwrap_or(defaults.mouse),
        alert: problems.keep_given(take_alert(table)).unwrap_or(defaults.alert),
        utc: problems.keep_given(table.take_bool("utc")).unwrap_or(defaults.utc),
        views: views.into_iter().filter_map(|view| read_view(view, entries, problems)).collect(),
    }
}

fn take_alert(table: &SettingsTable) -> Result<Option<AlertSetting>, SettingsProblem> {
    let Some(text) = table.take_str("alert")? else { return Ok(None) };
    let known = ALERTS.iter().find(|(word, _)| word == text.get_ref());
    known
        .map(|(_, alert)| Some(*alert))
        .ok_or_else(|| SettingsProblem::unknown(&text, "alert", &ALERTS.map(|(word, _)| word)))
}

fn read_view(table: &SettingsTable, entries: &[Entry], problems: &mut Problems) -> Option<ViewSettings> {
    problems.extend(table.unknown_keys(&["name", "screen", "filter"]));
    let name = required(table, "name", take_words(table, "name"), problems);
    let screen = required(table, "screen", take_screen(table, entries), problems);
    let filter = problems.keep_given(table.take_str("filter")).map(|text| text.into_inner().to_owned());
    Some(ViewSettings { name: name?, screen: screen?, filter: filter.unwrap_or_default() })
}

fn take_screen(table: &SettingsTable, entries: &[Entry]) -> Result<Option<String>, SettingsProblem> {
    let Some(text) = table.take_str("screen")? else { return Ok(None) };
    let known: Vec<&str> = std::iter::once(FLEET).chain(entries.iter().map(|entry| entry.name.0)).collect();
    let is_known = known.contains(text.get_ref()) || announced().contains(text.get_ref());
    if is_known {
        Ok(Some((*text.get_ref()).to_owned()))
    } else {
        Err(SettingsProblem::unknown(&text, "screen", &known))
    }
}
