//! Waiting for asynchronous deletes: a cloud answers a delete long before the resource is gone.
//!
//! Invariants: only a read that finds no resource ends the wait as gone.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::ports::{ClusterPort, Progress, Reading};
use super::report::{ActionResult, Halt};
use super::run::Run;
use crate::engine::Action;
use crate::engine::journal::VerifiedState;

/// Interval between reads of a deleting resource.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How long a deletion may take. Load balancers are the slowest; IBM's own tools give them half an hour.
const END_PATIENCE: SignedDuration = SignedDuration::from_mins(30);

const LEAVING: &str = "it is being deleted";

impl<'p> Run<'p, '_> {
    /// Waits until the cloud resources that a wave deleted are gone. Dependent actions run after that.
    pub(super) async fn wait_until_gone(&mut self, port: &dyn ClusterPort, wave: &[&'p Action]) -> Result<(), Halt> {
        let terminating = |action: &&&'p Action| {
            let end = self.report.ends.get(&action.id);
            action.target.cloud.is_some() && end == Some(&ActionResult::Done(VerifiedState::Terminating))
        };
        let mut left: Vec<&'p Action> = wave.iter().filter(terminating).copied().collect();
        let began = self.ports.clock.now();
        let until = began.checked_add(END_PATIENCE).unwrap_or(Timestamp::MAX);
        while !left.is_empty() {
            let so_far = Duration::try_from(self.ports.clock.now().duration_since(began)).unwrap_or_default();
            if self.ports.clock.now() >= until {
                let why = format!("it was still being deleted after {} minutes", END_PATIENCE.as_mins());
                return self.write_ends(
                    left.into_iter().map(|one| (one, ActionResult::Unknown { why: why.clone() })).collect(),
                );
            }
            for action in &left {
                (self.ports.progress)(action, Progress::Waiting { so_far, why: LEAVING });
            }
            self.wait(LOOK_EVERY).await?;
            let mut ended = Vec::new();
            for action in std::mem::take(&mut left) {
                match port.read(&action.target).await {
                    Reading::Absent => ended.push((action, ActionResult::Done(VerifiedState::Gone))),
                    Reading::Present(seen) if !seen.deleting => {
                        ended.push((action, ActionResult::failed("its deletion was given up, and it is still there")));
                    }
                    Reading::Present(_) | Reading::Unknown(_) => left.push(action),
                }
            }
            self.write_ends(ended)?;
        }
        Ok(())
    }
}
