//! What gets a finding: each resource as each cluster that points at it sees it, ids that lead nowhere, tags that would be
//! refused, and what is not known as a whole.

use std::collections::BTreeMap;

use super::NAME;
use super::account::Account;
use super::context::{CheckContext, Claimant, Home};
use super::kind::Kind;
use super::names::{CLOUD_API, POWERVS_CLUSTER};
use super::users::{Users, serves};
use trueup_core::engine::{CloudPlace, SeenFrom, SubjectId};
use trueup_core::world::{Cluster, Gap, Provider, Served};

/// Stands for a collection that isn't completely known.
pub const WHOLE_COLLECTION: &str = "*";

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
    }
    for (claimant, one) in context.claimants.iter().enumerate() {
        for (fault, tag) in one.fact.faults.iter().enumerate() {
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
    }
    let users = Users::of(context.view);
    for site in context.view.clusters().filter(|site| serves(site) && users.asks(site)) {
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
        if !is_seen && account.items[item].tags.any_by_prefix() {
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
