//! What follows from changes: interests, links, judgements.
//!
//! Invariants: an interest in a cluster that cannot be observed is answered with the reason, never left open. Work follows
//! the changes: a cluster that none of them is about is not looked at. Elsewhere: guests and accounts (`guests`).

use std::any::TypeId;
use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;

use super::asked::Asked;
use super::cluster_session::ClusterSession;
use super::discover;
use super::interest_table::ChangedNeeds;
use super::session::{Live, PROGRESS_EVERY, later};
use super::update::Update;
use super::work;
use crate::connect::LinkEvent;
use crate::observe::Observer;
use trueup_core::world::{
    Change, ChangeSet, ClusterName, CollectionId, Delta, Gap, GapCause, Interest, Link, What, World,
};

/// How often interests may lead to further interests within a step. Deeper chains go on in the next one.
const ROUNDS_MAX: usize = 8;
/// How often it is found out what is wanted, at most: a busy cluster changes thousands of times a second, and what
/// arrives meanwhile is one batch.
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
        self.follow_progress(now);
        if !changes.is_empty() {
            let apart = if changes.iter().any(leads_somewhere) { WISHES_APART_AFTER_NEWS } else { WISHES_APART };
            let due = self.wishes.next(apart);
            self.wishes_due = Some(self.wishes_due.map_or(due, |earlier| earlier.min(due)));
            self.unfollowed.extend(changes.clone());
        }
        if self.wishes_due.take_if(|due| *due <= now).is_some() {
            let rounds = self.follow_wishes(&mut changes);
            self.wishes.ran(now, self.ports.clock.now());
            if rounds == Rounds::Unfinished {
                self.wishes_due = Some(self.wishes.next(WISHES_APART));
            }
        }
        let mut update = std::mem::take(&mut self.late);
        let mut shown = std::mem::take(&mut self.progressed);
        shown.extend(changes.iter().filter_map(Change::whole_cluster).cloned());
        let view = self.world.view(now);
        update.clusters.extend(shown.iter().map(|name| (name.clone(), view.cluster(name).cloned())));
        // With the link, so that a cluster is never shown as live while its lists are refused.
        self.note_lists(shown.iter(), &mut update);
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
        let relisted: BTreeSet<ClusterName> =
            changes.iter().filter(|change| leads_somewhere(change)).map(Change::cluster).cloned().collect();
        self.note_lists(relisted.iter(), &mut update);
        update.edits = changes.edits().to_vec();
        let view = self.world.view(self.ports.clock.now());
        update.note(self.judgements.follow(&self.domains, view, &changes));
        update.note(self.judgements.wake(&self.domains, view));
        if !update.findings.is_empty() {
            update.arrived = relisted;
        }
        self.judging.ran(view.now, self.ports.clock.now());
        if !update.is_empty() {
            self.generation += 1;
        }
        update
    }

    /// Finds out what follows from the changes since the last time, until that leads to nothing further.
    fn follow_wishes(&mut self, changes: &mut ChangeSet) -> Rounds {
        for _ in 0..ROUNDS_MAX {
            let mut news = std::mem::take(&mut self.unfollowed);
            let mut more = ChangeSet::default();
            self.follow_guests(&news, &mut more);
            self.follow_accounts(&news, &mut more);
            news.extend(more.clone());
            let mut answers = ChangeSet::default();
            self.follow_interests(&news, &mut answers);
            self.follow_links(&mut answers);
            let is_last = more.is_empty() && answers.is_empty();
            changes.extend(more);
            changes.extend(answers.clone());
            self.unfollowed = answers;
            if is_last {
                return Rounds::Finished;
            }
        }
        Rounds::Unfinished
    }

    fn follow_interests(&mut self, news: &ChangeSet, changes: &mut ChangeSet) {
        let view = self.world.view(self.ports.clock.now());
        for (index, check) in self.domains.iter().enumerate() {
            for name in check.interested(news, view) {
                let cluster = view.cluster(&name);
                let interests = cluster.map(|cluster| check.interests_of(cluster, view)).unwrap_or_default();
                self.interests.replace((name, index), interests);
            }
        }
        let changed: BTreeSet<&ClusterName> = news.iter().map(Change::cluster).collect();
        for name in changed {
            let cluster = view.cluster(name);
            let interests = cluster.map(|cluster| discover::interests_of(cluster, &self.needed)).unwrap_or_default();
            self.interests.replace((name.clone(), self.domains.len()), interests);
        }
        for (cluster, needs) in self.interests.take_changed() {
            let Some(session) = self.sessions.get_mut(&cluster) else { continue };
            let ids: BTreeSet<CollectionId> = match needs {
                ChangedNeeds::Collections(ids) => ids,
                ChangedNeeds::Everything => {
                    self.interests.collections(&cluster).chain(session.asked.ids()).cloned().collect()
                }
            };
            for id in ids {
                work::count(1);
                let interests = self.interests.of(&id);
                close_unwanted(&mut self.world, session, &id, &interests, changes);
                ask(&mut self.world, session, &id, &interests, changes);
            }
        }
    }

    /// Counts the objects of the clusters that are being listed, from time to time.
    fn follow_progress(&mut self, now: Timestamp) {
        if now < self.progress_at {
            return;
        }
        self.progress_at = later(now, PROGRESS_EVERY);
        let listing: Vec<ClusterName> = self.sessions.listing().iter().cloned().collect();
        for cluster in listing {
            let observer = self.sessions.get(&cluster).and_then(|session| session.observer.as_ref());
            if let Some(listed) = observer.map(Observer::objects_listed) {
                self.link(&cluster, LinkEvent::Progress(listed), &mut ChangeSet::default());
            }
        }
    }

    fn follow_links(&mut self, changes: &mut ChangeSet) {
        for cluster in self.sessions.take_unlinked() {
            work::count(1);
            let Some(session) = self.sessions.get(&cluster).filter(|session| session.observer.is_some()) else {
                continue;
            };
            let event = match session.machine.link() {
                Link::Listing { .. } | Link::Live { .. } if !session.is_answered() => None,
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
                session.note_answered();
            }
            if let Some(event) = event {
                self.link(&cluster, event, changes);
            }
        }
        // Following a link changes its session, which gives it nothing further to follow.
        self.sessions.take_unlinked();
    }

    /// Why the whole connection counts as dead: every collection says so.
    fn dead(&self, session: &ClusterSession) -> Option<Gap> {
        if !session.ailing {
            return None;
        }
        let asked: BTreeSet<&CollectionId> =
            session.asked.ids().filter(|id| ClusterSession::speaks_for_the_link(id)).collect();
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
        Change::Cluster(_) | Change::Link { .. } | Change::Collection { what: What::Everything, .. } => true,
        Change::Collection { what: What::Keys(_), .. } => false,
    }
}

