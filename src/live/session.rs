//! The loop: connections, discovery, interests, deltas, judgements.
//!
//! ```text
//!   connections ─► identity, what is served ─┐
//!   observers  ─► deltas ────────────────────┼─► world ─► interests, guests ─► observers, connections
//!   the clock  ─► retries, deadlines ────────┘     └───► judgements ─► updates
//! ```
//!
//! Always true:
//! - a report over an earlier connection changes nothing;
//! - an interest in a cluster that can't be observed is answered with the reason, never left open;
//! - another cluster under the same name starts from nothing.
//!
//! Not here: how a cluster is reached (`fleet`), when its link is tried again (`fleet::LinkMachine`), which guest stays
//! connected (`slots`).

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

use super::attempt::{self, Done, Opened, What};
use super::discover::{self, Guest};
use super::judge::Judgements;
use super::slots;
use super::station::{Asked, Member, Station};
use super::update::{Command, Update};
use crate::domains::Domain;
use crate::fleet::{Dice as LinkDice, LinkEffect, LinkEvent, TlsTrust};
use crate::observe::{Batch, Epoch, Inbox, Observer, ObserverSetup, Outbox, Ports, outbox};
use crate::world::{
    Applied, Change, ChangeSet, ClusterName, CollectionId, Delta, Gap, GapCause, Interest, Link, Served, View, World,
};

/// Reports taken in before judging: enough to merge a burst, few enough to answer a key press in between.
const REPORTS_A_STEP_MAX: usize = 1_000;
/// How often interests may lead to further interests within a step. Deeper chains go on in the next one.
const ROUNDS_MAX: usize = 8;
/// How often a listing cluster's count of objects is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);
/// How long a complete answer about what is served holds: new kinds come with operators, by hand.
const SERVED_HOLDS: Duration = Duration::from_secs(300);
/// How long an incomplete one holds.
const SERVED_UNKNOWN_HOLDS: Duration = Duration::from_secs(30);
/// Guests that are kept live at once, unless the configuration says otherwise.
pub const LIVE_MAX: usize = 64;

/// Makes members of guests.
pub trait GuestDoor: Send + Sync {
    /// The guest as a member, reached over its management cluster.
    fn member(&self, guest: &Guest, management: &kube::Client) -> Member;
}

/// What the loop is made of.
pub struct LiveSetup {
    pub domains: Vec<Box<dyn Domain>>,
    pub members: Vec<Member>,
    pub door: Box<dyn GuestDoor>,
    pub ports: Ports,
    pub live_max: usize,
}

/// Whether waiting brought everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    Yes,
    /// These clusters were still being read.
    TimedOut { waiting: Vec<ClusterName> },
}

/// The living fleet.
pub struct Live {
    world: World,
    judgements: Judgements,
    domains: Vec<Box<dyn Domain>>,
    door: Box<dyn GuestDoor>,
    ports: Ports,
    live_max: usize,
    stations: BTreeMap<ClusterName, Station>,
    aside: JoinSet<Done>,
    outbox: Outbox,
    inbox: Inbox,
    needs: u64,
}

/// Why the loop woke.
enum Wake {
    Report(Batch),
    Done(Done),
    Time,
}

impl Live {
    /// The loop before its first step. Must be called inside a tokio runtime.
    pub fn new(setup: LiveSetup) -> Self {
        let LiveSetup { domains, members, door, ports, live_max } = setup;
        let (outbox, inbox) = outbox();
        let mut live = Self {
            world: World::default(),
            judgements: Judgements::default(),
            domains,
            door,
            ports,
            live_max: live_max.max(1),
            stations: BTreeMap::new(),
            aside: JoinSet::new(),
            outbox,
            inbox,
            needs: 0,
        };
        let mut changes = ChangeSet::default();
        for member in members {
            live.enter(member, &mut changes);
        }
        live
    }

