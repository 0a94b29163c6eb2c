//! What was deleted from here of late, read from the journal for whoever plans or watches.
//!
//! Always true: reading makes nothing and takes no lock. A journal that can't be read is said and stops no plan: it
//! makes no difference to what a cluster is like, only to what can be said about it.

use jiff::Timestamp;

use super::context::Context;
use trueup_core::engine::journal::{self, JournalError, StateFolder, entries};
use trueup_core::engine::{Judged, Tombstone, raise, tombstones};
use trueup_core::world::{Resource, View};

/// The tombstones of this machine's journal.
pub fn read(context: &Context, now: Timestamp) -> Vec<Tombstone> {
    match read_journal(context, now) {
        Ok(stones) => stones,
        Err(error) => {
            context.note(&format!("what was deleted from here is not known: {error}; {}", error.remedy()));
            Vec::new()
        }
    }
}

fn read_journal(context: &Context, now: Timestamp) -> Result<Vec<Tombstone>, JournalError> {
    let Some(path) = context.state_path() else { return Ok(Vec::new()) };
    let Some(folder) = StateFolder::look(&path)? else { return Ok(Vec::new()) };
    let history = journal::read(&folder)?;
    Ok(tombstones(&entries(history.lines.iter().map(|line| &line.record)), now))
}

/// Adds what is known of them to what was judged.
pub fn add(judged: &mut [Judged], stones: &[Tombstone], view: View<'_>) {
    let resources: Vec<Resource> = view.observations().map(|(id, ..)| id.resource).collect();
    raise(judged, stones, &view.clusters().collect::<Vec<_>>(), &resources);
}
