//! The queue from observers to their reader.
//!
//! Invariants:
//! - nothing is dropped: pending reports are merged per object, and the latest wins;
//! - nothing grows without limit: a collection has at most one pending list and the changes since, each object at most
//!   about twice, and every pending byte counts towards the cluster's budget;
//! - reports of a collection arrive in the order list, changes, loss.
//!
//! ```text
//!  put:  Listed ─┬─► base (a newer list replaces everything pending)
//!        Changed ┼─► changes, one entry per object once merged
//!        Lost ───┴─► loss (the last one; a newer list ends it)
//!  take: base, then changes, then loss
//! ```

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use tokio::sync::Notify;

use crate::budgets::Charge;
use trueup_core::world::{
    ClusterName, CollectionId, Delta, FactBatch, FactKind, Gap, Key, ResourceVersion, keys_bytes,
};

/// Unmerged chunks of changes, in addition to twice the size after the last merge.
const CHUNKS_UNMERGED_MAX: usize = 64;

/// Number of a connection to a cluster. A report of an earlier connection is stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

/// One report.
pub struct Batch {
    pub cluster: ClusterName,
    pub epoch: Epoch,
    pub collection: CollectionId,
    pub fact: FactKind,
    pub delta: Delta,
}

/// The observers' end.
#[derive(Clone)]
pub struct Outbox {
    shared: Arc<Shared>,
}

/// The reader's end.
pub struct Inbox {
    shared: Arc<Shared>,
    taken: VecDeque<Batch>,
}

