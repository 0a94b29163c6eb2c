//! Taking in what happened: reports of observers, connections made or not, the clock.
//!
//! Invariants:
//! - a report over an earlier connection changes nothing;
//! - another cluster under the same name starts from nothing.

use std::time::Duration;

use super::asked::Asked;
use super::attempt::{self, Done, Opened, What};
use super::cluster_session::ClusterSession;
use super::session::{Live, later};
use crate::budgets::Budget;
use crate::connect::LinkEvent;
use crate::observe::{Batch, Observer, ObserverSetup, VersionFloor};
use trueup_core::world::{Applied, ChangeSet, ClusterName, CollectionId, Delta, GapCause, Served};

/// Reports taken in before judging: enough to merge a burst, few enough to answer a key press in between.
const REPORTS_A_STEP_MAX: usize = 1_000;
/// The same for connections.
const DONE_A_STEP_MAX: usize = 256;
/// How long a complete answer about what is served holds: new kinds come with operators, by hand.
const SERVED_HOLDS: Duration = Duration::from_secs(300);
/// How long an incomplete one holds.
const SERVED_UNKNOWN_HOLDS: Duration = Duration::from_secs(30);

impl Live {
    pub(super) fn take_reports(&mut self, first: Batch, changes: &mut ChangeSet) {
        self.take_report(first, changes);
        for _ in 1..REPORTS_A_STEP_MAX {
            let Some(batch) = self.inbox.try_next() else { break };
            self.take_report(batch, changes);
        }
    }

    pub(super) fn take_all_done(&mut self, first: Done, changes: &mut ChangeSet) {
        self.take_done(first, changes);
        for _ in 1..DONE_A_STEP_MAX {
            let Some(done) = self.aside.try_join_next() else { break };
            self.take_done(done.expect("work done aside catches its panics and is never aborted"), changes);
        }
    }

    fn take_report(&mut self, batch: Batch, changes: &mut ChangeSet) {
        let Batch { cluster, epoch, collection, fact, delta } = batch;
        let Some(session) = self.sessions.get_mut(&cluster).filter(|session| session.epoch == epoch) else {
            return;
        };
        if let Delta::Lost { gap } = &delta {
            session.ailing |= matches!(gap.cause, GapCause::Unreachable | GapCause::Silent);
        }
        let (is_answer, refused) = match &delta {
            Delta::Listed { .. } | Delta::Seen { .. } => (true, None),
            Delta::Lost { gap } => (true, (gap.cause == GapCause::Unauthorized).then(|| gap.clone())),
            Delta::Begun { .. } | Delta::Changed { .. } | Delta::Confirmed { .. } => (false, None),
        };
        if is_answer {
            session.asked.answer(&collection, fact.type_id());
        }
        let (applied, more) = self.world.apply(&collection, fact, delta);
        if let Applied::RefusedOlder { offered, seen } = applied {
            tracing::warn!(%cluster, %offered, %seen, "older list refused");
        }
        changes.extend(more);
        self.limit_objects(&collection, changes);
        self.ports.ledger.retain(&cluster, self.world.bytes_of(&cluster));
        self.note_clock(&cluster);
        if let Some(gap) = refused {
            self.link(&cluster, attempt::unauthorized(gap), changes);
        }
    }

    /// A collection that grew over its budget by its watch is dropped and listed again: the list says whether it fits.
    fn limit_objects(&mut self, collection: &CollectionId, changes: &mut ChangeSet) {
        let budgets = *self.ports.ledger.budgets();
        if self.world.objects_of(collection) as u64 <= budgets.objects_per_collection {
            return;
        }
        let Some(session) = self.sessions.get_mut(&collection.cluster) else { return };
        let gap = budgets.over(Budget::ObjectsPerCollection).gap(&format!("watching {}", collection.resource.path()));
        for (fact, _) in session.asked.facts(collection) {
            let (facts, gap) = (fact.new_batch(), gap.clone());
            changes.extend(self.world.apply(collection, *fact, Delta::Seen { facts, gap }).1);
        }
        if let Some(observer) = &session.observer {
            observer.resync_collections(&[collection.clone()].into());
        }
    }

