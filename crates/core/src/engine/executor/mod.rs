//! The executor: applies an approved plan, exactly, and reports the result of every action.
//!
//! ```text
//! gates ─► judge again ─► read, compare, seal ─► journal intents ─► send ─► journal outcomes ─► read ─► journal
//!   ▲                                                  ▲                        │ asked to wait, or unknown
//!   └── the next wave                                  └──── read, compare ◄────┘
//! ```
//!
//! Invariants:
//! - an intent is on disk before its request is sent, and a backup before the intent of a delete or of new content;
//! - a write carries the uid and the version the plan shows; anything else is a skipped action with its reason;
//! - what is copied has the uid and the version the plan shows, read right before, and is never in journal or plan;
//! - an ambiguous answer is followed by a read, never by the same request;
//! - nothing is sent without an [`InFlight`], which only an intent on the disk gives;
//! - what is deleted in a cloud is waited for until it is gone, before anything that depends on it;
//! - a stop, a kill switch, a freeze or the plan's end is noticed before the next request.
//!
//! - `run`: clusters and waves, gates. `wave`: the way of the actions of one wave. `write`: what an action wants. `ready`: an
//!   action on its way. `source`: what it copies. `export`: what it seals besides its target. `content`: bytes under keys,
//!   and fields. `scan_references`: what refers to what was deleted.
//! - `moved`: a resource that several actions are about. `wait_until_gone`: the wait for an end. `resume`: what an earlier run of the
//!   same plan has done.
//! - `verdict`: what an answer and a read mean together. `recover`: what a crash left open, settled by reading.
//! - [`ClusterPort`] and its neighbours in `ports`: everything the executor touches. `dry_run`: the same as a dry run.
//!
//! Elsewhere: the one [`ClusterPort`] that writes to a cluster (`KubeCluster` in the fleet crate), and the tests of the whole.
//!
//! # Limits
//! Clusters run one after another: those with T1 and T2 actions by name, then those with T3, then those with T4, so that
//! what can't be undone comes last. An action that depends on one of a later cluster is skipped. A cloud account is a cluster
//! here when it is a target itself: what is in it and no cluster points at.

mod content;
mod dry_run;
mod export;
mod in_flight;
mod object_now;
mod own_changes;
mod owners;
mod ports;
mod prepared_write;
mod read;
mod ready;
mod recover;
mod reference_scan;
mod report;
mod resume;
mod run;
mod source;
mod verdict;
mod wait_until_gone;
mod wave;

pub use content::Patch;
pub use dry_run::{BackupsThere, DryRunPorts, DryRunResult, dry_run};
pub use in_flight::InFlight;
pub use object_now::read_object_now;
pub use owners::read_owners;
pub use ports::{
    ClusterPort, Clusters, DryRunPort, ExecutorClock, JournalPort, Ports, Progress, Reading, Recheck, ReferenceScan,
    Reply, Seen, Switches, VaultPort, Write,
};
pub use recover::resolve;
pub use report::{ActionResult, Halt, Report, Skip};
pub use run::{OnNewReference, REFERENCE_SCAN_AFTER, RunSettings, apply, resume};
