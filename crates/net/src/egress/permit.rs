//! A decision of the policy as a value: without one no connection is opened.
//!
//! Invariants:
//! - only [`super::Egress`] makes a [`Permit`]; its fields are private, and it has no default;
//! - a URL is checked before a name is looked up, and every address the name leads to before it is connected to;
//! - one address that is not allowed refuses the name: which of several answers is used is not for a name server to choose.
//!
//! ```compile_fail,E0451
//! let past_the_policy = trueup_net::Permit { scope: (), allow: () };
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;

use super::address::is_credential_address;
use super::{AddressKind, EgressRefused, Exemption, HolderReach, HostPort, Identity, ProxyNamedBy, may_receive};
use crate::dial::NamedBy;

/// Where the connections of one client may lead.
#[derive(Debug, Clone)]
pub struct Permit {
    pub(super) scope: Scope,
    /// `[egress] allow`.
    pub(super) allow: Arc<BTreeSet<HostPort>>,
}

#[derive(Debug, Clone)]
pub(super) enum Scope {
    User,
    Cloud(Arc<CloudScope>),
    /// A document that a cluster names.
    Document,
    Guest(Arc<GuestScope>),
}

#[derive(Debug)]
pub(super) struct CloudScope {
    pub identity: Identity,
    /// Whether a host is one of the provider's published endpoints.
    pub is_published: fn(&HostPort) -> bool,
    pub named: BTreeMap<HostPort, NamedBy>,
}

#[derive(Debug)]
pub(super) struct GuestScope {
    pub cluster: String,
    pub holder: HolderReach,
    pub configured: BTreeSet<Exemption>,
    pub proxy: ProxyNamedBy,
}

/// Whether a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    Tls,
    None,
}

impl Encryption {
    pub(super) fn of(url: &Uri) -> Self {
        if url.scheme_str() == Some("https") { Self::Tls } else { Self::None }
    }
}

/// A URL that the policy allowed; its addresses are still to be checked.
#[derive(Debug, Clone)]
pub(crate) struct CheckedHost {
    permit: Permit,
    host: HostPort,
    encryption: Encryption,
}

impl Permit {
    /// Checks the URL of a server.
    ///
    /// # Errors
    /// It may not be reached.
    pub(crate) fn check(&self, server: &Uri) -> Result<CheckedHost, EgressRefused> {
        self.check_as(server, Encryption::of(server))
    }

    /// Checks the URL of a proxy. None: the user named it, and it may be anywhere.
    ///
    /// # Errors
    /// A kubeconfig out of a Secret named it, and its address is not allowed.
    pub(crate) fn check_proxy(&self, proxy: &Uri) -> Result<Option<CheckedHost>, EgressRefused> {
        let named_by = match &self.scope {
            Scope::Guest(guest) => guest.proxy,
            Scope::User | Scope::Cloud(_) | Scope::Document => ProxyNamedBy::User,
        };
        match named_by {
            ProxyNamedBy::User => Ok(None),
            // What goes through a tunnel has its own encryption.
            ProxyNamedBy::Secret => self.check_as(proxy, Encryption::Tls).map(Some),
        }
    }

    fn check_as(&self, server: &Uri, encryption: Encryption) -> Result<CheckedHost, EgressRefused> {
        let host = HostPort::of(server).ok_or(EgressRefused::NoHost)?;
        let kind = AddressKind::of_host(host.host());
        self.decide(&host, encryption, kind, host.host())?;
        Ok(CheckedHost { permit: self.clone(), host, encryption })
    }

    /// Who named the hosts, for the log.
    pub(crate) fn named_by(&self) -> NamedBy {
        match &self.scope {
            Scope::User => NamedBy::User,
            Scope::Cloud(cloud) => cloud.named.values().copied().max().unwrap_or(NamedBy::Provider),
            Scope::Document | Scope::Guest(_) => NamedBy::Cluster,
        }
    }

