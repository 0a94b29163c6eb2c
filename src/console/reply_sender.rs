//! Channel for replies to the console.

use tokio::sync::mpsc;

use super::task::TaskReply;

/// Sends replies to the console. Clones share the channel.
#[derive(Debug, Clone)]
pub struct ReplySender(mpsc::UnboundedSender<TaskReply>);

impl ReplySender {
    /// Returns a sender and its receiver.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<TaskReply>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    pub fn send(&self, reply: TaskReply) {
        // After the console has closed, replies are dropped.
        let _closed = self.0.send(reply);
    }
}
