//! The fence: what may be sent while a Lease is held. Pure.
//!
//! Invariants:
//! - a [`WritePermit`] exists only for a shard whose Lease outlives the request by [`FENCE_MARGIN`];
//! - a Lease counts from the moment before its renewal was sent: other replicas count from a later one;
//! - a shard that is to be released gives no permit.
//!
//! Elsewhere: acquiring and renewing (`lease_client`), asking before each request (`operate::WriteGuard`).

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::lease::LEASE_DURATION;
use crate::moment::Moment;
use crate::shard::ShardId;

/// What must be left of a Lease when the request has timed out: the request's way to the server.
pub const FENCE_MARGIN: Duration = Duration::from_secs(2);

/// The Leases of this process and until when each is good.
#[derive(Debug, Clone, Default)]
pub struct Fence {
    held: BTreeMap<ShardId, Moment>,
    /// Held until what is under way there has ended.
    leaving: BTreeSet<ShardId>,
}

/// One request may be sent now, and may take this long.
///
/// No `Clone` or `Default`: each would be a second way to make one.
#[must_use = "a permit that is not used lets nothing through"]
#[derive(Debug)]
pub struct WritePermit {
    shard: ShardId,
    time_max: Duration,
}

/// Why nothing may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FenceClosed {
    #[error("the Lease of shard {shard} is not held")]
    NotHeld { shard: ShardId },
    #[error("shard {shard} is being released")]
    Leaving { shard: ShardId },
    #[error("the Lease of shard {shard} ends in {} s, a request needs {} s", .left.as_secs(), .needed.as_secs())]
    TooShort { shard: ShardId, left: Duration, needed: Duration },
}

impl WritePermit {
    pub fn shard(&self) -> ShardId {
        self.shard
    }

    /// The longest the request may take.
    pub fn time_max(&self) -> Duration {
        self.time_max
    }
}

impl Fence {
    /// Notes that a Lease was acquired or renewed by a request that was sent at `sent_at`.
    pub fn renewed(&mut self, shard: ShardId, sent_at: Moment) {
        self.held.insert(shard, sent_at.plus(LEASE_DURATION));
    }

    /// Notes that a Lease is lost or released.
    pub fn lost(&mut self, shard: ShardId) {
        self.held.remove(&shard);
        self.leaving.remove(&shard);
    }

    /// Lets nothing more through for a shard that is to be released.
    pub fn leave(&mut self, shard: ShardId) {
        self.leaving.insert(shard);
    }

    /// The shards whose Lease is good now.
    pub fn held(&self, now: Moment) -> BTreeSet<ShardId> {
        let good = self.held.iter().filter(|(_, until)| **until > now).map(|(shard, _)| *shard);
        good.collect()
    }

    /// Whether new work may begin for a shard.
    pub fn is_open(&self, shard: ShardId, now: Moment) -> bool {
        !self.leaving.contains(&shard) && self.held.get(&shard).is_some_and(|until| *until > now)
    }

    /// Permits one request that takes at most `time_max`.
    ///
    /// # Errors
    /// The Lease is not held, is being released, or does not outlive the request by [`FENCE_MARGIN`].
    pub fn permit(&self, shard: ShardId, time_max: Duration, now: Moment) -> Result<WritePermit, FenceClosed> {
        let until = self.held.get(&shard).ok_or(FenceClosed::NotHeld { shard })?;
        if self.leaving.contains(&shard) {
            return Err(FenceClosed::Leaving { shard });
        }
        let (left, needed) = (now.until(*until), time_max + FENCE_MARGIN);
        if left > needed {
            Ok(WritePermit { shard, time_max })
        } else {
            Err(FenceClosed::TooShort { shard, left, needed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHARD: ShardId = ShardId(3);

    fn at(millis: u64) -> Moment {
        Moment::at(Duration::from_millis(millis))
    }

    fn permit(fence: &Fence, seconds: u64, now: Moment) -> Result<ShardId, FenceClosed> {
        fence.permit(SHARD, Duration::from_secs(seconds), now).map(|permit| permit.shard())
    }

    #[test]
    fn a_request_is_permitted_while_the_lease_outlives_it_by_2_s() {
        let mut fence = Fence::default();
        assert_eq!(permit(&fence, 5, at(0)), Err(FenceClosed::NotHeld { shard: SHARD }));
        fence.renewed(SHARD, at(1_000));
        let too_short = |left| {
            Err(FenceClosed::TooShort {
                shard: SHARD,
                left: Duration::from_millis(left),
                needed: Duration::from_secs(7),
            })
        };
        let cases = [
            ("just renewed", 1_000, Ok(SHARD)),
            ("more than 7 s left", 8_999, Ok(SHARD)),
            ("exactly 7 s left", 9_000, too_short(7_000)),
            ("expired", 16_000, too_short(0)),
            ("long expired, as after a pause", 900_000, too_short(0)),
        ];
        for (case, now, expected) in cases {
            assert_eq!(permit(&fence, 5, at(now)), expected, "case: {case}");
        }
        fence.leave(SHARD);
        assert_eq!(permit(&fence, 5, at(1_000)), Err(FenceClosed::Leaving { shard: SHARD }));
        fence.lost(SHARD);
        fence.renewed(SHARD, at(2_000));
        assert_eq!(permit(&fence, 5, at(2_000)), Ok(SHARD), "it was acquired again");
    }

    #[test]
    fn a_shard_is_held_until_its_lease_ends() {
        let mut fence = Fence::default();
        fence.renewed(SHARD, at(0));
        assert_eq!(fence.held(at(14_999)), [SHARD].into());
        assert!(fence.is_open(SHARD, at(14_999)));
        assert_eq!(fence.held(at(15_000)), BTreeSet::new());
        assert!(!fence.is_open(SHARD, at(15_000)));
    }

    proptest! {
        /// Another replica sees a renewal no earlier than it was sent, and waits 15 s from then.
        #[test]
        fn a_permitted_request_ends_before_another_replica_may_acquire(
            sent in 0_u64..100_000, later in 0_u64..40_000, seen_after in 0_u64..5_000, millis in 0_u64..20_000,
        ) {
            let mut fence = Fence::default();
            fence.renewed(SHARD, at(sent));
            let (now, time_max) = (sent + later, Duration::from_millis(millis));
            if fence.permit(SHARD, time_max, at(now)).is_ok() {
                let acquired_at = sent + seen_after + 15_000;
                prop_assert!(now + millis + 2_000 < acquired_at);
            }
        }
    }
}
