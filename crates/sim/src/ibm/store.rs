//! The account's resources and their scheduled changes.
//!
//! Invariants: a change that takes time is an entry with a due time; nothing happens between two requests that the next
//! one would not see.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Type of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThingKind {
    Workspace,
    Network,
    DhcpServer,
    CosInstance,
    Vpc,
    Subnet,
    SecurityGroup,
    LoadBalancer,
    TransitGateway,
    Connection,
}

/// One resource of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thing {
    pub kind: ThingKind,
    pub id: String,
    /// Empty for DHCP servers and connections.
    pub crn: String,
    pub name: String,
    /// Region or zone.
    pub location: String,
    pub created_at: Timestamp,
    pub state: String,
    /// VPC of a subnet, group or balancer; workspace of a network or server; gateway of a connection.
    pub parent: Option<String>,
    pub tags: BTreeSet<String>,
    pub locked: bool,
    pub network_type: Option<String>,
    pub network_id: Option<String>,
    /// The network a DHCP server serves; the subnets of a load balancer.
    pub uses: Vec<String>,
    /// Names of what blocks its deletion: interfaces on a network, targets of a group.
    pub held_by: Vec<String>,
    /// A VPC's default security group, deleted only with the VPC.
    pub is_default: bool,
    /// When the reclamation of a workspace or instance was requested.
    pub reclaim_until: Option<Timestamp>,
    pub(super) later: Option<Later>,
}

