//! What is dropped from the journal when it is old enough.
//!
//! Invariants:
//! - a plan goes whole or stays whole; one that is open or never came to its end stays;
//! - what is kept says the same as before, in the same order;
//! - "old" is judged by a time that a server confirmed, and by the latest time the journal had when a record was written:
//!   a local clock that was wrong then or is wrong now drops nothing;
//! - the new file begins with the hash of the last record of the old one, so that a reader who kept that hash elsewhere can
//!   still tell that nothing else was changed.
//!
//! ```text
//! backups of dropped plans removed ─► new file written and synced ─► renamed over the old one
//! ```
//! A crash before the rename leaves the old journal, and the next time finishes the work.
//! Why it is done at all: `docs/decisions/0010-journal-retention.md`.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::frame::Chain;
use super::{Entry, Health, Journal, JournalError, Record, entries};
use crate::world::TrustedNow;

/// What was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    pub plans: usize,
    /// What is left of the records, the new first one included.
    pub records: Vec<Record>,
}

impl Journal {
    /// Drops finished plans without a record within `keep`. `forget_backup` is called with the file of
    /// each of their backups. `records` are what opening gave, and what was appended since.
    ///
    /// # Guarantees
    /// `Ok(None)`: nothing was old enough and nothing was touched.
    ///
    /// # Errors
    /// A backup can't be removed, or the file cannot be compacted. Nothing more is written before the journal is
    /// opened again.
    pub fn drop_old(
        &mut self,
        records: &[Record],
        keep: SignedDuration,
        now: TrustedNow,
        forget_backup: &mut dyn FnMut(&str) -> std::io::Result<()>,
    ) -> Result<Option<Dropped>, JournalError> {
        let old = old_plans(records, now.get().checked_sub(keep).unwrap_or(Timestamp::MIN));
        if old.is_empty() {
            return Ok(None);
        }
        if self.health == Health::Failed {
            return Err(JournalError::FailedBefore);
        }
        let is_old = |record: &&Record| record.plan().is_some_and(|plan| old.contains(plan));
        let (gone, mut kept): (Vec<&Record>, Vec<&Record>) = records.iter().partition(is_old);
        kept.retain(|record| !matches!(record, Record::Restarted { .. }));
        let restarted = Record::Restarted {
            before: self.last_hash().unwrap_or_default(),
            plans: u64::try_from(old.len()).unwrap_or(u64::MAX),
            records: u64::try_from(gone.len()).unwrap_or(u64::MAX),
            at: now.get(),
        };
        let kept: Vec<Record> = std::iter::once(restarted).chain(kept.into_iter().cloned()).collect();
        let mut chain = Chain::start();
        let mut bytes = Vec::new();
        for record in &kept {
            chain.frame(record, &mut bytes)?;
        }
        let backups = gone.iter().filter_map(|record| backup_file(record));
        let forgotten = backups.map(forget_backup).collect::<Result<Vec<()>, _>>();
        if let Err(source) = forgotten.and_then(|_| self.disk.replace(&bytes)) {
            self.health = Health::Failed;
            return Err(JournalError::Write { source });
        }
        self.chain = chain;
        Ok(Some(Dropped { plans: old.len(), records: kept }))
    }
}

/// The plans that are finished, are not open, and have no record since.
fn old_plans(records: &[Record], before: Timestamp) -> BTreeSet<String> {
    // A clock that was set back wrote times before those of earlier records: a record counts as written no earlier.
    let mut latest = Timestamp::MIN;
    let mut recent: BTreeSet<&str> = BTreeSet::new();
    for record in records {
        // A compaction is written in front of records that are older.
        let Some(plan) = record.plan() else { continue };
        latest = record.at().map_or(latest, |at| latest.max(at));
        if latest >= before {
            recent.insert(plan);
        }
    }
    let is_done = |entry: &Entry| entry.finished.is_some() && entry.open_count() == 0;
    let old = entries(records).into_iter().filter(is_done).map(|entry| entry.plan);
    old.filter(|plan| !recent.contains(plan.as_str())).collect()
}

fn backup_file(record: &Record) -> Option<&str> {
    match record {
        Record::Backup { file, .. } => Some(file),
        Record::PlanApproved { .. }
        | Record::Intent { .. }
        | Record::Outcome { .. }
        | Record::Verified { .. }
        | Record::Resolved { .. }
        | Record::Skipped { .. }
        | Record::Finished { .. }
        | Record::Restarted { .. } => None,
    }
}
