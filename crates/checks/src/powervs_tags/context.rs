//! Accounts compared with clusters: which cluster refers to which resource, and how.
//!
//! Invariants:
//! - an id beats a name: a cluster that holds an id of a sort is not matched by name there;
//! - a cluster points only into the account its ids lie in. Where they lie in several, nothing is concluded;
//! - a uid counts as unowned only when every management cluster of the account was read.
//!
//! Elsewhere: one cluster's own tags and wishes (`claimant`), one account's resources (`account`).

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::rc::Rc;

use super::account::Account;
use super::claimant::{Claimant, Moved};
use super::facts::{
    CapiCluster, CloudResource, Pause, PowerVsCluster, Restored, Slot, SpecEntry, account_of_crn, crn_ends,
};
use super::kind::Kind;
use super::names::{CAPI_CLUSTER, POWERVS_CLUSTER};
use super::settings::Settings;
use super::subjects::{ResolvedSubject, list};
use super::tags::TagScheme;
use super::teardown::Teardown;
use super::users::{Users, used_from};
use trueup_core::engine::SubjectId;
use trueup_core::world::{
    Cluster, ClusterName, CollectionId, Gap, GapCause, Key, ObjectName, Observation, Provider, View,
};

/// Everything one look at the fleet needs, made once.
pub struct CheckContext<'a> {
    pub view: View<'a>,
    pub settings: &'a Settings,
    pub accounts: Vec<Account<'a>>,
    pub claimants: Vec<Claimant<'a>>,
    /// Every list of IBMPowerVSClusters there is.
    pub fleet: Vec<CollectionId>,
    living: BTreeMap<String, usize>,
    /// How many clusters have each name.
    pub namesakes: BTreeMap<&'a str, usize>,
    pub subjects: BTreeMap<SubjectId, ResolvedSubject>,
    pub(super) teardowns: RefCell<BTreeMap<usize, Rc<Teardown>>>,
    pub(super) leaked: RefCell<BTreeMap<(usize, String), Rc<Teardown>>>,
    /// What dead clusters left, by account and uid.
    pub(super) orphans: OnceCell<Orphans>,
    /// How many rulings on resources were made: the work of a pass.
    pub(super) rulings: Cell<u64>,
}

/// A context that is made when it is first needed: most changes of a fleet are about clusters without a subject of this check.
pub struct LazyContext<'a> {
    view: View<'a>,
    settings: &'a Settings,
    made: OnceCell<CheckContext<'a>>,
}

impl<'a> LazyContext<'a> {
    pub fn new(view: View<'a>, settings: &'a Settings) -> Self {
        Self { view, settings, made: OnceCell::new() }
    }

    /// Whether a member of the fleet can have a subject: an account, or a cluster that is asked for its owners.
    pub fn may_have_subjects(&self, name: &ClusterName) -> bool {
        let member = self.view.cluster(name);
        member.is_some_and(|member| used_from(member).is_some() || Users::of(self.view).asks(member))
    }
}

impl<'a> Deref for LazyContext<'a> {
    type Target = CheckContext<'a>;

    fn deref(&self) -> &CheckContext<'a> {
        self.made.get_or_init(|| CheckContext::new(self.view, self.settings))
    }
}

/// Items by account and the uid of their dead owner.
pub(super) type Orphans = BTreeMap<(usize, String), BTreeSet<usize>>;

/// The account a cluster's ids lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    Account(usize),
    /// Several, which can't be.
    Several,
    /// None that was read.
    Nowhere,
}

/// How a cluster points at a resource, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Its status holds the id.
    Status,
    /// Its spec gives the id.
    Spec,
    /// A given or default name.
    Name,
    /// Both of its tags.
    Tags,
    /// The resource that contains it carries the cluster's tags, and it connects to a resource of the cluster.
    Holder,
}

/// One cluster pointing at one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    pub by: By,
    /// The slot it was found by.
    pub slot: Option<usize>,
}

/// An id the status holds and no listing has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    pub claimant: usize,
    pub slot: usize,
}

