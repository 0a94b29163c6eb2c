//! The loop: connections, discovery, interests, deltas, judgements.
//!
//! ```text
//!   connections ─► identity, what is served ─┐
//!   observers  ─► deltas ────────────────────┼─► world ─► interests, guests ─► observers, connections
//!   the clock  ─► retries, deadlines ────────┘     └───► judgements ─► updates
//! ```
//!
//! Invariant: what happens between two waits is one step, judged as a whole.
//!
//! Elsewhere: taking one thing in (`intake`), what follows from it (`follow`), a cluster's link (`links`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::asked::Asked;
use super::attempt::{AttemptTurns, Done};
use super::cluster_session::{ClusterSession, Member};
use super::discover::{ClusterAccount, Guest, Needed};
use super::guest_names::GuestNames;
use super::interest_table::InterestTable;
use super::pacing::Pacing;
use super::sessions::Sessions;
use super::shared_kinds::SharedKinds;
use super::update::{AskAfter, Command, Question, Update};
use crate::clouds::{AccountPort, Accounts};
use crate::connect::{Connection, FixedConnector, LinkEvent, TlsTrust};
use crate::observe::{Batch, Clock, Inbox, Outbox, Ports, ProcessJitter, WatchStart, outbox};
use trueup_checks::Check;
use trueup_checks::judgements::Judgements;
use trueup_core::decode::Digester;
use trueup_core::world::{
    ChangeSet, ClockSkew, Cluster, ClusterName, ClusterSource, CollectionId, Link, RiskClass, View, World,
};

/// How often a listing cluster's count of objects is sent.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_millis(500);
/// Guests that are kept live at once, unless the configuration says otherwise.
pub const LIVE_MAX: usize = 64;

/// Makes members of guests.
pub trait GuestResolver: Send + Sync {
    /// The guest as a member, reached over its management cluster.
    fn member(&self, guest: &Guest, management: &Connection) -> Member;

    /// The cloud account a cluster's machines run in, as a member. Nothing where no check needs it.
    fn account_of(&self, _account: &ClusterAccount, _cluster: &Cluster, _client: &kube::Client) -> Option<Member> {
        None
    }
}

/// What the loop is made of.
pub struct LiveSetup {
    pub domains: Vec<Box<dyn Check>>,
    pub members: Vec<Member>,
    pub resolver: Box<dyn GuestResolver>,
    pub ports: Ports,
    pub live_max: usize,
}

/// Whether waiting brought everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    Yes,
    /// These clusters were still being read.
    TimedOut {
        waiting: Vec<ClusterName>,
    },
}

/// The living fleet.
pub struct Live {
    pub(super) world: World,
    pub(super) judgements: Judgements,
    pub(super) domains: Vec<Box<dyn Check>>,
    /// What they need beyond the members.
    pub(super) needed: Needed,
    pub(super) resolver: Box<dyn GuestResolver>,
    pub(super) ports: Ports,
    pub(super) live_max: usize,
    pub(super) sessions: Sessions,
    pub(super) interests: InterestTable,
    pub(super) guest_names: GuestNames,
    pub(super) served_kinds: SharedKinds,
    pub(super) aside: JoinSet<Done>,
    pub(super) turns: AttemptTurns,
    pub(super) outbox: Outbox,
    pub(super) inbox: Inbox,
    pub(super) needs: u64,
    /// Connections given to guests so far.
    pub(super) connections_given: u64,
    /// When it was last found out what is wanted, and when it is to be found out again.
    pub(super) wishes: Pacing,
    pub(super) wishes_due: Option<Timestamp>,
    /// Changes whose guests, accounts and interests were not found out yet.
    pub(super) unfollowed: ChangeSet,
    /// Changes that were taken in and not judged yet.
    pub(super) unjudged: ChangeSet,
    pub(super) judging: Pacing,
    /// News of judgements made out of turn, for the next update.
    pub(super) late: Update,
    /// Clusters whose count of listed objects is not in an update yet, and when it is next shown.
    pub(super) progressed: BTreeSet<ClusterName>,
    pub(super) progress_at: Timestamp,
    /// Clusters that no update has named yet.
    pub(super) unannounced: ChangeSet,
    /// Excessive clock skews that began, changed or ended since the last update.
    pub(super) clock_changes: BTreeMap<ClusterName, Option<ClockSkew>>,
    /// How often anything has changed that a judgement or its explanation may rest on.
    pub(super) generation: u64,
    /// Questions that wait for lists.
    deferred: Vec<Deferred>,
    pace: Pace,
}

