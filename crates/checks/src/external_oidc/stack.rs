//! The integrated OAuth server, resource by resource: what goes when external OIDC is available and comes back after.
//!
//! Invariants: what upstream keeps is not in the table, so it can never be called a leftover.
//!
//! Facts: `docs/facts/external-oidc.md` sections 3.2 (what goes) and 3.3 (what stays).

use super::names::{
    API_SERVICE, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, CONFIG_MAP, CONFIG_NAMESPACE, DEPLOYMENT, MANAGED_NAMESPACE,
    OAUTH_API_NAMESPACE, OAUTH_NAMESPACE, ROLE, ROLE_BINDING, ROUTE, SECRET, SERVICE, SERVICE_ACCOUNT, by_name,
    whole_by_name,
};
use trueup_core::world::{ClusterName, CollectionId, Key, Resource};

/// One resource of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    pub resource: Resource,
    /// None for kinds without namespaces.
    pub namespace: Option<&'static str>,
    pub name: &'static str,
    pub fate: Fate,
    /// What goes first: the way in, then who serves it, then what those lean on.
    pub turn: Turn,
}

/// What becomes of a resource under OIDC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    Goes,
    /// The oauth-apiserver needs it where it authenticates itself (external claims gate); elsewhere it goes.
    KeptForClaims,
    /// Goes; and where OAuth is wanted it may be there or not.
    Optional,
}

/// When a leftover is removed. Within a side, a later turn waits for the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Routes and API registrations: without them no request is routed to what is removed next. An API server that vanishes behind
    /// its registration would break discovery for every client.
    ContextAccess,
    Workload,
    Rest,
}

const fn part(resource: Resource, namespace: Option<&'static str>, name: &'static str, turn: Turn) -> Part {
    Part { resource, namespace, name, fate: Fate::Goes, turn }
}

const fn server(resource: Resource, name: &'static str, turn: Turn) -> Part {
    part(resource, Some(OAUTH_NAMESPACE), name, turn)
}

const fn managed(resource: Resource, name: &'static str) -> Part {
    part(resource, Some(MANAGED_NAMESPACE), name, Turn::Rest)
}

const fn kept(part: Part) -> Part {
    Part { fate: Fate::KeptForClaims, ..part }
}

const SERVERCERT_TRUST: &str = "system:openshift:oauth-servercert-trust";
const TOKEN_MANAGER: &str = "system:openshift:useroauthaccesstoken-manager";

/// Every resource of the stack.
pub static PARTS: [Part; 25] = [
    server(ROUTE, "oauth-openshift", Turn::ContextAccess),
    server(DEPLOYMENT, "oauth-openshift", Turn::Workload),
    server(SERVICE, "oauth-openshift", Turn::Rest),
    server(SERVICE_ACCOUNT, "oauth-openshift", Turn::Rest),
    server(CONFIG_MAP, "v4-0-config-system-cliconfig", Turn::Rest),
    server(CONFIG_MAP, "v4-0-config-system-metadata", Turn::Rest),
    server(CONFIG_MAP, "v4-0-config-system-service-ca", Turn::Rest),
    server(CONFIG_MAP, "v4-0-config-system-trusted-ca-bundle", Turn::Rest),
    Part { fate: Fate::Optional, ..server(SECRET, "v4-0-config-system-custom-router-certs", Turn::Rest) },
    server(SECRET, "v4-0-config-system-ocp-branding-template", Turn::Rest),
    server(SECRET, "v4-0-config-system-session", Turn::Rest),
    part(CLUSTER_ROLE_BINDING, None, "system:openshift:openshift-authentication", Turn::Rest),
    managed(CONFIG_MAP, "oauth-openshift"),
    managed(CONFIG_MAP, "oauth-serving-cert"),
    managed(ROLE, SERVERCERT_TRUST),
    managed(ROLE_BINDING, SERVERCERT_TRUST),
    part(API_SERVICE, None, "v1.oauth.openshift.io", Turn::ContextAccess),
    part(API_SERVICE, None, "v1.user.openshift.io", Turn::ContextAccess),
    kept(part(DEPLOYMENT, Some(OAUTH_API_NAMESPACE), "apiserver", Turn::Workload)),
    kept(part(SERVICE, Some(OAUTH_API_NAMESPACE), "api", Turn::Rest)),
    kept(part(SERVICE_ACCOUNT, Some(OAUTH_API_NAMESPACE), "oauth-apiserver-sa", Turn::Rest)),
    kept(part(CLUSTER_ROLE_BINDING, None, "system:openshift:oauth-apiserver", Turn::Rest)),
    part(CLUSTER_ROLE_BINDING, None, TOKEN_MANAGER, Turn::Rest),
    part(CLUSTER_ROLE, None, TOKEN_MANAGER, Turn::Rest),
    kept(part(SECRET, Some(CONFIG_NAMESPACE), "webhook-authentication-integrated-oauth", Turn::Rest)),
];

/// The two servers of the stack: one waits for nothing of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Logs people in.
    OauthServer,
    /// Serves users, groups, tokens, and answers kube-apiserver's webhook.
    OauthApiServer,
}

impl Part {
    pub fn find(kind: &str, namespace: Option<&str>, name: &str) -> Option<&'static Self> {
        PARTS.iter().find(|part| part.resource.kind == kind && part.namespace == namespace && part.name == name)
    }

    pub fn side(&self) -> Side {
        let api = [API_SERVICE.kind, CLUSTER_ROLE.kind].contains(&self.resource.kind)
            || self.namespace == Some(OAUTH_API_NAMESPACE)
            || self.namespace == Some(CONFIG_NAMESPACE)
            || self.name == TOKEN_MANAGER
            || self.name == "system:openshift:oauth-apiserver";
        if api { Side::OauthApiServer } else { Side::OauthServer }
    }

    pub fn key(&self) -> Key {
        Key::new(self.namespace, self.name)
    }

    /// The collection it is looked for in. Of a kind without namespaces the server picks the one object; where the
    /// contents of its neighbours are read anyway, it is one of them.
    pub fn collection(&self, cluster: &ClusterName) -> CollectionId {
        match self.namespace {
            Some(MANAGED_NAMESPACE) if self.resource == CONFIG_MAP => {
                CollectionId::namespaced(cluster, CONFIG_MAP, MANAGED_NAMESPACE)
            }
            Some(namespace) if self.has_readiness() => CollectionId::namespaced(cluster, self.resource, namespace),
            Some(namespace) => CollectionId::namespaced(cluster, self.resource, namespace).metadata(),
            None if self.has_readiness() => whole_by_name(cluster, self.resource, self.name),
            None => by_name(cluster, self.resource, self.name),
        }
    }

    /// Whether its status says that it works.
    fn has_readiness(&self) -> bool {
        [DEPLOYMENT, ROUTE, API_SERVICE].contains(&self.resource)
    }

    /// Two reasons to believe that the platform made it, which don't rest on each other: who lists it, and whose place
    /// it is in.
    pub fn proofs(&self) -> Vec<String> {
        let listed = match self.side() {
            Side::OauthServer => "the authentication operator's list of what the OAuth server consists of names it",
            Side::OauthApiServer => {
                "the authentication operator's list of what the OAuth API server consists of names it"
            }
        };
        let place = match self.namespace {
            Some(namespace) => format!("namespace {namespace} is reserved for the platform"),
            None if self.resource == API_SERVICE => format!("the API group of {} is the platform's", self.name),
            None => "names that start with system:openshift: are reserved for the platform".to_owned(),
        };
        vec![listed.to_owned(), place]
    }
}
