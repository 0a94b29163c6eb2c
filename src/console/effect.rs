//! What the console wants done after an event, as data.

use super::task::Task;

/// Everything that follows from one event.
#[derive(Debug, Default)]
pub struct Effects {
    pub tasks: Vec<Task>,
    pub terminal: Vec<TerminalWish>,
    /// Whether something visible may have changed.
    pub redraw: bool,
    pub end: bool,
}

/// Something only the owner of the terminal can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalWish {
    /// Put text into the clipboard.
    Copy(String),
    /// Draw everything anew.
    Repaint,
    /// Stop like any job, until somebody wakes us.
    Suspend,
    /// Hand the screen to the user's pager with this text.
    Page(String),
    /// Take or release the mouse.
    Mouse(MouseHold),
    /// Save the screen as it is, as text and as a picture.
    SaveScreen,
    /// Call somebody who looks elsewhere.
    Alert(Alert, String),
    /// Hand the screen to a cluster's credential plugin.
    RunPlugin(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseHold {
    Taken,
    Released,
}

/// How somebody who looks elsewhere is told that a verdict became worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Alert {
    #[default]
    Off,
    Bell,
    /// A message of the desktop, where the terminal passes them on (OSC 9).
    Message,
}

impl Effects {
    pub fn redraw() -> Self {
        Self { redraw: true, ..Self::default() }
    }

    pub fn task(&mut self, task: Task) {
        self.tasks.push(task);
    }
}
