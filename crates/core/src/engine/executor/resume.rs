//! Resuming a plan after an interrupted run: what that run sent to a cloud is read, not sent again.
//!
//! Invariants: only a read shows that an action was done; every other action runs normally.

use std::borrow::Cow;

use super::ports::{ClusterPort, Reading};
use super::prepared_write::PreparedWrite;
use super::read::read;
use super::report::{ActionResult, Halt};
use super::run::Run;
use crate::engine::Action;
use crate::engine::journal::VerifiedState;

impl<'p> Run<'p, '_> {
    /// Ends the cloud actions that an earlier run of this plan did, and waits for its running deletes. Returns the remaining
    /// actions.
    pub(super) async fn take_up(
        &mut self,
        port: &dyn ClusterPort,
        actions: Vec<&'p Action>,
    ) -> Result<Vec<&'p Action>, Halt> {
        let (mut left, mut leaving) = (Vec::new(), Vec::new());
        for action in actions {
            if action.target.cloud.is_none() || !self.sent_earlier.contains(&action.id) {
                left.push(action);
                continue;
            }
            let reading = read(port, self.ports.clock, &action.target).await;
            match (&reading, self.wish_now(action)) {
                (Reading::Absent, Some(PreparedWrite::Delete { .. })) => self.end(action, ActionResult::Already),
                (Reading::Present(seen), Some(PreparedWrite::Delete { .. })) if seen.deleting => {
                    self.end(action, ActionResult::Done(VerifiedState::Terminating));
                    leaving.push(action);
                }
                (Reading::Present(seen), Some(write)) if write.is_fulfilled(&action.target.kind, &reading) => {
                    self.moved.note(action, seen);
                    self.end(action, ActionResult::Already);
                }
                (Reading::Present(_) | Reading::Absent | Reading::Unknown(_), _) => left.push(action),
            }
        }
        self.wait_until_gone(port, &leaving).await?;
        Ok(left)
    }

    fn wish_now(&self, action: &Action) -> Option<PreparedWrite> {
        let action: Cow<'_, Action> = self.moved.rebound(action);
        PreparedWrite::of(&action, &self.report.plan, None, self.ports.vault).ok()
    }
}
