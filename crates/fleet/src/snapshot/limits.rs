//! How much of a folder or an archive is read: it may be untrusted.
//!
//! Invariants: what is not read is a problem of its cluster, which is then not complete; text that aliases stand for counts
//! like text that is written out.

use std::sync::atomic::{AtomicU64, Ordering};

/// Limits of one folder or archive. Memory is about three times the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Object files.
    pub files_max: usize,
    /// Bytes of all object files.
    pub bytes_max: u64,
    /// Entries of all folders, other files included.
    pub entries_max: usize,
    /// Folders inside each other.
    pub depth_max: usize,
    /// Bytes that the aliases of all files stand for.
    pub alias_bytes_max: u64,
    /// Bytes of an unpacked archive, what is skipped included.
    pub unpacked_bytes_max: u64,
}

impl Default for Limits {
    /// A must-gather of a large cluster has some 20,000 object files and 200 MiB of objects.
    fn default() -> Self {
        Self {
            files_max: 200_000,
            bytes_max: 1 << 30,
            entries_max: 2_000_000,
            depth_max: 64,
            alias_bytes_max: 256 << 20,
            unpacked_bytes_max: 16 << 30,
        }
    }
}

/// Bytes that aliases stand for, over all files of a folder. The sum does not depend on the order of the files.
#[derive(Debug)]
pub(super) struct Aliases {
    bytes: AtomicU64,
    bytes_max: u64,
}

/// More than the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooManyBytes;

impl Aliases {
    pub fn new(bytes_max: u64) -> Self {
        Self { bytes: AtomicU64::new(0), bytes_max }
    }

    /// Counts what an alias stands for.
    ///
    /// # Errors
    /// All aliases together stand for more than the limit.
    pub fn add(&self, bytes: usize) -> Result<(), TooManyBytes> {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if self.is_over() { Err(TooManyBytes) } else { Ok(()) }
    }

    pub fn is_over(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.bytes_max
    }
}
