//! What is known of a cluster as a whole: who it is, how it is reached, what it serves.

use std::collections::BTreeSet;

use super::ids::{ClusterName, Namespace, ObjectName, Resource};
use super::known::Gap;

/// A cluster of the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    pub name: ClusterName,
    pub class: RiskClass,
    pub source: ClusterSource,
    /// The HostedCluster this is the guest of, when somebody says so (discovery or a fleet file).
    pub hosted_by: Option<HostedBy>,
    pub link: Link,
    pub identity: ClusterIdentity,
    pub served: Served,
}

/// How much a mistake would cost. Unlabelled clusters are prod: friction is cheaper than regret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskClass {
    Dev,
    Stage,
    #[default]
    Prod,
}

impl RiskClass {
    pub fn word(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Stage => "stage",
            Self::Prod => "prod",
        }
    }
}

/// Where a cluster's facts come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterSource {
    Kubeconfig {
        context: String,
    },
    Hosted {
        by: ClusterName,
    },
    Snapshot,
    /// No cluster: an account with a cloud provider, whose resources are read like objects.
    Cloud {
        provider: Provider,
        account: String,
        /// Patterns for the clusters whose objects may point into it; none: every cluster's may.
        used_from: Vec<String>,
    },
    /// No cluster either: the user's own kubeconfig files, whose contexts are read like objects.
    Local,
}

/// Whose cloud an account is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    Aws,
    Ibm,
}

impl Provider {
    pub const ALL: [Self; 2] = [Self::Aws, Self::Ibm];

    /// As folders, configs and finding ids spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Ibm => "ibm",
        }
    }

    /// The API group under which an account's content is read.
    pub fn group(self) -> &'static str {
        match self {
            Self::Aws => "aws.cloud.trueup",
            Self::Ibm => "ibm.cloud.trueup",
        }
    }
}

impl ClusterSource {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Kubeconfig { .. } => "kubeconfig",
            Self::Hosted { .. } => "hosted",
            Self::Snapshot => "snapshot",
            Self::Local => "local",
            Self::Cloud { .. } => "cloud",
        }
    }

    /// Whether this is an account with a cloud provider, and no cluster.
    pub fn is_account(&self) -> bool {
        match self {
            Self::Cloud { .. } => true,
            Self::Kubeconfig { .. } | Self::Hosted { .. } | Self::Snapshot | Self::Local => false,
        }
    }
}

/// The HostedCluster object of a guest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostedBy {
    pub cluster: ClusterName,
    pub namespace: Namespace,
    pub name: ObjectName,
}

/// The state of the connection to a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    Idle,
    Connecting,
    Listing {
        objects: u64,
    },
    Live {
        since: jiff::Timestamp,
    },
    Degraded {
        gap: Gap,
        retry_at: jiff::Timestamp,
    },
    AuthExpired {
        gap: Gap,
        hint: String,
    },
    Failed {
        gap: Gap,
    },
    /// A folder: read once, as it was.
    Recorded,
}

/// What makes a cluster itself, whatever people call it.
///
/// Both empty means: not known, and then nothing is ever applied there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterIdentity {
    pub kube_system_uid: String,
    /// SHA-256 (hex) over the sorted DER fingerprints in ConfigMap `kube-root-ca.crt` of kube-system.
    pub ca_sha256: String,
}

impl ClusterIdentity {
    pub fn is_known(&self) -> bool {
        !self.kube_system_uid.is_empty() && !self.ca_sha256.is_empty()
    }
}

/// What the API server says it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// Complete, error-free discovery: `(group, plural)` of everything served.
    Complete(BTreeSet<(String, String)>),
    /// Discovery failed or is incomplete: nothing may be concluded from what is missing.
    Unknown(Gap),
    /// A snapshot: the groups that hold objects. A group without any is not applicable there.
    Recorded(BTreeSet<String>),
}

impl Served {
    /// Whether complete discovery lacks the resource, so that nothing of it can exist.
    pub fn lacks(&self, resource: &Resource) -> bool {
        match self {
            Self::Complete(all) => !all.contains(&(resource.group.to_owned(), resource.plural.to_owned())),
            Self::Unknown(_) => false,
            Self::Recorded(groups) => !groups.contains(resource.group),
        }
    }
}
