//! Every name this check knows, in one place: resources, namespaces, objects, keys, gates.

pub use crate::kinds::{
    AUTHENTICATION, CA_KEY, CONFIG_MAP, CONSOLE_OPERATOR, DEPLOYMENT, INFRASTRUCTURE, SECRET, SINGLETON,
};
use crate::kinds::{config, core, operator};
use trueup_core::world::{ClusterName, CollectionId, Resource};

/// ClusterVersion's only object.
pub const VERSION_NAME: &str = "version";

/// Where the authentication operator writes the configuration of kube-apiserver.
pub const MANAGED_NAMESPACE: &str = "openshift-config-managed";
/// Where kube-apiserver's operator keeps its copies, one set a revision.
pub const KAS_NAMESPACE: &str = "openshift-kube-apiserver";
/// Where people keep CAs and client secrets.
pub const CONFIG_NAMESPACE: &str = "openshift-config";
pub const CONSOLE_NAMESPACE: &str = "openshift-console";
pub const OAUTH_NAMESPACE: &str = "openshift-authentication";
pub const OAUTH_API_NAMESPACE: &str = "openshift-oauth-apiserver";

pub const AUTH_CONFIG: &str = "auth-config";
pub const AUTH_CONFIG_KEY: &str = "auth-config.json";
/// Compact JSON, whatever the key says.
pub const KAS_CONFIG_KEY: &str = "config.yaml";
pub const CLIENT_SECRET_KEY: &str = "clientSecret";

/// What kube-apiserver's argument names once external OIDC is configured.
pub const AUTH_CONFIG_PATH: &str = "/etc/kubernetes/static-pod-resources/configmaps/auth-config/auth-config.json";
pub const AUTH_CONFIG_ARGUMENT: &str = "authentication-config";
pub const WEBHOOK_ARGUMENT: &str = "authentication-token-webhook-config-file";
pub const WEBHOOK_VERSION_ARGUMENT: &str = "authentication-token-webhook-version";

/// The admission plugins that enforce RoleBindingRestrictions.
pub const RESTRICTION_PLUGINS: [&str; 2] =
    ["authorization.openshift.io/RestrictSubjectBindings", "authorization.openshift.io/ValidateRoleBindingRestriction"];
pub const RESTRICTIONS_CRD: &str = "rolebindingrestrictions.authorization.openshift.io";

/// The console's client in `oidcClients`, and the Secret its operator copies the client secret to.
pub const CONSOLE_COMPONENT: &str = "console";
pub const CONSOLE_SECRET: &str = "console-oauth-config";
/// ConfigMaps of the console's namespace that hold a bundle and were not copied for OIDC.
pub const CONSOLE_OWN_BUNDLES: [&str; 3] = ["trusted-ca-bundle", "default-ingress-cert", "oauth-serving-cert"];
/// Asks the network operator to fill a bundle in; such a ConfigMap is no copy.
pub const INJECT_LABEL: &str = "config.openshift.io/inject-trusted-cabundle";

/// The subject that stands for `spec.observedConfig` of kube-apiserver's operator.
pub const OBSERVED_CONFIG: &str = "cluster/observed-config";

/// kube-apiserver's copies of the webhook and of the OAuth server's metadata, without a revision number.
pub const WEBHOOK_COPY: &str = "webhook-authenticator";
pub const METADATA_COPY: &str = "oauth-metadata";

pub const NAMESPACE: Resource =
    Resource { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };
pub const SERVICE: Resource = core("Service", "services");
pub const SERVICE_ACCOUNT: Resource = core("ServiceAccount", "serviceaccounts");
pub const ROUTE: Resource =
    Resource { group: "route.openshift.io", version: "v1", kind: "Route", plural: "routes", namespaced: true };
pub const ROLE: Resource = rbac("Role", "roles", true);
pub const ROLE_BINDING: Resource = rbac("RoleBinding", "rolebindings", true);
pub const CLUSTER_ROLE: Resource = rbac("ClusterRole", "clusterroles", false);
pub const CLUSTER_ROLE_BINDING: Resource = rbac("ClusterRoleBinding", "clusterrolebindings", false);
pub const API_SERVICE: Resource = Resource {
    group: "apiregistration.k8s.io",
    version: "v1",
    kind: "APIService",
    plural: "apiservices",
    namespaced: false,
};
pub const CUSTOM_RESOURCE_DEFINITION: Resource = Resource {
    group: "apiextensions.k8s.io",
    version: "v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    namespaced: false,
};
pub const ROLE_BINDING_RESTRICTION: Resource = Resource {
    group: "authorization.openshift.io",
    version: "v1",
    kind: "RoleBindingRestriction",
    plural: "rolebindingrestrictions",
    namespaced: true,
};

/// The authorities of administrators' client certificates, in `openshift-config`. The installer's kubeconfig has one.
pub const ADMIN_CLIENT_CA: &str = "admin-kubeconfig-client-ca";
/// The role of those who may do everything, as bindings refer to it.
pub const CLUSTER_ADMIN: &str = "ClusterRole cluster-admin";

pub const USER: Resource = user("User", "users");
pub const GROUP: Resource = user("Group", "groups");
pub const IDENTITY: Resource = user("Identity", "identities");
pub const OAUTH_CLIENT: Resource = Resource {
    group: "oauth.openshift.io",
    version: "v1",
    kind: "OAuthClient",
    plural: "oauthclients",
    namespaced: false,
};

pub const FEATURE_GATE: Resource = config("FeatureGate", "featuregates");
pub const CLUSTER_VERSION: Resource = config("ClusterVersion", "clusterversions");
pub const KUBE_API_SERVER: Resource = operator("KubeAPIServer", "kubeapiservers");
pub const AUTHENTICATION_OPERATOR: Resource = operator("Authentication", "authentications");

/// One object of a kind of which a cluster has hundreds: the server picks it out by name.
pub fn by_name(cluster: &ClusterName, resource: Resource, name: &str) -> CollectionId {
    named(CollectionId::all(cluster, resource), name).metadata()
}

/// The same, with its content.
pub fn whole_by_name(cluster: &ClusterName, resource: Resource, name: &str) -> CollectionId {
    named(CollectionId::all(cluster, resource), name)
}

/// The one object of a collection that has this name.
pub fn named(id: CollectionId, name: &str) -> CollectionId {
    id.with_fields(&format!("metadata.name={name}"))
}

const fn rbac(kind: &'static str, plural: &'static str, namespaced: bool) -> Resource {
    Resource { group: "rbac.authorization.k8s.io", version: "v1", kind, plural, namespaced }
}

const fn user(kind: &'static str, plural: &'static str) -> Resource {
    Resource { group: "user.openshift.io", version: "v1", kind, plural, namespaced: false }
}
