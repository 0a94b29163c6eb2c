//! What is known of a cluster as a whole: who it is, how it is reached, what it serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ids::{ClusterName, Namespace, ObjectName, Resource};
use super::known::Gap;
use super::members::MemberRule;

/// A cluster of the fleet.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cluster {
    pub name: ClusterName,
    pub class: RiskClass,
    pub source: ClusterSource,
    /// The HostedCluster this is the guest of, when discovery or a fleet file says so.
    pub hosted_by: Option<HostedBy>,
    pub link: Link,
    pub identity: ClusterIdentity,
    /// Not in session recordings: only reading needs it.
    #[serde(skip, default = "Served::not_recorded")]
    pub served: Served,
}

named_enum! {
    /// How much a mistake would cost. Unlabelled clusters are prod: friction is cheaper than regret.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RiskClass {
        Dev = "dev",
        Stage = "stage",
        #[default]
        Prod = "prod",
    }
}

/// Where a cluster's facts come from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
        /// The clusters whose objects may point into it.
        used_from: MemberRule,
    },
    /// No cluster either: the user's own kubeconfig files, whose contexts are read like objects.
    Local,
}

named_enum! {
    /// Whose cloud an account is in.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
    pub enum Provider {
        Aws = "aws",
        Ibm = "ibm",
    }
}

impl Provider {
    /// The provider's own command that finds a resource, without its query; nothing where there is none.
    pub fn search_command(self) -> Option<&'static str> {
        match self {
            Self::Aws => None,
            Self::Ibm => Some("ibmcloud resource search"),
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
    pub fn as_str(&self) -> &'static str {
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct HostedBy {
    pub cluster: ClusterName,
    pub namespace: Namespace,
    pub name: ObjectName,
}

/// The state of the connection to a cluster.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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

/// What makes a cluster or a cloud account itself, whatever its name. What could not be read is empty, and where the identity is
/// not known nothing is ever applied.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ClusterIdentity {
    pub kube_system_uid: String,
    /// SHA-256 (hex) over the sorted DER fingerprints in ConfigMap `kube-root-ca.crt` of kube-system.
    pub ca_sha256: String,
    /// The id of a cloud account, which has neither of the others. Clusters have none, and their plans do not name it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
}

impl ClusterIdentity {
    /// Returns the identity of a member of the fleet, as far as it is known.
    pub fn of(member: &Cluster) -> Self {
        match &member.source {
            ClusterSource::Cloud { account, .. } => Self::of_account(account),
            ClusterSource::Kubeconfig { .. }
            | ClusterSource::Hosted { .. }
            | ClusterSource::Snapshot
            | ClusterSource::Local => member.identity.clone(),
        }
    }

    /// A cloud account by its id.
    pub fn of_account(id: &str) -> Self {
        Self { account: id.to_owned(), ..Self::default() }
    }

    /// Whether it tells one cluster or account from all others.
    pub fn is_known(&self) -> bool {
        let Self { kube_system_uid, ca_sha256, account } = self;
        !account.is_empty() || (!kube_system_uid.is_empty() && !ca_sha256.is_empty())
    }
}

/// What the API server says it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Served {
    /// Complete, error-free discovery: everything served.
    Complete(Kinds),
    /// Discovery failed or is incomplete: nothing may be concluded from what is missing.
    Unknown(Gap),
    /// A snapshot: the groups that hold objects. A group without any is not applicable there.
    Recorded(BTreeSet<String>),
}

impl Served {
    /// What a session recording says of it.
    fn not_recorded() -> Self {
        Self::Recorded(BTreeSet::new())
    }

    /// Whether complete discovery lacks the resource, so that nothing of it can exist.
    pub fn lacks(&self, resource: &Resource) -> bool {
        match self {
            Self::Complete(all) => !all.has(resource),
            Self::Unknown(_) => false,
            Self::Recorded(groups) => !groups.contains(resource.group),
        }
    }

