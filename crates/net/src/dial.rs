//! From a URL to an open, encrypted stream, and the pooled HTTP client on top of it.
//!
//! Invariants:
//! - [`dial`] opens every connection of the program, with a [`Permit`] of the egress policy that checks the URL and every
//!   address it leads to;
//! - a request is sent at most once: hyper's own retry is off;
//! - name lookup, TCP, proxy and TLS together take at most [`CONNECT_TIMEOUT`].

use std::error::Error;
use std::net::SocketAddr;
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
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tower::{BoxError, Service};

use crate::egress::{CheckedHost, EgressRefused, Permit};
use crate::failure::Causes;
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
/// Idle connections to one server. HTTP/1.1 leaves one for each list that was read at the same time; more than a few are
/// not used again soon.
const IDLE_CONNECTIONS_MAX: usize = 2;
/// The read buffer of an HTTP/1.1 connection, which keeps the size that a list made it grow to. Such a server has one
/// connection per watch, about 16 per cluster. It bounds the head of a response too, which is a few hundred bytes.
const HTTP1_BUFFER_MAX: usize = 32 << 10;
/// What a server may send of one response before it is read: 1 Gbit/s over 32 ms, 125 MB/s × 0.032 s = 4 MB.
const STREAM_WINDOW: u32 = 4 << 20;
/// The same for all responses of a connection: two lists at once. It bounds what an unread connection can hold.
const CONNECTION_WINDOW: u32 = 8 << 20;

/// How long a name behind a proxy may take to be looked up here. The proxy looks it up itself, so that a name server that
/// does not answer here must not use up the time for the connection.
const PROXIED_LOOKUP_MAX: Duration = Duration::from_secs(2);

/// A pooled client. Clones share their connections.
pub type Pooled<B> = Client<Connector, B>;

/// Who named the host of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamedBy {
    /// The user: configuration, flags, environment, kubeconfig.
    User,
    /// A cloud provider: one of its published endpoints.
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
    #[error(transparent)]
    Refused(EgressRefused),
}

/// The refusal of the egress policy behind an error, if that is why it failed.
pub fn refusal_of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e EgressRefused> {
    Causes::of(error).find_map(|cause| match cause.downcast_ref::<DialError>() {
        Some(DialError::Refused(refused)) => Some(refused),
        Some(DialError::TimedOut | DialError::Proxy { .. }) => None,
        None => cause.downcast_ref::<EgressRefused>(),
    })
}

/// Opens streams to servers, within the time limit.
#[derive(Clone)]
pub struct Connector {
    https: HttpsConnector<Dialer>,
}

impl Connector {
    /// A connector to where `permit` allows. `server_name` replaces the URL's host in the TLS handshake.
    ///
    /// # Errors
    /// A server name that is not a name, or no system roots to verify an `https://` proxy.
    pub fn new(
        config: ClientConfig,
        server_name: Option<&str>,
        routes: Routes,
        permit: Permit,
    ) -> Result<Self, TlsError> {
        let proxy_tls = if routes.use_tls_to_proxy() { Some(Arc::new(tls::proxy_config()?)) } else { None };
        let dialer = Dialer { lookup: Lookup::System(GaiResolver::new()), proxy_tls, routes: Arc::new(routes), permit };
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
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .http1_max_buf_size(HTTP1_BUFFER_MAX)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .http2_keep_alive_interval(PING_AFTER)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .retry_canceled_requests(false)
        .build(connector)
}

fn tcp(resolver: CheckedResolver) -> Tcp {
    let mut connector = HttpConnector::new_with_resolver(resolver);
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

type Tcp = HttpConnector<CheckedResolver>;
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
    lookup: Lookup,
    proxy_tls: Option<Arc<ClientConfig>>,
    routes: Arc<Routes>,
    permit: Permit,
}

impl Service<Uri> for Dialer {
    type Response = Stream;
    type Error = BoxError;
    type Future = Opening<Stream>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move {
            let opened = dialer.dial(server).await;
            // A refusal is inside the error of the lookup, which would count as a failed one.
            opened.map_err(|error| match refusal_of(error.as_ref()) {
                Some(refused) => DialError::Refused(refused.clone()).into(),
                None => error,
            })
        })
    }
}

