//! The backup gate: what is deleted or overwritten has to be sealed first, so the preview says when that could not be done.

use super::{Blocked, Candidate, GateInputs, GateName, blocked};
use crate::engine::action::Undo;

/// Whether a backup could be made from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupCheck {
    /// Not checked: the plan cannot be applied from here.
    NotLooked,
    Possible,
    /// Why not: key, folder or disk space.
    Impossible {
        why: String,
    },
}

/// What relies on a backup, a delete or new content, is not offered where none could be made.
pub fn backup(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    let relies = match candidate.draft.undo {
        Undo::RestoreFromBackup => true,
        Undo::RemoveWhatWasAdded | Undo::DeleteWhatWasCreated | Undo::PutTagsBack | Undo::None => false,
    };
    if !relies || !around.is_live(candidate.cluster()) {
        return None;
    }
    match &around.conditions.backup {
        BackupCheck::NotLooked | BackupCheck::Possible => None,
        BackupCheck::Impossible { why } => Some(blocked(GateName::Backup, format!("no backup could be made: {why}"))),
    }
}