    pub fn view(&self) -> View<'_> {
        self.world.view(self.ports.clock.now())
    }

    pub fn judgements(&self) -> &Judgements {
        &self.judgements
    }

    pub fn domains(&self) -> &[Box<dyn Domain>] {
        &self.domains
    }

    /// How far a cluster's server can be trusted, while there is a connection.
    pub fn tls(&self, cluster: &ClusterName) -> Option<TlsTrust> {
        self.stations.get(cluster)?.connection.as_ref().map(|connection| connection.tls)
    }

    /// The client of a cluster, while there is a connection.
    pub fn client(&self, cluster: &ClusterName) -> Option<kube::Client> {
        self.stations.get(cluster)?.connection.as_ref().map(|connection| connection.client.clone())
    }

    /// Waits for something to happen and takes it in.
    ///
    /// May be dropped while it waits: what happens then is taken in by the next step.
    pub async fn step(&mut self) -> Update {
        let wake = self.wake().await;
        let mut changes = ChangeSet::default();
        match wake {
            Wake::Report(batch) => self.take_reports(batch, &mut changes),
            Wake::Done(done) => self.take_done(done, &mut changes),
            Wake::Time => self.take_time(&mut changes),
        }
        self.follow(changes)
    }

    /// Does as it is told.
    pub fn obey(&mut self, command: Command) -> Update {
        let mut changes = ChangeSet::default();
        match command {
            Command::Need(cluster) => self.need(&cluster, &mut changes),
            Command::Reconnect(cluster) => {
                let resting = self.stations.get(&cluster).is_some_and(|at| *at.machine.link() == Link::Idle);
                let event = if resting { LinkEvent::Wanted } else { LinkEvent::KubeconfigChanged };
                self.link(&cluster, event, &mut changes);
            }
            Command::ClockJumped => {
                for cluster in self.names() {
                    self.link(&cluster, LinkEvent::ClockJumped, &mut changes);
                }
            }
            Command::LookAgain => self.look_again(),
            Command::Ask(question) => question(self.view(), &self.judgements),
        }
        self.follow(changes)
    }

    /// Runs until the other end of either channel is gone. While the reader is slow, updates are merged.
    pub async fn run(mut self, mut commands: mpsc::Receiver<Command>, updates: mpsc::Sender<Update>) {
        let mut pending = self.follow(self.introduction());
        loop {
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(command) => pending.merge(self.obey(command)),
                    None => return,
                },
                permit = updates.reserve(), if !pending.is_empty() => match permit {
                    Ok(permit) => permit.send(std::mem::take(&mut pending)),
                    Err(_) => return,
                },
                update = self.step() => pending.merge(update),
            }
        }
    }

    /// Steps until nothing is on its way that is not known to be missing, or the time is up.
    pub async fn wait_settled(&mut self, patience: Duration) -> Settled {
        let deadline = Instant::now() + patience;
        self.follow(self.introduction());
        loop {
            let waiting = self.waiting();
            if waiting.is_empty() {
                return Settled::Yes;
            }
            if timeout_at(deadline, self.step()).await.is_err() {
                return Settled::TimedOut { waiting };
            }
        }
    }

    /// Reads everything that is connected again; [`Self::wait_settled`] then waits for the new answers.
    pub fn look_again(&mut self) {
        for station in self.stations.values_mut() {
            let Some(observer) = &station.observer else { continue };
            observer.look_again();
            let served = &station.served;
            for ((id, _), asked) in &mut station.asked {
                if !served.lacks(&id.resource) {
                    *asked = Asked::Waiting;
                }
            }
        }
    }

    fn waiting(&self) -> Vec<ClusterName> {
        self.stations.iter().filter(|(_, station)| !station.is_settled()).map(|(name, _)| name.clone()).collect()
    }

    fn names(&self) -> Vec<ClusterName> {
        self.stations.keys().cloned().collect()
    }

    /// The first step's changes: every cluster is new.
    fn introduction(&self) -> ChangeSet {
        let mut changes = ChangeSet::default();
        for name in self.stations.keys() {
            changes.push(Change::Cluster(name.clone()));
        }
        changes
    }

    async fn wake(&mut self) -> Wake {
        let now = self.ports.clock.now();
        let wait = self.next_time(now).map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
        tokio::select! {
            biased;
            Some(done) = self.aside.join_next() => {
                Wake::Done(done.expect("work done aside catches its panics and is never aborted"))
            }
            batch = self.inbox.next() => Wake::Report(batch),
            () = sleep(wait.unwrap_or_default()), if wait.is_some() => Wake::Time,
        }
    }

    fn next_time(&self, now: Timestamp) -> Option<Timestamp> {
        let stations = self.stations.values();
        let retries = stations.clone().flat_map(|station| [station.retry_at, station.rediscover_at]).flatten();
        let listing = stations.clone().any(|station| matches!(station.machine.link(), Link::Listing { .. }));
        let progress = listing.then(|| later(now, PROGRESS_EVERY));
        retries.chain(self.judgements.next_deadline()).chain(progress).min()
    }
}

/// Taking things in.
impl Live {
    fn take_reports(&mut self, first: Batch, changes: &mut ChangeSet) {
        self.take_report(first, changes);
        for _ in 1..REPORTS_A_STEP_MAX {
            let Some(batch) = self.inbox.try_next() else { break };
            self.take_report(batch, changes);
        }
    }

