//! Servers and proxies for the tests: each listens on a port of this machine and notes what it was asked.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::connect::testing::{Authority, Signed};

/// An HTTP server that answers with what it saw.
pub(super) struct ApiServer {
    port: u16,
    scheme: &'static str,
    connections: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

/// What the TLS layer saw of a connection.
#[derive(Clone, Default)]
struct Seen {
    sni: String,
    client_certificates: usize,
}

impl ApiServer {
    /// Serves HTTPS, offering these protocols, and asks for client certificates of `people` when there are any.
    pub(super) async fn start(identity: Signed, protocols: &[&str], people: Option<&Authority>) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match people {
            None => builder.with_no_client_auth(),
            Some(people) => {
                let mut roots = rustls::RootCertStore::empty();
                roots.add(people.der().to_vec().into()).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
                builder.with_client_cert_verifier(verifier)
            }
        };
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(identity.key.serialize_der()));
        let mut config = builder.with_single_cert(vec![identity.der], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self::listen("https", Some(TlsAcceptor::from(Arc::new(config)))).await
    }

    pub(super) async fn start_cleartext() -> Self {
        Self::listen("http", None).await
    }

    pub(super) fn url(&self, host: &str) -> String {
        format!("{}://{host}:{}", self.scheme, self.port)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Connections that neither side has closed.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    async fn listen(scheme: &'static str, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let [connections, open, requests]: [Arc<AtomicUsize>; 3] = Default::default();
        let server =
            Self { port, scheme, connections: connections.clone(), open: open.clone(), requests: requests.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                open.fetch_add(1, Ordering::SeqCst);
                let (open, greeting) = (open.clone(), greet(stream, tls.clone(), requests.clone()));
                tokio::spawn(async move {
                    greeting.await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        server
    }
}

async fn greet(stream: TcpStream, tls: Option<TlsAcceptor>, requests: Arc<AtomicUsize>) {
    let Some(tls) = tls else {
        return serve(stream, Seen::default(), requests).await;
    };
    let Ok(stream) = tls.accept(stream).await else {
        return;
    };
    let (_, session) = stream.get_ref();
    let seen = Seen {
        sni: session.server_name().unwrap_or_default().to_owned(),
        client_certificates: session.peer_certificates().map_or(0, <[_]>::len),
    };
    serve(stream, seen, requests).await;
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, seen: Seen, requests: Arc<AtomicUsize>) {
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        requests.fetch_add(1, Ordering::SeqCst);
        let answer = answer(&request, &seen);
        async move { answer.ok_or("hung up") }
    });
    let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

/// `/status/N` is answered with N, `/hang-up` with a closed connection, `/quiet` with nothing, and anything else with
/// what was seen.
fn answer(request: &Request<Incoming>, seen: &Seen) -> Option<Response<Full<Bytes>>> {
    let path = request.uri().path();
    if path == "/hang-up" {
        return None;
    }
    if path == "/quiet" {
        return Some(Response::new(Full::default()));
    }
    let status: u16 = path.strip_prefix("/status/").map_or(200, |code| code.parse().unwrap());
    let headers: serde_json::Map<_, _> =
        request.headers().iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().into())).collect();
    let body = json!({
        "version": format!("{:?}", request.version()),
        "path": request.uri().path_and_query().unwrap().as_str(),
        "headers": headers,
        "sni": seen.sni,
        "client_certificates": seen.client_certificates,
    });
    Some(Response::builder().status(status).body(Full::new(Bytes::from(body.to_string()))).unwrap())
}

/// A proxy that leads every request to one port of this machine.
pub(super) struct Proxy {
    port: u16,
    notes: Arc<Mutex<Notes>>,
}

#[derive(Default)]
struct Notes {
    asked_for: Vec<String>,
    authorized_with: Option<String>,
}

impl Proxy {
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn asked_for(&self) -> Vec<String> {
        self.notes.lock().unwrap().asked_for.clone()
    }

    /// What stood behind `Basic` in the last `Proxy-Authorization` header.
    pub(super) fn authorized_with(&self) -> Option<String> {
        self.notes.lock().unwrap().authorized_with.clone()
    }
}

/// An HTTP proxy that gives this answer to every CONNECT, and the way if the answer is 200.
pub(super) async fn connect_proxy(target: u16, answer: &'static str) -> Proxy {
    let (listener, proxy) = proxy().await;
    let notes = proxy.notes.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let head = read_head(&mut stream).await;
            let mut lines = head.lines();
            let asked = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
            let login = lines.find_map(|line| line.strip_prefix("Proxy-Authorization: Basic "));
            {
                let mut notes = notes.lock().unwrap();
                notes.asked_for.push(asked);
                notes.authorized_with = login.map(str::to_owned);
            }
            stream.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes()).await.unwrap();
            if answer.starts_with("200") {
                tokio::spawn(lead(stream, target));
            }
        }
    });
    proxy
}

/// A SOCKS5 proxy (RFC 1928) that knows names only.
pub(super) async fn socks5_proxy(target: u16) -> Proxy {
    let (listener, proxy) = proxy().await;
    let notes = proxy.notes.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut greeting = [0; 3];
            stream.read_exact(&mut greeting).await.unwrap();
            stream.write_all(&[5, 0]).await.unwrap();
            let mut request = [0; 5];
            stream.read_exact(&mut request).await.unwrap();
            assert_eq!(request[..4], [5, 1, 0, 3], "CONNECT to a name");
            let mut name = vec![0; usize::from(request[4]) + 2];
            stream.read_exact(&mut name).await.unwrap();
            let (name, port) = name.split_at(name.len() - 2);
            let port = u16::from_be_bytes([port[0], port[1]]);
            notes.lock().unwrap().asked_for.push(format!("{}:{port}", String::from_utf8_lossy(name)));
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            tokio::spawn(lead(stream, target));
        }
    });
    proxy
}

async fn proxy() -> (TcpListener, Proxy) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, Proxy { port, notes: Arc::default() })
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

async fn lead(mut stream: TcpStream, target: u16) {
    let mut onward = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
    let _ = copy_bidirectional(&mut stream, &mut onward).await;
}

/// Passes bytes on until it is set to drop them, like a broken network.
pub(super) struct Relay {
    port: u16,
    swallows: Arc<AtomicBool>,
}

impl Relay {
    pub(super) async fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let swallows = Arc::new(AtomicBool::new(false));
        let relay = Self { port, swallows: swallows.clone() };
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
                let (near_read, near_write) = near.into_split();
                let (far_read, far_write) = far.into_split();
                tokio::spawn(pass(near_read, far_write, swallows.clone()));
                tokio::spawn(pass(far_read, near_write, swallows.clone()));
            }
        });
        relay
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn swallow_everything(&self) {
        self.swallows.store(true, Ordering::SeqCst);
    }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, swallows: Arc<AtomicBool>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if !swallows.load(Ordering::SeqCst) && to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
