//! The few things the journal asks of a disk.
//!
//! Invariants: nothing here knows what the bytes mean. Tests put a disk in its place that is full, breaks, or forgets
//! what was not synced.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::JOURNAL_BYTES_MAX;
use crate::files;

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

    /// Puts these bytes in the place of everything, and waits until they are on the disk. Whatever happens on the way,
    /// the file is the old one or the new one.
    ///
    /// # Errors
    /// Which of the two it is may not be known.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// The name of the file while it is compacted.
const DRAFT: &str = "new";

/// A file of the machine, opened for appending.
#[derive(Debug)]
pub(super) struct FileDisk {
    file: File,
    path: PathBuf,
    folder: PathBuf,
}

impl FileDisk {
    /// Opens the file, or makes it with mode 0600 and waits until its folder knows it.
    pub(super) fn open(path: &Path, folder: &Path) -> io::Result<Self> {
        let file = options().create(true).open(path)?;
        File::open(folder)?.sync_all()?;
        Ok(Self { file, path: path.to_owned(), folder: folder.to_owned() })
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true).mode(0o600);
    options
}

impl Disk for FileDisk {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut bytes = files::take(&self.file, JOURNAL_BYTES_MAX)?;
        Ok(std::mem::take(&mut *bytes))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let draft = self.path.with_extension(DRAFT);
        // What a run that was killed left there is not needed; a link is not followed.
        match std::fs::remove_file(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = options().create_new(true).open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&draft, &self.path)?;
        File::open(&self.folder)?.sync_all()?;
        self.file = file;
        Ok(())
    }
}
