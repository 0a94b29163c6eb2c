//! The state folder of a run: journal and vault, and what stops all writes.
//!
//! Invariants: one process writes to the journal at a time; a kill switch that cannot be inspected counts as set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

use crate::error::OperateError;
use crate::event::Notice;
use crate::session::Session;
use trueup_core::engine::executor::{ExecutorClock, Switches};
use trueup_core::engine::journal::{Journal, Opened, Record, StateFolder};
use trueup_core::engine::vault::Vault;
use trueup_core::engine::{Blocked, FreezeWindow, GateName, KillSwitch, TOMBSTONE_TIME};
use trueup_core::world::{ClockSkew, TrustedNow};

/// The journal and vault of a run.
pub(crate) struct State {
    pub journal: Journal,
    pub records: Vec<Record>,
    pub vault: Vault,
}

/// Opens the journal and the vault, and creates them where they are missing.
///
/// # Errors
/// The folder, the journal or the vault cannot be used.
pub(crate) fn open_state(session: &Session, operation: &str) -> Result<State, OperateError> {
    let folder = StateFolder::prepare(session.state_path()?)?;
    let Opened { journal, records, recovered } = Journal::open(&folder, &session.holder(operation))?;
    if let Some(tail) = recovered {
        session.events.notice(Notice::JournalTruncated { offset: tail.offset });
    }
    let vault = Vault::prepare(&folder, &session.settings.safety.recipients)?;
    Ok(State { journal, records, vault })
}

/// Drops finished plans past `[safety] keep` from the journal, with their backups, if the servers that were just read
/// confirm the local time. Otherwise everything is kept: the local clock alone ends no backup.
///
/// # Errors
/// The journal cannot be written.
pub(crate) fn compact_journal(
    session: &Session,
    journal: &mut Journal,
    records: &[Record],
    vault: &Vault,
    clocks: Vec<ClockSkew>,
) -> Result<(), OperateError> {
    let Some(now) = TrustedNow::confirm(Timestamp::now(), clocks) else { return Ok(()) };
    let keep = SignedDuration::try_from(session.settings.safety.keep).unwrap_or(SignedDuration::MAX);
    let keep = keep.max(TOMBSTONE_TIME);
    if let Some(dropped) = journal.drop_old(records, keep, now, &mut |file| vault.forget(file))? {
        session.events.notice(Notice::Compacted { plans: dropped.plans, days: keep.as_hours() / 24 });
    }
    Ok(())
}

/// The clock of this machine.
pub(crate) struct WallTime;

impl ExecutorClock for WallTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(span).boxed()
    }
}

/// Looks whether a kill switch is set.
pub(crate) fn read_kill_switch(file: &Path) -> Option<KillSwitch> {
    KillSwitch::of(file.display().to_string(), &file.symlink_metadata())
}

/// What stops all writes, from flags and configuration; the kill switch is read each time.
pub(crate) struct SafetySwitches {
    read_only: bool,
    kill_switch: Option<PathBuf>,
    freeze: Vec<FreezeWindow>,
}

impl SafetySwitches {
    pub fn new(session: &Session) -> Self {
        let safety = &session.settings.safety;
        Self {
            read_only: session.read_only || safety.read_only,
            kill_switch: safety.kill_switch.clone(),
            freeze: safety.freeze.clone(),
        }
    }
}

impl Switches for SafetySwitches {
    fn shut(&self, now: Timestamp) -> Option<Blocked> {
        let blocked = |gate, why: String| Some(Blocked { gate, why });
        if self.read_only {
            return blocked(GateName::ReadOnly, "read-only mode is on".to_owned());
        }
        if let Some(switch) = self.kill_switch.as_deref().and_then(read_kill_switch) {
            return blocked(GateName::KillSwitch, switch.to_string());
        }
        let window = self.freeze.iter().find(|window| window.contains(now))?;
        blocked(GateName::Freeze, format!("the freeze window {window} is on"))
    }
}
