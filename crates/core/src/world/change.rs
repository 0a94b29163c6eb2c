//! What changed in the world between two looks, so that only what it touches is judged again.

use std::sync::Arc;

use super::collection::Standing;
use super::ids::{ClusterName, Key};
use super::interest::CollectionId;
use super::object_edit::ObjectEdit;

/// Changes in the order they were applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeSet {
    changes: Vec<Change>,
    /// What of tracked fields changed with them.
    edits: Vec<Arc<ObjectEdit>>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Something in a collection.
    Collection {
        id: CollectionId,
        what: What,
        /// Values of [`super::Fact::index`] that an object came to have or ceased to have: who looks objects up by them is
        /// found without visiting the fleet.
        values: Vec<Box<str>>,
    },
    /// The cluster itself: its identity, what it serves, what hosts it; or it came or went.
    Cluster(ClusterName),
    /// The link to the cluster, and nothing else of it. It changes several times while a fleet connects.
    Link {
        cluster: ClusterName,
        /// Whether the reason why the cluster as a whole was not read changed ([`super::MemberSet`]).
        standing: Standing,
    },
}

/// Which part of a collection changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// These objects alone.
    Keys(Vec<Key>),
    /// How well it is known, so that every conclusion from it may differ.
    Everything,
}

impl ChangeSet {
    pub fn push(&mut self, change: Change) {
        self.changes.push(change);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    /// Adds what of tracked fields changed.
    pub fn push_edit(&mut self, edit: ObjectEdit) {
        self.edits.push(Arc::new(edit));
    }

    /// What of tracked fields changed, in the order it was applied.
    pub fn edits(&self) -> &[Arc<ObjectEdit>] {
        &self.edits
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn extend(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.edits.extend(other.edits);
    }
}

impl FromIterator<Change> for ChangeSet {
    fn from_iter<I: IntoIterator<Item = Change>>(changes: I) -> Self {
        Self { changes: changes.into_iter().collect(), edits: Vec::new() }
    }
}

impl Change {
    pub fn cluster(&self) -> &ClusterName {
        match self {
            Self::Collection { id, .. } => &id.cluster,
            Self::Cluster(name) | Self::Link { cluster: name, .. } => name,
        }
    }

    /// The cluster, where the change is about it or its link and not about a collection.
    pub fn whole_cluster(&self) -> Option<&ClusterName> {
        match self {
            Self::Cluster(name) | Self::Link { cluster: name, .. } => Some(name),
            Self::Collection { .. } => None,
        }
    }
}
