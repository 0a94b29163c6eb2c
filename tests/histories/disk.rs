//! A disk in memory that knows what is safe on it.
//!
//! Invariants: what was written and not synced survives the end of a process, and any part of it a power cut.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trueup_core::engine::journal::Disk;

use super::seeded_rng::SeededRng;

/// A disk that several may look at while one writes.
#[derive(Debug, Clone, Default)]
pub struct MemoryDisk(Arc<Mutex<Platter>>);

#[derive(Debug, Default)]
struct Platter {
    bytes: Vec<u8>,
    /// Up to here a power cut takes nothing away.
    synced: usize,
    /// So many more bytes fit.
    capacity: Option<usize>,
    sync_fails: bool,
    /// The process ends within the next append, after so many bytes.
    dies_after: Option<usize>,
}

/// What a power cut left of what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    All,
    Part,
    Nothing,
}

impl MemoryDisk {
    pub fn synced(&self) -> usize {
        self.platter().synced
    }

    pub fn length(&self) -> usize {
        self.platter().bytes.len()
    }

    pub fn fill_up(&self, capacity: usize) {
        self.platter().capacity = Some(capacity);
    }

    pub fn break_sync(&self) {
        self.platter().sync_fails = true;
    }

    /// Frees capacity and repairs what was broken.
    pub fn mend(&self) {
        let mut platter = self.platter();
        (platter.capacity, platter.sync_fails, platter.dies_after) = (None, false, None);
    }

    pub fn die_after(&self, bytes: usize) {
        self.platter().dies_after = Some(bytes);
    }

    /// Takes away some of what was not synced.
    pub fn cut_power(&self, rng: &mut SeededRng) -> Left {
        let mut platter = self.platter();
        let unsynced = platter.bytes.len() - platter.synced;
        if unsynced == 0 {
            return Left::All;
        }
        let keep = rng.below(unsynced + 1);
        let length = platter.synced + keep;
        platter.bytes.truncate(length);
        if keep > 0 && rng.permille(300) {
            // The file grew before its content was written.
            platter.bytes.resize(length + unsynced - keep, 0);
        }
        match keep {
            0 => Left::Nothing,
            all if all == unsynced => Left::All,
            _ => Left::Part,
        }
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for MemoryDisk {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.platter().bytes.clone())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut platter = self.platter();
        if let Some(written) = platter.dies_after.take() {
            platter.bytes.extend(&bytes[..written.min(bytes.len())]);
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        match platter.capacity {
            Some(capacity) if capacity < bytes.len() => {
                platter.bytes.extend(&bytes[..capacity]);
                platter.capacity = Some(0);
                Err(io::Error::from(io::ErrorKind::StorageFull))
            }
            capacity => {
                platter.capacity = capacity.map(|capacity| capacity - bytes.len());
                platter.bytes.extend(bytes);
                Ok(())
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut platter = self.platter();
        if platter.sync_fails {
            return Err(io::Error::other("input/output error"));
        }
        platter.synced = platter.bytes.len();
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let mut platter = self.platter();
        let length = usize::try_from(length).expect("a file in memory");
        platter.bytes.truncate(length);
        platter.synced = platter.synced.min(length);
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut platter = self.platter();
        platter.bytes = bytes.to_vec();
        platter.synced = bytes.len();
        Ok(())
    }
}
