//! Inputs of an observer: clock, jitter, the run's digest key, its budgets, and when watches start.
//!
//! Invariants: no other code in this module reads a clock or a random number, so that a test controls both.

#![expect(clippy::disallowed_methods, reason = "the clock of the running program, behind a port")]

use std::hash::BuildHasher as _;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{Semaphore, watch};

use crate::budgets::{Budgets, Ledger};
use trueup_core::decode::Digester;

/// Concurrent lists over all clusters.
///
/// A page of 1000 Secrets of 7 kB is 7 MB, so this is about 110 MB at worst.
const LISTS_AT_ONCE_MAX: usize = 16;

/// A clock.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// A source of jitter, to spread requests over time.
pub trait Jitter: Send + Sync {
    /// A number from 0 (included) to 1 (excluded).
    fn fraction(&self) -> f64;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Jitter from the random seed of the process's hash maps. Not for keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessJitter;

impl Jitter for ProcessJitter {
    fn fraction(&self) -> f64 {
        let bits = std::hash::RandomState::new().hash_one(0u8) >> 11;
        // 53 bits fill the mantissa of a double.
        bits as f64 / (1u64 << 53) as f64
    }
}

/// When collections begin to be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchStart {
    /// As soon as they are listed.
    #[default]
    AfterList,
    /// When [`super::Observer::start_watches`] is called, from the versions of their lists. A command that reads a fleet
    /// once needs no watches, which are most of its requests and connections.
    OnRequest,
}

/// Holds the watches over one connection back until they are wanted.
#[derive(Debug)]
pub(super) struct WatchGate(watch::Sender<bool>);

impl WatchGate {
    pub fn new(start: WatchStart) -> Self {
        Self(watch::Sender::new(start == WatchStart::AfterList))
    }

    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub fn is_open(&self) -> bool {
        *self.0.borrow()
    }

    pub async fn opened(&self) {
        // Cannot fail: the sender lives as long as `self`.
        let _ = self.0.subscribe().wait_for(|is_open| *is_open).await;
    }
}

/// Inputs shared by every observer of a run.
#[derive(Clone)]
pub struct Ports {
    pub clock: Arc<dyn Clock>,
    pub jitter: Arc<dyn Jitter>,
    pub digester: Digester,
    /// Budgets, and what counts towards them.
    pub ledger: Ledger,
    pub watches: WatchStart,
    pub(super) lists_at_once: Arc<Semaphore>,
}

impl Ports {
    pub fn new(clock: Arc<dyn Clock>, jitter: Arc<dyn Jitter>, digester: Digester) -> Self {
        let lists_at_once = Arc::new(Semaphore::new(LISTS_AT_ONCE_MAX));
        let watches = WatchStart::default();
        Self { clock, jitter, digester, ledger: Ledger::default(), watches, lists_at_once }
    }

    /// The same inputs with these budgets instead of the default ones.
    pub fn with_budgets(self, budgets: Budgets) -> Self {
        Self { ledger: Ledger::new(budgets), ..self }
    }

    /// The same inputs with watches that start then.
    pub fn with_watches(self, watches: WatchStart) -> Self {
        Self { watches, ..self }
    }
}
