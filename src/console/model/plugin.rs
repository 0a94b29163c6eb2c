//! The question whether a credential plugin may run.
//!
//! Invariants: keys pressed before the dialog appeared are dropped; a plugin is asked about once, whatever the answer, unless
//! the user asks for it.

use jiff::Timestamp;

use super::approval::GUARD;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::PluginQuestion;

/// The dialog.
#[derive(Debug)]
pub struct PluginDialog {
    pub cluster: ClusterName,
    pub question: PluginQuestion,
    opened: Timestamp,
}

impl PluginDialog {
    pub fn new(cluster: ClusterName, question: PluginQuestion, now: Timestamp) -> Self {
        Self { cluster, question, opened: now }
    }

    /// Whether keys are accepted yet.
    pub fn listens(&self, now: Timestamp) -> bool {
        now.duration_since(self.opened) >= jiff::SignedDuration::try_from(GUARD).unwrap_or_default()
    }
}