    fn take_report(&mut self, batch: Batch, changes: &mut ChangeSet) {
        let Batch { cluster, epoch, collection, fact, delta } = batch;
        let Some(station) = self.stations.get_mut(&cluster).filter(|station| station.epoch == epoch) else {
            return;
        };
        let (is_answer, refused) = match &delta {
            Delta::Listed { .. } | Delta::Seen { .. } => (true, None),
            Delta::Lost { gap } => (true, (gap.cause == GapCause::Unauthorized).then(|| gap.clone())),
            Delta::Changed { .. } | Delta::Confirmed { .. } => (false, None),
        };
        if let Some(asked) = station.asked.get_mut(&(collection.clone(), fact.type_id())).filter(|_| is_answer) {
            *asked = Asked::Answered;
        }
        let (applied, more) = self.world.apply(&collection, fact, delta);
        if let Applied::RefusedOlder { offered, seen } = applied {
            tracing::warn!(%cluster, %offered, %seen, "older list refused");
        }
        changes.extend(more);
        if let Some(gap) = refused {
            self.link(&cluster, attempt::unauthorized(gap), changes);
        }
    }

    fn take_done(&mut self, done: Done, changes: &mut ChangeSet) {
        let Done { cluster, epoch, what } = done;
        if self.stations.get(&cluster).is_none_or(|station| station.epoch != epoch) {
            return;
        }
        match what {
            What::Connected(opened) => self.connected(&cluster, *opened, changes),
            What::NotConnected(event) => self.link(&cluster, event, changes),
            What::Discovered(served) => self.discovered(&cluster, served, changes),
        }
    }

    fn take_time(&mut self, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        for cluster in self.names() {
            let Some(station) = self.stations.get_mut(&cluster) else { continue };
            if station.rediscover_at.take_if(|at| *at <= now).is_some() {
                let (epoch, client) = (station.epoch, station.connection.as_ref().map(|open| open.client.clone()));
                if let Some(client) = client {
                    self.aside.spawn(attempt::rediscover(cluster.clone(), epoch, client));
                }
            }
            if station.retry_at.take_if(|at| *at <= now).is_some() {
                self.link(&cluster, LinkEvent::RetryDue, changes);
            }
        }
    }

    fn connected(&mut self, cluster: &ClusterName, opened: Opened, changes: &mut ChangeSet) {
        let Opened { connection, identity, served } = opened;
        let now = self.ports.clock.now();
        let Some(station) = self.stations.get_mut(cluster) else { return };
        let replaced = station.identity.is_known() && identity.is_known() && station.identity != identity;
        if replaced {
            tracing::warn!(%cluster, "another cluster answers under this name: what was known of the old one is dropped");
            changes.extend(self.world.remove_cluster(cluster));
            station.marks = crate::observe::Marks::default();
            station.asked.clear();
        }
        station.identity = identity;
        station.rediscover_at = Some(later(now, served_holds(&served)));
        station.served = served;
        station.observer = Some(Observer::new(ObserverSetup {
            client: connection.client.clone(),
            epoch: station.epoch,
            ports: self.ports.clone(),
            marks: station.marks.clone(),
            outbox: self.outbox.clone(),
            fallback_namespaces: station.member.namespaces.clone(),
        }));
        station.connection = Some(connection);
        // The new observer is told everything that is wanted, and answers all of it anew.
        station.interests.clear();
        station.asked.values_mut().for_each(|asked| *asked = Asked::Waiting);
        self.link(cluster, LinkEvent::Connected, changes);
        self.renew_guests_of(cluster);
    }

    /// A kind that was served and is gone is no proof that its objects are: something took it away.
    fn discovered(&mut self, cluster: &ClusterName, served: Served, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let Some(station) = self.stations.get_mut(cluster) else { return };
        let gone = station
            .asked
            .keys()
            .map(|(id, _)| &id.resource)
            .find(|resource| !station.served.lacks(resource) && served.lacks(resource));
        let served = match gone {
            Some(resource) => {
                let says = format!("{} was served earlier and is gone", resource.path());
                Served::Unknown(Gap::new(GapCause::Discovery, says))
            }
            None => served,
        };
        station.rediscover_at = Some(later(now, served_holds(&served)));
        if station.served != served {
            station.served = served;
            station.interests.clear();
            changes.extend(self.world.put_cluster(station.cluster()));
        }
    }
}

