//! The sessions of the fleet, with what the loop asks of all of them: who is not settled, who is listing, when to wake,
//! which guest gets a connection.
//!
//! Invariant: a session that may have changed is looked at before any of these is answered, and no other is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::cluster_session::ClusterSession;
use super::connection_budget::{ConnectionBudget, Move};
use super::work;
use trueup_core::world::{ClusterName, Link};

#[derive(Default)]
pub(super) struct Sessions {
    /// Boxed: a node of the map allocates eleven values, and a session is large.
    all: BTreeMap<ClusterName, Box<ClusterSession>>,
    /// May have changed since they were last looked at.
    touched: BTreeSet<ClusterName>,
    /// May have changed since their links were last followed.
    unlinked: BTreeSet<ClusterName>,
    unsettled: BTreeSet<ClusterName>,
    listing: BTreeSet<ClusterName>,
    wakes: BTreeSet<(Timestamp, ClusterName)>,
    wake_at: BTreeMap<ClusterName, Timestamp>,
    budget: ConnectionBudget,
}

impl Sessions {
    pub fn get(&self, name: &ClusterName) -> Option<&ClusterSession> {
        self.all.get(name).map(AsRef::as_ref)
    }

    pub fn get_mut(&mut self, name: &ClusterName) -> Option<&mut ClusterSession> {
        let session = self.all.get_mut(name)?;
        if !self.touched.contains(name) {
            self.touched.insert(session.member.name.clone());
        }
        if !self.unlinked.contains(name) {
            self.unlinked.insert(session.member.name.clone());
        }
        Some(session)
    }

    pub fn contains(&self, name: &ClusterName) -> bool {
        self.all.contains_key(name)
    }

    pub fn insert(&mut self, session: ClusterSession) {
        let name = session.member.name.clone();
        self.touched.insert(name.clone());
        self.unlinked.insert(name.clone());
        self.all.insert(name, Box::new(session));
    }

    pub fn remove(&mut self, name: &ClusterName) -> Option<ClusterSession> {
        self.touched.insert(name.clone());
        self.all.remove(name).map(|session| *session)
    }

    pub fn names(&self) -> impl Iterator<Item = &ClusterName> {
        self.all.keys()
    }

    pub fn values(&self) -> impl Iterator<Item = &ClusterSession> {
        self.all.values().map(AsRef::as_ref)
    }

    /// Every session, to be changed: for what concerns the whole fleet, such as listing it again.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut ClusterSession> {
        self.touched.extend(self.all.keys().cloned());
        self.unlinked.extend(self.all.keys().cloned());
        self.all.values_mut().map(AsMut::as_mut)
    }

    /// Those that are still being read.
    pub fn unsettled(&self) -> impl Iterator<Item = &ClusterName> {
        let is_unsettled = |name: &&ClusterName| self.all.get(*name).is_some_and(|session| !session.is_settled());
        let known = self.unsettled.iter().filter(|name| !self.touched.contains(*name));
        known.chain(self.touched.iter().filter(is_unsettled))
    }

    /// Takes those whose links may follow.
    pub fn take_unlinked(&mut self) -> BTreeSet<ClusterName> {
        std::mem::take(&mut self.unlinked)
    }

    /// Those that are being listed.
    pub fn listing(&mut self) -> &BTreeSet<ClusterName> {
        self.refresh();
        &self.listing
    }

    /// The next moment at which one wants to be woken.
    pub fn next_wake(&mut self) -> Option<Timestamp> {
        self.refresh();
        self.wakes.first().map(|(at, _)| *at)
    }

    /// Those that want to be woken by now.
    pub fn due(&mut self, now: Timestamp) -> Vec<ClusterName> {
        self.refresh();
        self.wakes.iter().take_while(|(at, _)| *at <= now).map(|(_, name)| name.clone()).collect()
    }

    /// What to do with the connections of guests.
    pub fn moves(&mut self, live_max: usize, now: Timestamp) -> Vec<(ClusterName, Move)> {
        self.refresh();
        self.budget.moves(live_max, now)
    }

    /// When the next guest is to be read again in the place of another.
    pub fn next_turn(&mut self, live_max: usize) -> Option<Timestamp> {
        self.refresh();
        self.budget.next_turn(live_max)
    }

    fn refresh(&mut self) {
        for name in std::mem::take(&mut self.touched) {
            work::count(1);
            let session = self.all.get(&name).map(AsRef::as_ref);
            note(&mut self.unsettled, &name, session.filter(|session| !session.is_settled()));
            let is_listing = |session: &&ClusterSession| matches!(session.machine.link(), Link::Listing { .. });
            note(&mut self.listing, &name, session.filter(is_listing));
            self.budget.note(&name, session);
            let wake_at = session.and_then(ClusterSession::wake_at);
            if let Some(before) = self.wake_at.remove(&name).filter(|before| wake_at != Some(*before)) {
                self.wakes.remove(&(before, name.clone()));
            }
            if let Some(at) = wake_at {
                self.wakes.insert((at, name.clone()));
                self.wake_at.insert(name, at);
            }
        }
    }
}

/// Has a name in a set exactly while there is a session that belongs there.
fn note(names: &mut BTreeSet<ClusterName>, name: &ClusterName, session: Option<&ClusterSession>) {
    if session.is_none() {
        names.remove(name);
    } else if !names.contains(name) {
        names.insert(name.clone());
    }
}
