//! The application layer: everything a front end does with a fleet, without clap, terminal or process exit.
//!
//! - [`Session`]: settings, environment, contexts, state folder and flags of one process; [`Events`] go to the front end.
//! - [`Fleet`]: the handle on the live loop. `observe`, `plan`, `probe` and `dry_run` are its methods; `supervisor` keeps
//!   the loop running; [`connect_contexts`] and [`read_folder`] make it.
//! - [`admit()`]: what of a plan may be approved now. [`apply()`]: runs an approved plan, under a [`WriteGuard`] with
//!   [`apply_with`]; `recheck` judges again before each wave; `recover` resolves open intents.
//! - `gather`: a redacted snapshot of what the checks read.
//! - [`plan_undo`], [`read_history`], [`read_recovered`]: the journal.
//!
//! Invariants: cli, console and controller use the same functions for the same step.

#![expect(
    clippy::disallowed_methods,
    reason = "reads the clock once per request of a front end; the engine gets it as a value"
)]

mod access;
mod accounts;
mod admit;
mod apply;
mod dry_run;
mod error;
mod event;
mod fleet;
mod fresh;
mod gather;
mod guard;
mod history;
mod local;
mod login_backup;
mod members;
mod observe;
mod own_login;
mod plan;
mod plugins;
mod probe;
mod publish;
mod recheck;
mod recover;
mod session;
mod settings;
mod snapshot;
mod state;
mod supervisor;
#[cfg(test)]
mod testing;
mod token_review;
mod tombstones;
mod undo;

pub use access::{ask as ask_access, questions as access_questions, read_questions};
pub use accounts::{account_settings, known_clouds, needed_clouds};
pub use admit::{admit, admit_in, check_plan, sent_earlier};
pub use apply::{ApplyOptions, Authority, apply, apply_with};
pub use dry_run::DryRunAnswer;
pub use error::{ErrorClass, OperateError, chain};
pub use event::{Event, Events, Notice};
pub use fleet::{Fleet, Made, MakeLive, WeakFleet, connect_contexts, connect_members};
pub use fresh::{FreshWorld, WorldNow};
pub use gather::{GatherReport, OtherFinding};
pub use guard::{Unguarded, WriteGuard};
pub use history::{Reach, Recovered, history_entries, pick, read_history, read_recovered};
pub use login_backup::BackedUp;
pub use members::{connect_context, logged_in, members};
pub use observe::{KnownNames, LIST_TIMEOUT, Observed, link_error, unread, with_remedy};
pub use plan::{PlanRequest, build_plan};
pub use plugins::KeptApprovals;
pub use probe::{ProbeResult, Probes, Ready, discovery_code, fetch as fetch_discovery, may_probe, probe_one};
pub use publish::{PublishError, read_published};
pub use recheck::Rechecker;
pub use recover::StillOpen;
pub use session::{ContextError, Contexts, Session, wall_clock};
pub use settings::{CloudAccount, CloudKey, ClusterRule, ClusterRules, PublishTarget, SETTLE, Safety, Settings};
pub use snapshot::{Recording, read_folder};
pub use supervisor::follow_kubeconfig;
pub use token_review::{Reviewed, ReviewedUser};
pub use tombstones::{add as add_tombstones, read as read_tombstones};
pub use undo::{OpenBackup, derive_in, plan_undo};