impl Dialer {
    /// Opens one connection. Every connection of the program is opened here, after the egress policy has allowed it.
    async fn dial(self, server: Uri) -> Result<Stream, BoxError> {
        let checked = self.permit.check(&server)?;
        let route = self.routes.to(&server)?;
        let proxy = route.proxy_host().unwrap_or_default();
        tracing::debug!(host = server.host(), named_by = self.permit.named_by().as_str(), proxy, "dialing");
        let proxied = |source: BoxError| -> BoxError { DialError::Proxy { proxy: proxy.clone(), source }.into() };
        match route {
            Route::Direct => {
                let mut tcp = tcp(CheckedResolver { lookup: self.lookup, checked: Some(checked) });
                Ok(MaybeHttpsStream::Http(tcp.call(server).await?))
            }
            Route::Connect { proxy: url, auth } => {
                self.check_proxied(&server, &checked).await?;
                let tunnel = Tunnel::new(url.clone(), self.into_proxy(&url)?);
                let mut tunnel = match auth {
                    Some(auth) => tunnel.with_auth(auth),
                    None => tunnel,
                };
                tunnel.call(with_port(server)).await.map_err(|error| proxied(error.into()))
            }
            Route::Socks5 { proxy: url, auth } => {
                self.check_proxied(&server, &checked).await?;
                let socks = SocksV5::new(url.clone(), self.into_proxy(&url)?.tcp);
                let mut socks = match auth {
                    Some((user, password)) => socks.with_auth(user, password.expose().to_owned()),
                    None => socks,
                };
                let opened = socks.call(with_port(server)).await;
                opened.map(MaybeHttpsStream::Http).map_err(|error| proxied(error.to_string().into()))
            }
        }
    }

    /// Checks the addresses of a server behind a proxy. The proxy looks the name up itself; a name that only the proxy
    /// knows is left to it.
    async fn check_proxied(&self, server: &Uri, checked: &CheckedHost) -> Result<(), EgressRefused> {
        let name = server.host().filter(|_| self.permit.named_by() != NamedBy::User);
        // An address in the URL was checked with it.
        let Some(Ok(name)) = name.map(str::parse::<Name>) else { return Ok(()) };
        match tokio::time::timeout(PROXIED_LOOKUP_MAX, self.lookup.clone().addresses(name)).await {
            Ok(Ok(addresses)) => addresses.iter().try_for_each(|address| checked.check_address(address.ip())),
            Ok(Err(_)) | Err(_) => Ok(()),
        }
    }

