//! What users of the OAuth server have: sealed into a folder of the user's choice, independent of a switch to OIDC.
//!
//! Invariants: each kind is listed whole or not written; what is written can be opened again by the vault's key or the
//! configured recipients alone.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::OperateError;
use crate::fleet::Fleet;
use trueup_core::engine::executor::ClusterPort as _;
use trueup_core::engine::journal::StateFolder;
use trueup_core::engine::vault::Vault;
use trueup_core::world::ClusterName;
use trueup_fleet::kube_cluster::KubeCluster;

/// Group version, kind, and the name of its file.
const KINDS: [(&str, &str, &str); 6] = [
    ("user.openshift.io/v1", "User", "users"),
    ("user.openshift.io/v1", "Group", "groups"),
    ("user.openshift.io/v1", "Identity", "identities"),
    ("oauth.openshift.io/v1", "OAuthClient", "oauthclients"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
];

/// What became of one kind.
#[derive(Debug)]
pub struct BackedUp {
    pub kind: &'static str,
    /// The sealed file, or why there is none.
    pub result: Result<PathBuf, String>,
}

impl Fleet {
    /// Seals the users, groups, identities, OAuth clients and role bindings of a cluster.
    ///
    /// # Errors
    /// The cluster is not connected, or nothing can be sealed.
    pub async fn back_up_logins(&self, cluster: &ClusterName, folder: &Path) -> Result<Vec<BackedUp>, OperateError> {
        let Some(client) = self.client_of(cluster).await else {
            let cause = format!("cluster {cluster} is not connected");
            return Err(OperateError::Identity { cause, advice: "use a live cluster; see trueup doctor".to_owned() });
        };
        let state = StateFolder::prepare(self.session().state_path()?)?;
        let vault = Vault::prepare(&state, &self.session().settings.safety.recipients)?;
        let port = KubeCluster::new(client);
        let mut all = Vec::new();
        for (api_version, kind, name) in KINDS {
            let list = port.list(api_version, kind).await;
            let path = folder.join(format!("{name}.json.age"));
            let result = list.and_then(|list| seal(&vault, &path, &list).map(|()| path));
            all.push(BackedUp { kind, result });
        }
        Ok(all)
    }
}

fn seal(vault: &Vault, path: &Path, list: &Zeroizing<Vec<u8>>) -> Result<(), String> {
    vault.seal_as(path, list).map_err(|error| crate::error::chain(&error))
}
