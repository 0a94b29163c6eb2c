//! From a URL to an open, encrypted stream, and the pooled HTTP client on top of it.
//!
//! Invariants:
//! - [`dial`] opens every connection of the program; an egress policy belongs there;
//! - a request is sent at most once: hyper's own retry is off;
//! - name lookup, TCP, proxy and TLS together take at most [`CONNECT_TIMEOUT`].

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Buf;
use http::Uri;
use hyper_rustls::{
    DefaultServerNameResolver, FixedServerNameResolver, HttpsConnector, MaybeHttpsStream, ResolveServerName,
};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tower::{BoxError, Service};

use crate::proxy::{Route, Routes};
use crate::tls::{self, TlsError};

/// How long name lookup, TCP, proxy and TLS may take together. A healthy path needs under a second, a bad one over a
/// satellite two or three; what takes longer is a firewall that drops packets.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// When nothing has arrived for this long, the server is sent a ping (client-go's number). A watch that is silent for
/// good reasons and one whose peer is gone look the same otherwise.
const PING_AFTER: Duration = Duration::from_secs(30);

/// How long the answer to a ping may take (client-go's number). So a dead peer is noticed after 45 s.
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// A pooled client. Clones share their connections.
pub type Pooled<B> = Client<Connector, B>;

/// Who named the host of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamedBy {
    /// The user: configuration, flags, environment, kubeconfig.
    User,
    /// A cloud provider: one of its published endpoints.
    #[default]
    Provider,
    /// An object of a cluster: a kubeconfig in a Secret, an issuer URL, an endpoint override.
    Cluster,
}

impl NamedBy {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Provider => "provider",
            Self::Cluster => "cluster",
        }
    }
}

/// Why no stream could be opened.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    #[error("no connection within {} s", CONNECT_TIMEOUT.as_secs())]
    TimedOut,
    #[error("the proxy {proxy} refused the connection")]
    Proxy { proxy: String, source: BoxError },
}

/// Opens streams to servers, within the time limit.
#[derive(Clone)]
pub struct Connector {
    https: HttpsConnector<Dialer>,
}

impl Connector {
    /// A connector for hosts that `named_by` named. `server_name` replaces the URL's host in the TLS handshake.
    ///
    /// # Errors
    /// A server name that is not a name, or no system roots to verify an `https://` proxy.
    pub fn new(
        config: ClientConfig,
        server_name: Option<&str>,
        routes: Routes,
        named_by: NamedBy,
    ) -> Result<Self, TlsError> {
        let proxy_tls = if routes.use_tls_to_proxy() { Some(Arc::new(tls::proxy_config()?)) } else { None };
        let dialer = Dialer { tcp: tcp(), proxy_tls, routes: Arc::new(routes), named_by };
        Ok(Self { https: HttpsConnector::new(dialer, config, false, resolver(server_name)?) })
    }
}

/// Builds a pooled client. An idle connection is kept for `idle_max`.
pub fn pooled<B>(connector: Connector, idle_max: Duration) -> Pooled<B>
where
    B: http_body::Body + Send,
    B::Data: Buf + Send,
{
    Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(idle_max)
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .retry_canceled_requests(false)
        .build(connector)
}

fn tcp() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    // For HTTP/1.1, which has no pings: the kernel notices a dead peer.
    connector.set_keepalive(Some(PING_AFTER));
    connector.set_keepalive_interval(Some(PING_TIMEOUT));
    connector
}

fn resolver(server_name: Option<&str>) -> Result<Arc<dyn ResolveServerName + Send + Sync>, TlsError> {
    let Some(name) = server_name else { return Ok(Arc::new(DefaultServerNameResolver::default())) };
    let parsed = ServerName::try_from(name.to_owned());
    let parsed = parsed.map_err(|_| TlsError::BadServerName { name: name.to_owned() })?;
    Ok(Arc::new(FixedServerNameResolver::new(parsed)))
}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;
type Opening<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

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

/// Opens the stream to a server, below its TLS.
#[derive(Clone)]
struct Dialer {
    tcp: HttpConnector,
    proxy_tls: Option<Arc<ClientConfig>>,
    routes: Arc<Routes>,
    named_by: NamedBy,
}

