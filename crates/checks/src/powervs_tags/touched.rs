//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything.
//!
//! A cluster that comes or goes decides whose every resource of an account is, so a change of either touches all of it. That
//! is one pass over the account, whatever changed.

use super::facts::PowerVsCluster;
use super::names::{CAPI_CLUSTER, CLOUD_RESOURCE, POWERVS_CLUSTER};
use super::users::used_from;
use crate::Touched;
use trueup_core::world::{Change, ChangeSet, Provider, View};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let is_ours = |change: &Change| match change {
        Change::Collection { id, .. } => {
            id.resource == CLOUD_RESOURCE || POWERVS_CLUSTER.is(&id.resource) || CAPI_CLUSTER.is(&id.resource)
        }
        Change::Cluster(name) => {
            view.cluster(name).is_none_or(|member| used_from(member).is_some() || !member.source.is_account())
        }
    };
    let mut touched = Touched::default();
    if !changes.iter().any(is_ours) {
        return touched;
    }
    touched.clusters.extend(changes.iter().filter(|change| is_ours(change)).map(|change| change.cluster().clone()));
    let accounts = view.accounts(Provider::Ibm).map(|member| member.name.clone());
    let owners = view.filled::<PowerVsCluster>().map(|(id, _)| id.cluster.clone());
    touched.clusters.extend(accounts.chain(owners));
    touched
}