/// Drops facts of a collection that are not needed any more, and the collection with the last one.
fn close_unwanted(
    world: &mut World,
    session: &mut ClusterSession,
    id: &CollectionId,
    interests: &[Interest],
    changes: &mut ChangeSet,
) {
    let held: Vec<TypeId> = session.asked.facts(id).iter().map(|(fact, _)| fact.type_id()).collect();
    let is_wanted = |fact: &TypeId| interests.iter().any(|interest| interest.fact.type_id() == *fact);
    for fact in held.into_iter().filter(|fact| !is_wanted(fact)) {
        session.asked.remove(id, fact);
        if !interests.is_empty() {
            world.close_fact(id, fact);
        }
    }
    if interests.is_empty() {
        changes.extend(world.close(id));
    }
}

/// Has a collection observed, or answers with the reason why it cannot be.
fn ask(
    world: &mut World,
    session: &mut ClusterSession,
    id: &CollectionId,
    interests: &[Interest],
    changes: &mut ChangeSet,
) {
    let gap = if session.served.lacks(&id.resource) {
        let message = format!("{} does not serve {}", session.member.name, id.resource.path());
        Some(Gap::new(GapCause::Discovery, message))
    } else {
        session.observer.is_none().then(|| session.rest.clone())
    };
    for interest in interests {
        world.open(interest);
        let before = session.asked.get(id, interest.fact.type_id());
        let asked = match &gap {
            Some(gap) => {
                if before != Some(Asked::Answered) {
                    changes.extend(world.apply(id, interest.fact, Delta::Lost { gap: gap.clone() }).1);
                }
                Asked::Answered
            }
            None => before.unwrap_or(Asked::Waiting),
        };
        session.asked.put(id, interest.fact, asked);
    }
    if let Some(observer) = &mut session.observer {
        observer.change(id, if gap.is_some() { &[] } else { interests });
    }
}
