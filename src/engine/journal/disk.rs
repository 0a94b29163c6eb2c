//! The few things the journal asks of a disk.
//!
//! Always true: nothing here knows what the bytes mean. Tests put a disk in its place that is full, breaks, or forgets
//! what was not synced.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// A file that grows at its end.
pub trait Disk: fmt::Debug + Send {
    /// Everything that is in the file.
    ///
    /// # Errors
    /// The disk can't be read.
    fn read_all(&mut self) -> io::Result<Vec<u8>>;

    /// Writes the bytes at the end. They may be lost until [`Disk::sync`] has returned.
    ///
    /// # Errors
    /// Not all of them were written; some may have been.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits until everything written is on the disk.
    ///
    /// # Errors
    /// Some of it may be lost, and asking again does not tell.
    fn sync(&mut self) -> io::Result<()>;

    /// Drops everything from `length` on.
    ///
    /// # Errors
    /// The file is as long as before.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// A file of the machine, opened for appending.
#[derive(Debug)]
pub(super) struct FileDisk(File);

impl FileDisk {
    /// Opens the file, or makes it with mode 0600 and waits until its folder knows it.
    pub(super) fn open(path: &Path, folder: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        File::open(folder)?.sync_all()?;
        Ok(Self(file))
    }
}

impl Disk for FileDisk {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.seek(SeekFrom::Start(0))?;
        self.0.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}
