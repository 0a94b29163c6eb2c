//! One cloud account: its resources, found by id, by name and by what holds them.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{Claim, Missing};
use super::facts::{CloudResource, crn_ends};
use super::kind::Kind;
use super::names::CLOUD_RESOURCE;
use super::users::{members, used_from};
use trueup_core::world::{Cluster, ClusterSource, CollectionId, Gap, MemberRule, MemberSet, Provider, View};

/// An account, and who points at what in it.
pub struct Account<'a> {
    pub member: &'a Cluster,
    /// The account's id; its alias while the id is unknown.
    pub account: String,
    pub listing: CollectionId,
    /// The clusters it is used from.
    pub used_from: &'a MemberRule,
    /// Those of them that were read, and whether that is all of them.
    pub members: MemberSet,
    /// Why the listing is not complete.
    pub gap: Option<Gap>,
    /// Those of a kind a cluster is made of.
    pub items: Vec<&'a CloudResource>,
    /// What holds each item.
    pub parents: Vec<Option<usize>>,
    pub children: BTreeMap<usize, Vec<usize>>,
    /// The VPC or workspace each connection leads to, where it is in this account.
    pub ends: Vec<Option<usize>>,
    /// The connections that lead to each VPC or workspace.
    connections: BTreeMap<usize, Vec<usize>>,
    /// Whether the CRN of each item names another account.
    elsewhere: Vec<bool>,
    /// By item, by cluster.
    pub claims: BTreeMap<usize, BTreeMap<usize, Claim>>,
    /// The items each cluster points at.
    claimed_by: BTreeMap<usize, BTreeSet<usize>>,
    pub missing: Vec<Missing>,
    by_id: BTreeMap<(Kind, &'a str), usize>,
    by_name: BTreeMap<(Kind, &'a str), Vec<usize>>,
}

impl<'a> Account<'a> {
    /// Reads a member of the fleet that is an account with IBM Cloud.
    pub fn read(view: View<'a>, member: &'a Cluster) -> Option<Self> {
        let ClusterSource::Cloud { provider: Provider::Ibm, account, .. } = &member.source else { return None };
        let used_from = used_from(member)?;
        let listing = CollectionId::all(&member.name, CLOUD_RESOURCE);
        let reading = view.read::<CloudResource>(&listing);
        let items: Vec<&'a CloudResource> =
            reading.iter().map(|(_, resource)| resource).filter(|resource| resource.kind.is_some()).collect();
        let alias = member.name.as_str().strip_prefix("ibm:").unwrap_or(member.name.as_str());
        let mut read = Self {
            member,
            account: if account.is_empty() { alias.to_owned() } else { account.clone() },
            members: members(used_from, view),
            used_from,
            gap: reading.gap(),
            listing,
            parents: Vec::new(),
            children: BTreeMap::new(),
            ends: Vec::new(),
            connections: BTreeMap::new(),
            elsewhere: Vec::new(),
            claims: BTreeMap::new(),
            claimed_by: BTreeMap::new(),
            missing: Vec::new(),
            by_id: BTreeMap::new(),
            by_name: BTreeMap::new(),
            items,
        };
        read.index();
        Some(read)
    }

    /// The resource an id means; a CRN means what it ends in, where the listing has none.
    pub fn find(&self, kind: Kind, id: &str) -> Option<usize> {
        let ends = || crn_ends(id).into_iter().find_map(|end| self.by_id.get(&(kind, end)));
        self.by_id.get(&(kind, id)).or_else(ends).copied()
    }

    /// All resources of this name.
    pub fn named(&self, kind: Kind, name: &str) -> Vec<usize> {
        self.by_name.get(&(kind, name)).cloned().unwrap_or_default()
    }

    pub fn held_by(&self, item: usize) -> &[usize] {
        self.children.get(&item).map_or(&[], Vec::as_slice)
    }

    /// The connections that lead to a VPC or workspace.
    pub fn connected_to(&self, item: usize) -> &[usize] {
        self.connections.get(&item).map_or(&[], Vec::as_slice)
    }

    /// The items a cluster points at, in order.
    pub fn claimed_by(&self, claimant: usize) -> impl Iterator<Item = usize> + '_ {
        self.claimed_by.get(&claimant).into_iter().flatten().copied()
    }

    /// Whether an item's CRN names another account than the one it was read from.
    pub fn is_elsewhere(&self, item: usize) -> bool {
        self.elsewhere[item]
    }

    /// Notes that a cluster points at a resource; the strongest way counts.
    pub fn claimed(&mut self, item: usize, claimant: usize, claim: Claim) {
        self.claimed_by.entry(claimant).or_default().insert(item);
        let held = self.claims.entry(item).or_default().entry(claimant).or_insert(claim);
        if claim.by < held.by {
            *held = claim;
        }
    }

    fn index(&mut self) {
        for (place, resource) in self.items.iter().enumerate() {
            let Some(kind) = resource.kind else { continue };
            self.by_id.insert((kind, &resource.id), place);
        }
        // Another spelling never takes the place of an id.
        for (place, resource) in self.items.iter().enumerate() {
            let Some(kind) = resource.kind else { continue };
            if let Some(crn) = resource.crn.as_deref() {
                for end in crn_ends(crn).into_iter().chain([crn]) {
                    self.by_id.entry((kind, end)).or_insert(place);
                }
            }
            // A DHCP server has no name of its own in IBM Cloud: it is found by that of its network.
            let served = resource.network.as_deref().and_then(|id| self.find(Kind::Network, id));
            let network = served.and_then(|network| self.items[network].name.as_deref());
            let names = [resource.name.as_deref(), network.filter(|_| kind == Kind::DhcpServer)];
            for name in names.into_iter().flatten() {
                self.by_name.entry((kind, name)).or_default().push(place);
            }
        }
        let parent = |resource: &&CloudResource| {
            let holder = resource.kind?.holder()?;
            self.find(holder, resource.parent.as_deref()?)
        };
        self.parents = self.items.iter().map(parent).collect();
        let end = |resource: &&CloudResource| self.find(resource.side?.kind(), resource.leads_to.as_deref()?);
        self.ends = self.items.iter().map(end).collect();
        let is_elsewhere = |item: &&CloudResource| item.crn_account().is_some_and(|named| named != self.account);
        self.elsewhere = self.items.iter().map(is_elsewhere).collect();
        self.children = places_by(&self.parents);
        self.connections = places_by(&self.ends);
    }
}

/// The places that have each value, in order.
fn places_by(values: &[Option<usize>]) -> BTreeMap<usize, Vec<usize>> {
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, value) in values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?))) {
        places.entry(value).or_default().push(place);
    }
    places
}