/// Whether anything can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Living,
    /// A recording: it answers, and stays as it is.
    Still,
}

/// A question that waits for lists, at most until a moment.
struct Deferred {
    awaited: Awaited,
    until: Timestamp,
    question: Question,
}

/// The lists a question waits for.
enum Awaited {
    Everything,
    Collections(BTreeSet<CollectionId>),
}

/// Why the loop woke.
enum Wake {
    Report(Box<Batch>),
    Done(Done),
    Time,
}

impl Live {
    /// The loop before its first step. Must be called inside a tokio runtime.
    pub fn new(setup: LiveSetup) -> Self {
        let LiveSetup { domains, members, resolver, ports, live_max } = setup;
        let (outbox, inbox) = outbox();
        let mut live = Self {
            world: World::default(),
            judgements: Judgements::default(),
            needed: Needed::by(&domains),
            domains,
            resolver,
            ports,
            live_max: live_max.max(1),
            sessions: Sessions::default(),
            interests: InterestTable::default(),
            guest_names: GuestNames::default(),
            served_kinds: SharedKinds::default(),
            aside: JoinSet::new(),
            turns: AttemptTurns::default(),
            outbox,
            inbox,
            needs: 0,
            connections_given: 0,
            wishes: Pacing::default(),
            wishes_due: None,
            unfollowed: ChangeSet::default(),
            unjudged: ChangeSet::default(),
            judging: Pacing::default(),
            late: Update::default(),
            progressed: BTreeSet::new(),
            progress_at: Timestamp::MIN,
            unannounced: ChangeSet::default(),
            clock_changes: BTreeMap::new(),
            generation: 0,
            deferred: Vec::new(),
            pace: Pace::Living,
        };
        let mut changes = ChangeSet::default();
        for member in members {
            live.enter(member, &mut changes);
        }
        live.unannounced = changes;
        live
    }

    /// The same for a command that shows no list: it holds verdicts and nothing beside them.
    #[must_use]
    pub fn of_verdicts(self) -> Self {
        Self { judgements: Judgements::of_verdicts(), ..self }
    }

    /// What was recorded, as it was at `now`: it answers questions and never changes. Must be called inside a tokio
    /// runtime.
    pub fn from_snapshot(
        domains: Vec<Box<dyn Check>>,
        world: World,
        judgements: Judgements,
        now: Timestamp,
        digester: Digester,
    ) -> Self {
        let ports = Ports::new(Arc::new(StoppedClock(now)), Arc::new(ProcessJitter), digester);
        let (members, resolver) = (Vec::new(), Box::new(NoGuests));
        let live = Self::new(LiveSetup { domains, members, resolver, ports, live_max: 1 });
        Self { world, judgements, pace: Pace::Still, ..live }
    }

    /// Watches what has been listed, where watches were held back: of the guests, as many as may be live.
    fn start_watches(&mut self) {
        self.ports.watches = WatchStart::AfterList;
        let mut guests = 0;
        for session in self.sessions.values_mut() {
            guests += usize::from(session.is_guest());
            if let Some(observer) = session.observer.as_ref().filter(|_| !session.is_guest() || guests <= self.live_max)
            {
                observer.start_watches();
            }
        }
    }