/// A scheduled change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Later {
    pub at: Timestamp,
    pub then: Then,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Then {
    State(&'static str),
    Gone,
}

/// Lag of the search index: IBM documents seconds, users report half a minute.
const SEARCH_LAG: Duration = Duration::from_secs(20);

/// How long a resource waits for its reclamation.
pub(super) const RECLAMATION: Duration = Duration::from_secs(7 * 24 * 3600);

/// The account's resources and their search index.
#[derive(Debug, Default)]
pub(super) struct Store {
    things: BTreeMap<String, Thing>,
    index: BTreeMap<String, Thing>,
    /// Scheduled index updates.
    news: Vec<(Timestamp, String, Option<Thing>)>,
    minted: u64,
    seed: u64,
}

impl Store {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    pub(super) fn get(&self, kind: ThingKind, id: &str) -> Option<&Thing> {
        self.things.get(id).filter(|thing| thing.kind == kind)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Thing> {
        self.things.get_mut(id)
    }

    pub(super) fn by_crn(&self, crn: &str) -> Option<&Thing> {
        self.things.values().find(|thing| thing.crn == crn && !crn.is_empty())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Thing> {
        self.things.values()
    }

    pub(super) fn of(&self, kind: ThingKind) -> impl Iterator<Item = &Thing> {
        self.things.values().filter(move |thing| thing.kind == kind)
    }

    pub(super) fn within<'s>(&'s self, parent: &'s str) -> impl Iterator<Item = &'s Thing> {
        self.things.values().filter(move |thing| thing.parent.as_deref() == Some(parent))
    }

    pub(super) fn indexed(&self) -> impl Iterator<Item = &Thing> {
        self.index.values()
    }

    /// Adds a resource. The index follows later.
    pub(super) fn put(&mut self, thing: Thing, now: Timestamp) {
        self.schedule_index(&thing, now);
        self.things.insert(thing.id.clone(), thing);
    }

    /// Adds a resource that is already indexed.
    pub(super) fn put_known(&mut self, thing: Thing) {
        if !thing.crn.is_empty() {
            self.index.insert(thing.crn.clone(), thing.clone());
        }
        self.things.insert(thing.id.clone(), thing);
    }

    /// Schedules indexing of a resource in its present state.
    pub(super) fn schedule_index(&mut self, thing: &Thing, now: Timestamp) {
        if !thing.crn.is_empty() {
            self.news.push((after(now, SEARCH_LAG), thing.crn.clone(), Some(thing.clone())));
        }
    }

    pub(super) fn remove(&mut self, id: &str, now: Timestamp) {
        if let Some(thing) = self.things.remove(id).filter(|thing| !thing.crn.is_empty()) {
            self.news.push((after(now, SEARCH_LAG), thing.crn, None));
        }
    }

    /// Applies all changes that are due by now.
    pub(super) fn settle(&mut self, now: Timestamp) {
        let due = |thing: &&Thing| thing.later.as_ref().is_some_and(|later| later.at <= now);
        let ids: Vec<String> = self.things.values().filter(due).map(|thing| thing.id.clone()).collect();
        for id in ids {
            let Some(thing) = self.things.get_mut(&id) else { continue };
            let Some(Later { at, then }) = thing.later.take() else { continue };
            match then {
                Then::State(state) => {
                    thing.state = state.to_owned();
                    let changed = thing.clone();
                    self.schedule_index(&changed, at);
                    if state == "removed" {
                        self.empty(&id, at);
                    }
                }
                Then::Gone => {
                    self.empty(&id, at);
                    self.remove(&id, at);
                }
            }
        }
        let (due, rest) = std::mem::take(&mut self.news).into_iter().partition(|(at, ..)| *at <= now);
        self.news = rest;
        let due: Vec<(Timestamp, String, Option<Thing>)> = due;
        for (_, crn, entry) in due {
            match entry {
                Some(entry) => drop(self.index.insert(crn, entry)),
                None => drop(self.index.remove(&crn)),
            }
        }
    }

    /// Removes the children of a resource: groups of a VPC, networks of a workspace or DHCP server.
    fn empty(&mut self, id: &str, now: Timestamp) {
        let served = self.things.get(id).filter(|thing| thing.kind == ThingKind::DhcpServer);
        let mut inner: Vec<String> = served.map(|server| server.uses.clone()).unwrap_or_default();
        inner.extend(self.within(id).map(|thing| thing.id.clone()));
        for id in inner {
            self.remove(&id, now);
        }
    }

    /// A new id; the same sequence for the same seed.
    pub(super) fn mint(&mut self) -> String {
        self.minted += 1;
        let high = mix(self.seed ^ self.minted.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let low = mix(high ^ self.minted);
        let text = format!("{high:016x}{low:016x}");
        format!("{}-{}-4{}-8{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..32])
    }
}

/// The last step of SplitMix64.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

pub(super) fn after(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_add(SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX)).unwrap_or(Timestamp::MAX)
}

impl ThingKind {
    /// The state of a healthy resource.
    pub fn fine(self) -> &'static str {
        match self {
            Self::Workspace | Self::CosInstance => "active",
            Self::Network => "Active",
            Self::DhcpServer => "ACTIVE",
            Self::Vpc | Self::Subnet | Self::TransitGateway => "available",
            Self::SecurityGroup => "",
            Self::LoadBalancer => "active",
            Self::Connection => "attached",
        }
    }

    /// How long its deletion takes here: seconds where users report minutes, in the same order.
    pub(super) fn leaving(self) -> Duration {
        Duration::from_secs(match self {
            Self::SecurityGroup | Self::CosInstance => 0,
            Self::Network => 2,
            Self::Subnet | Self::Vpc => 3,
            Self::TransitGateway => 4,
            Self::DhcpServer => 5,
            Self::Connection | Self::Workspace => 6,
            Self::LoadBalancer => 8,
        })
    }
}

impl Thing {
    /// A healthy, untagged, unused resource.
    pub fn new(kind: ThingKind, id: &str, name: &str, location: &str, account: &str, created_at: Timestamp) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            crn: crn(kind, id, location, account),
            name: name.to_owned(),
            location: location.to_owned(),
            created_at,
            state: kind.fine().to_owned(),
            parent: None,
            tags: BTreeSet::new(),
            locked: false,
            network_type: None,
            network_id: None,
            uses: Vec::new(),
            held_by: Vec::new(),
            is_default: false,
            reclaim_until: None,
            later: None,
        }
    }

    /// Sets the parent. A network's CRN contains its workspace.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        if self.kind == ThingKind::Network {
            self.crn = self.crn.replace("::network:", &format!(":{parent}:network:"));
        }
        self.parent = Some(parent.to_owned());
        self
    }

    #[must_use]
    pub fn tagged(mut self, tags: &[&str]) -> Self {
        self.tags.extend(tags.iter().map(|tag| (*tag).to_owned()));
        self
    }

    /// Whether its deletion has started or finished.
    pub fn is_leaving(&self) -> bool {
        matches!(
            self.state.as_str(),
            "deleting" | "delete_pending" | "pending_removal" | "pending_reclamation" | "removed" | "DELETING"
        )
    }
}

fn crn(kind: ThingKind, id: &str, location: &str, account: &str) -> String {
    let whole = |service: &str, tail: &str| format!("crn:v1:bluemix:public:{service}:{location}:a/{account}:{tail}");
    match kind {
        ThingKind::Workspace => whole("power-iaas", &format!("{id}::")),
        ThingKind::Network => whole("power-iaas", &format!(":network:{id}")),
        ThingKind::CosInstance => whole("cloud-object-storage", &format!("{id}::")),
        ThingKind::Vpc => whole("is", &format!(":vpc:{id}")),
        ThingKind::Subnet => whole("is", &format!(":subnet:{id}")),
        ThingKind::SecurityGroup => whole("is", &format!(":security-group:{id}")),
        ThingKind::LoadBalancer => whole("is", &format!(":load-balancer:{id}")),
        ThingKind::TransitGateway => whole("transit", &format!(":gateway:{id}")),
        ThingKind::DhcpServer | ThingKind::Connection => String::new(),
    }
}
