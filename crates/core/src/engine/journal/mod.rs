//! The journal: intents before requests, and their results.
//!
//! Invariants:
//! - what [`Journal::append`] has returned for is on the disk, in order, all of it;
//! - what a record says is never changed: undo appends, and plans past their time are dropped whole, with a record
//!   that carries the hash of all that was there;
//! - the hash of a record covers the hash of the one before it, so that a change in the middle is found;
//! - no secret and no digest of a secret is in it;
//! - one process writes at a time, and the second learns who holds the lock.
//!
//! - [`StateFolder`]: its folder, readable for the owner alone.
//! - [`Record`]: what is written. [`Entry`]: the records of one plan, read together.
//! - [`PublishedHash`]: a hash that was published elsewhere, compared with the journal.
//! - `retention`: what is dropped when it is old enough.
//! - `frame`: the bytes of a record. `disk`: the few things asked of a disk, so that tests can let them fail.
//!
//! Elsewhere: deciding what to do ([`super::Plan`]), the objects that were deleted ([`super::vault`]).
//! Why a file and no database: `docs/decisions/0009-journal-file.md`.

mod disk;
mod entry;
mod error;
mod folder;
mod frame;
mod lock;
mod published;
mod record;
mod retention;
#[cfg(test)]
mod tests;
mod undone;

use std::io;

pub use disk::Disk;
pub use entry::{ActionEntry, ActionStanding, Approval, Entry, Sent, entries, is_memory, memory_of, open_intents};
pub use error::JournalError;
pub use folder::{FolderError, StateFolder};
pub use frame::{Damage, TornTail};
pub use lock::Holder;
pub use published::{PublishedHash, compare_published};
pub use record::{Answer, ApprovalWay, ApprovedCluster, FieldRecord, Found, LabelChange, Record, VerifiedState};
pub use retention::Dropped;
pub use undone::{Undone, undone};

use crate::files;
use disk::FileDisk;
use frame::{Chain, Reading};
use lock::Lock;

/// A journal is read as a whole. Entries have a few kilobytes, and finished plans are dropped after `keep`.
const JOURNAL_BYTES_MAX: u64 = 1 << 30;
/// The file's name in the state folder.
const FILE_NAME: &str = "journal";

/// The open journal. The process that holds it is the only writer.
#[derive(Debug)]
#[must_use = "an open journal locks out everybody else"]
pub struct Journal {
    disk: Box<dyn Disk>,
    chain: Chain,
    health: Health,
    /// Held for as long as the journal is open; a journal on a disk of a test has none.
    _lock: Option<Lock>,
}

/// What opening gives.
#[derive(Debug)]
pub struct Opened {
    pub journal: Journal,
    pub records: Vec<Record>,
    /// The rest of an append that never finished, which was cut off.
    pub recovered: Option<TornTail>,
}

/// What reading without the pen gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    pub lines: Vec<Line>,
    /// Bytes at the end that are no whole record: an append that is running, or one that never finished.
    pub torn: Option<TornTail>,
}

/// A record with its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub record: Record,
    /// SHA-256 over the record's bytes, which hold the hash of the one before.
    pub hash: [u8; 32],
}

/// Whether anything may still be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Sound,
    /// An append failed. What is on the disk since then is not known before the file is read again, and a second
    /// `fsync` after a failed one may answer "all is well" about pages that were thrown away.
    Failed,
}

impl Journal {
    /// Opens the journal for writing, and makes it if there is none.
    ///
    /// # Guarantees
    /// The rest of an unfinished append is cut off and reported; nothing else is ever changed.
    ///
    /// # Errors
    /// Somebody else writes, the file can't be read or written, or it is damaged.
    pub fn open(folder: &StateFolder, holder: &Holder) -> Result<Opened, JournalError> {
        let lock = Lock::take(folder, holder)?;
        let path = folder.path().join(FILE_NAME);
        folder::refuse_exposed(&path)?;
        let disk =
            FileDisk::open(&path, folder.path()).map_err(|source| JournalError::Open { path: path.clone(), source })?;
        let mut opened = Self::on_disk(Box::new(disk))?;
        opened.journal._lock = Some(lock);
        Ok(opened)
    }

    /// Opens a journal on any disk. The caller makes sure that no other process writes to it.
    ///
    /// # Errors
    /// The disk fails, or what is on it is damaged.
    pub fn on_disk(mut disk: Box<dyn Disk>) -> Result<Opened, JournalError> {
        let bytes = disk.read_all().map_err(|source| JournalError::Read { source })?;
        let Reading { lines, chain, torn } = frame::read(&bytes)?;
        if let Some(tail) = &torn {
            disk.cut(tail.offset).and_then(|()| disk.sync()).map_err(|source| JournalError::Cut { source })?;
        }
        let journal = Self { disk, chain, health: Health::Sound, _lock: None };
        Ok(Opened { journal, records: lines.into_iter().map(|line| line.record).collect(), recovered: torn })
    }

    /// The hash of the last record, as text. None: there is no record.
    pub fn last_hash(&self) -> Option<String> {
        (self.chain != Chain::start()).then(|| hash_text(&self.chain.end()))
    }

    /// Appends the records with one write and waits until they are on the disk.
    ///
    /// # Guarantees
    /// `Ok`: all of them are on the disk, after everything before. `Err`: none may be relied upon, and nothing more
    /// is written before the journal is opened again.
    ///
    /// # Errors
    /// The disk is full, broken or read-only; or a record is too long, which leaves the journal as it was.
    pub fn append(&mut self, records: &[Record]) -> Result<(), JournalError> {
        match self.health {
            Health::Failed => return Err(JournalError::FailedBefore),
            Health::Sound if records.is_empty() => return Ok(()),
            Health::Sound => {}
        }
        let mut chain = self.chain;
        let mut bytes = Vec::new();
        for record in records {
            chain.frame(record, &mut bytes)?;
        }
        if let Err(source) = self.disk.append(&bytes).and_then(|()| self.disk.sync()) {
            self.health = Health::Failed;
            return Err(JournalError::Write { source });
        }
        self.chain = chain;
        Ok(())
    }
}

impl Line {
    /// The hash as text: `sha256:` and hexadecimal digits.
    pub fn hash_text(&self) -> String {
        hash_text(&self.hash)
    }
}

fn hash_text(bytes: &[u8; 32]) -> String {
    bytes.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// Reads the journal without the lock: also while another process writes.
///
/// # Errors
/// The file cannot be read, its mode is not 600, or it is damaged. A missing journal is empty.
pub fn read(folder: &StateFolder) -> Result<History, JournalError> {
    let path = folder.path().join(FILE_NAME);
    folder::refuse_exposed(&path)?;
    let bytes = match files::read(&path, JOURNAL_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Default::default(),
        Err(source) => return Err(JournalError::Open { path, source }),
    };
    let Reading { lines, chain: _, torn } = frame::read(&bytes)?;
    Ok(History { lines, torn })
}