    fn take_done(&mut self, done: Done, changes: &mut ChangeSet) {
        let Done { cluster, epoch, what } = done;
        if self.sessions.get(&cluster).is_none_or(|session| session.epoch != epoch) {
            return;
        }
        match what {
            What::Connected(opened) => self.connected(&cluster, *opened, changes),
            What::NotConnected(event) => self.link(&cluster, event, changes),
            What::Discovered(served) => self.discovered(&cluster, served, changes),
        }
        self.note_clock(&cluster);
    }

    /// Notes whether the last responses show another excessive clock skew than the last update.
    fn note_clock(&mut self, cluster: &ClusterName) {
        if let Some(change) = self.sessions.get_mut(cluster).and_then(ClusterSession::clock_change) {
            self.clock_changes.insert(cluster.clone(), change);
        }
    }

    pub(super) fn take_time(&mut self, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        for cluster in self.sessions.due(now) {
            let Some(session) = self.sessions.get_mut(&cluster) else { continue };
            if session.rediscover_at.take_if(|at| *at <= now).is_some() {
                let (epoch, client) = (session.epoch, session.connection.as_ref().map(|open| open.client.clone()));
                if let Some(client) = client {
                    self.aside.spawn(attempt::rediscover(cluster.clone(), epoch, client));
                }
            }
            if session.retry_at.take_if(|at| *at <= now).is_some() {
                self.link(&cluster, LinkEvent::RetryDue, changes);
            }
        }
        if self.sessions.next_turn(self.live_max).is_some_and(|at| at <= now) {
            self.move_connections(changes);
        }
    }

    fn connected(&mut self, cluster: &ClusterName, opened: Opened, changes: &mut ChangeSet) {
        let Opened { connection, identity, mut served, turn } = opened;
        self.served_kinds.share(&mut served);
        let now = self.ports.clock.now();
        let Some(session) = self.sessions.get_mut(cluster) else { return };
        let replaced = session.identity.is_known() && identity.is_known() && session.identity != identity;
        if replaced {
            tracing::warn!(%cluster, "cluster identity changed: dropped the collections of the previous cluster");
            changes.extend(self.world.remove_cluster(cluster));
            session.marks = VersionFloor::default();
            session.asked.clear();
            session.served_once = None;
        }
        session.identity = identity;
        session.take_served(served);
        session.rediscover_at = Some(later(now, served_holds(&session.served)));
        session.observer = Some(Observer::new(ObserverSetup {
            client: connection.client.clone(),
            epoch: session.epoch,
            ports: self.ports.clone(),
            marks: session.marks.clone(),
            outbox: self.outbox.clone(),
            fallback_namespaces: session.member.namespaces.clone(),
        }));
        session.connection = Some(connection);
        session.turn = Some(turn);
        // The new observer gets every interest, and lists all of them again.
        session.asked.set_all(Asked::Waiting, |_| true);
        self.interests.mark(cluster);
        self.link(cluster, LinkEvent::Connected, changes);
        self.renew_guests_of(cluster);
        self.renew_account_of(cluster, changes);
    }

    fn discovered(&mut self, cluster: &ClusterName, mut served: Served, changes: &mut ChangeSet) {
        self.served_kinds.share(&mut served);
        let now = self.ports.clock.now();
        let Some(session) = self.sessions.get_mut(cluster) else { return };
        let before = session.served.clone();
        session.take_served(served);
        session.rediscover_at = Some(later(now, served_holds(&session.served)));
        if session.served != before {
            self.interests.mark(cluster);
            changes.extend(self.world.put_cluster(session.cluster()));
        }
    }
}

fn served_holds(served: &Served) -> Duration {
    match served {
        Served::Complete(_) | Served::Recorded(_) => SERVED_HOLDS,
        Served::Unknown(_) => SERVED_UNKNOWN_HOLDS,
    }
}
