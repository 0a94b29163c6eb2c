//! Observation: a consistent list and then a watch for each interest, decoded into small facts.
//!
//! Invariants: secret bytes do not leave this module. The rest of the program sees key names, lengths and keyed digests.
//!
//! ```text
//!  Observer ─┬─ watcher (a collection): list ─► watch ─► watch … ─┐
//!            ├─ watcher                                           ├─► outbox (merges until the reader takes it) ─► inbox
//!            └─ reader (an object by name): get … ────────────────┘
//! ```
//!
//! Elsewhere: judging facts (`trueup_checks`), choosing interests (`live`), connections (`connect`).

mod api_client;
mod backoff;
mod collection_task;
mod episode;
mod event;
mod export;
mod lines;
mod list;
mod observer;
mod outbox;
mod ports;
mod reader;
mod request;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod version_floor;
mod watch;
mod watcher;

pub use export::{ObjectText, export};
pub use observer::{Observer, ObserverSetup};
pub use outbox::{Batch, Epoch, Inbox, Outbox, outbox};
pub use ports::{Clock, Jitter, Ports, ProcessJitter, WallClock, WatchStart};
pub use version_floor::VersionFloor;

/// Reads one line of a watch and the object in it, as a watch does. Whether both could be read.
#[cfg(any(test, feature = "testing"))]
pub fn read_watch_line(line: &[u8], reader: &trueup_core::decode::Reader<'_>) -> bool {
    match event::read(line) {
        Ok(event::Event::Put(text) | event::Event::Removed(text) | event::Event::Bookmark(text)) => {
            reader.object(text).is_ok()
        }
        Ok(event::Event::Failed { .. }) => true,
        Err(_) => false,
    }
}
