//! What follows from what is known now: guests, interests, links, judgements.
//!
//! Invariant: an interest in a cluster that can't be observed is answered with the reason, never left open.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use super::cluster_session::{Asked, ClusterSession, Member};
use super::connection_budget;
use super::discover::{self, ClusterAccount};
use super::session::Live;
use super::update::Update;
use crate::connect::LinkEvent;
use crate::observe::Observer;
use trueup_core::world::{
    Change, ChangeSet, ClusterName, CollectionId, Delta, Gap, GapCause, Interest, Link, What, World,
};

/// How often interests may lead to further interests within a step. Deeper chains go on in the next one.
const ROUNDS_MAX: usize = 8;
/// How often it is found out what is wanted, at most: it takes a look at everything, and a busy cluster changes
/// thousands of times a second.
const WISHES_APART: Duration = Duration::from_millis(100);
/// The same after news that lead somewhere: a list that is whole for the first time, a cluster that answers. A guest is
/// reached over a chain of five of them, and a user waits for its rows. Short enough not to be felt; long enough for
/// a fleet of hundreds that all answer at once.
const WISHES_APART_AFTER_NEWS: Duration = Duration::from_millis(2);

/// Whether wishes led to nothing further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounds {
    Finished,
    Unfinished,
}

impl Live {
    /// Brings guests, interests, links and judgements up to what is known now.
    pub(super) fn follow(&mut self, mut changes: ChangeSet) -> Update {
        let now = self.ports.clock.now();
        self.follow_links(&mut changes);
        if !changes.is_empty() {
            let apart = if changes.iter().any(leads_somewhere) { WISHES_APART_AFTER_NEWS } else { WISHES_APART };
            let due = self.wishes.next(apart);
            self.wishes_due = Some(self.wishes_due.map_or(due, |earlier| earlier.min(due)));
        }
        if self.wishes_due.take_if(|due| *due <= now).is_some() {
            let rounds = self.follow_wishes(&mut changes);
            self.wishes.ran(now, self.ports.clock.now());
            if rounds == Rounds::Unfinished {
                self.wishes_due = Some(self.wishes.next(WISHES_APART));
            }
        }
        let mut update = std::mem::take(&mut self.late);
        for change in changes.iter() {
            if let Change::Cluster(name) = change {
                update.clusters.insert(name.clone(), self.world.view(now).cluster(name).cloned());
                // With the link, so that a cluster is never shown as live while its lists are refused.
                self.note_lists(std::iter::once(name), &mut update);
            }
        }
        let clusters: BTreeSet<&ClusterName> = changes.iter().map(Change::cluster).collect();
        for cluster in clusters {
            self.ports.ledger.retain(cluster, self.world.bytes_of(cluster));
        }
        if !changes.is_empty() {
            self.generation += 1;
        }
        self.unjudged.extend(changes);
        if self.judging.next(Duration::ZERO) <= self.ports.clock.now() {
            update.merge(self.judge());
        }
        update
    }

    /// Judges what was taken in, unless nothing was.
    pub(super) fn judge_now(&mut self) {
        if !self.unjudged.is_empty() {
            let update = self.judge();
            self.late.merge(update);
        }
    }

    /// When changes that wait are judged at the latest.
    pub(super) fn unjudged_due(&self) -> Option<Timestamp> {
        (!self.unjudged.is_empty()).then(|| self.judging.next(Duration::ZERO))
    }

    fn judge(&mut self) -> Update {
        let changes = std::mem::take(&mut self.unjudged);
        let mut update = Update { clocks: std::mem::take(&mut self.clock_changes), ..Update::default() };
        let relisted: BTreeSet<&ClusterName> =
            changes.iter().filter(|change| leads_somewhere(change)).map(Change::cluster).collect();
        self.note_lists(relisted.into_iter(), &mut update);
        let view = self.world.view(self.ports.clock.now());
        update.note(self.judgements.follow(&self.domains, view, &changes));
        update.note(self.judgements.wake(&self.domains, view));
        self.judging.ran(view.now, self.ports.clock.now());
        if !update.is_empty() {
            self.generation += 1;
        }
        update
    }

    /// Finds out what is wanted now, until that leads to nothing further.
    fn follow_wishes(&mut self, changes: &mut ChangeSet) -> Rounds {
        for _ in 0..ROUNDS_MAX {
            let mut more = ChangeSet::default();
            self.follow_guests(&mut more);
            self.follow_accounts(&mut more);
            self.follow_interests(&mut more);
            self.follow_links(&mut more);
            if more.is_empty() {
                return Rounds::Finished;
            }
            changes.extend(more);
        }
        Rounds::Unfinished
    }

