//! What gets a finding: each resource as each cluster that points at it sees it, ids that lead nowhere, tags that would be
//! refused, and what is not known as a whole.

use std::collections::BTreeMap;

use super::NAME;
use super::account::Account;
use super::claimant::Claimant;
use super::connection::orphaned_by;
use super::context::{CheckContext, Home};
use super::facts::Course;
use super::judge::missing_gap;
use super::kind::Kind;
use super::names::{CLOUD_API, POWERVS_CLUSTER};
use super::users::{Users, serves};
use trueup_core::engine::{CloudPlace, SeenFrom, SubjectId};
use trueup_core::world::{Cluster, Gap, Provider, Served};

/// Stands for a collection that isn't completely known.
pub const WHOLE_COLLECTION: &str = "*";

/// Stands for the management clusters of an account.
const MANAGEMENT_CLUSTERS: &str = "management-clusters";

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedSubject {
    /// A resource, as this cluster sees it.
    Resource { account: usize, item: usize, seen_from: Option<usize> },
    /// An id the status holds and the listing lacks.
    Missing { account: usize, claimant: usize, slot: usize },
    /// A tag of a cluster that would be refused.
    Tag { claimant: usize, fault: usize },
    /// A cluster whose ids are in no account that was read.
    Unplaced { claimant: usize },
    /// A cluster that is being deleted and of which nothing is left in the account.
    FinalizerOnly { claimant: usize },
    /// The management clusters of an account, not all of which were read.
    Members { account: usize, gap: Gap },
    /// A list of clusters that isn't known completely.
    Clusters { gap: Gap },
    /// An account that isn't known completely.
    Account { account: usize, gap: Gap },
}

/// Every subject there is now.
pub fn list(context: &CheckContext<'_>) -> BTreeMap<SubjectId, ResolvedSubject> {
    let mut subjects = BTreeMap::new();
    for (place, account) in context.accounts.iter().enumerate() {
        resources(context, place, account, &mut subjects);
        if let Some(gap) = &account.gap {
            let id = cloud(account, CloudId { kind: "Resource", id: WHOLE_COLLECTION, crn: None, name: None }, None);
            subjects.insert(id, ResolvedSubject::Account { account: place, gap: gap.clone() });
        }
        if let Some(gap) = account.members.gap() {
            let whole = CloudId { kind: MANAGEMENT_CLUSTERS, id: WHOLE_COLLECTION, crn: None, name: None };
            subjects.insert(cloud(account, whole, None), ResolvedSubject::Members { account: place, gap });
        }
    }
    for (claimant, one) in context.claimants.iter().enumerate() {
        for (fault, tag) in one.faults.iter().enumerate() {
            let name = format!("{}#{}", one.name(), tag.tag);
            subjects.insert(
                cluster_object(one.site, Some(one.namespace()), name),
                ResolvedSubject::Tag { claimant, fault },
            );
        }
        let has_ids = one.fact.slots.iter().any(|slot| slot.held.is_some());
        if one.home == Home::Nowhere && has_ids {
            let id = cluster_object(one.site, Some(one.namespace()), one.name().to_owned());
            subjects.insert(id, ResolvedSubject::Unplaced { claimant });
        }
        if has_only_its_finalizer(context, claimant) {
            let id = cluster_object(one.site, Some(one.namespace()), one.name().to_owned());
            subjects.insert(id, ResolvedSubject::FinalizerOnly { claimant });
        }
    }
    let users = Users::of(context.view);
    for site in users.asked(context.view).into_iter().filter(|site| serves(site)) {
        let reading = context.view.read::<super::facts::PowerVsCluster>(&POWERVS_CLUSTER.collection(site));
        // Without discovery it is not known whether there is anything to judge.
        let gap = reading.gap().filter(|_| !matches!(site.served, Served::Unknown(_)));
        if let Some(gap) = gap {
            let id = cluster_object(site, None, WHOLE_COLLECTION.to_owned());
            subjects.insert(id, ResolvedSubject::Clusters { gap });
        }
    }
    subjects
}

