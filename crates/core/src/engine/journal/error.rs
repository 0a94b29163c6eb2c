//! Why the journal can't be used, and what to do about it.

use std::io;
use std::path::PathBuf;

use super::{Damage, FolderError};
use crate::engine::NotCanonical;

/// Why the journal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("{by} is writing to the journal")]
    Held { by: String },
    #[error("the journal's file {} cannot be opened", .path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("the journal {} is not a private regular file: {why}", .path.display())]
    Exposed { path: PathBuf, why: String },
    #[error("the journal cannot be read")]
    Read { source: io::Error },
    #[error("the journal is damaged at byte {offset}, after {records} whole records: {damage}")]
    Damaged { offset: u64, records: usize, damage: Damage },
    #[error("the rest of an append that never finished cannot be cut off the journal")]
    Cut { source: io::Error },
    #[error("nothing more can be written to the journal")]
    Write { source: io::Error },
    #[error("the journal failed before, and what is on the disk since then is not known")]
    FailedBefore,
    #[error("a record of {bytes} bytes is more than the journal takes")]
    TooLong { bytes: usize },
    #[error("a record holds a number that is not an integer")]
    Fraction { source: NotCanonical },
}

impl JournalError {
    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Folder(error) => error.remedy(),
            Self::Held { .. } => "wait until it has ended".to_owned(),
            Self::Open { .. } | Self::Read { .. } => "check its mode and the disk".to_owned(),
            Self::Exposed { path, .. } => {
                format!("find out who had access, then move it away or run chmod 600 {}", path.display())
            }
            Self::Damaged { .. } => {
                "keep the file, it is evidence, and move it away: a new one begins with the next apply".to_owned()
            }
            Self::Cut { .. } | Self::Write { .. } | Self::FailedBefore => {
                "check that the disk has free space and accepts writes, then start again".to_owned()
            }
            Self::TooLong { .. } => "plan for fewer clusters at once".to_owned(),
            Self::Fraction { .. } => "change the field with kubectl".to_owned(),
        }
    }
}