    fn follow_guests(&mut self, changes: &mut ChangeSet) {
        let view = self.world.view(self.ports.clock.now());
        let guests = discover::guests(view);
        let reached = discover::reached_by_context(view);
        let gone: Vec<ClusterName> = self
            .sessions
            .values()
            .filter(|session| session.is_guest())
            .filter(|session| {
                let hosted_by = session.member.hosted_by.as_ref();
                hosted_by.is_some_and(|by| discover::is_gone(view, by) || discover::has_context(view, by, &reached))
            })
            .map(|session| session.member.name.clone())
            .collect();
        for name in gone {
            let removed = self.sessions.remove(&name);
            if removed.is_some_and(|session| session.clock_shown.is_some()) {
                self.clock_changes.insert(name.clone(), None);
            }
            changes.extend(self.world.remove_cluster(&name));
        }
        for guest in guests {
            let management = self.sessions.get(&guest.hosted_by.cluster).and_then(|host| host.connection.as_ref());
            let is_new = !self.sessions.contains_key(&guest.name) && guest.is_living();
            if let Some(connection) = management.filter(|_| is_new) {
                let member = self.resolver.member(&guest, connection);
                self.enter(member, changes);
            }
        }
        for (cluster, event) in connection_budget::changes(self.sessions.values(), self.live_max) {
            if event == LinkEvent::Released {
                self.rest(&cluster, changes);
            }
            self.link(&cluster, event, changes);
        }
    }

    /// Accounts enter with the first object that points into them, and stay.
    fn follow_accounts(&mut self, changes: &mut ChangeSet) {
        let accounts = discover::cluster_accounts(self.world.view(self.ports.clock.now()), &self.needed);
        for account in accounts {
            if !self.sessions.contains_key(&account.name)
                && let Some(member) = self.account(&account)
            {
                self.enter(member, changes);
            }
        }
    }

    /// An account is read with its cluster's credentials, so a new connection to the cluster gives the account a new
    /// connector, used at once: the old one would read Secrets with a login that may have ended.
    pub(super) fn renew_account_of(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        let accounts = discover::cluster_accounts(self.world.view(self.ports.clock.now()), &self.needed);
        for account in accounts.into_iter().filter(|account| account.cluster == *cluster) {
            let renewed = self.account(&account);
            if let (Some(session), Some(member)) = (self.sessions.get_mut(&account.name), renewed) {
                session.member.connector = member.connector;
                self.link(&account.name, LinkEvent::KubeconfigChanged, changes);
            }
        }
    }

    fn account(&self, account: &ClusterAccount) -> Option<Member> {
        let session = self.sessions.get(&account.cluster)?;
        let connection = session.connection.as_ref()?;
        self.resolver.account_of(account, &session.cluster(), &connection.client)
    }

    /// Guests are reached over their management cluster's connection, so a new one gives them new connectors.
    pub(super) fn renew_guests_of(&mut self, management: &ClusterName) {
        let Some(connection) = self.connection(management).cloned() else { return };
        let guests = discover::guests(self.world.view(self.ports.clock.now()));
        for guest in guests.iter().filter(|guest| guest.hosted_by.cluster == *management) {
            if let Some(session) = self.sessions.get_mut(&guest.name).filter(|session| session.is_guest()) {
                session.member.connector = self.resolver.member(guest, &connection).connector;
            }
        }
    }

    fn follow_interests(&mut self, changes: &mut ChangeSet) {
        let view = self.world.view(self.ports.clock.now());
        let mut wanted: BTreeMap<ClusterName, Vec<Interest>> = BTreeMap::new();
        let all = self
            .domains
            .iter()
            .flat_map(|domain| domain.interests(view))
            .chain(discover::interests(view, &self.needed));
        for interest in all {
            wanted.entry(interest.id.cluster.clone()).or_default().push(interest);
        }
        for (name, session) in &mut self.sessions {
            let interests = wanted.remove(name).unwrap_or_default();
            // A new connection clears the interests; what was asked before it may not be wanted any more.
            let is_cleared = interests.is_empty() && !session.asked.is_empty();
            let is_current = session.interests == interests && !is_cleared;
            if is_current && (session.observer.is_some() || session.is_answered()) {
                continue;
            }
            close_unwanted(&mut self.world, session, &interests, changes);
            ask(&mut self.world, session, &interests, changes);
            session.interests = interests;
        }
    }

