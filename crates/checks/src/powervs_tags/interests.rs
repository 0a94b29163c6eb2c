//! What this check wants to see: the accounts, every cluster that may own something in one, and who pauses them.

use std::collections::BTreeSet;

use super::facts::{CapiCluster, CloudResource, PowerVsCluster};
use super::names::{CAPI_CLUSTER, CLOUD_RESOURCE, POWERVS_CLUSTER};
use super::users::{Users, used_from};
use crate::Touched;
use crate::contract::interested_by_touch;
use trueup_core::world::{Change, ChangeSet, Cluster, ClusterName, CollectionId, Interest, View};

/// What is needed because of one cluster or account.
pub fn of(member: &Cluster, view: View<'_>) -> Vec<Interest> {
    if used_from(member).is_some() {
        return vec![CollectionId::all(&member.name, CLOUD_RESOURCE).interest::<CloudResource>()];
    }
    if !Users::of(view).asks(member) {
        return Vec::new();
    }
    let id = POWERVS_CLUSTER.collection(member);
    let has_owners = view.read::<PowerVsCluster>(&id).iter().any(|(_, fact)| fact.owner.is_some());
    let mut wanted = vec![id.interest::<PowerVsCluster>()];
    if has_owners {
        wanted.push(CAPI_CLUSTER.collection(member).interest::<CapiCluster>());
    }
    wanted
}

/// An account decides which clusters are asked: when one comes, goes or changes, each may be asked for more or less.
pub fn interested(touched: Touched, changes: &ChangeSet, view: View<'_>) -> BTreeSet<ClusterName> {
    let is_account = |change: &Change| match change {
        Change::Cluster(name) => view.cluster(name).is_none_or(|member| used_from(member).is_some()),
        Change::Collection { .. } | Change::Link { .. } => false,
    };
    let mut interested = interested_by_touch(touched, changes);
    if changes.iter().any(is_account) {
        interested.extend(view.clusters().map(|cluster| cluster.name.clone()));
    }
    interested
}
