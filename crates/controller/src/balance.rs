//! Which Leases a replica renews, acquires and releases. Pure.
//!
//! Invariants:
//! - a replica holds at most `ceil(shards / replicas) + 1` shards;
//! - of what is free, each replica acquires its own favourites first, so that replicas that start together do not ask for
//!   the same Lease;
//! - a shard with work under way is never released.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use crate::lease::{LeaseDecision, LeaseTable, ReplicaId};
use crate::moment::Moment;
use crate::shard::{ShardId, weight};

/// One request to send, or one thing to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseStep {
    Renew(ShardId),
    Acquire(ShardId),
    /// One shard too many: nothing new begins there, and it is released once nothing is under way.
    Leave(ShardId),
}

/// Why no shard is acquired.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("replica {holder} runs with {found} shards, this one with {own}; shards are acquired once it has ended")]
pub struct OtherLayout {
    pub holder: ReplicaId,
    pub found: u32,
    pub own: u32,
}

/// What a replica knows when it decides.
pub struct Balance<'a> {
    pub me: &'a ReplicaId,
    pub shards: NonZeroU32,
    pub table: &'a LeaseTable,
    /// The shards whose Lease this process holds.
    pub held: &'a BTreeSet<ShardId>,
    /// Those that are to be released already.
    pub leaving: &'a BTreeSet<ShardId>,
    pub now: Moment,
}

/// The most shards a replica holds.
pub fn holdings_max(shards: NonZeroU32, replicas: usize) -> usize {
    let shards = shards.get() as usize;
    shards.div_ceil(replicas.max(1)) + 1
}

