//! What the tasks of one process share: the fence, what is under way, and the stop switch.
//!
//! Invariants:
//! - work for a shard begins under the lock of the fence, so that a shard is never released with work under way;
//! - the stop switch fails closed: what was not read within [`STOP_AGE_MAX`] counts as set.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clocks::Clocks;
use crate::fence::Fence;
use crate::moment::Moment;
use crate::shard::ShardId;
use trueup_core::engine::{Blocked, GateName};
use trueup_operate::WriteGuard;

/// How long one write may take. With the renewal of a Lease every 2 s, at least 12 s of it are left.
pub const WRITE_TIME_MAX: Duration = Duration::from_secs(8);
/// How old the last look at the stop switch may be: it is read every 2 s.
const STOP_AGE_MAX: Duration = Duration::from_secs(10);

/// Shared by the tasks of a process.
#[derive(Debug)]
pub struct Held {
    pub clocks: Clocks,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    fence: Fence,
    busy: BTreeSet<ShardId>,
    stop: StopSwitch,
}

/// What ConfigMap `trueup-stop` said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum StopSwitch {
    NotRead,
    Off { read_at: Moment },
    On,
    Unknown { why: String },
}

/// Work for one shard. The shard is not released before it is dropped.
#[must_use = "the shard may be released once this is dropped"]
#[derive(Debug)]
pub struct Work {
    held: Arc<Held>,
    pub shard: ShardId,
}

impl Held {
    pub fn new() -> Arc<Self> {
        let state = State { fence: Fence::default(), busy: BTreeSet::new(), stop: StopSwitch::NotRead };
        Arc::new(Self { clocks: Clocks::start(), state: Mutex::new(state) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes or reads the fence.
    pub fn fence<T>(&self, with: impl FnOnce(&mut Fence) -> T) -> T {
        with(&mut self.lock().fence)
    }

    /// The shards in which new work may begin.
    pub fn open_shards(&self) -> BTreeSet<ShardId> {
        let now = self.clocks.cautious();
        let state = self.lock();
        state.fence.held(now).into_iter().filter(|shard| state.fence.is_open(*shard, now)).collect()
    }

    /// Begins work for a shard. None: its Lease is not held, or it is being released.
    pub fn begin(self: &Arc<Self>, shard: ShardId) -> Option<Work> {
        let now = self.clocks.cautious();
        let mut state = self.lock();
        let begins = state.fence.is_open(shard, now) && state.busy.insert(shard);
        begins.then(|| Work { held: self.clone(), shard })
    }

    pub fn is_busy(&self, shard: ShardId) -> bool {
        self.lock().busy.contains(&shard)
    }

    /// Notes what ConfigMap `trueup-stop` is: there, absent, or unknown.
    pub fn note_stop(&self, is_there: Result<bool, String>) {
        let read_at = self.clocks.cautious();
        self.lock().stop = match is_there {
            Ok(true) => StopSwitch::On,
            Ok(false) => StopSwitch::Off { read_at },
            Err(why) => StopSwitch::Unknown { why },
        };
    }

    /// Why nothing may be written anywhere.
    pub fn stopped(&self) -> Option<Blocked> {
        let now = self.clocks.cautious();
        let why = match &self.lock().stop {
            StopSwitch::Off { read_at } if now.since(*read_at) <= STOP_AGE_MAX => return None,
            StopSwitch::Off { .. } | StopSwitch::NotRead => "ConfigMap trueup-stop was not read lately".to_owned(),
            StopSwitch::On => "ConfigMap trueup-stop exists".to_owned(),
            StopSwitch::Unknown { why } => format!("ConfigMap trueup-stop cannot be read: {why}"),
        };
        Some(Blocked { gate: GateName::KillSwitch, why })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.held.lock().busy.remove(&self.shard);
    }
}

/// The guard of a run: the Lease of the shard, and the stop switch.
pub struct LeaseGuard {
    pub held: Arc<Held>,
    pub shard: ShardId,
}

impl WriteGuard for LeaseGuard {
    fn permit(&self) -> Result<Duration, Blocked> {
        if let Some(stopped) = self.held.stopped() {
            return Err(stopped);
        }
        let now = self.held.clocks.cautious();
        let permit = self.held.fence(|fence| fence.permit(self.shard, WRITE_TIME_MAX, now));
        let closed = |why: crate::fence::FenceClosed| Blocked { gate: GateName::Lease, why: why.to_string() };
        permit.map(|permit| permit.time_max()).map_err(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARD: ShardId = ShardId(1);

    fn renewed(held: &Held) {
        let now = held.clocks.cautious();
        held.fence(|fence| fence.renewed(SHARD, now));
        held.note_stop(Ok(false));
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_was_paused_past_its_lease_gets_no_permit() {
        let held = Held::new();
        let guard = LeaseGuard { held: held.clone(), shard: SHARD };
        assert!(guard.permit().is_err(), "no Lease");
        renewed(&held);
        assert_eq!(guard.permit(), Ok(WRITE_TIME_MAX));
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(guard.permit(), Ok(WRITE_TIME_MAX));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(guard.permit().unwrap_err().gate, GateName::Lease, "9 s are left, a request needs 10");
        tokio::time::advance(Duration::from_secs(60)).await;
        held.note_stop(Ok(false));
        assert_eq!(guard.permit().unwrap_err().gate, GateName::Lease);
        assert!(held.begin(SHARD).is_none(), "nothing begins either");
    }

    #[tokio::test(start_paused = true)]
    async fn the_stop_switch_fails_closed() {
        let held = Held::new();
        renewed(&held);
        let guard = LeaseGuard { held: held.clone(), shard: SHARD };
        let gate = || guard.permit().unwrap_err().gate;
        held.note_stop(Ok(true));
        assert_eq!(gate(), GateName::KillSwitch, "it is there");
        held.note_stop(Err("forbidden (403)".to_owned()));
        assert_eq!(gate(), GateName::KillSwitch, "it cannot be read");
        held.note_stop(Ok(false));
        assert!(guard.permit().is_ok());
        tokio::time::advance(Duration::from_secs(11)).await;
        assert_eq!(gate(), GateName::KillSwitch, "it was not read lately");
    }

    #[tokio::test(start_paused = true)]
    async fn work_begins_once_and_never_in_a_shard_that_is_left() {
        let held = Held::new();
        renewed(&held);
        let work = held.begin(SHARD).unwrap();
        assert!(held.begin(SHARD).is_none(), "it is busy");
        assert!(held.is_busy(SHARD));
        drop(work);
        assert!(!held.is_busy(SHARD));
        held.fence(|fence| fence.leave(SHARD));
        assert!(held.begin(SHARD).is_none());
        assert_eq!(held.open_shards(), BTreeSet::new());
    }
}
