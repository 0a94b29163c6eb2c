//! AWS: the account that a cluster's machines run in, found through the cluster's own objects. Read only.
//!
//! - [`client`]: credentials, STS and EC2 over HTTP. [`account`]: an account as a member of the fleet.
//! - `examine`: the section of `trueup doctor`.

pub mod account;
pub mod client;
mod examine;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::{Account, AccountSettings, CloudProvider, Examination, Footprint, Registration};
use account::{AwsAccount, AwsCache, AwsWay};
use trueup_core::world::{Cluster, Provider, Resource};

pub(super) const REGISTRATION: Registration = Registration {
    provider: Provider::Aws,
    footprint: Some(Footprint {
        provider: Provider::Aws,
        platform: "AWS",
        template: Resource {
            group: "infrastructure.cluster.x-k8s.io",
            version: "v1beta2",
            kind: "AWSMachineTemplate",
            plural: "awsmachinetemplates",
            namespaced: true,
        },
    }),
    build: |env, clock, egress| {
        Box::new(AwsCloud::new(AwsCache::new(AwsWay::Network, env, clock).with_egress(egress.clone())))
    },
};

/// AWS, with what was learned of it.
pub struct AwsCloud {
    cache: Arc<AwsCache>,
}

impl AwsCloud {
    pub fn new(cache: AwsCache) -> Self {
        Self { cache: Arc::new(cache) }
    }
}

impl CloudProvider for AwsCloud {
    fn provider(&self) -> Provider {
        Provider::Aws
    }

    fn account_of(&self, cluster: &Cluster, client: &kube::Client) -> Option<Arc<dyn Account>> {
        Some(Arc::new(AwsAccount::new(cluster.name.as_str(), client.clone(), self.cache.clone())))
    }

    fn examine<'a>(&'a self, _: &'a [AccountSettings]) -> BoxFuture<'a, Vec<Examination>> {
        async move { examine::lines(account::examine(&self.cache).await) }.boxed()
    }
}