impl Balance<'_> {
    /// Returns the steps of this round, and why nothing is acquired where that is so.
    pub fn steps(&self) -> (Vec<LeaseStep>, Option<OtherLayout>) {
        let most = holdings_max(self.shards, self.table.replicas(self.me, self.now).len());
        let mut steps: Vec<LeaseStep> = self.held.iter().copied().map(LeaseStep::Renew).collect();
        let staying: Vec<ShardId> = self.by_preference(self.held.difference(self.leaving).copied());
        steps.extend(staying.iter().skip(most).copied().map(LeaseStep::Leave));
        let other = self.table.other_layout(self.me, self.shards.get(), self.now);
        if let Some((holder, found)) = other {
            return (steps, Some(OtherLayout { holder, found, own: self.shards.get() }));
        }
        let all = (0..self.shards.get()).map(ShardId).filter(|shard| !self.held.contains(shard));
        let may_acquire =
            |shard: &ShardId| self.table.lease(*shard, self.now).decide(self.me) == LeaseDecision::Acquire;
        let free = self.by_preference(all.filter(may_acquire));
        let space = most.saturating_sub(self.held.len());
        steps.extend(free.into_iter().take(space).map(LeaseStep::Acquire));
        (steps, None)
    }

    /// The favourites of this replica first.
    fn by_preference(&self, shards: impl Iterator<Item = ShardId>) -> Vec<ShardId> {
        let mut shards: Vec<ShardId> = shards.collect();
        shards.sort_by_key(|shard| (std::cmp::Reverse(weight(self.me.as_str(), *shard)), *shard));
        shards
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::*;
    use crate::lease::LeaseRecord;
    use proptest::prelude::*;

    fn at(seconds: u64) -> Moment {
        Moment::at(Duration::from_secs(seconds))
    }

    fn count(shards: u32) -> NonZeroU32 {
        NonZeroU32::new(shards).unwrap()
    }

    fn record(holder: Option<&str>, version: u64, shards: u32) -> LeaseRecord {
        LeaseRecord { holder: holder.map(ReplicaId::new), resource_version: version.to_string(), shards }
    }

    fn steps_of(me: &str, shards: u32, table: &LeaseTable, held: &[u32], now: Moment) -> Vec<LeaseStep> {
        let held = held.iter().copied().map(ShardId).collect();
        let (me, leaving) = (ReplicaId::new(me), BTreeSet::new());
        Balance { me: &me, shards: count(shards), table, held: &held, leaving: &leaving, now }.steps().0
    }

    #[test]
    fn a_replica_holds_at_most_its_share_and_one() {
        let cases = [(4, 1, 5), (4, 2, 3), (4, 3, 3), (12, 3, 5), (1, 3, 2), (4, 0, 5)];
        for (shards, replicas, expected) in cases {
            assert_eq!(holdings_max(count(shards), replicas), expected, "{shards} shards, {replicas} replicas");
        }
    }

    #[test]
    fn a_single_replica_acquires_every_free_shard_and_renews_its_own() {
        let steps = steps_of("a", 4, &LeaseTable::default(), &[2], at(0));
        assert_eq!(steps[0], LeaseStep::Renew(ShardId(2)));
        let acquired: BTreeSet<u32> = steps[1..]
            .iter()
            .map(|step| match step {
                LeaseStep::Acquire(shard) => shard.0,
                LeaseStep::Renew(_) | LeaseStep::Leave(_) => panic!("{step:?}"),
            })
            .collect();
        assert_eq!(acquired, [0, 1, 3].into());
    }

    #[test]
    fn a_replica_leaves_a_shard_when_another_replica_appears() {
        let mut table = LeaseTable::default();
        let announced = [(ReplicaId::new("b"), record(Some("b"), 1, 4))].into();
        let own = (0..4).map(|shard| (ShardId(shard), record(Some("a"), 1, 4))).collect();
        table.observe(own, announced, at(0));
        let steps = steps_of("a", 4, &table, &[0, 1, 2, 3], at(1));
        assert_eq!(steps.iter().filter(|step| matches!(step, LeaseStep::Leave(_))).count(), 1, "{steps:?}");
        assert_eq!(steps.iter().filter(|step| matches!(step, LeaseStep::Renew(_))).count(), 4, "held until it is free");
    }

    #[test]
    fn nothing_is_acquired_while_a_replica_with_another_number_of_shards_lives() {
        let mut table = LeaseTable::default();
        table.observe([(ShardId(0), record(Some("b"), 1, 8))].into(), BTreeMap::new(), at(0));
        let (me, none) = (ReplicaId::new("a"), BTreeSet::new());
        let balance = |now| Balance { me: &me, shards: count(4), table: &table, held: &none, leaving: &none, now };
        let (steps, why) = balance(at(1)).steps();
        assert_eq!(steps, []);
        assert_eq!(
            why.unwrap().to_string(),
            "replica b runs with 8 shards, this one with 4; shards are acquired once it has ended"
        );
        assert_eq!(balance(at(15)).steps().0.len(), 4, "its Lease has expired");
    }

    proptest! {
        /// Replicas that act on the same lists: never two for one shard, and never more than the share and one.
        #[test]
        fn replicas_never_share_a_shard_and_keep_to_their_number(
            shards in 1_u32..16, turns in proptest::collection::vec((0_usize..4, 0_u64..4, any::<bool>()), 1..80),
        ) {
            let names = ["a", "b", "c", "d"];
            let (mut leases, mut announced) = (BTreeMap::new(), BTreeMap::new());
            let mut tables = vec![LeaseTable::default(); names.len()];
            let mut held: Vec<BTreeMap<ShardId, u64>> = vec![BTreeMap::new(); names.len()];
            let (mut now, mut version) = (0, 0);
            for (index, wait, is_paused) in turns {
                now += wait;
                if is_paused {
                    continue;
                }
                version += 1;
                announced.insert(ReplicaId::new(names[index]), record(Some(names[index]), version, shards));
                tables[index].observe(leases.clone(), announced.clone(), at(now));
                held[index].retain(|_, until| *until > now);
                let own: BTreeSet<ShardId> = held[index].keys().copied().collect();
                let (me, leaving) = (ReplicaId::new(names[index]), BTreeSet::new());
                let balance =
                    Balance { me: &me, shards: count(shards), table: &tables[index], held: &own, leaving: &leaving, now: at(now) };
                for step in balance.steps().0 {
                    version += 1;
                    match step {
                        // A server with preconditions takes a write only at the version that was read, which it is here.
                        LeaseStep::Renew(shard) | LeaseStep::Acquire(shard) => {
                            leases.insert(shard, record(Some(names[index]), version, shards));
                            held[index].insert(shard, now + 15);
                        }
                        LeaseStep::Leave(shard) => {
                            leases.insert(shard, record(None, version, shards));
                            held[index].remove(&shard);
                        }
                    }
                }
                for shard in (0..shards).map(ShardId) {
                    let holders = held.iter().filter(|own| own.get(&shard).is_some_and(|until| *until > now)).count();
                    prop_assert!(holders <= 1, "shard {} has {} holders", shard, holders);
                }
                let most = holdings_max(count(shards), tables[index].replicas(&me, at(now)).len());
                prop_assert!(held[index].len() <= most);
            }
        }
    }
}