/// Following what was taken in.
impl Live {
    /// Brings guests, interests, links and judgements up to what is known now.
    fn follow(&mut self, mut changes: ChangeSet) -> Update {
        for _ in 0..ROUNDS_MAX {
            let mut more = ChangeSet::default();
            self.follow_guests(&mut more);
            self.follow_interests(&mut more);
            self.follow_links(&mut more);
            let done = more.is_empty();
            changes.extend(more);
            if done {
                break;
            }
        }
        let view = self.world.view(self.ports.clock.now());
        let mut update = Update::default();
        update.note(self.judgements.follow(&self.domains, view, &changes));
        update.note(self.judgements.wake(&self.domains, view));
        for change in changes.iter() {
            if let Change::Cluster(name) = change {
                update.clusters.insert(name.clone(), view.cluster(name).cloned());
            }
        }
        update
    }

    fn follow_guests(&mut self, changes: &mut ChangeSet) {
        let view = self.world.view(self.ports.clock.now());
        let guests = discover::guests(view);
        let gone: Vec<ClusterName> = self
            .stations
            .values()
            .filter(|station| station.is_guest())
            .filter(|station| station.member.hosted_by.as_ref().is_some_and(|by| discover::is_gone(view, by)))
            .map(|station| station.member.name.clone())
            .collect();
        for name in gone {
            self.stations.remove(&name);
            changes.extend(self.world.remove_cluster(&name));
        }
        for guest in guests {
            let management = self.stations.get(&guest.hosted_by.cluster).and_then(|host| host.connection.as_ref());
            let is_new = !self.stations.contains_key(&guest.name) && guest.is_living();
            if let Some(connection) = management.filter(|_| is_new) {
                let member = self.door.member(&guest, &connection.client);
                self.enter(member, changes);
            }
        }
        for (cluster, event) in slots::moves(self.stations.values(), self.live_max) {
            if event == LinkEvent::Released {
                self.rest(&cluster, changes);
            }
            self.link(&cluster, event, changes);
        }
    }

    /// Guests are reached over their management cluster's connection, so a new one gives them new ways in.
    fn renew_guests_of(&mut self, management: &ClusterName) {
        let Some(client) = self.client(management) else { return };
        let guests = discover::guests(self.world.view(self.ports.clock.now()));
        for guest in guests.iter().filter(|guest| guest.hosted_by.cluster == *management) {
            if let Some(station) = self.stations.get_mut(&guest.name).filter(|station| station.is_guest()) {
                station.member.connector = self.door.member(guest, &client).connector;
            }
        }
    }

    fn follow_interests(&mut self, changes: &mut ChangeSet) {
        let view = self.world.view(self.ports.clock.now());
        let mut wanted: BTreeMap<ClusterName, Vec<Interest>> = BTreeMap::new();
        let all = self.domains.iter().flat_map(|domain| domain.interests(view)).chain(discover::interests(view));
        for interest in all {
            wanted.entry(interest.id.cluster.clone()).or_default().push(interest);
        }
        for (name, station) in &mut self.stations {
            let interests = wanted.remove(name).unwrap_or_default();
            if station.interests == interests && (station.observer.is_some() || station.is_answered()) {
                continue;
            }
            close_unwanted(&mut self.world, station, &interests, changes);
            ask(&mut self.world, station, &interests, changes);
            station.interests = interests;
        }
    }

    fn follow_links(&mut self, changes: &mut ChangeSet) {
        for cluster in self.names() {
            let Some(station) = self.stations.get(&cluster).filter(|station| station.observer.is_some()) else {
                continue;
            };
            let listed = station.observer.as_ref().map_or(0, Observer::objects_listed);
            let event = match station.machine.link() {
                Link::Listing { .. } | Link::Live { .. } if !station.is_answered() => Some(LinkEvent::Progress(listed)),
                Link::Listing { .. } => Some(self.dead(station).map_or(LinkEvent::AllListed, LinkEvent::Failing)),
                Link::Live { .. } => self.dead(station).map(LinkEvent::Failing),
                Link::Idle
                | Link::Connecting
                | Link::Degraded { .. }
                | Link::AuthExpired { .. }
                | Link::Failed { .. }
                | Link::Recorded => None,
            };
            if let Some(event) = event {
                self.link(&cluster, event, changes);
            }
        }
    }

    /// Why the whole connection counts as dead: every collection says so.
    fn dead(&self, station: &Station) -> Option<Gap> {
        let asked: BTreeSet<&CollectionId> =
            station.asked.keys().map(|(id, _)| id).filter(|id| Station::speaks_for_the_link(id)).collect();
        let mut last = None;
        for (id, completeness, _) in self.world.observations().filter(|(id, ..)| asked.contains(id)) {
            if station.served.lacks(&id.resource) {
                continue;
            }
            last = Some(completeness.gap().filter(|gap| {
                matches!(gap.cause, GapCause::Unreachable | GapCause::Silent)
            })?);
        }
        last.cloned()
    }
}

