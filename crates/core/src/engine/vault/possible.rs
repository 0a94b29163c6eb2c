//! Whether a backup could be made now, found out without making anything.
//!
//! Invariants: "possible" is no promise. Sealing and reading back decides, right before a delete.

use std::path::Path;

use rustix::fs::{Access, access, statvfs};

use super::key::Keys;
use crate::engine::journal::StateFolder;

/// Space for a wave of 64 objects of the largest size etcd holds (1.5 MiB), sealed: 96 MiB would refuse small disks for
/// objects of a size that hardly exists. A sixteenth of it shows that a disk is not full.
const FREE_BYTES_MIN: u64 = 6 << 20;

/// Checks the state folder, the key and the free disk space.
///
/// # Errors
/// One sentence that says why no backup could be made.
pub fn check_possible(state: &Path, recipients: &[String]) -> Result<(), String> {
    let folder = StateFolder::look(state).map_err(|error| format!("{error}; {}", error.remedy()))?;
    if let Some(folder) = &folder {
        Keys::look(folder, recipients).map_err(|error| match std::error::Error::source(&error) {
            Some(source) => format!("{error} ({source})"),
            None => error.to_string(),
        })?;
    }
    let existing = state.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    if let Err(error) = access(existing, Access::WRITE_OK) {
        return Err(format!("the state folder {} takes no writes ({error})", state.display()));
    }
    let disk =
        statvfs(existing).map_err(|error| format!("the disk of {} cannot be asked ({error})", state.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < FREE_BYTES_MIN {
        return Err(format!("the disk of {} has {free} bytes left; free some space", state.display()));
    }
    Ok(())
}