/// Returns an outbox and its inbox.
pub fn outbox() -> (Outbox, Inbox) {
    let shared = Arc::new(Shared::default());
    (Outbox { shared: shared.clone() }, Inbox { shared, taken: VecDeque::new() })
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

type Slot = (CollectionId, TypeId);

#[derive(Default)]
struct Waiting {
    /// Slots in the order in which they were first filled since they were last taken.
    order: VecDeque<Slot>,
    slots: BTreeMap<Slot, Pending>,
}

/// Pending reports of one collection and kind of fact.
struct Pending {
    epoch: Epoch,
    fact: FactKind,
    base: Option<Delta>,
    changes: Vec<Changes>,
    merge_at: usize,
    confirmed: Option<(ResourceVersion, Timestamp)>,
    loss: Option<Gap>,
    /// Counts what is pending.
    charge: Charge,
}

struct Changes {
    facts: Box<dyn FactBatch>,
    removed: Vec<Key>,
}

impl Outbox {
    /// Adds a report, counted by `charge`. Never blocks.
    pub fn put(&self, epoch: Epoch, collection: &CollectionId, fact: FactKind, delta: Delta, charge: Charge) {
        let mut waiting = self.shared.lock();
        let slot = (collection.clone(), fact.type_id());
        match waiting.slots.get_mut(&slot) {
            Some(pending) if pending.epoch > epoch => return,
            Some(pending) if pending.epoch == epoch => pending.put(delta, charge),
            Some(pending) => {
                *pending = Pending::new(epoch, fact, charge);
                pending.take_in(delta);
            }
            None => {
                let mut pending = Pending::new(epoch, fact, charge);
                pending.take_in(delta);
                waiting.slots.insert(slot.clone(), pending);
                waiting.order.push_back(slot);
            }
        }
        drop(waiting);
        self.shared.filled.notify_one();
    }

    /// Drops the pending reports of a collection that is no longer needed.
    pub fn forget(&self, collection: &CollectionId) {
        let mut waiting = self.shared.lock();
        waiting.slots.retain(|(id, _), _| id != collection);
        waiting.order.retain(|(id, _)| id != collection);
    }
}

impl Inbox {
    /// Returns the next report; waits for one.
    ///
    /// Cancel-safe: nothing is taken before it returns.
    pub async fn next(&mut self) -> Batch {
        loop {
            if let Some(batch) = self.try_next() {
                return batch;
            }
            self.shared.filled.notified().await;
        }
    }

    /// Returns the next report, if one is pending.
    pub fn try_next(&mut self) -> Option<Batch> {
        if self.taken.is_empty() {
            let mut waiting = self.shared.lock();
            let slot = waiting.order.pop_front()?;
            let pending = waiting.slots.remove(&slot).expect("a slot in the order is filled");
            drop(waiting);
            self.taken.extend(pending.take(slot.0));
        }
        self.taken.pop_front()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing below panics in the middle of a change, so a poisoned lock guards valid data.
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Pending {
    fn new(epoch: Epoch, fact: FactKind, charge: Charge) -> Self {
        let merge_at = CHUNKS_UNMERGED_MAX;
        Self { epoch, fact, base: None, changes: Vec::new(), merge_at, confirmed: None, loss: None, charge }
    }

    fn put(&mut self, delta: Delta, charge: Charge) {
        match &delta {
            Delta::Listed { .. } | Delta::Seen { .. } => *self = Self::new(self.epoch, self.fact, charge),
            Delta::Begun { .. } | Delta::Changed { .. } | Delta::Confirmed { .. } | Delta::Lost { .. } => {
                let bytes = charge.bytes();
                drop(charge);
                self.charge.add(bytes);
            }
        }
        self.take_in(delta);
    }

    fn take_in(&mut self, delta: Delta) {
        match delta {
            Delta::Listed { .. } | Delta::Seen { .. } => self.base = Some(delta),
            // The pending reports say more, and the complete list soon replaces them.
            Delta::Begun { .. } => {
                if self.base.is_none() && self.confirmed.is_none() && self.loss.is_none() {
                    self.base = Some(delta);
                }
            }
            Delta::Changed { facts, removed, version, at } => {
                self.changes.push(Changes { facts, removed });
                self.confirmed = Some((version, at));
                if self.changes.len() >= self.merge_at {
                    self.merge();
                }
            }
            Delta::Confirmed { version, at } => self.confirmed = Some((version, at)),
            Delta::Lost { gap } => self.loss = Some(gap),
        }
    }

    /// Merges the chunks into one: the latest of each object.
    fn merge(&mut self) {
        let mut seen: HashSet<Key> = HashSet::new();
        let mut merged = Changes { facts: self.fact.new_batch(), removed: Vec::new() };
        for mut chunk in std::mem::take(&mut self.changes).into_iter().rev() {
            chunk.facts.retain(&mut |key| !seen.contains(key));
            chunk.removed.retain(|key| !seen.contains(key));
            seen.extend(chunk.facts.keys());
            seen.extend(chunk.removed.iter().cloned());
            merged.facts.append(chunk.facts);
            merged.removed.append(&mut chunk.removed);
        }
        // Merging costs the size held, so it waits until as much again has arrived: each change is merged a few times.
        self.merge_at = CHUNKS_UNMERGED_MAX + seen.len();
        self.changes.push(merged);
        self.count();
    }

    /// Counts what is pending after a merge.
    fn count(&mut self) {
        let changes = self.changes.iter().map(|chunk| chunk.facts.bytes() + keys_bytes(&chunk.removed));
        self.charge.set(self.base.as_ref().map_or(0, Delta::bytes) + changes.sum::<u64>());
    }

    fn take(mut self, collection: CollectionId) -> impl Iterator<Item = Batch> {
        if self.changes.len() > 1 {
            self.merge();
        }
        let changed = match (self.changes.pop(), self.confirmed) {
            (Some(Changes { facts, removed }), Some((version, at))) => {
                Some(Delta::Changed { facts, removed, version, at })
            }
            (None, Some((version, at))) => Some(Delta::Confirmed { version, at }),
            (_, None) => None,
        };
        let lost = self.loss.map(|gap| Delta::Lost { gap });
        let (epoch, fact) = (self.epoch, self.fact);
        [self.base, changed, lost].into_iter().flatten().map(move |delta| Batch {
            cluster: collection.cluster.clone(),
            epoch,
            collection: collection.clone(),
            fact,
            delta,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::budgets::Ledger;
    use crate::observe::testing::{Version, secrets};
    use trueup_core::decode::{DataSort, Reader};
    use trueup_core::world::{Completeness, GapCause, Interner, World};

    /// A report of an observer, with small numbers.
    #[derive(Debug, Clone)]
    enum Report {
        Listed(Vec<u8>),
        Changed { put: Vec<u8>, removed: Vec<u8> },
        Confirmed,
        Lost,
    }

    fn report() -> impl Strategy<Value = Report> {
        let names = || proptest::collection::vec(0u8..6, 0..4);
        prop_oneof![
            1 => names().prop_map(Report::Listed),
            8 => (names(), names()).prop_map(|(put, removed)| Report::Changed { put, removed }),
            2 => Just(Report::Confirmed),
            1 => Just(Report::Lost),
        ]
    }

    fn facts(names: &[u8], version: u64) -> Box<dyn FactBatch> {
        let digester = trueup_core::decode::Digester::new(&[0; 32]);
        let sort = DataSort::Other;
        let reader =
            Reader { digester: &digester, sort, digested: &[], reduced: &[], api_version: "v1", kind: "Secret" };
        let mut batch = FactKind::of::<Version>().new_batch();
        for name in names.iter().collect::<std::collections::BTreeSet<_>>() {
            let text = format!(r#"{{"metadata":{{"name":"s{name}","resourceVersion":"{version}"}}}}"#);
            batch.push(&reader.object(&text).unwrap(), &mut Interner::default()).unwrap();
        }
        batch
    }

    fn delta(report: &Report, number: u64) -> Delta {
        let (version, at) = (ResourceVersion::Number(number), Timestamp::from_second(number as i64).unwrap());
        match report {
            Report::Listed(names) => Delta::Listed { facts: facts(names, number), version, at, gap: None },
            Report::Changed { put, removed } => {
                let removed = removed.iter().filter(|name| !put.contains(name));
                let removed = removed.map(|name| Key::new(None, &format!("s{name}"))).collect();
                Delta::Changed { facts: facts(put, number), removed, version, at }
            }
            Report::Confirmed => Delta::Confirmed { version, at },
            Report::Lost => Delta::Lost { gap: Gap::new(GapCause::Silent, "silent") },
        }
    }

    fn put(outbox: &Outbox, epoch: u64, delta: Delta) {
        put_counted(outbox, &Ledger::default(), epoch, delta);
    }

    fn put_counted(outbox: &Outbox, ledger: &Ledger, epoch: u64, delta: Delta) {
        let mut charge = ledger.charge(&secrets().cluster);
        charge.set(delta.bytes());
        outbox.put(Epoch(epoch), &secrets(), FactKind::of::<Version>(), delta, charge);
    }

    fn state(world: &World) -> (Completeness, Vec<(Key, Version)>) {
        let reading = world.view(Timestamp::UNIX_EPOCH).read::<Version>(&secrets());
        let facts = reading.iter().map(|(key, fact)| (key.clone(), fact.clone())).collect();
        (reading.completeness().unwrap().clone(), facts)
    }

    proptest! {
        #[test]
        fn a_slow_reader_reaches_the_same_state_as_a_fast_one(
            reports in proptest::collection::vec((report(), any::<bool>()), 1..200), burst in 1usize..90
        ) {
            let (interest, kind) = (secrets().interest::<Version>(), FactKind::of::<Version>());
            let (mut direct, mut through) = (World::default(), World::default());
            direct.open(&interest);
            through.open(&interest);
            let (outbox, mut inbox) = outbox();
            // Changes follow a list.
            let first = [(Report::Listed(Vec::new()), false)];
            for (number, (report, takes)) in (1u64..).zip(first.iter().chain(&reports)) {
                direct.apply(&secrets(), kind, delta(report, number));
                put(&outbox, 1, delta(report, number));
                if *takes && (number as usize).is_multiple_of(burst) {
                    while let Some(batch) = inbox.try_next() {
                        through.apply(&secrets(), kind, batch.delta);
                    }
                }
            }
            while let Some(batch) = inbox.try_next() {
                through.apply(&secrets(), kind, batch.delta);
            }
            prop_assert_eq!(state(&through), state(&direct));
        }
    }

    #[test]
    fn reports_of_an_earlier_connection_are_dropped() {
        let (outbox, mut inbox) = outbox();
        put(&outbox, 1, delta(&Report::Listed(vec![1]), 1));
        put(&outbox, 2, delta(&Report::Lost, 2));
        put(&outbox, 1, delta(&Report::Confirmed, 3));
        let taken: Vec<Epoch> = std::iter::from_fn(|| inbox.try_next()).map(|batch| batch.epoch).collect();
        assert_eq!(taken, [Epoch(2)]);
    }
    #[test]
    fn a_queue_that_is_not_read_counts_each_object_about_twice_and_nothing_once_taken() {
        let (ledger, (outbox, mut inbox)) = (Ledger::default(), outbox());
        put_counted(&outbox, &ledger, 1, delta(&Report::Listed(vec![]), 1));
        let one = delta(&Report::Changed { put: vec![1], removed: vec![] }, 2).bytes();
        for number in 2..10_000 {
            put_counted(&outbox, &ledger, 1, delta(&Report::Changed { put: vec![1, 2, 3], removed: vec![] }, number));
        }
        let queued_max = 2 * (CHUNKS_UNMERGED_MAX as u64 + 3) * 3 * (one + 8);
        assert!(ledger.peak() < queued_max, "{} of {queued_max}", ledger.peak());
        while inbox.try_next().is_some() {}
        assert_eq!(ledger.total(), 0);
    }
}
