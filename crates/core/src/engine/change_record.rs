//! Change records: what changed in a session, from what to what, when, and by which field manager.
//!
//! Invariants: what the first listing brings is no change; a record holds no value that is secret.
//!
//! Elsewhere: edits of objects (`world::ObjectEdit`), what is shown of records (the console).

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::finding::{State, SubjectId};
use crate::world::{ClusterName, Link, ObjectEdit};

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRecord {
    /// When it was seen.
    pub at: Timestamp,
    pub cluster: ClusterName,
    pub change: RecordedChange,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedChange {
    Finding {
        subject: Arc<SubjectId>,
        /// Nothing where there was no such subject.
        from: Option<RecordedVerdict>,
        /// Nothing where the subject no longer exists.
        to: Option<RecordedVerdict>,
        /// The edit it follows from, where one was seen.
        edit: Option<Arc<ObjectEdit>>,
    },
    Link {
        from: LinkState,
        to: LinkState,
        /// Why, where the link is not live: `connection refused`.
        why: Option<Box<str>>,
    },
}

/// A verdict and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedVerdict {
    pub state: State,
    pub verdict: &'static str,
}

crate::named_enum! {
    /// The link of a cluster, the worst first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum LinkState {
        /// The login expired, or the cluster cannot be reached.
        Down = "down",
        Retrying = "retrying",
        /// Live, with lists that could not be read.
        Partial = "partial",
        /// Connecting, listing, or waiting for the next attempt.
        Connecting = "connecting",
        Idle = "idle",
        Recorded = "recorded",
        Live = "live",
    }
}

/// Whether every list that is needed was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListsRead {
    All,
    Some,
}

impl LinkState {
    pub fn of(link: &Link, lists: ListsRead) -> Self {
        match (link, lists) {
            (Link::Live { .. }, ListsRead::All) => Self::Live,
            (Link::Live { .. }, ListsRead::Some) => Self::Partial,
            (Link::Connecting | Link::Listing { .. }, _) => Self::Connecting,
            (Link::Degraded { .. }, _) => Self::Retrying,
            (Link::AuthExpired { .. } | Link::Failed { .. }, _) => Self::Down,
            (Link::Idle, _) => Self::Idle,
            (Link::Recorded, _) => Self::Recorded,
        }
    }

    /// Whether a cluster stays in this state: connecting leads somewhere else, and is no change of its own.
    fn is_lasting(self) -> bool {
        match self {
            Self::Live | Self::Partial | Self::Retrying | Self::Down => true,
            Self::Connecting | Self::Idle | Self::Recorded => false,
        }
    }
}

/// The last lasting link of each cluster, so that `● → ↻ → ●` is two changes whatever was tried in between.
#[derive(Debug, Default)]
pub struct LinkStates(BTreeMap<ClusterName, LinkState>);

impl LinkStates {
    /// Takes the link of a cluster in; returns the link before, where this is a change.
    pub fn put(&mut self, cluster: &ClusterName, now: LinkState) -> Option<LinkState> {
        if !now.is_lasting() {
            return None;
        }
        let before = self.0.insert(cluster.clone(), now)?;
        (before != now).then_some(before)
    }

    /// Forgets a cluster that is not part of the fleet any more.
    pub fn remove(&mut self, cluster: &ClusterName) {
        self.0.remove(cluster);
    }
}

impl ChangeRecord {
    /// The field manager that is behind it, where one is known.
    pub fn by(&self) -> Option<&str> {
        match &self.change {
            RecordedChange::Finding { edit, .. } => edit.as_ref()?.by.as_deref(),
            RecordedChange::Link { .. } => None,
        }
    }

    /// `oidcProviders 3 → 1`, with this arrow; of a link the reason.
    pub fn field(&self, arrow: &str) -> Option<String> {
        match &self.change {
            RecordedChange::Finding { edit, .. } => Some(edit.as_ref()?.describe(arrow)),
            RecordedChange::Link { why, .. } => why.as_deref().map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests;
