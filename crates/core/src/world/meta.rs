//! The metadata most facts keep: who the object is, at which version, since when, and whether it is going.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::fact::Interner;
use super::ids::{ResourceVersion, Uid};
use super::raw::RawMeta;
use crate::redact::metadata_value;

/// Sorted pairs, shared between the objects that carry the same ones.
pub type Pairs = Arc<[(Arc<str>, Arc<str>)]>;

/// What most facts keep of `metadata`.
#[derive(Clone, PartialEq, Eq)]
pub struct Meta {
    pub uid: Uid,
    pub version: ResourceVersion,
    created: Created,
    /// Not public: on a Secret, values may be secret. [`Meta::label`] is for rules, [`Meta::shown_labels`] for text.
    labels: Pairs,
    pub deletion_state: DeletionState,
    pub owners: Owners,
    pub restoration: Restoration,
}

/// The second an object was created in, as API servers write it: a third of the size of an optional [`Timestamp`], of
/// which there is one per object.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Created(i64);

impl Created {
    /// Before every timestamp.
    const NOT_KNOWN: Self = Self(i64::MIN);

    fn parse(text: &str) -> Self {
        text.parse().map_or(Self::NOT_KNOWN, |at: Timestamp| Self(at.as_second()))
    }
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
            created: raw.creation_timestamp.as_ref().map_or(Created::NOT_KNOWN, |text| Created::parse(text)),
            labels: pool.pairs(raw.labels.iter().map(|(key, value)| (key.as_ref(), value.as_ref()))),
            deletion_state: DeletionState::of(raw),
            owners: if raw.owners.is_empty() { Owners::None } else { Owners::Some },
            restoration: Restoration::of(raw),
        }
    }

    /// When the object was created, to the second.
    pub fn created(&self) -> Option<Timestamp> {
        Timestamp::from_second(self.created.0).ok()
    }

    /// The value of a label, to be compared and not shown.
    pub fn label(&self, key: &str) -> Option<&str> {
        find(&self.labels, key)
    }

    /// The labels of an object of this kind as they may be shown.
    pub fn shown_labels<'m>(&'m self, kind: &'m str) -> impl Iterator<Item = (&'m str, Cow<'m, str>)> {
        self.labels.iter().map(move |(key, value)| (key.as_ref(), metadata_value(kind, key, value)))
    }

    /// The value of a label as it may be shown.
    pub fn shown_label(&self, kind: &str, key: &str) -> Option<Cow<'_, str>> {
        self.label(key).map(|value| metadata_value(kind, key, value))
    }

    /// Whether `trueup undo` put the object back.
    pub fn is_restored(&self) -> bool {
        self.restoration == Restoration::ByUndo
    }

    pub fn is_terminating(&self) -> bool {
        self.deletion_state == DeletionState::Terminating
    }
}

impl fmt::Debug for Meta {
    /// Prints the keys of the labels without their values, which are secret on a Secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uid, version, created: _, labels, deletion_state, owners, restoration } = self;
        let labels: Vec<&str> = labels.iter().map(|(key, _)| key.as_ref()).collect();
        let mut shown = f.debug_struct("Meta");
        shown.field("uid", uid).field("version", version).field("created", &self.created()).field("labels", &labels);
        shown.field("deletion_state", deletion_state).field("owners", owners).field("restoration", restoration).finish()
    }
}

/// The value of a key in sorted pairs.
pub fn find<'p>(pairs: &'p [(Arc<str>, Arc<str>)], key: &str) -> Option<&'p str> {
    let index = pairs.binary_search_by(|(name, _)| name.as_ref().cmp(key)).ok()?;
    Some(&pairs[index].1)
}