    /// The stream to a proxy. Where a Secret named the proxy, its addresses are checked like a server's.
    fn into_proxy(self, proxy: &Uri) -> Result<ToProxy, EgressRefused> {
        let checked = self.permit.check_proxy(proxy)?;
        Ok(ToProxy { tcp: tcp(CheckedResolver { lookup: self.lookup, checked }), tls: self.proxy_tls })
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
    tcp: Tcp,
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

/// Looks names up, and checks every address before it is connected to.
#[derive(Clone)]
struct CheckedResolver {
    lookup: Lookup,
    /// None: the user named the host.
    checked: Option<CheckedHost>,
}

/// Where addresses come from.
#[derive(Clone)]
enum Lookup {
    System(GaiResolver),
    #[cfg(test)]
    Fixed(Vec<SocketAddr>),
}

impl Lookup {
    async fn addresses(self, name: Name) -> Result<Vec<SocketAddr>, BoxError> {
        match self {
            Self::System(mut resolver) => Ok(resolver.call(name).await?.collect()),
            #[cfg(test)]
            Self::Fixed(addresses) if addresses.is_empty() => Err("no such name".into()),
            #[cfg(test)]
            Self::Fixed(addresses) => Ok(addresses),
        }
    }
}

impl Service<Name> for CheckedResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Opening<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { lookup, checked } = self.clone();
        Box::pin(async move {
            let addresses = lookup.addresses(name).await?;
            if let Some(checked) = checked {
                addresses.iter().try_for_each(|address| checked.check_address(address.ip()))?;
            }
            Ok(addresses.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::{Destination, Egress, Exemption, GuestServer, HolderReach, ProxyNamedBy};

    fn unchecked() -> Tcp {
        tcp(CheckedResolver { lookup: Lookup::System(GaiResolver::new()), checked: None })
    }

    /// A dialer for a kubeconfig out of a Secret, whose every name leads to these addresses.
    fn guest_dialer(words: &[Exemption], server: &Uri, route: Route, addresses: &[SocketAddr]) -> Dialer {
        let egress = Egress::default().with_guests([("guest-lab".to_owned(), words.iter().copied().collect())]);
        let proxy = match route {
            Route::Direct => ProxyNamedBy::User,
            Route::Connect { .. } | Route::Socks5 { .. } => ProxyNamedBy::Secret,
        };
        let guest = GuestServer { cluster: "guest-lab", server, proxy, holder: HolderReach::Network };
        let permit = egress.permit(&Destination::Guest(guest)).expect("an ordinary name");
        let (lookup, routes) = (Lookup::Fixed(addresses.to_vec()), Arc::new(Routes::Fixed(route)));
        Dialer { lookup, proxy_tls: None, routes, permit }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_connected_to_only_where_that_is_allowed() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let server: Uri = format!("https://api.lab.example:{}/", here.port()).parse().unwrap();
        let mapped: SocketAddr = format!("[::ffff:127.0.0.1]:{}", here.port()).parse().unwrap();
        let ordinary: SocketAddr = "192.0.2.1:443".parse().unwrap();
        let proxy =
            || Route::Connect { proxy: format!("http://proxy.example:{}", here.port()).parse().unwrap(), auth: None };
        let cases: [(&str, &[Exemption], Route, Vec<SocketAddr>); 5] = [
            ("loopback", &[], Route::Direct, vec![here]),
            ("IPv4 in IPv6", &[], Route::Direct, vec![mapped]),
            ("beside an ordinary address", &[], Route::Direct, vec![ordinary, here]),
            ("another word", &[Exemption::LinkLocal], Route::Direct, vec![here]),
            ("a proxy out of the Secret", &[Exemption::Proxy], proxy(), vec![here]),
        ];
        for (case, words, route, addresses) in cases {
            let opened = guest_dialer(words, &server, route, &addresses).call(server.clone()).await;
            let error = opened.map(drop).expect_err(case);
            let refused = refusal_of(error.as_ref()).unwrap_or_else(|| panic!("case: {case}: {error}"));
            assert!(refused.to_string().contains("the loopback address"), "case: {case}: {refused}");
        }
        let mut allowed = guest_dialer(&[Exemption::Loopback], &server, Route::Direct, &[here]);
        let opened = tokio::join!(allowed.call(server), listener.accept());
        assert!(opened.0.is_ok() && opened.1.is_ok());
    }

    #[tokio::test]
    async fn a_name_behind_the_users_proxy_is_checked_by_the_addresses_it_has_here() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy: Uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let server: Uri = "https://api.lab.example/".parse().unwrap();
        let guest = GuestServer {
            cluster: "guest-lab",
            server: &server,
            proxy: ProxyNamedBy::User,
            holder: HolderReach::Network,
        };
        let permit = Egress::default().permit(&Destination::Guest(guest)).unwrap();
        let dialer = |route: Route, addresses: &[&str]| Dialer {
            lookup: Lookup::Fixed(addresses.iter().map(|address| address.parse().unwrap()).collect()),
            proxy_tls: None,
            routes: Arc::new(Routes::Fixed(route)),
            permit: permit.clone(),
        };
        let connect = || Route::Connect { proxy: proxy.clone(), auth: None };
        let socks = || Route::Socks5 { proxy: proxy.clone(), auth: None };
        for (case, route, addresses) in [
            ("CONNECT", connect(), ["169.254.169.254:443"].as_slice()),
            ("SOCKS", socks(), &["127.0.0.1:443"]),
            ("one of two", connect(), &["192.0.2.1:443", "[::1]:443"]),
        ] {
            let error = dialer(route, addresses).call(server.clone()).await.map(drop).expect_err(case);
            assert!(refusal_of(error.as_ref()).is_some(), "case: {case}: {error}");
        }
        // The proxy hears of an ordinary address, and of a name that is not known here.
        for addresses in [["192.0.2.1:443"].as_slice(), &[]] {
            let mut dialer = dialer(connect(), addresses);
            let opening = dialer.call(server.clone());
            let heard = async { drop(listener.accept().await.unwrap()) };
            let (opened, ()) = tokio::join!(opening, heard);
            let error = opened.map(drop).expect_err("the proxy hangs up");
            assert!(refusal_of(error.as_ref()).is_none(), "{addresses:?}: {error}");
        }
    }

    #[tokio::test]
    async fn an_https_proxy_is_never_sent_cleartext() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy: Uri = format!("https://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let opened = ToProxy { tcp: unchecked(), tls: None }.call(proxy).await;
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
