//! The egress policy: which host may receive which identity, and which addresses it may lead to, by who named the host.
//!
//! Invariants:
//! - this machine's own identity is sent to hosts the user or the provider named, and to a host that a cluster named only when
//!   the configuration allows it by name;
//! - a cluster's own credentials may go to the hosts that cluster names, at ordinary addresses over TLS, and elsewhere only
//!   when the configuration allows it;
//! - every client needs a [`Permit`], and only [`Egress`] makes one.
//!
//! Elsewhere: opening connections (`dial`), choosing endpoints (`fleet::clouds`). The table: `docs/decisions/0020`.

mod address;
mod permit;
mod refused;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use http::Uri;

pub use address::AddressKind;
pub(crate) use permit::CheckedHost;
pub use permit::Permit;
pub use refused::EgressRefused;

use crate::dial::NamedBy;
use permit::{CloudScope, Encryption, GuestScope, Scope};

/// The port of `https://` where a URL names none.
const HTTPS_PORT: u16 = 443;

/// The port of `http://` where a URL names none.
const HTTP_PORT: u16 = 80;

/// Whose identity a request carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// None: the request is anonymous.
    Anonymous,
    /// This machine's own: the operator's login, profile or role.
    Own,
    /// Credentials out of the cluster that named the host.
    OfCluster,
}

/// A host with its port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    host: String,
    port: u16,
}

/// Text that is not a host, or a host and a port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host; write it as host or host:port")]
pub struct BadHostPort(String);

/// A word of `[egress] guests`: what a kubeconfig out of a Secret may use beyond TLS to ordinary addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exemption {
    Http,
    Loopback,
    LinkLocal,
    Proxy,
    Path,
}

/// How the cluster that holds a Secret is itself reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HolderReach {
    /// Over a network, or inside this process.
    Network,
    /// Over TLS on this machine: kind, k3d.
    Loopback,
    /// By plain http on this machine: the served demo.
    LoopbackCleartext,
}

/// Who named the proxy of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyNamedBy {
    /// The user's environment, or there is no proxy.
    User,
    /// `proxy-url` of a kubeconfig out of a Secret.
    Secret,
}

/// What a client is for.
#[derive(Debug, Clone, Copy)]
pub enum Destination<'d> {
    /// Servers that the user named: kubeconfig, configuration, flags, environment.
    User,
    /// A provider's published endpoints, and those that others named beside them.
    Cloud { identity: Identity, is_published: fn(&HostPort) -> bool, named: &'d [(HostPort, NamedBy)] },
    /// A document that an object of a cluster names, read without credentials: OIDC discovery.
    Document,
    /// The server of a kubeconfig out of a Secret.
    Guest(GuestServer<'d>),
}

/// The server of a kubeconfig out of a Secret.
#[derive(Debug, Clone, Copy)]
pub struct GuestServer<'d> {
    /// The cluster it is the kubeconfig of, as the fleet names it.
    pub cluster: &'d str,
    pub server: &'d Uri,
    pub proxy: ProxyNamedBy,
    pub holder: HolderReach,
}

/// What the configuration allows beyond the rules (`[egress]`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Egress {
    /// `allow`: hosts that may receive this machine's own cloud identity, beside the provider's own.
    allow: Arc<BTreeSet<HostPort>>,
    /// `guests`: what kubeconfigs out of Secrets may use, by cluster.
    guests: Arc<BTreeMap<String, BTreeSet<Exemption>>>,
}

impl HostPort {
    /// Parses `host` or `host:port`; without a port, that of https.
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self, BadHostPort> {
        let bad = || BadHostPort(text.to_owned());
        let uri: Uri = format!("https://{text}").parse().map_err(|_| bad())?;
        let is_bare = !text.contains(['@', '/', '*', '?']) && !text.ends_with(':');
        let host = uri.host().filter(|host| is_bare && !host.is_empty()).ok_or_else(bad)?;
        Ok(Self { host: host.to_ascii_lowercase(), port: uri.port_u16().unwrap_or(HTTPS_PORT) })
    }

