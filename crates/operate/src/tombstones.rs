//! Tombstones: recent deletes of this machine, read from the journal.
//!
//! Invariants: reading creates nothing and takes no lock. A journal that cannot be read is reported and stops no plan:
//! it changes no verdict, only what is said about one.

use jiff::Timestamp;

use crate::event::Notice;
use crate::history::journal_entries;
use crate::session::Session;
use trueup_core::engine::{Judged, Tombstone, raise, tombstones};
use trueup_core::world::{Resource, View};

/// The tombstones of this machine's journal.
pub fn read(session: &Session, now: Timestamp) -> Vec<Tombstone> {
    match journal_entries(session.state.as_deref()) {
        Ok(entries) => tombstones(&entries, now),
        Err(error) => {
            session.events.notice(Notice::NoTombstones { why: format!("{error}; {}", error.remedy()) });
            Vec::new()
        }
    }
}

/// Adds tombstones to what was judged.
pub fn add(judged: &mut [Judged], stones: &[Tombstone], view: View<'_>) {
    let resources: Vec<Resource> = view.observations().map(|(id, ..)| id.resource).collect();
    raise(judged, stones, &view.clusters().collect::<Vec<_>>(), &resources);
}
