//! What an observer takes from outside itself: the time, chance, and the run's digest key.
//!
//! Always true: nothing else in this room reads a clock or makes a random number, so that a test decides both.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::Semaphore;

use trueup_core::decode::Digester;

/// How many lists may be on their way at once, over all clusters.
///
/// A page of 1000 Secrets of 7 kB is 7 MB here, so that these are about 110 MB at worst.
const LISTS_AT_ONCE_MAX: usize = 16;

/// Tells the time.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// Makes chance, to spread requests over time.
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

/// Chance good enough to spread requests, from the seed each hash map of a process gets. Not for keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessJitter;

impl Jitter for ProcessJitter {
    fn fraction(&self) -> f64 {
        let bits = std::hash::RandomState::new().hash_one(0u8) >> 11;
        // 53 bits fill the mantissa of a double.
        bits as f64 / (1u64 << 53) as f64
    }
}

/// What every observer of a run shares.
#[derive(Clone)]
pub struct Ports {
    pub clock: Arc<dyn Clock>,
    pub jitter: Arc<dyn Jitter>,
    pub digester: Digester,
    pub(super) lists_at_once: Arc<Semaphore>,
}

impl Ports {
    pub fn new(clock: Arc<dyn Clock>, jitter: Arc<dyn Jitter>, digester: Digester) -> Self {
        Self { clock, jitter, digester, lists_at_once: Arc::new(Semaphore::new(LISTS_AT_ONCE_MAX)) }
    }
}