    /// Whether this is a recording.
    pub fn is_still(&self) -> bool {
        self.pace == Pace::Still
    }

    pub fn view(&self) -> View<'_> {
        self.world.view(self.ports.clock.now())
    }

    pub fn judgements(&self) -> &Judgements {
        &self.judgements
    }

    pub fn domains(&self) -> &[Box<dyn Check>] {
        &self.domains
    }

    /// A number that grows whenever something changes. While it is the same, what was explained still holds, but for
    /// how long ago things were.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// How far a cluster's server can be trusted, while there is a connection.
    pub fn tls(&self, cluster: &ClusterName) -> Option<TlsTrust> {
        self.sessions.get(cluster)?.connection.as_ref().map(|connection| connection.tls)
    }

    /// How far a cluster's clock is from the local one. None: not connected, or its server sends no `Date`.
    pub fn clock(&self, cluster: &ClusterName) -> Option<ClockSkew> {
        self.sessions.get(cluster)?.clock()
    }

    /// The client of a cluster, while there is a connection.
    pub fn client(&self, cluster: &ClusterName) -> Option<kube::Client> {
        self.connection(cluster).map(|connection| connection.client.clone())
    }

    /// The connection to a cluster, while there is one.
    pub fn connection(&self, cluster: &ClusterName) -> Option<&Connection> {
        self.sessions.get(cluster)?.connection.as_ref()
    }

    /// The cloud accounts that can be written to, by their ids.
    pub fn cloud_accounts(&self) -> Accounts {
        let account = |session: &ClusterSession| match &session.member.source {
            ClusterSource::Cloud { account, .. } => Some((account.clone(), session.member.connector.account_port()?)),
            ClusterSource::Kubeconfig { .. }
            | ClusterSource::Hosted { .. }
            | ClusterSource::Snapshot
            | ClusterSource::Local => None,
        };
        self.sessions.values().filter_map(account).collect()
    }

    /// The port that writes to the cloud account that a member is; nothing for a cluster.
    pub fn cloud_account(&self, member: &ClusterName) -> Option<Arc<dyn AccountPort>> {
        self.sessions.get(member)?.member.connector.account_port()
    }

    /// Waits for something to happen and takes it in.
    ///
    /// May be dropped while it waits: what happens then is taken in by the next step.
    pub async fn step(&mut self) -> Update {
        let wake = self.wake().await;
        let mut changes = ChangeSet::default();
        match wake {
            Wake::Report(batch) => self.take_reports(*batch, &mut changes),
            Wake::Done(done) => self.take_all_done(done, &mut changes),
            Wake::Time => self.take_time(&mut changes),
        }
        self.follow(changes)
    }

    /// Handles a command.
    pub fn handle(&mut self, command: Command) -> Update {
        let mut changes = ChangeSet::default();
        match command {
            Command::Need(cluster) => self.need(&cluster, &mut changes),
            Command::Reconnect(cluster) => {
                let resting = self.sessions.get(&cluster).is_some_and(|at| *at.machine.link() == Link::Idle);
                let event = if resting { LinkEvent::Wanted } else { LinkEvent::KubeconfigChanged };
                self.link(&cluster, event, &mut changes);
            }
            Command::Renew(member) => {
                let Member { name, connector, .. } = *member;
                if let Some(session) = self.sessions.get_mut(&name) {
                    session.member.connector = connector;
                    self.link(&name, LinkEvent::KubeconfigChanged, &mut changes);
                }
            }
            Command::ClockJumped => {
                let all: Vec<ClusterName> = self.sessions.names().cloned().collect();
                for cluster in all {
                    self.link(&cluster, LinkEvent::ClockJumped, &mut changes);
                }
            }
            Command::Resync => self.resync(),
            Command::StartWatches => self.start_watches(),
            Command::Ask(question) => {
                self.judge_now();
                question(self);
            }
            Command::Peek(question) => question(self),
            Command::AskAfter(after, patience, question) => self.defer(after, patience, question),
        }
        self.follow(changes)
    }

    /// Runs until the other end of either channel is gone. While the reader is slow, updates are merged.
    pub async fn run(&mut self, commands: &mut mpsc::Receiver<Command>, updates: &mpsc::Sender<Update>) {
        let mut pending = match self.pace {
            Pace::Living => self.announce(),
            Pace::Still => self.everything(),
        };
        loop {
            self.answer_deferred();
            pending.merge(std::mem::take(&mut self.late));
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(command) => pending.merge(self.handle(command)),
                    None => return,
                },
                permit = updates.reserve(), if !pending.is_empty() => match permit {
                    Ok(permit) => permit.send(std::mem::take(&mut pending)),
                    Err(_) => return,
                },
                update = self.step(), if self.pace == Pace::Living => pending.merge(update),
            }
        }
    }

    /// Everything that is known, as one update.
    fn everything(&self) -> Update {
        Update {
            findings: self.judgements.shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect(),
            clusters: self.view().clusters().map(|one| (one.name.clone(), Some(one.clone()))).collect(),
            clocks: self.shown_clocks(),
            lists: self.shown_lists(),
            ..Update::default()
        }
    }

    fn shown_clocks(&self) -> BTreeMap<ClusterName, Option<ClockSkew>> {
        let shown = self.sessions.values().filter(|session| session.clock_shown.is_some());
        shown.map(|session| (session.member.name.clone(), session.clock_shown)).collect()
    }

    /// The update that retracts everything that was sent, for a loop that restarts.
    pub fn retract_all(&self) -> Update {
        let mut all = self.everything();
        all.findings.values_mut().for_each(|held| *held = None);
        all.clusters.values_mut().for_each(|cluster| *cluster = None);
        all.clocks.values_mut().for_each(|clock| *clock = None);
        all.lists.values_mut().for_each(|lists| *lists = None);
        all
    }

    /// Steps until nothing is on its way that is not known to be missing, or the time is up.
    pub async fn wait_settled(&mut self, patience: Duration) -> Settled {
        let deadline = Instant::now() + patience;
        self.announce();
        // A step that has something to do is ready at once, whatever the time: the deadline is checked between steps.
        while !self.is_settled() && Instant::now() < deadline {
            if timeout_at(deadline, self.step()).await.is_err() {
                break;
            }
        }
        self.judge_now();
        self.settled()
    }

    /// Reads everything that is connected again; [`Self::wait_settled`] then waits for the new answers.
    pub fn resync(&mut self) {
        for session in self.sessions.values_mut() {
            let Some(observer) = &session.observer else { continue };
            observer.resync();
            let served = &session.served;
            session.asked.set_all(Asked::Waiting, |id| !served.lacks(&id.resource));
        }
    }

    /// Lists these collections again, and no others.
    pub fn resync_collections(&mut self, collections: &BTreeSet<CollectionId>) {
        let clusters: BTreeSet<&ClusterName> = collections.iter().map(|id| &id.cluster).collect();
        for cluster in clusters {
            let Some(session) = self.sessions.get_mut(cluster) else { continue };
            let Some(observer) = &session.observer else { continue };
            let served = &session.served;
            session.asked.set_all(Asked::Waiting, |id| collections.contains(id) && !served.lacks(&id.resource));
            observer.resync_collections(collections);
        }
    }

    fn defer(&mut self, after: AskAfter, patience: Duration, question: Question) {
        let awaited = match after {
            AskAfter::Settled => Awaited::Everything,
            AskAfter::Resync => {
                self.resync();
                Awaited::Everything
            }
            AskAfter::Collections(collections) => {
                let collections = collections.into_iter().collect();
                self.resync_collections(&collections);
                Awaited::Collections(collections)
            }
        };
        self.deferred.push(Deferred { awaited, until: later(self.ports.clock.now(), patience), question });
    }

    /// Answers the questions whose lists have arrived or took too long.
    fn answer_deferred(&mut self) {
        if self.deferred.is_empty() {
            return;
        }
        let now = self.ports.clock.now();
        let is_due = |deferred: &Deferred| deferred.until <= now || self.has_arrived(&deferred.awaited);
        let due: Vec<bool> = self.deferred.iter().map(is_due).collect();
        for (deferred, is_due) in std::mem::take(&mut self.deferred).into_iter().zip(due) {
            if is_due {
                (deferred.question)(self);
            } else {
                self.deferred.push(deferred);
            }
        }
    }

    fn has_arrived(&self, awaited: &Awaited) -> bool {
        // What was listed may lead to further interests, which are asked for first.
        if self.wishes_due.is_some() {
            return false;
        }
        match awaited {
            Awaited::Everything => self.is_settled(),
            Awaited::Collections(collections) => self.unlisted(collections).is_empty(),
        }
    }

    /// Those of the collections that were asked for and have not been listed yet.
    pub fn unlisted(&self, collections: &BTreeSet<CollectionId>) -> BTreeSet<CollectionId> {
        let clusters: BTreeSet<&ClusterName> = collections.iter().map(|id| &id.cluster).collect();
        let sessions = clusters.into_iter().filter_map(|cluster| self.sessions.get(cluster));
        let waiting = sessions.flat_map(|session| session.asked.waiting());
        waiting.filter(|id| collections.contains(id)).cloned().collect()
    }

    /// Whether something is still being read.
    pub fn settled(&self) -> Settled {
        if self.is_settled() { Settled::Yes } else { Settled::TimedOut { waiting: self.waiting() } }
    }

    fn is_settled(&self) -> bool {
        self.wishes_due.is_none() && self.sessions.unsettled().next().is_none()
    }

    fn waiting(&self) -> Vec<ClusterName> {
        let waiting: BTreeSet<ClusterName> = self.sessions.unsettled().cloned().collect();
        waiting.into_iter().collect()
    }

    /// The step before the first: the clusters there are from the beginning.
    fn announce(&mut self) -> Update {
        let changes = std::mem::take(&mut self.unannounced);
        self.follow(changes)
    }

    async fn wake(&mut self) -> Wake {
        let now = self.ports.clock.now();
        let wait = self.next_time(now).map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
        tokio::select! {
            biased;
            Some(done) = self.aside.join_next() => {
                Wake::Done(done.expect("work done aside catches its panics and is never aborted"))
            }
            batch = self.inbox.next() => Wake::Report(Box::new(batch)),
            () = sleep(wait.unwrap_or_default()), if wait.is_some() => Wake::Time,
        }
    }

    fn next_time(&mut self, now: Timestamp) -> Option<Timestamp> {
        let progress = (!self.sessions.listing().is_empty()).then(|| self.progress_at.max(now));
        let wake = self.sessions.next_wake();
        wake.into_iter()
            // Judging that rests makes a deadline wait too: waking for it would do nothing.
            .chain(self.judgements.next_deadline().map(|at| at.max(self.judging.next(Duration::ZERO))))
            .chain(progress)
            .chain(self.sessions.next_turn(self.live_max))
            .chain(self.wishes_due)
            .chain(self.unjudged_due())
            .chain(self.deferred.iter().map(|deferred| deferred.until))
            .min()
    }
}

/// The moment of a recording.
struct StoppedClock(Timestamp);

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// A recording has no guests to reach.
struct NoGuests;

impl GuestResolver for NoGuests {
    fn member(&self, guest: &Guest, management: &Connection) -> Member {
        Member {
            name: guest.name.clone(),
            class: RiskClass::default(),
            source: ClusterSource::Snapshot,
            hosted_by: Some(guest.hosted_by.clone()),
            connector: Arc::new(FixedConnector(management.client.clone())),
            namespaces: Vec::new(),
        }
    }
}

pub(super) fn later(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}