    /// The policy. `address` is the host itself or what it leads to.
    fn decide(
        &self,
        host: &HostPort,
        encryption: Encryption,
        kind: AddressKind,
        address: &str,
    ) -> Result<(), EgressRefused> {
        match &self.scope {
            Scope::User => Ok(()),
            Scope::Document => self.decide_named_by_cluster(host, encryption, kind, address),
            Scope::Guest(guest) => guest.decide(host, encryption, kind, address),
            Scope::Cloud(cloud) => match cloud.named.get(host) {
                Some(NamedBy::User) => Ok(()),
                Some(NamedBy::Cluster) => {
                    may_receive(&self.allow, cloud.identity, host, NamedBy::Cluster)?;
                    self.decide_named_by_cluster(host, encryption, kind, address)
                }
                Some(NamedBy::Provider) | None => cloud.decide(host, encryption, kind, address),
            },
        }
    }

    fn decide_named_by_cluster(
        &self,
        host: &HostPort,
        encryption: Encryption,
        kind: AddressKind,
        address: &str,
    ) -> Result<(), EgressRefused> {
        if self.allow.contains(host) {
            return Ok(());
        }
        if kind != AddressKind::Ordinary {
            return Err(EgressRefused::Address { host: host.clone(), kind, address: address.to_owned() });
        }
        match encryption {
            Encryption::Tls => Ok(()),
            Encryption::None => Err(EgressRefused::Cleartext { host: host.clone() }),
        }
    }
}

impl CloudScope {
    /// Decides about a host that neither the user nor a cluster named.
    fn decide(
        &self,
        host: &HostPort,
        encryption: Encryption,
        kind: AddressKind,
        address: &str,
    ) -> Result<(), EgressRefused> {
        if self.identity == Identity::Own && is_credential_address(host.host()) {
            return Ok(());
        }
        if !(self.is_published)(host) {
            return Err(EgressRefused::Unnamed { host: host.clone() });
        }
        if encryption == Encryption::Tls && kind == AddressKind::Ordinary {
            return Ok(());
        }
        Err(EgressRefused::NotOfProvider { host: host.clone(), kind, address: address.to_owned() })
    }
}

impl GuestScope {
    fn decide(
        &self,
        host: &HostPort,
        encryption: Encryption,
        kind: AddressKind,
        address: &str,
    ) -> Result<(), EgressRefused> {
        self.allow(host, self.needs(encryption, kind), kind, address)
    }

    /// The words a connection needs, by its encryption and address.
    ///
    /// Local clusters need none: https on loopback where the cluster that holds the Secret is itself reached over
    /// loopback, and plain http on loopback where that cluster is reached so.
    pub(super) fn needs(&self, encryption: Encryption, kind: AddressKind) -> BTreeSet<Exemption> {
        let is_like_holder = kind.is_local()
            && match (self.holder, encryption) {
                (HolderReach::Network, _) | (HolderReach::Loopback, Encryption::None) => false,
                (HolderReach::Loopback, Encryption::Tls) | (HolderReach::LoopbackCleartext, _) => true,
            };
        if is_like_holder {
            return BTreeSet::new();
        }
        let cleartext = (encryption == Encryption::None).then_some(Exemption::Http);
        cleartext.into_iter().chain(kind.exemption()).collect()
    }

    /// Compares what is needed with what the configuration allows.
    pub(super) fn allow(
        &self,
        host: &HostPort,
        needed: BTreeSet<Exemption>,
        kind: AddressKind,
        address: &str,
    ) -> Result<(), EgressRefused> {
        let missing: Vec<Exemption> = needed.difference(&self.configured).copied().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let at = if address == host.host() { String::new() } else { format!(" of {host}") };
        let uses = missing.into_iter().map(|word| match word {
            Exemption::Http => format!("plain http to {host}"),
            Exemption::Loopback | Exemption::LinkLocal => format!("the {kind} address {address}{at}"),
            Exemption::Proxy => "a proxy-url".to_owned(),
            Exemption::Path => "a path prefix".to_owned(),
        });
        let uses: Vec<String> = uses.collect();
        Err(EgressRefused::guest(&self.cluster, &uses, &needed.union(&self.configured).copied().collect()))
    }
}

impl CheckedHost {
    /// Checks an address that the host leads to.
    ///
    /// # Errors
    /// It may not be reached.
    pub(crate) fn check_address(&self, address: IpAddr) -> Result<(), EgressRefused> {
        self.permit.decide(&self.host, self.encryption, AddressKind::of(address), &address.to_string())
    }
}
