//! Tombstones: recent deletes of this machine, read from the journal.
//!
//! Invariants: reading creates nothing and takes no lock. A journal that cannot be read is reported and stops no plan:
//! it changes no verdict, only what is said about one.

use jiff::Timestamp;

use crate::event::Notice;
use crate::session::Session;
use trueup_core::engine::journal::{self, JournalError, StateFolder, entries};
use trueup_core::engine::{Judged, Tombstone, raise, tombstones};
use trueup_core::world::{Resource, View};

/// The tombstones of this machine's journal.
pub fn read(session: &Session, now: Timestamp) -> Vec<Tombstone> {
    match read_journal(session, now) {
        Ok(stones) => stones,
        Err(error) => {
            session.events.notice(Notice::NoTombstones { why: format!("{error}; {}", error.remedy()) });
            Vec::new()
        }
    }
}

fn read_journal(session: &Session, now: Timestamp) -> Result<Vec<Tombstone>, JournalError> {
    let Some(path) = &session.state else { return Ok(Vec::new()) };
    let Some(folder) = StateFolder::look(path)? else { return Ok(Vec::new()) };
    let history = journal::read(&folder)?;
    Ok(tombstones(&entries(history.lines.iter().map(|line| &line.record)), now))
}

/// Adds tombstones to what was judged.
pub fn add(judged: &mut [Judged], stones: &[Tombstone], view: View<'_>) {
    let resources: Vec<Resource> = view.observations().map(|(id, ..)| id.resource).collect();
    raise(judged, stones, &view.clusters().collect::<Vec<_>>(), &resources);
}
