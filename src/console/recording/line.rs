//! The lines of a session recording.
//!
//! Invariants: the first line is a [`Header`]. A recording is replayed by the version that wrote it: the lines are the
//! console's own events, and a version that shows them otherwise would not show the recorded frames.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Digest;
use crate::console::event::Event;
use crate::console::model::{ToastKind, Zone};
use crate::console::theme::GlyphSet;
use trueup_core::words::{self, Word};
use trueup_core::world::ClusterName;
use trueup_fleet::connect::PluginQuestion;

/// Number of the format. Any change of a line's meaning changes it.
pub const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    #[serde(rename = "trueup session recording")]
    pub format: u32,
    /// The version of the program that wrote it.
    pub version: String,
    pub at: Timestamp,
}

/// An input of the console, or a frame that was drawn from the inputs so far.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line<E = Event> {
    Opened(Opened),
    Theme(ThemeLine),
    Event(E),
    /// A message of the loop itself.
    Message {
        at: Timestamp,
        kind: ToastKind,
        text: String,
    },
    /// The loop asked whether a credential plugin may run.
    Plugin {
        at: Timestamp,
        cluster: ClusterName,
        question: PluginQuestion,
    },
    Frame(FrameMark),
}

/// The model before its first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    pub at: Timestamp,
    pub width: u16,
    pub height: u16,
    pub zone: Zone,
    pub signs: GlyphSet,
    #[serde(deserialize_with = "words::read_all")]
    pub instead: Vec<Word>,
}

/// Theme and glyphs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThemeLine {
    pub signs: GlyphSet,
    /// The theme at start.
    pub theme: String,
    /// The user's themes, as text.
    pub own_themes: BTreeMap<String, String>,
}

/// A drawn frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameMark {
    pub at: Timestamp,
    /// None where the frame showed revealed values, which are not recorded.
    pub digest: Option<Digest>,
}
