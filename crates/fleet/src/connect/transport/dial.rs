//! From a URL to an open, encrypted stream, and the pooled HTTP client on top of it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

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

use super::proxy::Route;
use super::{TlsError, Verification, tls};

/// How long name lookup, TCP, proxy and TLS may take together. A healthy path needs under a second, a bad one over a
/// satellite two or three; what takes longer is a firewall that drops packets.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// When nothing has come for this long, the server is asked for a sign of life (client-go's number). A watch that is
/// silent for good reasons and one whose peer is gone look the same otherwise.
const PING_AFTER: Duration = Duration::from_secs(30);

/// How long the sign of life may take (client-go's number). So a dead peer is noticed after 45 s.
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// The pooled client of one cluster.
pub(super) type Http = Client<Connector, kube::client::Body>;

/// Why no stream could be opened.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    #[error("no connection within {} s", CONNECT_TIMEOUT.as_secs())]
    TimedOut,
    #[error("the proxy {proxy} did not open the way")]
    Proxy { proxy: String, source: BoxError },
}

/// Builds the pooled client of one cluster.
///
/// # Errors
/// A `tls-server-name` that is no name, or no roots to know an `https://` proxy by.
pub(super) fn client(config: ClientConfig, verification: &Verification, route: Route) -> Result<Http, TlsError> {
    let path = match &route {
        Route::Direct => Path::Direct(tcp()),
        Route::Connect { proxy, auth } => {
            let proxy_tls = if proxy.scheme_str() == Some("https") { Some(tls::proxy_config()?) } else { None };
            let inner = ToProxy { tcp: tcp(), tls: proxy_tls.map(Arc::new) };
            let tunnel = Tunnel::new(proxy.clone(), inner);
            Path::Connect(auth.clone().map_or(tunnel.clone(), |auth| tunnel.with_auth(auth)))
        }
        Route::Socks5 { proxy, auth } => {
            let socks = SocksV5::new(proxy.clone(), tcp());
            Path::Socks5(match auth {
                Some((user, password)) => socks.with_auth(user.clone(), password.expose().to_owned()),
                None => socks,
            })
        }
    };
    let dialer = Dialer { path, proxy: route.host() };
    let connector = Connector { https: HttpsConnector::new(dialer, config, false, resolver(verification)?) };
    Ok(Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .retry_canceled_requests(false)
        .build(connector))
}

fn tcp() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    // For HTTP/1.1, where there are no pings: the kernel notices a dead peer.
    connector.set_keepalive(Some(PING_AFTER));
    connector.set_keepalive_interval(Some(PING_TIMEOUT));
    connector
}

fn resolver(verification: &Verification) -> Result<Arc<dyn ResolveServerName + Send + Sync>, TlsError> {
    let (Verification::Full { server_name, .. } | Verification::Skipped { server_name }) = verification;
    match server_name {
        None => Ok(Arc::new(DefaultServerNameResolver::default())),
        Some(name) => {
            let parsed = ServerName::try_from(name.clone());
            let parsed = parsed.map_err(|_| TlsError::BadServerName { name: name.clone() })?;
            Ok(Arc::new(FixedServerNameResolver::new(parsed)))
        }
    }
}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;
type Opening<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// Opens streams to the API server, within the time limit.
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

/// Opens the bytes' way to the server, below its TLS.
#[derive(Clone)]
struct Dialer {
    path: Path,
    proxy: Option<String>,
}

#[derive(Clone)]
enum Path {
    Direct(HttpConnector),
    Connect(Tunnel<ToProxy>),
    Socks5(SocksV5<HttpConnector>),
}

impl Service<Uri> for Dialer {
    type Response = Stream;
    type Error = BoxError;
    type Future = Opening<Stream>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.path {
            Path::Direct(tcp) => tcp.poll_ready(context).map_err(Into::into),
            Path::Connect(tunnel) => tunnel.poll_ready(context).map_err(Into::into),
            Path::Socks5(socks) => socks.poll_ready(context).map_err(Into::into),
        }
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let proxy = self.proxy.clone().unwrap_or_default();
        let proxied = |source: BoxError| -> BoxError { DialError::Proxy { proxy, source }.into() };
        match &mut self.path {
            Path::Direct(tcp) => {
                let opening = tcp.call(server);
                Box::pin(async move { Ok(MaybeHttpsStream::Http(opening.await?)) })
            }
            Path::Connect(tunnel) => {
                let opening = tunnel.call(with_port(server));
                Box::pin(async move { opening.await.map_err(|error| proxied(error.into())) })
            }
            Path::Socks5(socks) => {
                let opening = socks.call(with_port(server));
                Box::pin(async move {
                    opening.await.map(MaybeHttpsStream::Http).map_err(|error| proxied(error.to_string().into()))
                })
            }
        }
    }
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

/// Opens the stream to an HTTP proxy, in the clear or over TLS.
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
        match &self.tls {
            None => {
                let opening = self.tcp.call(proxy);
                Box::pin(async move { Ok(MaybeHttpsStream::Http(opening.await?)) })
            }
            Some(config) => {
                let resolver = Arc::new(DefaultServerNameResolver::default());
                HttpsConnector::new(self.tcp.clone(), config.clone(), true, resolver).call(proxy)
            }
        }
    }
}
