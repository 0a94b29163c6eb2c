//! What can happen to the console.

use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;

use super::task::TaskReply;
use trueup_fleet::live::Update;

/// Something happened, at a moment.
#[derive(Debug)]
pub struct Event {
    pub at: Timestamp,
    pub what: What,
}

#[derive(Debug)]
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
    /// A moment somebody waited for has come.
    Time,
}

/// Whether the terminal has the user's attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    Here,
    Elsewhere,
}
