//! The egress policy: which host may receive which identity, by who named the host.
//!
//! Invariants:
//! - this machine's own identity is sent to hosts the user or the provider named, and to a host that a cluster named only when
//!   the configuration allows it by name;
//! - a cluster's own credentials may go to the hosts that cluster names.
//!
//! Elsewhere: opening connections (`dial`), choosing endpoints (`fleet::clouds`).

use std::collections::BTreeSet;
use std::fmt;

use http::Uri;

use crate::dial::NamedBy;

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

/// What the configuration allows beyond the rules (`[egress]`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Egress {
    /// `allow`: hosts that may receive this machine's own cloud identity, beside the provider's own.
    allow: BTreeSet<HostPort>,
}

/// Why a host does not receive an identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "endpoint {host} is named by the cluster and was not used with this machine's own login; to use it, set [egress] allow = [\"{host}\"]"
)]
pub struct EgressRefused {
    pub host: HostPort,
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
        Some(Self { host: url.host()?.to_ascii_lowercase(), port: url.port_u16().unwrap_or(port) })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl Egress {
    pub fn new(allow: impl IntoIterator<Item = HostPort>) -> Self {
        Self { allow: allow.into_iter().collect() }
    }

    /// Decides whether a host that `named_by` named may receive an identity.
    ///
    /// # Errors
    /// It may not.
    pub fn may_receive(&self, identity: Identity, host: &HostPort, named_by: NamedBy) -> Result<(), EgressRefused> {
        match (named_by, identity) {
            (NamedBy::User | NamedBy::Provider, _) | (NamedBy::Cluster, Identity::Anonymous | Identity::OfCluster) => {
                Ok(())
            }
            (NamedBy::Cluster, Identity::Own) if self.allow.contains(host) => Ok(()),
            (NamedBy::Cluster, Identity::Own) => Err(EgressRefused { host: host.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> HostPort {
        HostPort::parse(text).unwrap()
    }

    #[test]
    fn this_machines_own_identity_goes_to_no_host_that_a_cluster_named() {
        let egress = Egress::new([host("sts.internal.example.com")]);
        let named = [NamedBy::User, NamedBy::Provider, NamedBy::Cluster];
        let identities = [Identity::Anonymous, Identity::Own, Identity::OfCluster];
        for named_by in named {
            for identity in identities {
                let expected = named_by != NamedBy::Cluster || identity != Identity::Own;
                let found = egress.may_receive(identity, &host("sts.attacker.example"), named_by).is_ok();
                assert_eq!(found, expected, "case: {identity:?} to a host named by {named_by:?}");
                let allowed = egress.may_receive(identity, &host("sts.internal.example.com:443"), named_by);
                assert_eq!(allowed, Ok(()), "case: {identity:?} to an allowed host named by {named_by:?}");
            }
        }
        let other_port = egress.may_receive(Identity::Own, &host("sts.internal.example.com:8443"), NamedBy::Cluster);
        assert!(other_port.unwrap_err().to_string().contains("allow = [\"sts.internal.example.com:8443\"]"));
    }

    #[test]
    fn hosts_are_parsed_with_their_port() {
        let cases = [
            ("sts.example.com", Some("sts.example.com:443")),
            ("STS.example.com:8443", Some("sts.example.com:8443")),
            ("[::1]:5000", Some("[::1]:5000")),
            ("[::1]", Some("[::1]:443")),
            ("https://sts.example.com", None),
            ("sts.example.com/path", None),
            ("user@sts.example.com", None),
            ("*.example.com", None),
            ("sts.example.com:", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = HostPort::parse(text).ok().map(|host| host.to_string());
            assert_eq!(found.as_deref(), expected, "case: {text}");
        }
        let of = |url: &str| HostPort::of(&url.parse().unwrap()).unwrap().to_string();
        assert_eq!(of("http://sts.example.com/x"), "sts.example.com:80");
        assert_eq!(of("https://STS.example.com/"), "sts.example.com:443");
    }
}
