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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{session, session_at};
    use trueup_core::engine::Conditions;
    use trueup_core::engine::journal::{ApprovalWay, entries};

    #[test]
    fn a_kill_switch_at_a_path_that_cannot_be_inspected_stops_all_writes() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        symlink(at("nowhere"), at("dangling")).unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        let long = "x".repeat(300);
        let cases = [
            ("absent", "absent", None),
            ("absent in an absent folder", "none/absent", None),
            ("a file", "file", Some(GateName::KillSwitch)),
            ("a folder", "folder", Some(GateName::KillSwitch)),
            ("a link that leads nowhere", "dangling", Some(GateName::KillSwitch)),
            ("below a file (ENOTDIR)", "file/stop", Some(GateName::KillSwitch)),
            ("behind a circle of links (ELOOP)", "loop/stop", Some(GateName::KillSwitch)),
            ("a name that is too long (ENAMETOOLONG)", long.as_str(), Some(GateName::KillSwitch)),
        ];
        for (case, name, expected) in cases {
            let mut session = session_at(at("state"));
            session.settings.safety.kill_switch = Some(at(name));
            let found =
                crate::plan::configured(&session, &crate::PlanRequest::default(), Conditions::at(Timestamp::now()));
            let shut = SafetySwitches::new(&session).shut(Timestamp::now());
            assert_eq!(shut.map(|blocked| blocked.gate), expected, "case: {case}: between requests");
            assert_eq!(found.kill_switch.is_some(), expected.is_some(), "case: {case}: at plan and recheck");
        }
    }

    #[test]
    fn a_state_folder_lock_or_key_that_cannot_be_used_refuses_the_run() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        type Spoil = fn(&Path);
        let mode = |path: PathBuf, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        let cases: [(&str, Spoil); 7] = [
            ("the folder is readable by its group", |state| {
                std::fs::set_permissions(state, std::fs::Permissions::from_mode(0o750)).unwrap();
            }),
            ("the lock is a folder", |state| std::fs::create_dir(state.join("lock")).unwrap()),
            ("the lock is a link", |state| symlink("/dev/null", state.join("lock")).unwrap()),
            ("the lock is readable by others", |state| {
                std::fs::write(state.join("lock"), "").unwrap();
                std::fs::set_permissions(state.join("lock"), std::fs::Permissions::from_mode(0o644)).unwrap();
            }),
            ("the journal is a link", |state| symlink("/dev/null", state.join("journal")).unwrap()),
            ("the journal is a folder", |state| std::fs::create_dir(state.join("journal")).unwrap()),
            ("the journal is not a journal", |state| {
                std::fs::write(state.join("journal"), [7; 64]).unwrap();
                std::fs::set_permissions(state.join("journal"), std::fs::Permissions::from_mode(0o600)).unwrap();
            }),
        ];
        for (case, spoil) in cases {
            let dir = tempfile::tempdir().unwrap();
            let state = dir.path().join("state");
            StateFolder::prepare(&state).unwrap();
            spoil(&state);
            assert!(open_state(&session_at(state), "test").is_err(), "case: {case}");
        }
        let keys: [(&str, Spoil); 4] = [
            ("a folder", |key| std::fs::create_dir(key).unwrap()),
            ("a link", |key| symlink("/dev/zero", key).unwrap()),
            ("too short", |key| std::fs::write(key, [1; 31]).unwrap()),
            ("empty", |key| std::fs::write(key, []).unwrap()),
        ];
        for (case, spoil) in keys {
            let dir = tempfile::tempdir().unwrap();
            let state = dir.path().join("state");
            StateFolder::prepare(&state).unwrap();
            let key = state.join("plan.key");
            spoil(&key);
            if key.symlink_metadata().is_ok_and(|found| found.is_file()) {
                mode(key.clone(), 0o600);
            }
            assert!(session_at(state).mark_key().is_err(), "case: plan.key is {case}");
            assert!(key.symlink_metadata().is_ok(), "case: plan.key is {case}: it is not replaced");
        }
        assert!(session().mark_key().is_err(), "no state folder");
    }

    /// A server whose clock is this many seconds ahead.
    fn ahead(seconds: i64) -> ClockSkew {
        let now = Timestamp::now();
        ClockSkew::measure(now + SignedDuration::from_secs(seconds), now, Duration::ZERO)
    }

    #[test]
    fn a_local_clock_that_no_server_confirms_drops_no_backup() {
        let (plan, at) = ("sha256:01d0".to_owned(), Timestamp::now() - SignedDuration::from_hours(24 * 91));
        let approved = Record::PlanApproved {
            plan: plan.clone(),
            who: "anna".to_owned(),
            host: "laptop".to_owned(),
            how: ApprovalWay::Typed,
            at,
            clusters: Vec::new(),
            undoes: None,
        };
        let backup = |file: &str| Record::Backup {
            plan: plan.clone(),
            action: "a1".to_owned(),
            file: file.to_owned(),
            digest: String::new(),
        };
        let cases = [
            ("no server sent a Date", vec![], true),
            ("a server is nine days behind: the local clock is ahead", vec![ahead(-9 * 86_400)], true),
            ("one server agrees and another does not", vec![ahead(1), ahead(-9 * 86_400)], true),
            ("a server agrees", vec![ahead(1)], false),
        ];
        for (case, clocks, is_kept) in cases {
            let dir = tempfile::tempdir().unwrap();
            let session = session_at(dir.path().join("state"));
            let State { mut journal, vault, .. } = open_state(&session, "test").unwrap();
            let file = vault.seal(&zeroize::Zeroizing::new(b"{}".to_vec())).unwrap().file;
            let finished = Record::Finished { plan: plan.clone(), at, counts: [].into() };
            journal.append(&[approved.clone(), backup(&file), finished]).unwrap();
            drop(journal);
            let State { mut journal, records, vault } = open_state(&session, "test").unwrap();
            compact_journal(&session, &mut journal, &records, &vault, clocks).unwrap();
            drop(journal);
            let kept = open_state(&session, "test").unwrap().records;
            assert_eq!((!entries(&kept).is_empty(), vault.open(&file).is_ok()), (is_kept, is_kept), "case: {case}");
        }
    }
}
