//! Shard ownership through Kubernetes Leases, with client-go's rules. Pure.
//!
//! Invariants:
//! - at most one replica writes per shard: a Lease that its holder renewed in time is never acquired;
//! - a Lease expires by this process's own clock, [`LEASE_DURATION`] after its last change was seen here. The times inside
//!   a Lease come from other machines and are never compared;
//! - while a Lease with another number of shards is alive, no shard is acquired: a cluster would belong to two.
//!
//! Elsewhere: requests (`lease_client`), what may be sent while a Lease is held (`fence`), how many to hold (`balance`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use crate::moment::Moment;
use crate::shard::ShardId;

/// How long a Lease is good for after it was renewed (client-go `LeaseDuration`).
pub const LEASE_DURATION: Duration = Duration::from_secs(15);
/// A holder that could not renew for this long stops (client-go `RenewDeadline`).
pub const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// How often Leases are read, renewed and acquired (client-go `RetryPeriod`).
pub const RETRY_PERIOD: Duration = Duration::from_secs(2);

/// One process. A restarted one is another replica, also in a pod of the same name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReplicaId(String);

/// What a Lease object says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRecord {
    /// Absent: it was released.
    pub holder: Option<ReplicaId>,
    pub resource_version: String,
    /// The number of shards its holder was configured with.
    pub shards: u32,
}

/// Ownership of one shard, as seen here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardLease {
    Free,
    Held {
        holder: ReplicaId,
    },
    /// Not renewed for [`LEASE_DURATION`]; free to acquire.
    Expired {
        holder: ReplicaId,
    },
}

/// What a replica may do with a Lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseDecision {
    Acquire,
    Renew,
    Wait,
}

/// The Leases as they were last read, each with the moment its last change was seen.
#[derive(Debug, Clone, Default)]
pub struct LeaseTable {
    shards: BTreeMap<ShardId, SeenLease>,
    replicas: BTreeMap<ReplicaId, SeenLease>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenLease {
    record: LeaseRecord,
    changed_at: Moment,
}

impl ReplicaId {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ShardLease {
    /// Returns what `replica` may do with the Lease.
    ///
    /// # Guarantees
    /// A Lease that another replica renewed in time is never acquired.
    pub fn decide(&self, replica: &ReplicaId) -> LeaseDecision {
        match self {
            Self::Free | Self::Expired { .. } => LeaseDecision::Acquire,
            Self::Held { holder } if holder == replica => LeaseDecision::Renew,
            Self::Held { .. } => LeaseDecision::Wait,
        }
    }
}

impl LeaseTable {
    /// Takes in every Lease as one list returned it.
    pub fn observe(
        &mut self,
        shards: BTreeMap<ShardId, LeaseRecord>,
        replicas: BTreeMap<ReplicaId, LeaseRecord>,
        now: Moment,
    ) {
        self.shards = seen(&self.shards, shards, now);
        self.replicas = seen(&self.replicas, replicas, now);
    }

    /// Takes in a Lease as this replica has just written it.
    pub fn wrote(&mut self, shard: ShardId, record: LeaseRecord, now: Moment) {
        self.shards.insert(shard, SeenLease { record, changed_at: now });
    }

    /// Returns the ownership of a shard.
    pub fn lease(&self, shard: ShardId, now: Moment) -> ShardLease {
        let Some(seen) = self.shards.get(&shard) else { return ShardLease::Free };
        match &seen.record.holder {
            None => ShardLease::Free,
            Some(holder) if seen.is_alive(now) => ShardLease::Held { holder: holder.clone() },
            Some(holder) => ShardLease::Expired { holder: holder.clone() },
        }
    }

    /// The version of a Lease, for the precondition of a write. None: there is no such object.
    pub fn resource_version(&self, shard: ShardId) -> Option<&str> {
        self.shards.get(&shard).map(|seen| seen.record.resource_version.as_str())
    }

    /// The replicas that are alive: holders of Leases and those that announce themselves, and always `me`.
    pub fn replicas(&self, me: &ReplicaId, now: Moment) -> BTreeSet<ReplicaId> {
        let all = self.shards.values().chain(self.replicas.values());
        let holders = all.filter(|seen| seen.is_alive(now)).filter_map(|seen| seen.record.holder.clone());
        holders.chain([me.clone()]).collect()
    }