impl<'a> CheckContext<'a> {
    pub fn new(view: View<'a>, settings: &'a Settings) -> Self {
        let mut context = Self {
            view,
            settings,
            accounts: view.accounts(Provider::Ibm).filter_map(|member| Account::read(view, member)).collect(),
            claimants: Vec::new(),
            fleet: Vec::new(),
            living: BTreeMap::new(),
            namesakes: BTreeMap::new(),
            subjects: BTreeMap::new(),
            teardowns: RefCell::default(),
            leaked: RefCell::default(),
            orphans: OnceCell::new(),
            rulings: Cell::new(0),
        };
        context.read_clusters();
        context.settle();
        context.point();
        context.point_by_tags();
        context.point_by_holder();
        context.find_moved();
        context.subjects = list(&context);
        context
    }

    /// The cluster with this uid, when it lives.
    pub fn living(&self, uid: &str) -> Option<usize> {
        self.living.get(uid).copied()
    }

    pub fn resource(&self, account: usize, item: usize) -> &'a CloudResource {
        self.accounts[account].items[item]
    }

    pub fn claim(&self, account: usize, item: usize, claimant: usize) -> Option<(Claim, Option<&'a Slot>)> {
        let claim = *self.accounts[account].claims.get(&item)?.get(&claimant)?;
        let fact = self.claimants[claimant].fact;
        Some((claim, claim.slot.map(|slot| &fact.slots[slot])))
    }

    /// Whether any cluster holds the resource's id.
    pub fn is_pointed_at_by_id(&self, account: usize, item: usize) -> bool {
        let claims = self.accounts[account].claims.get(&item);
        claims.is_some_and(|claims| claims.values().any(|claim| claim.by <= By::Spec))
    }

    pub fn scheme(&self) -> &'a TagScheme {
        &self.settings.scheme
    }

    /// Why it is not known whether an owner of something in the account exists; nothing where every member was read.
    pub fn members_gap(&self, account: usize) -> Option<Gap> {
        if self.fleet.is_empty() {
            return Some(Gap::new(GapCause::NotObserved, "no cluster was asked for IBMPowerVSClusters"));
        }
        self.accounts[account].members.gap()
    }

    fn read_clusters(&mut self) {
        for site in Users::of(self.view).asked(self.view) {
            let id = POWERVS_CLUSTER.collection(site);
            let reading = self.view.read::<PowerVsCluster>(&id);
            self.fleet.push(id);
            for (key, fact) in reading.iter() {
                let pause = self.pause(site, key, fact);
                let claimant = Claimant::new(site, key, fact, pause, self.settings);
                if let Some(uid) = &claimant.uid {
                    self.living.insert(uid.clone(), self.claimants.len());
                }
                *self.namesakes.entry(key.name.as_str()).or_default() += 1;
                self.claimants.push(claimant);
            }
        }
    }

    /// Finds the clusters whose object is younger than they are: restored by a tool, or moved, which leaves the uid of the
    /// former object on what its status points at.
    fn find_moved(&mut self) {
        let moved: Vec<Moved> = self.claimants.iter().map(|claimant| self.moved(claimant)).collect();
        for (claimant, moved) in self.claimants.iter_mut().zip(moved) {
            claimant.moved = moved;
        }
    }

    fn moved(&self, claimant: &Claimant<'a>) -> Moved {
        let Home::Account(place) = claimant.home else { return Moved::No };
        if claimant.fact.restored == Restored::Yes {
            return Moved::Yes;
        }
        let account = &self.accounts[place];
        let held = claimant.fact.slots.iter().filter_map(|slot| account.find(slot.kind, &slot.held.as_ref()?.id));
        let is_former = |item: usize| {
            let tags = &account.items[item].tags;
            let is_dead = |uid: &&str| Some(*uid) != claimant.uid.as_deref() && self.living(uid).is_none();
            claimant.is_owner_in(self.scheme(), tags) && self.scheme().uuids(tags).iter().any(is_dead)
        };
        match (held.into_iter().any(is_former), self.members_gap(place)) {
            (false, _) => Moved::No,
            (true, None) => Moved::Yes,
            (true, Some(gap)) => Moved::NotKnown(gap),
        }
    }

    /// Its own, or that of the Cluster it belongs to. Where that is not known, its delete is not offered for that reason.
    fn pause(&self, site: &Cluster, key: &Key, fact: &PowerVsCluster) -> Pause {
        let Some(owner) = fact.owner.as_ref().filter(|_| fact.pause == Pause::No) else { return fact.pause };
        let owner = Key { namespace: key.namespace.clone(), name: ObjectName::new(&*owner.name) };
        match self.view.read::<CapiCluster>(&CAPI_CLUSTER.collection(site)).get(&owner) {
            Observation::Present(cluster) => cluster.pause,
            Observation::ProvenAbsent(_) | Observation::Unknown(_) => Pause::No,
        }
    }

    /// Finds the account of each cluster.
    fn settle(&mut self) {
        let homes: Vec<Home> = self.claimants.iter().map(|claimant| self.home(claimant)).collect();
        for (claimant, home) in self.claimants.iter_mut().zip(homes) {
            claimant.home = home;
        }
    }

    /// The accounts that the objects of a cluster may point into.
    pub fn allowed(&self, site: &Cluster) -> Vec<(usize, &Account<'a>)> {
        self.accounts.iter().enumerate().filter(|(_, account)| account.used_from.covers(site)).collect()
    }

    /// Only accounts its objects may point into count. Without any id there, it is the one there is.
    fn home(&self, claimant: &Claimant<'a>) -> Home {
        let allowed = self.allowed(claimant.site);
        let mut found: BTreeMap<String, Option<usize>> = BTreeMap::new();
        for slot in &claimant.fact.slots {
            for id in slot.ids() {
                if let Some(named) = account_of_crn(id) {
                    let place = allowed.iter().find(|(_, account)| account.account == named);
                    let known = found.entry(named).or_default();
                    *known = known.or(place.map(|(place, _)| *place));
                }
                for (place, account) in &allowed {
                    if account.find(slot.kind, id).is_some() {
                        found.entry(account.account.clone()).or_default().get_or_insert(*place);
                    }
                }
            }
        }
        let known: Vec<Option<usize>> = found.into_values().collect();
        match (&known[..], &allowed[..]) {
            ([], [(place, _)]) | ([Some(place)], _) => Home::Account(*place),
            ([] | [None], _) => Home::Nowhere,
            (_, _) => Home::Several,
        }
    }

    /// Points by ids and names.
    fn point(&mut self) {
        for claimant in 0..self.claimants.len() {
            let fact = self.claimants[claimant].fact;
            let places: Vec<usize> = match self.claimants[claimant].home {
                Home::Account(place) => vec![place],
                Home::Several => (0..self.accounts.len()).collect(),
                Home::Nowhere => Vec::new(),
            };
            for place in places {
                for (index, slot) in fact.slots.iter().enumerate() {
                    self.point_slot(place, claimant, index, slot);
                }
            }
        }
    }

    fn point_slot(&mut self, place: usize, claimant: usize, index: usize, slot: &Slot) {
        let is_home = self.claimants[claimant].home == Home::Account(place);
        let account = &mut self.accounts[place];
        let claim = |by| Claim { by, slot: Some(index) };
        if let Some(held) = &slot.held {
            match account.find(slot.kind, &held.id) {
                Some(item) => account.claimed(item, claimant, claim(By::Status)),
                None if is_home => account.missing.push(Missing { claimant, slot: index }),
                None => {}
            }
        }
        if let SpecEntry::Given { id } | SpecEntry::Reference { id: Some(id) } = &slot.spec_entry
            && let Some(item) = account.find(slot.kind, id)
        {
            account.claimed(item, claimant, claim(By::Spec));
        }
        if slot.ids().next().is_none() && is_home {
            let named: BTreeSet<usize> = slot.names.iter().flat_map(|name| account.named(slot.kind, name)).collect();
            for item in named {
                account.claimed(item, claimant, claim(By::Name));
            }
        }
    }

    /// Whether a resource carries both tags of a cluster.
    fn bears_tags_of(&self, place: usize, item: usize, claimant: usize) -> bool {
        self.claimants[claimant].owns(self.scheme(), &self.resource(place, item).tags)
    }

    /// Both tags of a living cluster are that cluster pointing, in its own account.
    fn point_by_tags(&mut self) {
        for place in 0..self.accounts.len() {
            for item in 0..self.accounts[place].items.len() {
                let tags = &self.resource(place, item).tags;
                let uuids = self.scheme().uuids(tags).into_iter();
                let owners: Vec<usize> = uuids
                    .filter_map(|uid| self.living(uid))
                    .filter(|claimant| self.claimants[*claimant].is_owner_in(self.scheme(), tags))
                    .filter(|claimant| self.claimants[*claimant].home == Home::Account(place))
                    .collect();
                for claimant in owners {
                    self.accounts[place].claimed(item, claimant, Claim { by: By::Tags, slot: None });
                }
            }
        }
    }

    /// A resource without tags is found by the one that contains it: a connection by its gateway's tags and the network it leads
    /// to, a DHCP server by its network's.
    fn point_by_holder(&mut self) {
        for place in 0..self.accounts.len() {
            for item in 0..self.accounts[place].items.len() {
                let Some(holder) = self.tagged_holder(place, item) else { continue };
                let tags = &self.resource(place, holder).tags;
                let is_claimed = |claimant: &usize| {
                    let one = &self.claimants[*claimant];
                    let owns = self.bears_tags_of(place, holder, *claimant);
                    let resource = self.accounts[place].items[item];
                    let leads = match (resource.kind, resource.side) {
                        (Some(Kind::TgConnection), Some(side)) => {
                            (owns || one.connects(self.scheme(), tags, side))
                                && self.leads_to(place, item, *claimant) == Leads::Ours
                        }
                        (Some(Kind::TgConnection), None) => false,
                        _ => owns,
                    };
                    one.home == Home::Account(place) && leads
                };
                let uids = self.scheme().uuids(tags).into_iter().chain(self.scheme().connection_uids(tags));
                let owners: BTreeSet<usize> = uids.filter_map(|uid| self.living(uid)).filter(is_claimed).collect();
                for claimant in owners {
                    self.accounts[place].claimed(item, claimant, Claim { by: By::Holder, slot: None });
                }
            }
        }
    }

    /// Whose tags speak for something without any.
    fn tagged_holder(&self, place: usize, item: usize) -> Option<usize> {
        let account = &self.accounts[place];
        let resource = account.items[item];
        match resource.kind? {
            Kind::TgConnection => account.parents[item],
            Kind::DhcpServer => account.find(Kind::Network, resource.network.as_deref()?),
            Kind::Workspace
            | Kind::Network
            | Kind::Vpc
            | Kind::Subnet
            | Kind::SecurityGroup
            | Kind::LoadBalancer
            | Kind::TransitGateway
            | Kind::CosInstance => None,
        }
    }

    /// Whether a connection leads to a VPC or workspace of the cluster.
    pub fn leads_to(&self, place: usize, item: usize, claimant: usize) -> Leads {
        let account = &self.accounts[place];
        let resource = account.items[item];
        let Some(crn) = resource.leads_to.as_deref() else { return Leads::NotSaid };
        // A network of a sort no cluster has.
        let Some(side) = resource.side else { return Leads::Elsewhere };
        let slots = || self.claimants[claimant].fact.slots.iter().filter(|slot| slot.kind == side.kind());
        let ends = crn_ends(crn);
        if slots().flat_map(Slot::ids).any(|id| id == crn || ends.contains(&id)) {
            return Leads::Ours;
        }
        let end = account.find(side.kind(), crn);
        if end.is_some_and(|end| self.bears_tags_of(place, end, claimant)) {
            return Leads::Ours;
        }
        let claim = end.and_then(|end| self.claim(place, end, claimant));
        match claim {
            Some((Claim { by: By::Status | By::Spec, .. }, _)) => Leads::Ours,
            Some((_, Some(Slot { spec_entry: SpecEntry::Reference { .. }, .. }))) => Leads::Ours,
            Some(_) | None => Leads::Elsewhere,
        }
    }
}

/// Where a connection leads, as a cluster sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads {
    Ours,
    Elsewhere,
    /// The listing does not say.
    NotSaid,
}
