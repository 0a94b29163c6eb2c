//! One writer at a time, by name.
//!
//! Invariants: the lock is the system's own lock on a file, so it ends with the process that holds it, however that
//! ends. The name in the file is for people; nothing is decided on it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use super::{JournalError, StateFolder, folder};

const FILE_NAME: &str = "lock";

/// The longest name that is read back: anything longer was not written by us.
const NAME_MAX: u64 = 512;

/// Who wants to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// What it is doing, as in `trueup apply by anna on laptop`.
    pub name: String,
    pub pid: u32,
}

/// The lock, for as long as it lives: it is held by keeping the file open.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub(super) fn take(folder: &StateFolder, holder: &Holder) -> Result<Self, JournalError> {
        let path = folder.path().join(FILE_NAME);
        folder::refuse_exposed(&path)?;
        let failed = |source| JournalError::Open { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Held { by: read_name(&mut file) }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        write_name(&mut file, holder).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

fn write_name(file: &mut File, holder: &Holder) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{} (pid {})", holder.name, holder.pid).as_bytes())
}

/// The holder's name. Between taking the lock and writing the name there is none yet.
fn read_name(file: &mut File) -> String {
    let mut name = String::new();
    match file.take(NAME_MAX).read_to_string(&mut name) {
        Ok(read) if read > 0 => name,
        Ok(_) | Err(_) => "another trueup".to_owned(),
    }
}