    /// The first of these that is served in its version; the first of all where the versions are unknown.
    ///
    /// # Assumes
    /// They are one kind in several versions, at least one.
    pub fn choose(&self, versions: &[Resource]) -> Resource {
        let is_served = |resource: &&Resource| match self {
            Self::Complete(all) => all.has_version(resource),
            Self::Unknown(_) | Self::Recorded(_) => true,
        };
        *versions.iter().find(is_served).unwrap_or(&versions[0])
    }
}

/// Kinds, by group and plural, each with the versions it is served in. Copies share them, and comparing copies costs nothing:
/// a cluster serves hundreds, and a fleet of a thousand clusters serves the same ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kinds(Arc<ByGroup>);

type ByGroup = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

impl Kinds {
    pub fn insert(&mut self, group: &str, plural: &str, version: &str) {
        let plurals = Arc::make_mut(&mut self.0).entry(group.to_owned()).or_default();
        plurals.entry(plural.to_owned()).or_default().insert(version.to_owned());
    }

    /// Adds everything that others are served in.
    pub fn extend(&mut self, others: Self) {
        let all = Arc::make_mut(&mut self.0);
        for (group, plurals) in Arc::unwrap_or_clone(others.0) {
            let held = all.entry(group).or_default();
            for (plural, versions) in plurals {
                held.entry(plural).or_default().extend(versions);
            }
        }
    }

    /// Whether the resource is served, in whatever version.
    pub fn has(&self, resource: &Resource) -> bool {
        self.versions(resource).is_some()
    }

    /// Whether the resource is served in its version, as far as versions were said.
    pub fn has_version(&self, resource: &Resource) -> bool {
        self.versions(resource).is_some_and(|all| all.is_empty() || all.contains(resource.version))
    }

    /// Shares the kinds of another cluster that serves the same. Returns whether it does.
    pub fn share(&mut self, other: &Self) -> bool {
        let is_same = self == other;
        if is_same {
            self.0 = other.0.clone();
        }
        is_same
    }

    /// Group and plural of each.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(group, plurals)| plurals.keys().map(|plural| (group.as_str(), plural.as_str())))
    }

    fn versions(&self, resource: &Resource) -> Option<&BTreeSet<String>> {
        self.0.get(resource.group)?.get(resource.plural)
    }
}

/// Kinds whose versions are unknown.
impl FromIterator<(String, String)> for Kinds {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(kinds: I) -> Self {
        let mut all = ByGroup::new();
        for (group, plural) in kinds {
            all.entry(group).or_default().entry(plural).or_default();
        }
        Self(Arc::new(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::GapCause;

    #[test]
    fn clusters_that_serve_the_same_share_their_kinds() {
        let kinds = |plural: &str| {
            let mut kinds = Kinds::default();
            kinds.insert("g", plural, "v1");
            kinds
        };
        let (held, mut same, mut other) = (kinds("things"), kinds("things"), kinds("others"));
        assert!(same.share(&held) && Arc::ptr_eq(&same.0, &held.0));
        assert!(!other.share(&held) && other == kinds("others"));
        same.insert("g", "more", "v1");
        assert_eq!(held, kinds("things"), "what is added to one is not added to the other");
    }

    #[test]
    fn the_first_version_that_is_served_is_asked_for() {
        let version = |version| Resource { group: "g", version, kind: "Thing", plural: "things", namespaced: true };
        let complete = |versions: &[&str]| {
            let mut kinds = Kinds::default();
            versions.iter().for_each(|version| kinds.insert("g", "things", version));
            Served::Complete(kinds)
        };
        let unsaid: Kinds = [("g".to_owned(), "things".to_owned())].into_iter().collect();
        let cases = [
            ("both", complete(&["v1", "v2"]), "v2"),
            ("the older", complete(&["v1"]), "v1"),
            ("another", complete(&["v9"]), "v2"),
            ("none", complete(&[]), "v2"),
            ("versions unsaid", Served::Complete(unsaid), "v2"),
            ("recorded", Served::Recorded(["g".to_owned()].into()), "v2"),
            ("not known", Served::Unknown(Gap::new(GapCause::Discovery, "x")), "v2"),
        ];
        for (case, served, expected) in cases {
            assert_eq!(served.choose(&[version("v2"), version("v1")]).version, expected, "case: {case}");
        }
    }
}
