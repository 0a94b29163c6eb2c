//! The ServiceAccount of the pod this process runs in, as a kubeconfig with one context.
//!
//! Invariants:
//! - it is used only where no kubeconfig file exists, as kubectl does;
//! - the token stays in its file, which is read again when the kubelet rotates it (`transport::login`).
//!
//! Elsewhere: which files come first (`merge`).

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::error::KubeconfigError;
use super::merge::{Kubeconfig, Trust};
use crate::connect::env::Env;
use crate::connect::text::printable;
use trueup_core::files;

/// The name of the context, and so of the cluster.
pub const IN_CLUSTER: &str = "in-cluster";

/// Where the kubelet mounts the credentials of every pod
/// (client-go v0.36.2, `rest/config.go`, `InClusterConfig`).
const MOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// A namespace has at most 63 characters.
const NAMESPACE_BYTES_MAX: u64 = 256;

/// The API server that the pod's environment names, and the folder with the ServiceAccount's credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodAccount {
    server: String,
    namespace: Option<String>,
    mount: PathBuf,
}

impl PodAccount {
    /// The account of this process, when its environment is that of a pod.
    pub fn of(env: &Env) -> Option<Self> {
        Self::mounted_at(env, Path::new(MOUNT))
    }

    /// The same, with the credentials in another folder.
    pub fn mounted_at(env: &Env, mount: &Path) -> Option<Self> {
        let (host, port) = (env.text("KUBERNETES_SERVICE_HOST")?, env.text("KUBERNETES_SERVICE_PORT")?);
        let host = match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            Ok(IpAddr::V4(_)) | Err(_) => host.to_owned(),
        };
        Some(Self {
            server: format!("https://{host}:{port}"),
            namespace: env.text("POD_NAMESPACE").map(str::to_owned),
            mount: mount.to_owned(),
        })
    }

    /// The kubeconfig of the account.
    ///
    /// # Errors
    /// The pod has no token.
    pub(super) fn kubeconfig(&self, looked: Vec<String>) -> Result<Kubeconfig, KubeconfigError> {
        let token = self.mount.join("token");
        if !token.is_file() {
            return Err(KubeconfigError::NoToken { looked, token: printable(&token.to_string_lossy(), 300) });
        }
        let mut cluster = json!({ "server": self.server });
        // As client-go does: without a CA file the system's roots are used.
        if self.mount.join("ca.crt").is_file() {
            cluster["certificate-authority"] = json!("ca.crt");
        }
        let text = json!({
            "current-context": IN_CLUSTER,
            "contexts": [{
                "name": IN_CLUSTER,
                "context": { "cluster": IN_CLUSTER, "user": IN_CLUSTER, "namespace": self.namespace() },
            }],
            "clusters": [{ "name": IN_CLUSTER, "cluster": cluster }],
            "users": [{ "name": IN_CLUSTER, "user": { "tokenFile": "token" } }],
        });
        Kubeconfig::parse_in(&text.to_string(), "the pod's ServiceAccount", Trust::Pod, &self.mount)
    }

    fn namespace(&self) -> Option<String> {
        let mounted = || Some(files::read_text(&self.mount.join("namespace"), NAMESPACE_BYTES_MAX).ok()?.to_string());
        self.namespace.clone().or_else(mounted).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
    }
}
