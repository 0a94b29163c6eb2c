//! The metadata most facts keep: who the object is, at which version, since when, and whether it is going.

use std::sync::Arc;

use jiff::Timestamp;

use super::fact::Interner;
use super::ids::{ResourceVersion, Uid};
use super::raw::RawMeta;

/// Sorted pairs, shared between the objects that carry the same ones.
pub type Pairs = Arc<[(Arc<str>, Arc<str>)]>;

/// What most facts keep of `metadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub created: Option<Timestamp>,
    pub labels: Pairs,
    pub deletion_state: DeletionState,
    pub owners: Owners,
    pub restoration: Restoration,
}

/// On an object that `trueup undo` put back: the plan and action whose delete was undone.
pub const RESTORED_FROM: &str = "trueup/restored-from";

/// Whether `trueup undo` put the object back. A delete of such an object is never selected by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restoration {
    None,
    ByUndo,
}

impl Restoration {
    pub fn of(raw: &RawMeta<'_>) -> Self {
        if raw.annotation(RESTORED_FROM).is_some() { Self::ByUndo } else { Self::None }
    }
}

/// Whether deletion of the object was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionState {
    Active,
    /// `deletionTimestamp` is set.
    Terminating,
}

impl DeletionState {
    pub fn of(raw: &RawMeta<'_>) -> Self {
        if raw.deletion_timestamp.is_some() { Self::Terminating } else { Self::Active }
    }
}

/// Whether the object names owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owners {
    None,
    Some,
}

impl Meta {
    pub fn project(raw: &RawMeta<'_>, pool: &mut Interner) -> Self {
        Self {
            uid: Uid::parse(&raw.uid),
            version: ResourceVersion::parse(&raw.resource_version),
            created: raw.creation_timestamp.as_ref().and_then(|text| text.parse().ok()),
            labels: pool.pairs(raw.labels.iter().map(|(key, value)| (key.as_ref(), value.as_ref()))),
            deletion_state: DeletionState::of(raw),
            owners: if raw.owners.is_empty() { Owners::None } else { Owners::Some },
            restoration: Restoration::of(raw),
        }
    }

    pub fn label(&self, key: &str) -> Option<&str> {
        find(&self.labels, key)
    }

    /// Whether `trueup undo` put the object back.
    pub fn is_restored(&self) -> bool {
        self.restoration == Restoration::ByUndo
    }

    pub fn is_terminating(&self) -> bool {
        self.deletion_state == DeletionState::Terminating
    }
}

/// The value of a key in sorted pairs.
pub fn find<'p>(pairs: &'p [(Arc<str>, Arc<str>)], key: &str) -> Option<&'p str> {
    let index = pairs.binary_search_by(|(name, _)| name.as_ref().cmp(key)).ok()?;
    Some(&pairs[index].1)
}
