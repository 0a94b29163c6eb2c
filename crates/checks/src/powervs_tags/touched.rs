//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything.
//!
//! A cluster that may own something in an account decides whose its every resource is, so a change of one of the two touches
//! all of them. That is one pass over the account, whatever changed. The other clusters of a fleet, and links that come and go
//! without another answer to "was it read", touch nothing.

use super::facts::PowerVsCluster;
use super::names::{CAPI_CLUSTER, CLOUD_RESOURCE, POWERVS_CLUSTER};
use super::users::{Users, used_from};
use crate::Touched;
use trueup_core::world::{Change, ChangeSet, ClusterName, Provider, Standing, View};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let is_ours = |change: &Change| match change {
        Change::Collection { id, .. } => {
            id.resource == CLOUD_RESOURCE || POWERVS_CLUSTER.is(&id.resource) || CAPI_CLUSTER.is(&id.resource)
        }
        Change::Cluster(name) => counts(name, view),
        Change::Link { cluster, standing } => *standing == Standing::Changed && counts(cluster, view),
    };
    let mut touched = Touched::default();
    let mut touches_all = false;
    for change in changes.iter() {
        let is_ours = is_ours(change);
        touches_all |= is_ours;
        // What else changed of a cluster may be that it was asked for its owners, and is not any more.
        if is_ours || matches!(change, Change::Cluster(_)) {
            touched.clusters.insert(change.cluster().clone());
        }
    }
    if touches_all {
        let accounts = view.accounts(Provider::Ibm).map(|member| member.name.clone());
        let owners = view.filled::<PowerVsCluster>().map(|(id, _)| id.cluster.clone());
        touched.clusters.extend(accounts.chain(owners));
    }
    touched
}

/// Whether a member of the fleet is an account, or may own something in one. One that is gone may have.
fn counts(name: &ClusterName, view: View<'_>) -> bool {
    let Some(member) = view.cluster(name) else { return true };
    let users = Users::of(view);
    used_from(member).is_some() || users.covers(member) || users.asks(member) || view.reads::<PowerVsCluster>(name)
}
