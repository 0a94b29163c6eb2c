//! Observation: for each interest a consistent list, then a watch, decoded straight into small facts.
//!
//! Secret bytes end here. What the rest of the program sees of a Secret is key names, lengths and keyed digests.
//!
//! ```text
//!  Observer ─┬─ watcher (a collection): list ─► watch ─► watch … ─┐
//!            ├─ watcher                                           ├─► outbox (merges while the reader is busy) ─► inbox
//!            └─ reader (an object by name): get … ────────────────┘
//! ```
//!
//! Not here: what it means (`domains`), who wants it (`live`), how to reach a cluster (`fleet`).

mod ask;
mod backoff;
mod collection_task;
mod event;
#[cfg(test)]
mod fake;
mod lines;
mod list;
mod observer;
mod outbox;
mod ports;
mod reader;
mod request;
#[cfg(test)]
mod tests;
mod version_floor;
mod watch;
mod watcher;

pub use observer::{Observer, ObserverSetup};
pub use outbox::{Batch, Epoch, Inbox, Outbox, outbox};
pub use ports::{Clock, Jitter, Ports, ProcessJitter, WallClock};
pub use version_floor::VersionFloor;
