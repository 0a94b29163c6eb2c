//! Which judgements a change touches.
//!
//! Invariants: judging what is touched and keeping the rest gives the same as judging everything.
//!
//! A cluster that comes or goes decides whose every resource of an account is, so a change of either touches all of it. That
//! is one pass over the account, whatever changed.

use super::facts::PowerVsCluster;
use super::names::{CAPI_CLUSTER, CLOUD_RESOURCE, POWERVS_CLUSTER};
use super::users::serves;
use crate::Touched;
use trueup_core::world::{Change, ChangeSet, Cluster, ClusterSource, Provider, View};

pub fn find(changes: &ChangeSet, view: View<'_>) -> Touched {
    let is_ours = |change: &Change| match change {
        Change::Collection { id, .. } => {
            id.resource == CLOUD_RESOURCE || POWERVS_CLUSTER.is(&id.resource) || CAPI_CLUSTER.is(&id.resource)
        }
        Change::Cluster(_) => true,
    };
    let mut touched = Touched::default();
    if !changes.iter().any(is_ours) {
        return touched;
    }
    touched.clusters.extend(changes.iter().filter(|change| is_ours(change)).map(|change| change.cluster().clone()));
    let is_account = |source: &ClusterSource| matches!(source, ClusterSource::Cloud { provider: Provider::Ibm, .. });
    let has_clusters = |member: &Cluster| {
        serves(member) || view.read::<PowerVsCluster>(&POWERVS_CLUSTER.collection(member)).iter().next().is_some()
    };
    let concerned = view.clusters().filter(|member| is_account(&member.source) || has_clusters(member));
    touched.clusters.extend(concerned.map(|member| member.name.clone()));
    touched
}
