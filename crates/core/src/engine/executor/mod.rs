//! The executor: applies an approved plan, exactly, and reports the result of every action.
//!
//! ```text
//! gates ─► judge again ─► read, compare, seal ─► journal intents ─► send ─► journal outcomes ─► read ─► journal
//!   ▲                                                  ▲                        │ throttled, or unknown
//!   └── the next wave                                  └──── read, compare ◄────┘
//! ```
//!
//! Invariants:
//! - an intent is on disk before its request is sent, and a backup before the intent of a delete or of new content;
//! - a write carries the uid and the version the plan shows; anything else is a skipped action with its reason;
//! - copied content is read right before, has the uid and version the plan shows, and is never in journal or plan;
//! - an ambiguous answer is followed by a read, never by the same request;
//! - nothing is sent without an [`InFlight`], which only an intent on the disk gives;
//! - a cloud delete is awaited until the resource is gone, before dependent actions run;
//! - a stop, a kill switch, a freeze or the expiry of the plan takes effect before the next request.
//!
//! Modules:
//! - `run`: clusters, waves, gates. `wave`: the actions of one wave. `prepared_write`: the request of an action. `ready`: an
//!   action before and after its requests. `source`: copied content. `export`: what is sealed besides the target.
//!   `content`: bytes of keys and fields. `reference_scan`: references to deleted objects.
//! - `own_changes`: several actions on one resource. `wait_until_gone`: asynchronous deletes. `resume`: what an earlier run
//!   of the same plan did.
//! - `verdict`: the result from an answer and a read. `recover`: open intents of a crash, resolved by reading.
//! - `ports`: [`ClusterPort`] and every other interface of the executor. `dry_run`: the same writes as dry runs.
//!
//! Elsewhere: the [`ClusterPort`] that writes to clusters (`KubeCluster` in the fleet crate), tests of the executor with it.
//!
//! # Limits
//! Clusters run one after another: those with T1 and T2 actions by name, then those with T3, then those with T4, so that
//! irreversible actions come last. An action that depends on one in a later cluster is skipped. A cloud account runs like
//! a cluster when it is a target: for resources without a cluster.

mod content;
mod dry_run;
mod export;
mod in_flight;
mod memory;
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
