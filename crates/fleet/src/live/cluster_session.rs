//! One cluster in the loop: its link, its observer, and what has been asked of it.

use std::sync::Arc;

use jiff::Timestamp;

use super::asked::AskedCollections;
use super::attempt::Turn;
use super::lists::UnreadLists;
use crate::connect::{Connection, Connector, LinkEffect, LinkEvent, LinkMachine};
use crate::observe::{Epoch, Observer, VersionFloor};
use trueup_core::world::{
    ClockSkew, Cluster, ClusterIdentity, ClusterName, ClusterSource, CollectionId, Gap, GapCause, HostedBy, Kinds,
    Link, Namespace, RiskClass, Scope, Served,
};

/// A cluster of the fleet, and the way to it.
#[derive(Clone)]
pub struct Member {
    pub name: ClusterName,
    pub class: RiskClass,
    pub source: ClusterSource,
    pub hosted_by: Option<HostedBy>,
    pub connector: Arc<dyn Connector>,
    /// Where to look when looking everywhere is forbidden.
    pub namespaces: Vec<Namespace>,
}

/// What a cluster's guests depend on: over which connection they are reached, and whether it may have any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HostState {
    pub epoch: Epoch,
    pub is_connected: bool,
    pub may_host: bool,
}

pub(super) struct ClusterSession {
    pub member: Member,
    pub machine: LinkMachine,
    pub epoch: Epoch,
    pub connection: Option<Connection>,
    pub observer: Option<Observer>,
    /// While it is connected and listed for the first time, and others wait for that.
    pub turn: Option<Turn>,
    pub marks: VersionFloor,
    pub identity: ClusterIdentity,
    pub served: Served,
    /// The last complete answer about what is served.
    pub served_once: Option<Kinds>,
    /// Whether a collection was lost in a way that may mean the whole connection is dead.
    pub ailing: bool,
    /// When the link wants to be woken.
    pub retry_at: Option<Timestamp>,
    /// When to ask again what the cluster serves.
    pub rediscover_at: Option<Timestamp>,
    pub asked: AskedCollections,
    /// What its guests were last looked up with.
    pub hosted: Option<HostState>,
    /// Why nothing is being observed, while nothing is.
    pub rest: Gap,
    /// Whether everything has been answered once, if only by a failure.
    pub judged: bool,
    /// Larger is more recent: who was needed last.
    pub needed: u64,
    /// When a guest was last given a connection.
    pub connected_at: Timestamp,
    /// How many connections had been given until then, to any guest.
    pub connection_number: u64,
    /// Whether it is read again only because its turn has come: what is known of it can be used meanwhile.
    pub is_read_again: bool,
    /// The excessive skew of its clock that an update has named.
    pub clock_shown: Option<ClockSkew>,
    /// The unread lists that an update has named.
    pub lists_shown: Option<UnreadLists>,
}

impl ClusterSession {
    pub fn new(member: Member) -> Self {
        Self {
            member,
            machine: LinkMachine::default(),
            epoch: Epoch::default(),
            connection: None,
            observer: None,
            turn: None,
            marks: VersionFloor::default(),
            identity: ClusterIdentity::default(),
            served: Served::Unknown(Gap::new(GapCause::NotObserved, "not connected yet")),
            served_once: None,
            ailing: false,
            retry_at: None,
            rediscover_at: None,
            asked: AskedCollections::default(),
            hosted: None,
            rest: Gap::new(GapCause::NotObserved, "not connected yet"),
            judged: false,
            needed: 0,
            connected_at: Timestamp::MIN,
            connection_number: 0,
            is_read_again: false,
            clock_shown: None,
            lists_shown: None,
        }
    }

    /// The skew of its clock, while there is a connection over which a `Date` came.
    pub fn clock(&self) -> Option<ClockSkew> {
        self.connection.as_ref()?.clock.skew()
    }

