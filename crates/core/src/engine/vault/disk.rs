//! The few things the vault asks of a disk.
//!
//! Invariants: nothing here knows what the bytes mean. Tests put a disk in its place that is full or breaks.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::files;

/// A backup holds one object; etcd allows 1.5 MiB.
const BACKUP_BYTES_MAX: u64 = 64 << 20;

/// Where sealed files lie.
pub trait BackupDisk: fmt::Debug + Send + Sync {
    /// Makes a file that was not there, and waits until it and its folder are on the disk.
    ///
    /// # Errors
    /// It was not made, or may be lost.
    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Everything that is in a file.
    ///
    /// # Errors
    /// It is not there or can't be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Removes a file.
    ///
    /// # Errors
    /// It is still there, or never was.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The files of the machine.
#[derive(Debug)]
pub(super) struct FileDisk;

impl BackupDisk for FileDisk {
    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        path.parent().map_or(Ok(()), sync_folder)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = files::read(path, BACKUP_BYTES_MAX)?;
        Ok(std::mem::take(&mut *bytes))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

/// Waits until the folder knows the files that were made in it.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
