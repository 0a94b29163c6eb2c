//! Every name this check knows, in one place: labels, keys, namespaces, objects the platform owns, resources.

use crate::kinds::config;
pub use crate::kinds::{
    AUTHENTICATION, CONFIG_MAP, CONSOLE_OPERATOR, DEPLOYMENT, HOSTED_CLUSTER, HOSTED_CONTROL_PLANE as CONTROL_PLANE,
    INFRASTRUCTURE, SECRET, SINGLETON,
};
use trueup_core::world::Resource;

/// Where HyperShift puts the copies in a guest.
pub const COPIES_NAMESPACE: &str = "openshift-config";
/// Where the console operator mirrors the issuer's CA.
pub const CONSOLE_NAMESPACE: &str = "openshift-console";

/// The Deployment of the console, whose pods mount the mirrored CA.
pub const CONSOLE_DEPLOYMENT: &str = "console";
/// ConfigMaps of the console's namespace that hold a bundle and were not mirrored for OIDC.
pub const CONSOLE_OWN_BUNDLES: [&str; 3] = ["trusted-ca-bundle", "default-ingress-cert", "oauth-serving-cert"];
/// Asks the network operator to fill a bundle in; such a ConfigMap is no mirror.
pub const INJECT_LABEL: &str = "config.openshift.io/inject-trusted-cabundle";

/// The longest name of a ConfigMap or Secret (a DNS subdomain).
pub const NAME_LENGTH_MAX: usize = 253;

/// What kube-apiserver trusts for service accounts when the HostedCluster names no issuer.
pub const DEFAULT_ISSUER: &str = "https://kubernetes.default.svc";

/// Marks a copy made for an OIDC provider. No release sets it yet: the upstream attempt and this program do.
pub const OIDC_LABEL: &str = "hypershift.openshift.io/oidc-provider-managed";
/// On every object the hosted cluster config operator writes in a guest.
pub const MANAGED_LABEL: &str = "hypershift.openshift.io/managed";

/// On a HostedControlPlane and on copies in its namespace: `<namespace>/<name>` of the HostedCluster.
pub const CLUSTER_ANNOTATION: &str = "hypershift.openshift.io/cluster";
/// On sources a HostedCluster refers to, followed by the HostedCluster's name.
pub const REFERENCED_ANNOTATION_PREFIX: &str = "referenced-resource.hypershift.openshift.io/";
/// On the management-side stub of a secret the user makes in the guest (ARO day 2).
pub const HOSTED_CLUSTER_SOURCED_ANNOTATION: &str = "hypershift.openshift.io/hosted-cluster-sourced";
/// While a HostedCluster is being restored.
pub const RESTORED_ANNOTATION: &str = "hypershift.openshift.io/restored-from-backup";

pub const PROXY: Resource = config("Proxy", "proxies");
pub const IMAGE: Resource = config("Image", "images");
pub const API_SERVER: Resource = config("APIServer", "apiservers");
pub const OAUTH: Resource = config("OAuth", "oauths");

/// The two kinds that are copied. Their names are two separate sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CopyKind {
    ConfigMap,
    Secret,
}

impl CopyKind {
    pub const ALL: [Self; 2] = [Self::ConfigMap, Self::Secret];

    pub fn resource(self) -> Resource {
        match self {
            Self::ConfigMap => CONFIG_MAP,
            Self::Secret => SECRET,
        }
    }

    pub fn of(kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|copy| copy.resource().kind == kind)
    }

    /// Whether the console operator mirrors objects of this kind.
    pub fn is_mirrored(self) -> bool {
        self == Self::ConfigMap
    }

    /// The one key HyperShift copies.
    pub fn copied_key(self) -> &'static str {
        match self {
            Self::ConfigMap => "ca-bundle.crt",
            Self::Secret => "clientSecret",
        }
    }

    /// Objects in `openshift-config` that the platform owns whatever labels they carry.
    pub fn protected_names(self) -> &'static [&'static str] {
        match self {
            Self::ConfigMap => &["openshift-install", "user-ca-bundle", "cloud-provider-config"],
            Self::Secret => &["pull-secret"],
        }
    }

    /// The guest configs that can refer to an object of this kind in `openshift-config`.
    pub fn referring_configs(self) -> &'static [Resource] {
        match self {
            Self::ConfigMap => &[PROXY, IMAGE, API_SERVER, OAUTH],
            Self::Secret => &[API_SERVER, OAUTH],
        }
    }
}
