//! Events of the console.

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;

use super::task::TaskReply;
use trueup_fleet::live::Update;

/// An event and its time.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Event {
    pub at: Timestamp,
    pub what: What,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub enum What {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resize {
        width: u16,
        height: u16,
    },
    Focus(Focus),
    /// Clusters and findings changed.
    Data(Box<Update>),
    TaskReply(Box<TaskReply>),
    /// A timer fired.
    Time,
}

/// Whether the terminal is focused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Focus {
    Here,
    Elsewhere,
}