fn resources(
    context: &CheckContext<'_>,
    place: usize,
    account: &Account<'_>,
    subjects: &mut BTreeMap<SubjectId, ResolvedSubject>,
) {
    for item in 0..account.items.len() {
        let claims = account.claims.get(&item).into_iter().flat_map(|claims| claims.keys().copied());
        let mut is_seen = false;
        for claimant in claims {
            is_seen = true;
            let subject = ResolvedSubject::Resource { account: place, item, seen_from: Some(claimant) };
            subjects.insert(resource(context, place, item, Some(claimant)), subject);
        }
        let is_marked = || context.scheme().marks(&account.items[item].tags).next().is_some();
        if !is_seen && (is_marked() || hangs_on_an_orphan(context, place, item)) {
            let subject = ResolvedSubject::Resource { account: place, item, seen_from: None };
            subjects.insert(resource(context, place, item, None), subject);
        }
    }
    for missing in &account.missing {
        let claimant = &context.claimants[missing.claimant];
        let slot = &claimant.fact.slots[missing.slot];
        let Some(held) = &slot.held else { continue };
        let id =
            cloud(account, CloudId { kind: slot.kind.as_str(), id: &held.id, crn: None, name: None }, Some(claimant));
        subjects
            .insert(id, ResolvedSubject::Missing { account: place, claimant: missing.claimant, slot: missing.slot });
    }
}

/// Whether something without tags belongs to what a dead cluster left: a connection by either of its ends, a DHCP server by
/// its network, else its workspace.
fn hangs_on_an_orphan(context: &CheckContext<'_>, place: usize, item: usize) -> bool {
    let account = &context.accounts[place];
    let resource = account.items[item];
    let ends: [Option<usize>; 2] = match resource.kind {
        Some(Kind::TgConnection) => [account.parents[item], account.ends[item]],
        Some(Kind::DhcpServer) => {
            let network = resource.network.as_deref().and_then(|id| account.find(Kind::Network, id));
            [network.or(account.parents[item]), None]
        }
        Some(_) | None => [None, None],
    };
    ends.into_iter().flatten().any(|end| orphaned_by(context, place, end).is_some())
}

/// Whether nothing is left of a cluster that is being deleted but its object: every id it holds is gone or kept by the cloud
/// for a while, and nothing else carries both its tags.
fn has_only_its_finalizer(context: &CheckContext<'_>, claimant: usize) -> bool {
    let one = &context.claimants[claimant];
    let Home::Account(place) = one.home else { return false };
    let account = &context.accounts[place];
    let is_over = |item: usize| account.items[item].course() == Course::Reclaiming;
    let held = |slot: usize| Some((slot, one.fact.slots[slot].held.as_ref()?));
    let mut ids = (0..one.fact.slots.len()).filter_map(held).peekable();
    one.fact.is_going()
        && account.gap.is_none()
        && ids.peek().is_some()
        && ids.all(|(slot, held)| match account.find(one.fact.slots[slot].kind, &held.id) {
            Some(item) => is_over(item),
            None => missing_gap(context, place, claimant, slot).is_none(),
        })
        && (0..account.items.len()).all(|item| is_over(item) || !one.owns(context.scheme(), &account.items[item].tags))
}

/// The subject a resource is, as a cluster sees it.
pub fn resource(context: &CheckContext<'_>, place: usize, item: usize, seen_from: Option<usize>) -> SubjectId {
    let found = context.resource(place, item);
    let id = CloudId {
        kind: found.kind.map_or("", Kind::as_str),
        id: &found.id,
        crn: found.crn.as_deref(),
        name: found.name.as_deref(),
    };
    cloud(&context.accounts[place], id, seen_from.map(|claimant| &context.claimants[claimant]))
}

/// What makes a resource itself.
#[derive(Debug, Clone, Copy)]
struct CloudId<'t> {
    kind: &'static str,
    id: &'t str,
    crn: Option<&'t str>,
    name: Option<&'t str>,
}

fn cloud(account: &Account<'_>, id: CloudId<'_>, seen_from: Option<&Claimant<'_>>) -> SubjectId {
    let seen_from = seen_from.map(|claimant| SeenFrom {
        cluster: claimant.site.name.clone(),
        namespace: claimant.namespace().to_owned(),
        name: claimant.name().to_owned(),
    });
    SubjectId {
        domain: NAME,
        cluster: account.member.name.clone(),
        api_version: CLOUD_API,
        kind: id.kind,
        namespace: None,
        name: id.id.to_owned(),
        cloud: Some(Box::new(CloudPlace {
            provider: Provider::Ibm,
            account: account.account.clone(),
            crn: id.crn.map(str::to_owned),
            name: id.name.map(str::to_owned),
            seen_from,
        })),
    }
}

fn cluster_object(site: &Cluster, namespace: Option<&str>, name: String) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: site.name.clone(),
        api_version: POWERVS_CLUSTER.api_version(&POWERVS_CLUSTER.in_cluster(site)),
        kind: POWERVS_CLUSTER.kind,
        namespace: namespace.map(str::to_owned),
        name,
        cloud: None,
    }
}
