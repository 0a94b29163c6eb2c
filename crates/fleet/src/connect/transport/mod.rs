//! `kube::Client` on the HTTP stack of `net`: one connection per cluster, and nothing that sends a request twice.
//!
//! Invariants:
//! - a request is sent at most once: there is no retry layer, and hyper's own is off;
//! - HTTP/2 where the server offers it (a watch is then a stream, not a connection), HTTP/1.1 otherwise;
//! - how far the server proved its identity is part of the connection, so that a gate can refuse writes;
//! - a kubeconfig out of a Secret leads only where the egress policy allows.
//!
//! ```text
//! kube::Client → Stack (base URL, headers, login) → net: pooled client (h2 pings) → TLS → proxy or none → TCP
//! ```
//!
//! Elsewhere: dialling, proxies, TLS (`net`); which requests to send (`observe`); when to retry (`link`).

mod login;
mod pool;
mod server_clock;
mod stack;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use super::env::Env;
use super::kubeconfig::{Access, Bearer, Impersonation, Trust};
use http::Uri;
use trueup_core::files;
use trueup_net::{
    AddressKind, ClientCertificate, Connector, Destination, Egress, EgressRefused, GuestServer, HolderReach, PemSource,
    Permit, Proxies, ProxyError, ProxyNamedBy, Routes, TlsError, Verification, client_config, is_loopback,
};
use zeroize::Zeroizing;

pub use login::{Clock, Login, LoginError};
pub use server_clock::ServerClock;
pub use stack::BadImpersonation;

/// How long an idle connection is kept (hyper's default).
const IDLE_MAX: Duration = Duration::from_secs(90);

/// A connection to a cluster's API server.
#[derive(Clone)]
pub struct Connection {
    pub client: kube::Client,
    pub tls: TlsTrust,
    /// The API server's URL as the kubeconfig has it.
    pub server: String,
    /// The proxy's host and port, when there is one.
    pub proxy: Option<String>,
    /// The server's clock; never compared where there is no network in between.
    pub clock: ServerClock,
    pub idle: IdleConnections,
}

/// The connections that a server's client keeps for its next request. None where there is no network in between.
#[derive(Clone, Default)]
pub struct IdleConnections(Option<Arc<pool::ConnectionPool>>);

impl IdleConnections {
    /// Closes those that carry no request. The next request opens one again.
    pub fn close(&self) {
        if let Some(pool) = &self.0 {
            pool.close_idle();
        }
    }
}

/// How far the server's identity is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsTrust {
    Verified,
    /// `insecure-skip-tls-verify`: encrypted, to a peer that was not verified.
    Unverified,
    /// Plain `http://` over a network.
    Cleartext,
    /// Plain `http://` that never leaves this machine.
    Loopback,
    /// No network in between: the demo and tests.
    InProcess,
}

/// Why a connection cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error(transparent)]
    Login(#[from] Arc<LoginError>),
    #[error(transparent)]
    Impersonation(#[from] BadImpersonation),
    #[error(transparent)]
    Egress(#[from] EgressRefused),
}

/// Where a kubeconfig out of a Secret came from, for the egress policy.
#[derive(Debug, Clone)]
pub struct GuestOrigin {
    /// The cluster it leads to, as `[egress] guests` names it.
    pub cluster: String,
    /// How the cluster that holds the Secret is reached.
    pub holder: HolderReach,
    pub egress: Egress,
}

/// A certificate or key that the user's kubeconfig names.
fn read_pem(path: &Path) -> io::Result<Zeroizing<String>> {
    files::read_text(path, files::CREDENTIAL_BYTES_MAX)
}

/// Prepares a connection. The first request dials; an exec plugin runs here, because it may bring the certificate.
///
/// `acting_as` is the user to impersonate (`--as`); it wins over the kubeconfig. `origin` is where a kubeconfig out of a
/// Secret came from; without one, such a kubeconfig leads to ordinary addresses over TLS alone.
///
/// # Errors
/// Certificates, keys or a proxy setting that cannot be used, a failed login, an impersonated user that no header can
/// hold, or a server that the egress policy refuses.
pub async fn open(
    access: &Access,
    login: &Arc<Login>,
    acting_as: &Impersonation,
    env: &Env,
    origin: Option<&GuestOrigin>,
) -> Result<Connection, OpenError> {
    let permit = permit(access, origin)?;
    let brought = login.certificate().await?;
    let certificate = brought.or_else(|| access.certificate.clone());
    let config = client_config(&access.verification, certificate.as_ref(), read_pem).await?;
    let route = Proxies::of(|name| env.text(name)).route(&access.server, access.proxy.as_ref())?;
    let proxy = route.proxy_host();
    let connector = Connector::new(config, access.verification.server_name(), Routes::Fixed(route), permit)?;
    let pool = Arc::new(pool::ConnectionPool::new(connector));
    let headers = stack::headers(&access.impersonation, acting_as)?;
    let clock = ServerClock::default();
    let stack = stack::Stack::new(pool.clone(), &access.server, headers, login.clone(), clock.clone())
        .answered_within(env.request_timeout());
    Ok(Connection {
        client: kube::Client::new(stack, access.namespace.clone()),
        tls: trust(access),
        server: access.server.to_string().trim_end_matches('/').to_owned(),
        proxy,
        clock,
        idle: IdleConnections(Some(pool)),
    })
}

fn permit(access: &Access, origin: Option<&GuestOrigin>) -> Result<Permit, EgressRefused> {
    match access.trust {
        // The kubelet sets the address of the pod's API server.
        Trust::UsersOwn | Trust::Pod => Ok(Egress::user_named()),
        Trust::FromSecret => {
            let proxy = if access.proxy.is_some() { ProxyNamedBy::Secret } else { ProxyNamedBy::User };
            let strict = GuestOrigin {
                cluster: access.context.clone(),
                holder: HolderReach::Network,
                egress: Egress::default(),
            };
            let GuestOrigin { cluster, holder, egress } = origin.unwrap_or(&strict);
            let guest = GuestServer { cluster, server: &access.server, proxy, holder: *holder };
            egress.permit(&Destination::Guest(guest))
        }
    }
}

fn trust(access: &Access) -> TlsTrust {
    match (access.server.scheme_str(), &access.verification) {
        (Some("https"), Verification::Full { .. }) => TlsTrust::Verified,
        (Some("https"), Verification::Skipped { .. }) => TlsTrust::Unverified,
        (_, Verification::Full { .. } | Verification::Skipped { .. })
            if is_loopback(access.server.host().unwrap_or_default()) =>
        {
            TlsTrust::Loopback
        }
        (_, Verification::Full { .. } | Verification::Skipped { .. }) => TlsTrust::Cleartext,
    }
}

impl Connection {
    /// How the cluster is reached, for the egress policy of kubeconfigs in its Secrets.
    pub fn holder_reach(&self) -> HolderReach {
        let server: Option<Uri> = self.server.parse().ok();
        let host = server.as_ref().and_then(Uri::host).unwrap_or_default();
        if self.proxy.is_some() || !AddressKind::of_host(host).is_local() {
            return HolderReach::Network;
        }
        match self.tls {
            TlsTrust::Verified | TlsTrust::Unverified => HolderReach::Loopback,
            TlsTrust::Cleartext | TlsTrust::Loopback => HolderReach::LoopbackCleartext,
            TlsTrust::InProcess => HolderReach::Network,
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client: _, tls, server, proxy, clock, idle: _ } = self;
        f.debug_struct("Connection")
            .field("server", server)
            .field("tls", tls)
            .field("proxy", proxy)
            .field("clock", clock)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
