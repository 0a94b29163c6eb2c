//! What this check wants to see: the accounts, every cluster that may own something in one, and who pauses them.

use super::facts::{CapiCluster, CloudResource, PowerVsCluster};
use super::names::{CAPI_CLUSTER, CLOUD_RESOURCE, POWERVS_CLUSTER};
use super::users::Users;
use trueup_core::world::{ClusterSource, CollectionId, Interest, Provider, View};

pub fn list(view: View<'_>) -> Vec<Interest> {
    let is_ibm = |source: &ClusterSource| matches!(source, ClusterSource::Cloud { provider: Provider::Ibm, .. });
    let mut wanted: Vec<Interest> = view
        .clusters()
        .filter(|member| is_ibm(&member.source))
        .map(|member| CollectionId::all(&member.name, CLOUD_RESOURCE).interest::<CloudResource>())
        .collect();
    let users = Users::of(view);
    for cluster in view.clusters().filter(|cluster| users.asks(cluster)) {
        let id = POWERVS_CLUSTER.collection(cluster);
        let has_owners = view.read::<PowerVsCluster>(&id).iter().any(|(_, fact)| fact.owner.is_some());
        wanted.push(id.interest::<PowerVsCluster>());
        if has_owners {
            wanted.push(CAPI_CLUSTER.collection(cluster).interest::<CapiCluster>());
        }
    }
    wanted
}
