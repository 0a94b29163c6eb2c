//! What the user set about the console itself, and what it remembers from last time. Read after the first frame.

use jiff::tz::TimeZone;

use super::effect::{Alert, MouseHold};
use super::keymap::Keymap;
use super::model::{Remembered, SavedView, Zone};
use super::theme::{Signs, Themes};
use trueup_core::engine::AcceptRule;

/// What the model is told.
#[derive(Debug)]
pub struct ModelSettings {
    pub keys: Keymap,
    pub zone: Zone,
    /// The zone of the machine's clock.
    pub local: TimeZone,
    pub mouse: MouseHold,
    pub alert: Alert,
    pub views: Vec<SavedView>,
    /// Findings that are known and accepted.
    pub accepted: Vec<AcceptRule>,
    pub remembered: Option<Remembered>,
    /// What to say first, such as problems of the key file.
    pub notices: Vec<String>,
}

/// What the painter is told.
#[derive(Debug)]
pub struct RenderSettings {
    pub themes: Themes,
    pub theme: ThemeChoice,
    pub signs: Signs,
}

/// Which theme to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThemeChoice {
    Named(String),
    /// By what is behind the text: this one on light, that one on dark, and a third when the terminal does not say.
    ByBackground {
        light: &'static str,
        dark: &'static str,
        unknown: &'static str,
    },
}

/// Keys and themes after their files changed.
#[derive(Debug)]
pub struct SettingsReload {
    pub keys: Keymap,
    pub themes: Themes,
    /// What is wrong with the files.
    pub problems: Vec<String>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            keys: Keymap::default(),
            zone: Zone::Local,
            local: TimeZone::UTC,
            mouse: MouseHold::Taken,
            alert: Alert::Off,
            views: Vec::new(),
            accepted: Vec::new(),
            remembered: None,
            notices: Vec::new(),
        }
    }
}
