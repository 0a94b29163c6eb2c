//! From a URL to an open, encrypted stream, and the pooled client on top of it.
//!
//! Always true: this machine itself is reached without a proxy, as Go and curl do it.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_rustls::{DefaultServerNameResolver, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tower::{BoxError, Service};

use super::NotReached;
use super::roots::Roots;

/// How long name lookup, TCP, proxy and TLS may take together: what takes longer is a firewall that drops packets.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an idle connection is kept. Clouds close theirs after about a minute.
const IDLE_MAX: Duration = Duration::from_secs(50);

pub(super) type Pooled = Client<Connector, Full<Bytes>>;

/// The proxy settings of the environment, each as it is written there. They may hold passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// `HTTPS_PROXY`: for `https://` servers.
    pub https: String,
    /// `HTTP_PROXY`: for `http://` servers.
    pub http: String,
    /// `NO_PROXY`: who is reached without.
    pub exempt: String,
}

/// A proxy setting that can't be understood. Holds no part of the URL, which may carry a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is not a proxy URL that can be used; it should be http:// or socks5://host:port")]
pub struct BadProxy {
    pub setting: &'static str,
}

impl Proxies {
    /// Picks the settings out of an environment: upper case before lower, and what is empty is not set.
    pub fn of<'v>(variable: impl Fn(&str) -> Option<&'v str>) -> Self {
        let first = |names: [&str; 2]| {
            let set = names.into_iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
            set.unwrap_or_default().to_owned()
        };
        Self {
            https: first(["HTTPS_PROXY", "https_proxy"]),
            http: first(["HTTP_PROXY", "http_proxy"]),
            exempt: first(["NO_PROXY", "no_proxy"]),
        }
    }

    fn matcher(&self) -> Result<Matcher, BadProxy> {
        let Self { https, http, exempt } = self;
        for (setting, value) in [("HTTPS_PROXY", https), ("HTTP_PROXY", http)] {
            if !value.is_empty() && !is_usable(value) {
                return Err(BadProxy { setting });
            }
        }
        Ok(Matcher::builder().https(https.clone()).http(http.clone()).no(exempt.clone()).build())
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxies(…)")
    }
}

/// Whether a proxy's URL is one that [`Dialer`] can dial: the matcher takes more than that, and leaves out what it
/// can't read.
fn is_usable(value: &str) -> bool {
    let read = Matcher::builder().http(value.to_owned()).build().intercept(&Uri::from_static("http://example.com"));
    read.is_some_and(|found| matches!(found.uri().scheme_str(), Some("http" | "socks5" | "socks5h")))
}

/// Builds the pooled client.
///
/// # Errors
/// A proxy setting that can't be understood.
pub(super) fn client(extra_roots: Option<&Roots>, proxies: &Proxies) -> Result<Pooled, BadProxy> {
    let dialer = Dialer { tcp: tcp(), proxies: Arc::new(proxies.matcher()?) };
    let resolver = Arc::new(DefaultServerNameResolver::default());
    let connector = Connector { https: HttpsConnector::new(dialer, config(extra_roots), false, resolver) };
    Ok(Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_MAX)
        .retry_canceled_requests(false)
        .build(connector))
}

/// Without any root the first handshake fails, and says so; plain `http://` needs none.
fn config(extra_roots: Option<&Roots>) -> ClientConfig {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    store.add_parsable_certificates(extra_roots.into_iter().flat_map(Roots::certificates));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the ring provider speaks TLS 1.2 and 1.3")
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

fn tcp() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector
}

type Stream = TokioIo<TcpStream>;
type Opening<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Opens streams within the time limit.
#[derive(Clone)]
pub(super) struct Connector {
    https: HttpsConnector<Dialer>,
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<Stream>;
    type Error = BoxError;
    type Future = Opening<Self::Response>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.https.poll_ready(context)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let opening = self.https.call(server);
        Box::pin(async move {
            match tokio::time::timeout(CONNECT_TIMEOUT, opening).await {
                Ok(opened) => opened,
                Err(_) => Err(DialError::TimedOut.into()),
            }
        })
    }
}

/// What this room knows of a failed dial by itself; the rest is read from the errors of others.
#[derive(Debug, thiserror::Error)]
enum DialError {
    #[error("no connection in time")]
    TimedOut,
    #[error("the proxy did not open the way")]
    Proxy,
}

/// Opens the bytes' way to a server, below its TLS: straight or through a proxy, by the server's name.
#[derive(Clone)]
struct Dialer {
    tcp: HttpConnector,
    proxies: Arc<Matcher>,
}

impl Service<Uri> for Dialer {
    type Response = Stream;
    type Error = BoxError;
    type Future = Opening<Stream>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let proxy = if is_this_machine(&server) { None } else { self.proxies.intercept(&server) };
        match proxy {
            None => {
                let opening = self.tcp.call(server);
                Box::pin(async move { Ok(opening.await?) })
            }
            Some(proxy) => through(self.tcp.clone(), &proxy, with_port(server)),
        }
    }
}

fn through(tcp: HttpConnector, proxy: &Intercept, server: Uri) -> Opening<Stream> {
    let address = proxy.uri().clone();
    if address.scheme_str().is_some_and(|scheme| scheme.starts_with("socks5")) {
        let mut socks = SocksV5::new(address, tcp);
        if let Some((user, password)) = proxy.raw_auth() {
            socks = socks.with_auth(user.to_owned(), password.to_owned());
        }
        let opening = socks.call(server);
        return Box::pin(async move { opening.await.map_err(|_| DialError::Proxy.into()) });
    }
    let mut tunnel = Tunnel::new(address, tcp);
    if let Some(auth) = proxy.basic_auth() {
        tunnel = tunnel.with_auth(auth.clone());
    }
    let opening = tunnel.call(server);
    Box::pin(async move { opening.await.map_err(|_| DialError::Proxy.into()) })
}

fn is_this_machine(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The URL with its port written out: a tunnel would guess 443 for `http://`, too.
fn with_port(server: Uri) -> Uri {
    if server.port().is_some() {
        return server;
    }
    let port = if server.scheme_str() == Some("https") { 443 } else { 80 };
    let mut parts = server.clone().into_parts();
    parts.authority = format!("{}:{port}", server.host().unwrap_or_default()).parse().ok();
    Uri::from_parts(parts).unwrap_or(server)
}

/// What one error of a chain says about the way, if anything.
pub(super) fn reason(error: &(dyn Error + 'static)) -> Option<NotReached> {
    if let Some(error) = error.downcast_ref::<DialError>() {
        return Some(match error {
            DialError::TimedOut => NotReached::TimedOut,
            DialError::Proxy => NotReached::Proxy,
        });
    }
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(match error {
            rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => NotReached::UnknownAuthority,
            rustls::Error::InvalidCertificate(_) => NotReached::BadCertificate,
            // Foreign enum, open to new kinds.
            _ => NotReached::Tls,
        });
    }
    if error.to_string().starts_with("dns error") {
        // hyper-util's error for a failed lookup has no public type; its text is fixed.
        return Some(NotReached::NameLookup);
    }
    let refused = error.downcast_ref::<io::Error>().map(io::Error::kind) == Some(io::ErrorKind::ConnectionRefused);
    refused.then_some(NotReached::Refused)
}
