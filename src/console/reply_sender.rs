//! The way answers come back to the console.

use tokio::sync::mpsc;

use super::task::TaskReply;

/// Tells the console something. Many may hold one.
#[derive(Debug, Clone)]
pub struct ReplySender(mpsc::UnboundedSender<TaskReply>);

impl ReplySender {
    /// A teller, and the end it talks to.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<TaskReply>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    pub fn tell(&self, told: TaskReply) {
        // A console that has closed wants to know nothing more.
        let _closed = self.0.send(told);
    }
}