/// Links.
impl Live {
    fn enter(&mut self, member: Member, changes: &mut ChangeSet) {
        let name = member.name.clone();
        let station = Station::new(member);
        let is_guest = station.is_guest();
        changes.extend(self.world.put_cluster(station.cluster()));
        self.stations.insert(name.clone(), station);
        // Guests wait for a slot.
        if !is_guest {
            self.link(&name, LinkEvent::Wanted, changes);
        }
    }

    fn need(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        self.needs += 1;
        let Some(station) = self.stations.get_mut(cluster) else { return };
        station.needed = self.needs;
        if !station.is_guest() {
            self.link(cluster, LinkEvent::Wanted, changes);
        }
    }

    /// Tells a cluster's link what happened, and does what it asks for.
    fn link(&mut self, cluster: &ClusterName, event: LinkEvent, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let dice = LinkDice((self.ports.dice.fraction() * f64::from(u16::MAX)) as u16);
        let Some(station) = self.stations.get_mut(cluster) else { return };
        let all_listed = event == LinkEvent::AllListed;
        let effect = station.step(event, now, dice);
        station.judged |= all_listed;
        match effect {
            Some(LinkEffect::Connect) => {
                station.disconnect();
                station.retry_at = None;
                station.epoch = Epoch(station.epoch.0 + 1);
                let connector = station.member.connector.clone();
                self.aside.spawn(attempt::connect(cluster.clone(), station.epoch, connector));
            }
            Some(LinkEffect::RetryAt(at)) => {
                station.retry_at = Some(at);
                lose(&mut self.world, station, changes);
            }
            Some(LinkEffect::Disconnect) => {
                station.retry_at = None;
                lose(&mut self.world, station, changes);
            }
            None => {}
        }
        changes.extend(self.world.put_cluster(station.cluster()));
    }

    /// Notes why a guest is let go of, before it is.
    fn rest(&mut self, cluster: &ClusterName, changes: &mut ChangeSet) {
        let now = self.ports.clock.now();
        let Some(station) = self.stations.get_mut(cluster) else { return };
        if matches!(station.machine.link(), Link::Live { .. }) {
            station.rest = Gap::new(GapCause::NotObserved, format!("read at {now:.0}, not watched"));
        }
        lose(&mut self.world, station, changes);
    }
}

/// Forgets collections nobody wants any more.
fn close_unwanted(world: &mut World, station: &mut Station, interests: &[Interest], changes: &mut ChangeSet) {
    let ids: BTreeSet<&CollectionId> = interests.iter().map(|interest| &interest.id).collect();
    let facts: BTreeSet<(&CollectionId, TypeId)> =
        interests.iter().map(|interest| (&interest.id, interest.fact.type_id())).collect();
    station.asked.retain(|(id, fact), _| {
        if !ids.contains(id) {
            changes.extend(world.close(id));
        }
        facts.contains(&(id, *fact))
    });
}

/// Has interests observed, or answers them with the reason why they can't be.
fn ask(world: &mut World, station: &mut Station, interests: &[Interest], changes: &mut ChangeSet) {
    let mut observed = Vec::new();
    for interest in interests {
        world.open(interest);
        let slot = (interest.id.clone(), interest.fact.type_id());
        let before = station.asked.get(&slot).copied();
        let gap = if station.served.lacks(&interest.id.resource) {
            let says = format!("{} does not serve {}", station.member.name, interest.id.resource.path());
            Some(Gap::new(GapCause::Discovery, says))
        } else {
            station.observer.is_none().then(|| station.rest.clone())
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
        station.asked.insert(slot, asked);
    }
    if let Some(observer) = &mut station.observer {
        observer.set_interests(&observed);
    }
}

/// Ends a station's connection and says of everything it held that it can't be relied on.
fn lose(world: &mut World, station: &mut Station, changes: &mut ChangeSet) {
    station.disconnect();
    // Late reports of the connection that ended must not look like news.
    station.epoch = Epoch(station.epoch.0 + 1);
    for interest in &station.interests {
        let gap = station.rest.clone();
        changes.extend(world.apply(&interest.id, interest.fact, Delta::Lost { gap }).1);
    }
    station.asked.values_mut().for_each(|asked| *asked = Asked::Answered);
}

fn served_holds(served: &Served) -> Duration {
    match served {
        Served::Complete(_) | Served::Recorded(_) => SERVED_HOLDS,
        Served::Unknown(_) => SERVED_UNKNOWN_HOLDS,
    }
}

fn later(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}
