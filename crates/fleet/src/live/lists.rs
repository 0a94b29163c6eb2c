//! The lists of a connected cluster that could not be read: such a cluster is not simply live.
//!
//! Invariants:
//! - a kind that complete discovery lacks is not counted, and an answer that has not arrived yet is not a loss;
//! - only the collections of the asked cluster are visited.

use std::collections::BTreeMap;

use super::cluster_session::ClusterSession;
use super::session::Live;
use super::update::Update;
use trueup_core::world::{ClusterName, Completeness, Gap, GapCause, Link, World};

/// How many lists of a connected cluster could not be read in full, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UnreadLists {
    pub unread: usize,
    /// Lists that the checks need there.
    pub of: usize,
    /// Why the first of them was not read.
    pub first: Gap,
}

impl UnreadLists {
    pub fn read(&self) -> usize {
        self.of - self.unread
    }
}

impl Live {
    /// The unread lists that updates have named.
    pub(super) fn shown_lists(&self) -> BTreeMap<ClusterName, Option<UnreadLists>> {
        let shown = self.sessions.values().filter(|session| session.lists_shown.is_some());
        shown.map(|session| (session.member.name.clone(), session.lists_shown.clone())).collect()
    }

    /// Adds what became known about the lists of these clusters, unless an update has already said it.
    pub(super) fn note_lists<'c>(&mut self, clusters: impl Iterator<Item = &'c ClusterName>, update: &mut Update) {
        for name in clusters {
            let Some(session) = self.sessions.get(name) else {
                update.lists.insert(name.clone(), None);
                continue;
            };
            let now = unread_lists(&self.world, session);
            if now == session.lists_shown {
                continue;
            }
            if let Some(session) = self.sessions.get_mut(name) {
                session.lists_shown.clone_from(&now);
            }
            update.lists.insert(name.clone(), now);
        }
    }
}

/// The lists of a live cluster that could not be read; nothing where all were, and for other links, which give a reason
/// of their own.
fn unread_lists(world: &World, session: &ClusterSession) -> Option<UnreadLists> {
    if !matches!(session.machine.link(), Link::Live { .. }) {
        return None;
    }
    let (mut of, mut unread, mut first) = (0, 0, None);
    let lists = world
        .observations_of(&session.member.name)
        .filter(|(id, ..)| ClusterSession::speaks_for_the_link(id) && !session.served.lacks(&id.resource));
    for (_, known, _) in lists {
        of += 1;
        if let Some(gap) = lost(known) {
            unread += 1;
            first.get_or_insert(gap);
        }
    }
    Some(UnreadLists { unread, of, first: first?.clone() })
}

/// Why a list of a served kind was not read.
fn lost(known: &Completeness) -> Option<&Gap> {
    // A 404 of a kind that is served, or may be, is a failed read.
    known.gap().filter(|gap| gap.cause.is_loss() || gap.cause == GapCause::Discovery)
}
