//! The executor's port to a cluster and to the cloud accounts its objects point into.
//!
//! Elsewhere: requests to the cluster (`kube_cluster`), requests to an account (the provider's folder).

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use zeroize::Zeroizing;

use super::AccountPort;
use crate::kube_cluster::KubeCluster;
use trueup_core::engine::executor::{ClusterPort, InFlight, Reading, Reply, Write};
use trueup_core::engine::journal::Answer;
use trueup_core::engine::{CloudRef, ObjectRef};

/// Accounts by their ids.
pub type Accounts = BTreeMap<String, Arc<dyn AccountPort>>;

/// A cluster, and the accounts its objects point into.
pub struct ClusterWithAccounts {
    cluster: KubeCluster,
    accounts: Accounts,
}

impl ClusterWithAccounts {
    pub fn new(client: kube::Client, accounts: Accounts) -> Self {
        Self { cluster: KubeCluster::new(client), accounts }
    }

    fn account(&self, cloud: &CloudRef) -> Result<&dyn AccountPort, String> {
        let account = self.accounts.get(&cloud.account).map(AsRef::as_ref);
        account.ok_or_else(|| format!("account {} is not among [clouds.{}]", cloud.account, cloud.cloud))
    }
}

impl ClusterPort for ClusterWithAccounts {
    fn read<'a>(&'a self, target: &'a ObjectRef) -> BoxFuture<'a, Reading> {
        let Some(cloud) = target.cloud.as_deref() else { return self.cluster.read(target) };
        match self.account(cloud) {
            Ok(account) => account.read(cloud),
            Err(why) => std::future::ready(Reading::Unknown(why)).boxed(),
        }
    }

    fn send<'a>(&'a self, token: &'a InFlight, write: Write<'a>) -> BoxFuture<'a, Reply> {
        let target = match &write {
            Write::Delete { target, .. }
            | Write::Change { target, .. }
            | Write::Apply { target, .. }
            | Write::Create { target, .. } => *target,
        };
        let Some(cloud) = target.cloud.as_deref() else { return self.cluster.send(token, write) };
        match self.account(cloud) {
            Ok(account) => account.send(token, cloud, write),
            // Nothing was sent.
            Err(reason) => {
                let answer = Answer::Throttled;
                let reply =
                    Reply { http: None, answer, retry_after: None, reason, managers: Vec::new(), version: None };
                std::future::ready(reply).boxed()
            }
        }
    }

    fn list<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, String>> {
        self.cluster.list(api_version, kind)
    }
}
