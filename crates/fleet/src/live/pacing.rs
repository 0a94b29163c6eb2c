//! How often work that looks at the whole fleet may run.
//!
//! Invariants: it takes at most a fifth of the time, however large the fleet: what arrives meanwhile is one batch.

use std::time::Duration;

use jiff::Timestamp;

use super::session::later;

/// Times its own duration that such work waits before it runs again.
const REST: u32 = 4;
/// Work this short may run at every step.
const SHORT: Duration = Duration::from_millis(5);

/// When work last ran, and how long it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pacing {
    ended: Timestamp,
    took: Duration,
}

impl Default for Pacing {
    fn default() -> Self {
        Self { ended: Timestamp::MIN, took: Duration::ZERO }
    }
}

impl Pacing {
    /// Notes a run.
    pub fn ran(&mut self, began: Timestamp, ended: Timestamp) {
        *self = Self { ended, took: Duration::try_from(ended.duration_since(began)).unwrap_or_default() };
    }

    /// When it may run again: at least `apart` after it began, and rested.
    pub fn next(&self, apart: Duration) -> Timestamp {
        let rest = if self.took < SHORT { Duration::ZERO } else { REST * self.took };
        later(self.ended, rest.max(apart.saturating_sub(self.took)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_work_rests_in_proportion_and_fast_work_keeps_its_interval() {
        let at = |millisecond| Timestamp::from_millisecond(millisecond).unwrap();
        let cases = [
            ("no time at all", 0, 100, 100),
            ("fast", 10, 100, 100),
            ("short", 4, 0, 4),
            ("slow", 1_000, 100, 5_000),
            ("slow, without an interval", 50, 0, 250),
        ];
        for (case, took, apart, expected) in cases {
            let mut pacing = Pacing::default();
            pacing.ran(at(0), at(took));
            assert_eq!(pacing.next(Duration::from_millis(apart)), at(expected), "case: {case}");
        }
        assert_eq!(Pacing::default().next(Duration::ZERO), Timestamp::MIN);
    }
}
