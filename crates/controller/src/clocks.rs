//! The clocks of a process.
//!
//! Invariants:
//! - Leases of others are timed by the monotonic clock, which never runs ahead: waiting longer is safe;
//! - own Leases are timed by the cautious clock: the monotonic one, and ahead of it by what the wall clock shows besides,
//!   as after the machine was suspended. A Lease that may have ended has ended.

#![expect(clippy::disallowed_methods, reason = "reads the clocks; everything else gets a Moment")]

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::moment::Moment;

/// Both clocks, from the start of the process.
#[derive(Debug)]
pub struct Clocks {
    started: Instant,
    started_at: Timestamp,
    /// The most that the wall clock was seen ahead of the monotonic one.
    ahead: Mutex<Duration>,
}

impl Clocks {
    pub fn start() -> Self {
        Self { started: Instant::now(), started_at: Timestamp::now(), ahead: Mutex::default() }
    }

    /// The monotonic clock, for what others have to do.
    pub fn monotonic(&self) -> Moment {
        Moment::at(self.started.elapsed())
    }

    /// The clock that is never behind, for what this process may still do.
    pub fn cautious(&self) -> Moment {
        let elapsed = self.started.elapsed();
        let by_wall = Duration::try_from(Timestamp::now().duration_since(self.started_at)).unwrap_or_default();
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        *ahead = (*ahead).max(by_wall.saturating_sub(elapsed));
        Moment::at(elapsed + *ahead)
    }

    /// The wall clock, for what people read.
    pub fn wall(&self) -> Timestamp {
        Timestamp::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_cautious_clock_is_never_behind_the_monotonic_one() {
        let clocks = Clocks::start();
        tokio::time::advance(Duration::from_secs(100)).await;
        assert_eq!(clocks.monotonic(), Moment::at(Duration::from_secs(100)));
        assert!(clocks.cautious() >= clocks.monotonic(), "the wall clock has hardly moved");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wall_clock_that_runs_on_while_the_machine_sleeps_ends_own_leases() {
        let slept = Clocks { started_at: Timestamp::now() - Duration::from_secs(30), ..Clocks::start() };
        assert!(slept.cautious() >= Moment::at(Duration::from_secs(30)));
        assert_eq!(slept.monotonic(), Moment::at(Duration::ZERO));
    }
}