    /// The host and port of a URL. None: it has no host.
    pub fn of(url: &Uri) -> Option<Self> {
        let port = if url.scheme_str() == Some("http") { HTTP_PORT } else { HTTPS_PORT };
        let host = url.host().filter(|host| !host.is_empty())?;
        Some(Self { host: host.to_ascii_lowercase(), port: url.port_u16().unwrap_or(port) })
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the port is that of https.
    pub fn is_https_port(&self) -> bool {
        self.port == HTTPS_PORT
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Exemption {
    pub const ALL: [Self; 5] = [Self::Http, Self::Loopback, Self::LinkLocal, Self::Proxy, Self::Path];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::Proxy => "proxy",
            Self::Path => "path",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.as_str() == text)
    }
}

impl Egress {
    pub fn new(allow: impl IntoIterator<Item = HostPort>) -> Self {
        Self { allow: Arc::new(allow.into_iter().collect()), guests: Arc::default() }
    }

    /// The same, with what kubeconfigs out of Secrets may use, by cluster.
    #[must_use]
    pub fn with_guests(self, guests: impl IntoIterator<Item = (String, BTreeSet<Exemption>)>) -> Self {
        Self { guests: Arc::new(guests.into_iter().collect()), ..self }
    }

    /// Decides where a client may connect. No client is built without this.
    ///
    /// # Errors
    /// The kubeconfig out of a Secret names what it may not use. Hosts of the other clients are checked when they are
    /// connected to.
    pub fn permit(&self, destination: &Destination<'_>) -> Result<Permit, EgressRefused> {
        let scope = match destination {
            Destination::User => return Ok(Self::user_named()),
            Destination::Document => Scope::Document,
            Destination::Cloud { identity, is_published, named } => {
                let mut hosts: BTreeMap<HostPort, NamedBy> = BTreeMap::new();
                for (host, named_by) in *named {
                    // What the user named as well is the user's.
                    let least = hosts.get(host).map_or(*named_by, |earlier| *earlier.min(named_by));
                    hosts.insert(host.clone(), least);
                }
                Scope::Cloud(Arc::new(CloudScope { identity: *identity, is_published: *is_published, named: hosts }))
            }
            Destination::Guest(guest) => Scope::Guest(Arc::new(self.guest(guest)?)),
        };
        Ok(Permit { scope, allow: self.allow.clone() })
    }

    /// The permit for servers that the user named, which need no configuration.
    pub fn user_named() -> Permit {
        Permit { scope: Scope::User, allow: Arc::default() }
    }

    fn guest(&self, guest: &GuestServer<'_>) -> Result<GuestScope, EgressRefused> {
        let GuestServer { cluster, server, proxy, holder } = *guest;
        let configured = self.guests.get(cluster).cloned().unwrap_or_default();
        let scope = GuestScope { cluster: cluster.to_owned(), holder, configured, proxy };
        let host = HostPort::of(server).ok_or(EgressRefused::NoHost)?;
        let kind = AddressKind::of_host(host.host());
        let mut needed = scope.needs(Encryption::of(server), kind);
        if proxy == ProxyNamedBy::Secret {
            needed.insert(Exemption::Proxy);
        }
        if !matches!(server.path(), "" | "/") || server.query().is_some() {
            needed.insert(Exemption::Path);
        }
        scope.allow(&host, needed, kind, host.host())?;
        Ok(scope)
    }

    /// Decides whether a host that `named_by` named may receive an identity.
    ///
    /// # Errors
    /// It may not.
    pub fn may_receive(&self, identity: Identity, host: &HostPort, named_by: NamedBy) -> Result<(), EgressRefused> {
        may_receive(&self.allow, identity, host, named_by)
    }
}

fn may_receive(
    allow: &BTreeSet<HostPort>,
    identity: Identity,
    host: &HostPort,
    named_by: NamedBy,
) -> Result<(), EgressRefused> {
    match (named_by, identity) {
        (NamedBy::User | NamedBy::Provider, _) | (NamedBy::Cluster, Identity::Anonymous | Identity::OfCluster) => {
            Ok(())
        }
        (NamedBy::Cluster, Identity::Own) if allow.contains(host) => Ok(()),
        (NamedBy::Cluster, Identity::Own) => Err(EgressRefused::Identity { host: host.clone() }),
    }
}
