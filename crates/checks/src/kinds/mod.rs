//! Kinds that several checks read, each with the API versions this program can read.
//!
//! Invariants: a kind is read in the newest version that discovery lists and this program knows. Fields are recognised
//! by their presence, never by the version.
//! Elsewhere: kinds that one check alone reads (`names` of that check).

mod bundles;
mod cluster_api;
mod conditions;
mod infrastructure;
mod listing;
mod pause;
mod reading;
mod secrets;
#[cfg(test)]
mod tests;

pub use bundles::{Bundle, BundleOwner, CA_KEY};
pub use cluster_api::{CapiCluster, CreationPhase, Endpoint, REGION_ANNOTATION, Reference, created};
pub use conditions::{Complaint, Condition};
pub use infrastructure::{Infrastructure, Topology};
pub use listing::Listing;
pub use pause::{PAUSED_ANNOTATION, Pause};
pub use reading::{Odd, at, count, items, text, written};
pub use secrets::{SecretContent, SecretMark, Secrets, is_same_uid, secret_marks};

use std::ops::Deref;

use trueup_core::world::{Cluster, ClusterName, CollectionId, Resource, Served, View};

/// A kind, in every version this program can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The version that is assumed where discovery says nothing.
    resource: Resource,
    /// Version and `group/version` of each, in order of preference.
    versions: &'static [(&'static str, &'static str)],
}

impl Kind {
    /// The version to read in a cluster: the first that it serves.
    pub fn in_cluster(&self, cluster: &Cluster) -> Resource {
        let version = |(version, _): &(&'static str, &'static str)| Resource { version, ..self.resource };
        match &cluster.served {
            Served::Complete(all) => {
                self.versions.iter().map(version).find(|one| all.has_version(one)).unwrap_or(self.resource)
            }
            Served::Recorded(_) | Served::Unknown(_) => self.resource,
        }
    }

    /// All objects of the kind in a cluster.
    pub fn collection(&self, cluster: &Cluster) -> CollectionId {
        CollectionId::all(&cluster.name, self.in_cluster(cluster))
    }

    /// The same for a cluster known by name, whether or not it is part of the fleet.
    pub fn collection_at(&self, cluster: &ClusterName, view: View<'_>) -> CollectionId {
        let unknown = || CollectionId::all(cluster, self.resource);
        view.cluster(cluster).map_or_else(unknown, |cluster| self.collection(cluster))
    }

    /// Whether a resource is of this kind, in whatever version.
    pub fn is(&self, resource: &Resource) -> bool {
        self.resource.group == resource.group && self.resource.plural == resource.plural
    }

    /// `group/version` as plans spell it.
    pub fn api_version(&self, resource: &Resource) -> &'static str {
        let known = self.versions.iter().find(|(version, _)| *version == resource.version);
        known.or(self.versions.first()).map_or("", |(_, api_version)| api_version)
    }
}

/// Group, kind and plural are the same in every version.
impl Deref for Kind {
    type Target = Resource;

    fn deref(&self) -> &Resource {
        &self.resource
    }
}

macro_rules! kind {
    ($group:literal, $kind:literal, $plural:literal, assumed $assumed:literal, $($version:literal),+) => {
        Kind {
            resource: Resource { group: $group, version: $assumed, kind: $kind, plural: $plural, namespaced: true },
            versions: &[$(($version, concat!($group, "/", $version))),+],
        }
    };
}

pub const SECRET: Resource = core("Secret", "secrets");
pub const CONFIG_MAP: Resource = core("ConfigMap", "configmaps");
pub const INFRASTRUCTURE: Resource = config("Infrastructure", "infrastructures");
pub const AUTHENTICATION: Resource = config("Authentication", "authentications");
pub const CONSOLE_OPERATOR: Resource = operator("Console", "consoles");
pub const DEPLOYMENT: Resource =
    Resource { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true };
/// Config objects are singletons of this name.
pub const SINGLETON: &str = "cluster";

pub const HOSTED_CLUSTER: Kind =
    kind!("hypershift.openshift.io", "HostedCluster", "hostedclusters", assumed "v1beta1", "v1beta1", "v1alpha1");
pub const HOSTED_CONTROL_PLANE: Kind = kind!(
    "hypershift.openshift.io", "HostedControlPlane", "hostedcontrolplanes", assumed "v1beta1", "v1beta1", "v1alpha1"
);

pub const CLUSTER: Kind = kind!("cluster.x-k8s.io", "Cluster", "clusters", assumed "v1beta1", "v1beta2", "v1beta1");
pub const MACHINE_DEPLOYMENT: Kind =
    kind!("cluster.x-k8s.io", "MachineDeployment", "machinedeployments", assumed "v1beta1", "v1beta2", "v1beta1");
pub const CAPI_MACHINE_SET: Kind =
    kind!("cluster.x-k8s.io", "MachineSet", "machinesets", assumed "v1beta1", "v1beta2", "v1beta1");
/// Of OpenShift's Machine API.
pub const MACHINE_SET: Kind = kind!("machine.openshift.io", "MachineSet", "machinesets", assumed "v1beta1", "v1beta1");

pub const CAPT_CONTROL_PLANE: Kind = kind!(
    "controlplane.cluster.x-k8s.io", "CAPTControlPlane", "captcontrolplanes", assumed "v1beta1", "v1beta1"
);
pub const WORKSPACE_TEMPLATE_APPLY: Kind = kind!(
    "infrastructure.cluster.x-k8s.io", "WorkspaceTemplateApply", "workspacetemplateapplies", assumed "v1beta1",
    "v1beta1"
);
/// Of Upbound's Terraform provider.
pub const WORKSPACE: Resource =
    Resource { group: "tf.upbound.io", version: "v1beta1", kind: "Workspace", plural: "workspaces", namespaced: false };
pub const AWS_MANAGED_CONTROL_PLANE: Kind = kind!(
    "controlplane.cluster.x-k8s.io", "AWSManagedControlPlane", "awsmanagedcontrolplanes", assumed "v1beta2",
    "v1beta2", "v1beta1"
);
pub const AWS_CLUSTER: Kind = kind!(
    "infrastructure.cluster.x-k8s.io", "AWSCluster", "awsclusters", assumed "v1beta2", "v1beta2", "v1beta1"
);
pub const AWS_MACHINE_TEMPLATE: Kind = kind!(
    "infrastructure.cluster.x-k8s.io", "AWSMachineTemplate", "awsmachinetemplates", assumed "v1beta2",
    "v1beta2", "v1beta1"
);
pub const POWERVS_CLUSTER: Kind = kind!(
    "infrastructure.cluster.x-k8s.io", "IBMPowerVSCluster", "ibmpowervsclusters", assumed "v1beta3",
    "v1beta3", "v1beta2", "v1beta1"
);

pub const fn core(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "", version: "v1", kind, plural, namespaced: true }
}

/// A kind of operator.openshift.io.
pub const fn operator(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "operator.openshift.io", version: "v1", kind, plural, namespaced: false }
}

/// A kind of config.openshift.io.
pub const fn config(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "config.openshift.io", version: "v1", kind, plural, namespaced: false }
}