    /// A live replica that was configured with another number of shards, which holds a shard.
    pub fn other_layout(&self, me: &ReplicaId, shards: u32, now: Moment) -> Option<(ReplicaId, u32)> {
        let alive = self.shards.values().filter(|seen| seen.is_alive(now));
        let mut foreign = alive.filter_map(|seen| {
            let holder = seen.record.holder.clone().filter(|holder| holder != me)?;
            (seen.record.shards != shards).then_some((holder, seen.record.shards))
        });
        foreign.next()
    }
}

impl SeenLease {
    fn is_alive(&self, now: Moment) -> bool {
        self.record.holder.is_some() && now.since(self.changed_at) < LEASE_DURATION
    }
}

/// The new records, with the moment of the last change: now for those that differ from what was known.
fn seen<K: Ord + Clone>(
    known: &BTreeMap<K, SeenLease>,
    read: BTreeMap<K, LeaseRecord>,
    now: Moment,
) -> BTreeMap<K, SeenLease> {
    let seen = |(key, record): (K, LeaseRecord)| {
        let before = known.get(&key).filter(|before| before.record == record);
        let changed_at = before.map_or(now, |before| before.changed_at);
        (key, SeenLease { record, changed_at })
    };
    read.into_iter().map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replica(name: &str) -> ReplicaId {
        ReplicaId::new(name)
    }

    fn at(seconds: u64) -> Moment {
        Moment::at(Duration::from_secs(seconds))
    }

    fn record(holder: &str, version: u64) -> LeaseRecord {
        let holder = Some(replica(holder)).filter(|holder| !holder.as_str().is_empty());
        LeaseRecord { holder, resource_version: version.to_string(), shards: 4 }
    }

    fn observe(table: &mut LeaseTable, record: LeaseRecord, now: Moment) {
        table.observe([(ShardId(0), record)].into(), BTreeMap::new(), now);
    }

    #[test]
    fn only_a_free_or_expired_lease_is_acquired() {
        let held = |holder: &str| ShardLease::Held { holder: replica(holder) };
        let cases = [
            ("free", ShardLease::Free, LeaseDecision::Acquire),
            ("held by another replica", held("b"), LeaseDecision::Wait),
            ("held by this replica", held("a"), LeaseDecision::Renew),
            ("expired", ShardLease::Expired { holder: replica("b") }, LeaseDecision::Acquire),
        ];
        for (case, lease, expected) in cases {
            assert_eq!(lease.decide(&replica("a")), expected, "case: {case}");
        }
    }

    #[test]
    fn a_lease_expires_15_s_after_its_last_change_was_seen_here() {
        let mut table = LeaseTable::default();
        observe(&mut table, record("b", 1), at(100));
        observe(&mut table, record("b", 1), at(110));
        assert_eq!(table.lease(ShardId(0), at(114)), ShardLease::Held { holder: replica("b") });
        assert_eq!(table.lease(ShardId(0), at(115)), ShardLease::Expired { holder: replica("b") });
        observe(&mut table, record("b", 2), at(116));
        assert_eq!(table.lease(ShardId(0), at(130)), ShardLease::Held { holder: replica("b") }, "it was renewed");
        observe(&mut table, record("", 3), at(131));
        assert_eq!(table.lease(ShardId(0), at(131)), ShardLease::Free, "it was released");
        assert_eq!(table.lease(ShardId(1), at(131)), ShardLease::Free, "there is no such object");
    }

    #[test]
    fn a_replica_that_starts_waits_15_s_for_a_lease_it_has_never_seen_renewed() {
        let mut table = LeaseTable::default();
        observe(&mut table, record("dead", 1), at(0));
        assert_eq!(table.lease(ShardId(0), at(14)).decide(&replica("a")), LeaseDecision::Wait);
        assert_eq!(table.lease(ShardId(0), at(15)).decide(&replica("a")), LeaseDecision::Acquire);
    }

    #[test]
    fn replicas_are_counted_while_a_lease_of_theirs_is_alive() {
        let mut table = LeaseTable::default();
        let announced = [(replica("c"), record("c", 9))].into();
        table.observe([(ShardId(0), record("b", 1))].into(), announced, at(0));
        let names = |now| table.replicas(&replica("a"), now).into_iter().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(names(at(1)), ["a", "b", "c"]);
        assert_eq!(names(at(15)), ["a"]);
    }

    #[test]
    fn a_live_holder_with_another_number_of_shards_is_named() {
        let mut table = LeaseTable::default();
        observe(&mut table, LeaseRecord { shards: 8, ..record("b", 1) }, at(0));
        assert_eq!(table.other_layout(&replica("a"), 4, at(1)), Some((replica("b"), 8)));
        assert_eq!(table.other_layout(&replica("a"), 8, at(1)), None);
        assert_eq!(table.other_layout(&replica("b"), 4, at(1)), None, "its own Lease");
        assert_eq!(table.other_layout(&replica("a"), 4, at(15)), None, "it has expired");
    }

    proptest! {
        /// Whatever is read and however late: a Lease that changed less than 15 s ago, as seen here, is left alone.
        #[test]
        fn a_lease_of_another_replica_is_never_acquired_before_15_s_without_a_change(
            steps in proptest::collection::vec((0_u64..12, any::<bool>()), 1..40),
        ) {
            let (mut table, mut now, mut version, mut changed) = (LeaseTable::default(), 0, 0, 0);
            for (wait, renews) in steps {
                now += wait;
                if renews || version == 0 {
                    version += 1;
                    changed = now;
                }
                observe(&mut table, record("b", version), at(now));
                let decision = table.lease(ShardId(0), at(now)).decide(&replica("a"));
                let expected = if now - changed >= 15 { LeaseDecision::Acquire } else { LeaseDecision::Wait };
                prop_assert_eq!(decision, expected);
            }
        }
    }
}
