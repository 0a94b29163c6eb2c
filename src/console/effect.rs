//! Effects of an event, as data.

use super::task::Task;
use trueup_core::engine::text::Printable;

/// Effects of one event.
#[derive(Debug, Default)]
pub struct Effects {
    pub tasks: Vec<Task>,
    pub terminal: Vec<TerminalRequest>,
    /// Whether the screen may have changed.
    pub redraw: bool,
    pub end: bool,
}

/// An operation of the terminal's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalRequest {
    /// Copy text to the clipboard.
    Copy(Printable),
    /// Redraw the whole screen.
    Repaint,
    /// Suspend the process until SIGCONT.
    Suspend,
    /// Run the user's pager with this text.
    Page(Printable),
    /// Capture or release the mouse.
    Mouse(MouseHold),
    /// Save the screen as text and SVG.
    SaveScreen,
    /// Alert a user whose terminal is not focused.
    Alert(Alert, Printable),
    /// Run a cluster's credential plugin on the terminal.
    RunPlugin(String),
    /// The same, and remember that it may run.
    ApprovePlugin(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum MouseHold {
    Taken,
    Released,
}

/// How a user whose terminal is not focused is alerted to a worse verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Alert {
    #[default]
    Off,
    Bell,
    /// A desktop notification, where the terminal supports it (OSC 9).
    Message,
}

impl Effects {
    pub fn redraw() -> Self {
        Self { redraw: true, ..Self::default() }
    }

    /// The same effects and a task.
    #[must_use]
    pub fn with(mut self, task: Task) -> Self {
        self.task(task);
        self
    }

    pub fn task(&mut self, task: Task) {
        self.tasks.push(task);
    }
}
