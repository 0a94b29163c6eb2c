//! Every name this check knows, in one place: labels, keys, namespaces, resources, and how one name follows from another.

use trueup_core::world::Resource;

/// The type Cluster API gives its Secrets.
pub const SECRET_TYPE: &str = "cluster.x-k8s.io/secret";
/// Without it Cluster API's cache does not see the Secret.
pub const CLUSTER_LABEL: &str = "cluster.x-k8s.io/cluster-name";

/// The kubeconfig itself, in Secrets of Cluster API.
pub const VALUE: &str = "value";
/// The same in HyperShift's Secrets and in CAPT's sources.
pub const KUBECONFIG: &str = "kubeconfig";
/// A kubeconfig that takes its token from the file beside it.
pub const RELATIVE: &str = "relative";
/// That token, bare.
pub const TOKEN_FILE: &str = "token-file";

/// The address in a connection secret.
pub const CONNECTION_ENDPOINT: &str = "cluster_endpoint";
/// The authority in a connection secret.
pub const CONNECTION_CA: &str = "cluster_certificate_authority_data";
/// The authority in a cluster's CA Secret; the second is what CAPT writes beside the first.
pub const CA_KEYS: [&str; 2] = ["tls.crt", "ca.crt"];

/// CAPT's sources are all in this namespace, whatever the cluster's own is.
pub const SOURCE_NAMESPACE: &str = "default";

pub use crate::kinds::{
    CAPT_CONTROL_PLANE as CAPT_PLANE, CLUSTER, HOSTED_CLUSTER, SECRET, WORKSPACE, WORKSPACE_TEMPLATE_APPLY as APPLY,
};

/// A context of the user's own kubeconfig files; `fleet` lists them.
pub const CONTEXT: Resource =
    Resource { group: "local.trueup", version: "v1", kind: "Context", plural: "contexts", namespaced: false };
pub const CONTEXT_API: &str = "local.trueup/v1";
/// On a context: the name of the file it is written in.
pub const CONTEXT_FILE: &str = "local.trueup/file";
/// On a context: why it can't be read.
pub const CONTEXT_PROBLEM: &str = "local.trueup/problem";

const TARGET: &str = "-kubeconfig";
const USER: &str = "-user-kubeconfig";
const SOURCE: &str = "-outputs-kubeconfig";
const CONNECTION: &str = "-eks-connection";
const CA: &str = "-ca";
const KUBECONFIG_APPLY: &str = "-kubeconfig-apply";

pub fn target_name(cluster: &str) -> String {
    format!("{cluster}{TARGET}")
}

pub fn user_name(cluster: &str) -> String {
    format!("{cluster}{USER}")
}

pub fn source_name(cluster: &str) -> String {
    format!("{cluster}{SOURCE}")
}

pub fn connection_name(cluster: &str) -> String {
    format!("{cluster}{CONNECTION}")
}

pub fn ca_name(cluster: &str) -> String {
    format!("{cluster}{CA}")
}

/// The WorkspaceTemplateApply whose Workspace makes a cluster's kubeconfig.
pub fn apply_name(cluster: &str) -> String {
    format!("{cluster}{KUBECONFIG_APPLY}")
}

/// The cluster a WorkspaceTemplateApply makes the kubeconfig of.
pub fn cluster_of_apply(apply: &str) -> Option<&str> {
    apply.strip_suffix(KUBECONFIG_APPLY).filter(|cluster| !cluster.is_empty())
}

/// The cluster a Secret would be the kubeconfig of.
pub fn cluster_of_target(secret: &str) -> Option<&str> {
    secret.strip_suffix(TARGET).filter(|cluster| !cluster.is_empty())
}

/// The cluster a Secret would be the users' kubeconfig of.
pub fn cluster_of_user(secret: &str) -> Option<&str> {
    secret.strip_suffix(USER).filter(|cluster| !cluster.is_empty())
}

/// The cluster a Secret would be CAPT's source for.
pub fn cluster_of_source(secret: &str) -> Option<&str> {
    secret.strip_suffix(SOURCE).filter(|cluster| !cluster.is_empty())
}

/// Whether a Secret says where some cluster is and who vouches for it.
pub fn is_anchor(secret: &str) -> bool {
    clusters_of_anchor(secret).next().is_some()
}

/// The clusters whose endpoint or CA a Secret may hold.
pub fn clusters_of_anchor(secret: &str) -> impl Iterator<Item = &str> {
    [CONNECTION, CA].into_iter().filter_map(|suffix| secret.strip_suffix(suffix))
}

/// What HyperShift calls a guest's kubeconfig until the status says otherwise.
pub fn hosted_default_name(hosted_cluster: &str) -> String {
    format!("{hosted_cluster}-admin-kubeconfig")
}