    fn follow_links(&mut self, changes: &mut ChangeSet) {
        let observed = self.sessions.iter().filter(|(_, session)| session.observer.is_some());
        let observed: Vec<ClusterName> = observed.map(|(name, _)| name.clone()).collect();
        for cluster in observed {
            let Some(session) = self.sessions.get(&cluster) else { continue };
            let listed = session.observer.as_ref().map_or(0, Observer::objects_listed);
            let event = match session.machine.link() {
                Link::Listing { .. } | Link::Live { .. } if !session.is_answered() => Some(LinkEvent::Progress(listed)),
                Link::Listing { .. } => Some(self.dead(session).map_or(LinkEvent::AllListed, LinkEvent::Failing)),
                Link::Live { .. } => self.dead(session).map(LinkEvent::Failing),
                Link::Idle
                | Link::Connecting
                | Link::Degraded { .. }
                | Link::AuthExpired { .. }
                | Link::Failed { .. }
                | Link::Recorded => None,
            };
            if let Some(session) = self.sessions.get_mut(&cluster).filter(|session| session.is_answered()) {
                session.ailing = false;
            }
            if let Some(event) = event {
                self.link(&cluster, event, changes);
            }
        }
    }

    /// Why the whole connection counts as dead: every collection says so.
    fn dead(&self, session: &ClusterSession) -> Option<Gap> {
        if !session.ailing {
            return None;
        }
        let asked: BTreeSet<&CollectionId> =
            session.asked.keys().map(|(id, _)| id).filter(|id| ClusterSession::speaks_for_the_link(id)).collect();
        let mut last = None;
        for (id, completeness, _) in
            self.world.observations_of(&session.member.name).filter(|(id, ..)| asked.contains(id))
        {
            if session.served.lacks(&id.resource) {
                continue;
            }
            last =
                Some(completeness.gap().filter(|gap| matches!(gap.cause, GapCause::Unreachable | GapCause::Silent))?);
        }
        last.cloned()
    }
}

/// Whether a change may lead to a new interest. Objects that change one by one may too, but
/// they are many, and what follows from them can wait a moment.
fn leads_somewhere(change: &Change) -> bool {
    match change {
        Change::Cluster(_) | Change::Collection { what: What::Everything, .. } => true,
        Change::Collection { what: What::Keys(_), .. } => false,
    }
}

/// Drops collections without an interest.
fn close_unwanted(world: &mut World, session: &mut ClusterSession, interests: &[Interest], changes: &mut ChangeSet) {
    let ids: BTreeSet<&CollectionId> = interests.iter().map(|interest| &interest.id).collect();
    let facts: BTreeSet<(&CollectionId, TypeId)> =
        interests.iter().map(|interest| (&interest.id, interest.fact.type_id())).collect();
    session.asked.retain(|(id, fact), _| {
        let wanted = facts.contains(&(id, *fact));
        if !ids.contains(id) {
            changes.extend(world.close(id));
        } else if !wanted {
            world.close_fact(id, *fact);
        }
        wanted
    });
}

/// Has interests observed, or answers them with the reason why they can't be.
fn ask(world: &mut World, session: &mut ClusterSession, interests: &[Interest], changes: &mut ChangeSet) {
    let mut observed = Vec::new();
    for interest in interests {
        world.open(interest);
        let slot = (interest.id.clone(), interest.fact.type_id());
        let before = session.asked.get(&slot).copied();
        let gap = if session.served.lacks(&interest.id.resource) {
            let message = format!("{} does not serve {}", session.member.name, interest.id.resource.path());
            Some(Gap::new(GapCause::Discovery, message))
        } else {
            session.observer.is_none().then(|| session.rest.clone())
        };
        let asked = match gap {
            Some(gap) => {
                if before != Some(Asked::Answered) {
                    changes.extend(world.apply(&interest.id, interest.fact, Delta::Lost { gap }).1);
                }
                Asked::Answered
            }
            None => {
                observed.push(interest.clone());
                before.unwrap_or(Asked::Waiting)
            }
        };
        session.asked.insert(slot, asked);
    }
    if let Some(observer) = &mut session.observer {
        observer.set_interests(&observed);
    }
}