    /// The excessive skew to show from now on, when another one is shown.
    pub fn clock_change(&mut self) -> Option<Option<ClockSkew>> {
        let now = self.clock().filter(|skew| skew.is_excessive());
        let is_shown = match (now, self.clock_shown) {
            (Some(now), Some(shown)) => now.reads_like(shown),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_shown {
            return None;
        }
        self.clock_shown = now;
        Some(now)
    }

    /// As the world knows it.
    pub fn cluster(&self) -> Cluster {
        let Member { name, class, source, hosted_by, connector: _, namespaces: _ } = &self.member;
        Cluster {
            name: name.clone(),
            class: *class,
            source: source.clone(),
            hosted_by: hosted_by.clone(),
            link: self.machine.link().clone(),
            identity: self.identity.clone(),
            served: self.served.clone(),
        }
    }

    pub fn is_guest(&self) -> bool {
        match self.member.source {
            ClusterSource::Hosted { .. } => true,
            ClusterSource::Kubeconfig { .. }
            | ClusterSource::Snapshot
            | ClusterSource::Cloud { .. }
            | ClusterSource::Local => false,
        }
    }

    /// Whether it holds a connection, or is on its way to one.
    pub fn is_busy(&self) -> bool {
        match self.machine.link() {
            Link::Connecting | Link::Listing { .. } | Link::Live { .. } | Link::Degraded { .. } => true,
            Link::Idle | Link::AuthExpired { .. } | Link::Failed { .. } | Link::Recorded => false,
        }
    }

    pub fn is_answered(&self) -> bool {
        self.asked.is_answered()
    }

    /// When it wants to be woken next.
    pub fn wake_at(&self) -> Option<Timestamp> {
        [self.retry_at, self.rediscover_at].into_iter().flatten().min()
    }

    /// Whether it is connected and its lists are not watched: they were read once.
    pub fn is_unwatched(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| !observer.is_watching())
    }

    /// Notes that all lists were answered: a connection that nothing is watched over is not needed for now.
    pub fn note_answered(&mut self) {
        self.ailing = false;
        self.is_read_again = false;
        if let Some(connection) = self.connection.as_ref().filter(|_| self.is_unwatched()) {
            connection.idle.close();
        }
    }

    /// Whether waiting longer would bring nothing that is not known to be missing.
    pub fn is_settled(&self) -> bool {
        match self.machine.link() {
            Link::Idle => self.judged,
            Link::Connecting | Link::Listing { .. } => self.is_read_again,
            Link::Live { .. } => self.is_answered(),
            // A refused login gets one more try right away.
            Link::Degraded { gap, .. } => gap.cause != GapCause::Unauthorized,
            Link::AuthExpired { .. } | Link::Failed { .. } | Link::Recorded => true,
        }
    }

    /// What an event of the link leads to.
    pub fn step(&mut self, event: LinkEvent, now: Timestamp, jitter: crate::connect::Jitter) -> Option<LinkEffect> {
        let effect = self.machine.step(event, now, jitter);
        match self.machine.link() {
            Link::Degraded { gap, .. } | Link::AuthExpired { gap, .. } | Link::Failed { gap } => {
                self.rest = gap.clone();
                self.judged = true;
            }
            Link::Idle | Link::Connecting | Link::Listing { .. } | Link::Live { .. } | Link::Recorded => {}
        }
        effect
    }

    /// Takes in what the cluster says it serves.
    ///
    /// A wanted kind that was served and is gone proves nothing of its objects: something took it away. Then nothing
    /// is known of what is served, until it is back.
    pub fn take_served(&mut self, served: Served) {
        let before = self.served_once.take();
        let lost = before.as_ref().and_then(|before| {
            let wanted = self.asked.ids().map(|id| &id.resource);
            wanted.filter(|resource| before.has(resource)).find(|resource| served.lacks(resource))
        });
        self.served = match lost {
            Some(resource) => {
                let message = format!("{} was served earlier and is gone", resource.path());
                Served::Unknown(Gap::new(GapCause::Discovery, message))
            }
            None => served,
        };
        self.served_once = match &self.served {
            Served::Complete(all) => Some(all.clone()),
            Served::Unknown(_) | Served::Recorded(_) => before,
        };
    }

    /// Ends the connection; what was known stays, and what is still asked waits for the next one.
    pub fn disconnect(&mut self) {
        self.observer = None;
        self.turn = None;
        self.connection = None;
        self.rediscover_at = None;
        self.ailing = false;
    }

    /// Whether a collection says something about the connection as a whole: a lone object may well be missing.
    pub fn speaks_for_the_link(id: &CollectionId) -> bool {
        match id.scope {
            Scope::All | Scope::Namespace(_) => true,
            Scope::Object { .. } => false,
        }
    }
}