impl Service<Uri> for Dialer {
    type Response = Stream;
    type Error = BoxError;
    type Future = Opening<Stream>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let route = self.routes.to(&server);
        let to_proxy = ToProxy { tcp: self.tcp.clone(), tls: self.proxy_tls.clone() };
        let named_by = self.named_by;
        Box::pin(async move { dial(server, named_by, route?, to_proxy).await })
    }
}

/// Opens one connection. Every connection of the program is opened here, so that one policy can decide which host may
/// be reached, by who named it.
async fn dial(server: Uri, named_by: NamedBy, route: Route, mut to_proxy: ToProxy) -> Result<Stream, BoxError> {
    let proxy = route.proxy_host().unwrap_or_default();
    tracing::debug!(host = server.host(), named_by = named_by.as_str(), proxy, "dialing");
    let proxied = |source: BoxError| -> BoxError { DialError::Proxy { proxy: proxy.clone(), source }.into() };
    match route {
        Route::Direct => Ok(MaybeHttpsStream::Http(to_proxy.tcp.call(server).await?)),
        Route::Connect { proxy: url, auth } => {
            let tunnel = Tunnel::new(url, to_proxy);
            let mut tunnel = match auth {
                Some(auth) => tunnel.with_auth(auth),
                None => tunnel,
            };
            tunnel.call(with_port(server)).await.map_err(|error| proxied(error.into()))
        }
        Route::Socks5 { proxy: url, auth } => {
            let socks = SocksV5::new(url, to_proxy.tcp);
            let mut socks = match auth {
                Some((user, password)) => socks.with_auth(user, password.expose().to_owned()),
                None => socks,
            };
            let opened = socks.call(with_port(server)).await;
            opened.map(MaybeHttpsStream::Http).map_err(|error| proxied(error.to_string().into()))
        }
    }
}

/// The URL with its port written out: a tunnel would use 443 for `http://`, too.
fn with_port(server: Uri) -> Uri {
    if server.port().is_some() {
        return server;
    }
    let port = if server.scheme_str() == Some("https") { 443 } else { 80 };
    let mut parts = server.clone().into_parts();
    parts.authority = format!("{}:{port}", server.host().unwrap_or_default()).parse().ok();
    Uri::from_parts(parts).unwrap_or(server)
}

/// Opens the stream to an HTTP proxy, in cleartext or over TLS by the scheme of its URL.
#[derive(Clone)]
struct ToProxy {
    tcp: HttpConnector,
    tls: Option<Arc<ClientConfig>>,
}

impl Service<Uri> for ToProxy {
    type Response = Stream;
    type Error = BoxError;
    type Future = Opening<Stream>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, proxy: Uri) -> Self::Future {
        if proxy.scheme_str() != Some("https") {
            let opening = self.tcp.call(proxy);
            return Box::pin(async move { Ok(MaybeHttpsStream::Http(opening.await?)) });
        }
        match &self.tls {
            // The proxy's password must not be sent in cleartext.
            None => Box::pin(std::future::ready(Err(TlsError::NoRoots.into()))),
            Some(config) => {
                let resolver = Arc::new(DefaultServerNameResolver::default());
                HttpsConnector::new(self.tcp.clone(), config.clone(), true, resolver).call(proxy)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_https_proxy_is_never_sent_cleartext() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy: Uri = format!("https://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let opened = ToProxy { tcp: tcp(), tls: None }.call(proxy).await;
        let error = opened.map(drop).expect_err("there is no TLS configuration");
        assert_eq!(error.downcast_ref::<TlsError>(), Some(&TlsError::NoRoots));
    }

    #[test]
    fn a_tunnel_gets_the_port_of_the_scheme() {
        let cases = [
            ("https", "https://api.example/x", "https://api.example:443/x"),
            ("http", "http://api.example/x", "http://api.example:80/x"),
            ("written", "https://api.example:6443/x", "https://api.example:6443/x"),
            ("IPv6", "https://[fd00::1]/", "https://[fd00::1]:443/"),
        ];
        for (case, server, expected) in cases {
            assert_eq!(with_port(server.parse().unwrap()), expected, "case: {case}");
        }
    }
}
