//! The HTTP stack under `kube::Client`: one connection a cluster, and nothing that sends a request twice.
//!
//! Always true:
//! - a request goes out at most once: there is no retry layer, and hyper's own is off;
//! - HTTP/2 where the server offers it (a watch is then a stream, not a connection), HTTP/1.1 otherwise;
//! - how far the server proved its identity travels with the connection, so that a gate can refuse writes.
//!
//! ```text
//! kube::Client → Stack (base URL, headers, login) → hyper client (pool, h2 pings) → TLS → proxy or none → TCP
//! ```
//!
//! Not here: what to ask the server (`observe`), when to try again (`link`).

mod dial;
mod login;
mod proxy;
mod stack;
mod tls;

use std::fmt;
use std::sync::Arc;

use super::env::Env;
use super::kubeconfig::{Access, Bearer, ClientCertificate, Impersonation, PemSource, Verification};

pub use dial::DialError;
pub use login::{Clock, Login, LoginError};
pub use proxy::ProxyError;
pub use stack::BadImpersonation;
pub use tls::TlsError;

/// A cluster's API, ready to be asked.
#[derive(Clone)]
pub struct Connection {
    pub client: kube::Client,
    pub tls: TlsTrust,
    /// The API server's URL as the kubeconfig has it.
    pub server: String,
    /// The proxy's host and port, when there is one.
    pub proxy: Option<String>,
}

/// How far the server's identity is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsTrust {
    Verified,
    /// `insecure-skip-tls-verify`: encrypted, but with whom is anybody's guess.
    Unverified,
    /// Plain `http://` over a network.
    Cleartext,
    /// Plain `http://` that never leaves this machine.
    Loopback,
    /// No network in between: the demo and tests.
    InProcess,
}

/// Why a connection can't even be prepared.
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
}

/// Prepares a connection. The first request dials; an exec plugin runs here, because it may bring the certificate.
///
/// `acting_as` is who the user asked to act as (`--as`); what it sets wins over the kubeconfig.
///
/// # Errors
/// Certificates or keys that can't be used, a proxy that can't be understood, a login that failed, somebody to act as
/// who can't be named.
pub async fn open(
    access: &Access,
    login: &Arc<Login>,
    acting_as: &Impersonation,
    env: &Env,
) -> Result<Connection, OpenError> {
    let brought = login.certificate().await?;
    let certificate = brought.or_else(|| access.certificate.clone());
    let config = tls::client_config(&access.verification, certificate.as_ref()).await?;
    let route = proxy::route(&access.server, access.proxy.as_ref(), env)?;
    let proxy = route.host();
    let http = dial::client(config, &access.verification, route)?;
    let headers = stack::headers(&access.impersonation, acting_as)?;
    let stack = stack::Stack::new(http, &access.server, headers, login.clone());
    Ok(Connection {
        client: kube::Client::new(stack, access.namespace.clone()),
        tls: trust(access),
        server: access.server.to_string().trim_end_matches('/').to_owned(),
        proxy,
    })
}

fn trust(access: &Access) -> TlsTrust {
    match (access.server.scheme_str(), &access.verification) {
        (Some("https"), Verification::Full { .. }) => TlsTrust::Verified,
        (Some("https"), Verification::Skipped { .. }) => TlsTrust::Unverified,
        (_, Verification::Full { .. } | Verification::Skipped { .. }) if is_loopback(access.server.host()) => {
            TlsTrust::Loopback
        }
        (_, Verification::Full { .. } | Verification::Skipped { .. }) => TlsTrust::Cleartext,
    }
}

/// Whether the host is this machine by its very name. A name that merely resolves to it could be pointed elsewhere.
fn is_loopback(host: Option<&str>) -> bool {
    let host = host.unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client: _, tls, server, proxy } = self;
        f.debug_struct("Connection")
            .field("server", server)
            .field("tls", tls)
            .field("proxy", proxy)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
