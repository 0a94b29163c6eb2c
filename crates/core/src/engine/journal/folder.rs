//! The state folder: readable for its owner alone.
//!
//! Invariants: a [`StateFolder`] was a folder with no rights for group and others when it was looked at. One that has
//! some is refused and not mended: what lay in it may have been read or changed already, and its owner should know.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::JournalError;

/// Rights of group and others.
const OTHERS: u32 = 0o077;

/// A folder that is its owner's alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder(PathBuf);

/// Why the state folder can't be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("state folder {} has mode {mode:o}, expected 700", .path.display())]
    Exposed { path: PathBuf, mode: u32 },
    #[error("state folder {} is not a folder", .path.display())]
    NoFolder { path: PathBuf },
    #[error("state folder {} cannot be made or read", .path.display())]
    Unusable { path: PathBuf, source: io::Error },
}

impl FolderError {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Exposed { path, .. } => format!("run chmod 700 {}", path.display()),
            Self::NoFolder { .. } => "move it away".to_owned(),
            Self::Unusable { .. } => "check its mode, and that the disk takes writes".to_owned(),
        }
    }
}

impl StateFolder {
    /// Looks at the folder, and makes it if it is not there.
    ///
    /// # Errors
    /// It cannot be created, or its mode is not 700.
    pub fn prepare(path: &Path) -> Result<Self, FolderError> {
        if let Some(folder) = Self::look(path)? {
            return Ok(folder);
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|source| FolderError::Unusable { path: path.to_owned(), source })?;
        // Looked at again: another process may have been quicker.
        Self::look(path)?.ok_or_else(|| FolderError::Unusable {
            path: path.to_owned(),
            source: io::Error::from(io::ErrorKind::NotFound),
        })
    }

    /// Looks at the folder; nothing when it is not there.
    ///
    /// # Errors
    /// It is not a folder, or its mode is not 700.
    pub fn look(path: &Path) -> Result<Option<Self>, FolderError> {
        let found = match std::fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FolderError::Unusable { path: path.to_owned(), source }),
        };
        let mode = found.permissions().mode() & 0o777;
        if !found.is_dir() {
            return Err(FolderError::NoFolder { path: path.to_owned() });
        }
        if mode & OTHERS != 0 {
            return Err(FolderError::Exposed { path: path.to_owned(), mode });
        }
        Ok(Some(Self(path.to_owned())))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Refuses a file that is a link, no file, or readable for others. One that is not there is fine.
pub(super) fn refuse_exposed(path: &Path) -> Result<(), JournalError> {
    let exposed = |why: String| Err(JournalError::Exposed { path: path.to_owned(), why });
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(JournalError::Open { path: path.to_owned(), source }),
        Ok(found) if found.is_symlink() => exposed("it is a link, which is not followed".to_owned()),
        Ok(found) if !found.is_file() => exposed("it is not a regular file".to_owned()),
        Ok(found) if found.permissions().mode() & OTHERS != 0 => {
            exposed(format!("it has mode {:o}", found.permissions().mode() & 0o777))
        }
        Ok(_) => Ok(()),
    }
}
