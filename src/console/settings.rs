//! User settings of the console and restored state. Read after the first frame.

use jiff::tz::TimeZone;

use super::effect::{Alert, MouseHold};
use super::keymap::Keymap;
use super::model::{Remembered, SavedView, Zone};
use super::theme::{GlyphSet, Themes};
use trueup_core::engine::AcceptRule;

/// Settings of the model.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct ModelSettings {
    pub keys: Keymap,
    pub zone: Zone,
    /// The machine's time zone.
    #[serde(with = "jiff::fmt::serde::tz::required")]
    pub local: TimeZone,
    pub mouse: MouseHold,
    pub alert: Alert,
    pub views: Vec<SavedView>,
    /// Accepted findings.
    pub accepted: Vec<AcceptRule>,
    pub remembered: Option<Remembered>,
    /// Messages at start, such as problems of the key file.
    pub notices: Vec<String>,
}

/// Settings of the renderer.
#[derive(Debug)]
pub struct RenderSettings {
    pub themes: Themes,
    pub theme: ThemeChoice,
    pub signs: GlyphSet,
}

/// The theme at start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThemeChoice {
    Named(String),
    /// By background: one for light, one for dark, and one when the terminal does not answer.
    ByBackground {
        light: &'static str,
        dark: &'static str,
        unknown: &'static str,
    },
}

/// Keys and themes after their files changed.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct SettingsReload {
    pub keys: Keymap,
    pub themes: Themes,
    /// Problems of the files.
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
