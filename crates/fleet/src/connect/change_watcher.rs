//! Two things no connection tells: the kubeconfig was edited, and the machine slept.
//!
//! Polling a handful of files every other second costs less than notifications, and works on every file system.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::Clock;

/// How often to look: soon enough that a new login is felt at once, seldom enough not to be noticed.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The wall clock may be corrected by less than this without a suspend.
const JUMP_MIN: Duration = Duration::from_secs(10);

/// What was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeEvent {
    /// A kubeconfig file came, went or changed.
    Kubeconfig,
    /// The wall clock went another way than time did, as after sleep: connections that look open are dead.
    ClockJump,
}

/// Watches over both.
pub struct ChangeWatcher {
    files: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    clock: Clock,
    wall: Timestamp,
    steady: Instant,
    ticks: Interval,
}

/// What a changed file does not keep; nothing when there is no file.
type Stamp = Option<(u64, Option<SystemTime>)>;

impl ChangeWatcher {
    pub fn new(files: &[PathBuf], clock: Clock) -> Self {
        let mut ticks = tokio::time::interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let wall = clock();
        Self { stamps: stamps(files), files: files.to_vec(), clock, wall, steady: Instant::now(), ticks }
    }

    /// Waits until something is noticed. Giving up waiting loses nothing.
    pub async fn next(&mut self) -> ChangeEvent {
        loop {
            self.ticks.tick().await;
            if let Some(noticed) = self.look() {
                return noticed;
            }
        }
    }

    fn look(&mut self) -> Option<ChangeEvent> {
        let (wall, steady) = ((self.clock)(), Instant::now());
        let by_wall = wall.duration_since(self.wall);
        let by_time = jiff::SignedDuration::try_from(steady - self.steady).unwrap_or(jiff::SignedDuration::MAX);
        (self.wall, self.steady) = (wall, steady);
        if (by_wall - by_time).unsigned_abs() >= JUMP_MIN {
            return Some(ChangeEvent::ClockJump);
        }
        let stamps = stamps(&self.files);
        let changed = stamps != self.stamps;
        self.stamps = stamps;
        changed.then_some(ChangeEvent::Kubeconfig)
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((metadata.len(), metadata.modified().ok()))
    };
    files.iter().map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::sync::{Arc, OnceLock};

    use super::*;

    /// A wall clock that goes with tokio's, plus what the test adds.
    fn clock(offset: &Arc<AtomicI64>) -> Clock {
        let (offset, start) = (offset.clone(), OnceLock::new());
        Arc::new(move || {
            let start = *start.get_or_init(Instant::now);
            let seconds = start.elapsed().as_secs() as i64 + offset.load(Ordering::Relaxed);
            Timestamp::from_second(1_000_000 + seconds).unwrap()
        })
    }

    async fn within_a_minute(alarm: &mut ChangeWatcher) -> Option<ChangeEvent> {
        tokio::time::timeout(Duration::from_secs(60), alarm.next()).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn an_edited_a_new_and_a_removed_kubeconfig_are_noticed_once_each() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let mut alarm = ChangeWatcher::new(std::slice::from_ref(&file), clock(&Arc::default()));
        assert_eq!(within_a_minute(&mut alarm).await, None, "nothing happened");
        for (case, text) in [("new", Some("a")), ("edited", Some("ab")), ("removed", None)] {
            match text {
                Some(text) => std::fs::write(&file, text).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            assert_eq!(within_a_minute(&mut alarm).await, Some(ChangeEvent::Kubeconfig), "{case}");
            assert_eq!(within_a_minute(&mut alarm).await, None, "{case}: said twice");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_jumps_either_way_is_noticed_and_a_small_correction_is_not() {
        for (jump, noticed) in [(3600, Some(ChangeEvent::ClockJump)), (-3600, Some(ChangeEvent::ClockJump)), (3, None)]
        {
            let offset = Arc::default();
            let mut alarm = ChangeWatcher::new(&[], clock(&offset));
            assert_eq!(within_a_minute(&mut alarm).await, None, "{jump}: before");
            offset.store(jump, Ordering::Relaxed);
            assert_eq!(within_a_minute(&mut alarm).await, noticed, "{jump}");
        }
    }
}
