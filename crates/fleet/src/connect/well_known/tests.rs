//! A provider on this machine, behind TLS, and what is found out by asking it.

use std::sync::{Arc, Mutex};

use rcgen::KeyPair;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::connect::testing::{Authority, authority, closed_port};
use trueup_net::HostPort;

const PATH: &str = "/.well-known/openid-configuration";

/// A provider that answers each path with a status, a `Location` and a body; with nothing at all where it knows none.
struct Provider {
    port: u16,
    ca: Authority,
    asked: Arc<Mutex<Vec<String>>>,
}

type Answer = (u16, String, String);

impl Provider {
    async fn start(answers: impl Fn(&str, u16) -> Option<Answer> + Send + Sync + 'static) -> Self {
        let ca = authority("the provider's CA");
        let identity = ca.sign(&["127.0.0.1", "idp.test"], KeyPair::generate().unwrap());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(identity.key.serialize_der()));
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![identity.der], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (tls, heard, answers) = (TlsAcceptor::from(Arc::new(config)), asked.clone(), Arc::new(answers));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (tls, heard, answers) = (tls.clone(), heard.clone(), answers.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = tls.accept(stream).await else { return };
                    let head = head(&mut stream).await;
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    heard.lock().unwrap().push(head);
                    let Some((status, location, body)) = answers(&path, port) else {
                        return std::future::pending().await;
                    };
                    let head = format!("HTTP/1.1 {status} x\r\nlocation: {location}\r\nconnection: close");
                    let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { port, ca, asked }
    }

    /// Answers the document's path with this status and body, and nothing else.
    async fn answering(status: u16, body: impl Into<String>) -> Self {
        let body = body.into();
        Self::start(move |path, _| (path == PATH).then(|| (status, String::new(), body.clone()))).await
    }

    fn url(&self) -> String {
        format!("https://127.0.0.1:{}{PATH}", self.port)
    }

    async fn tried(&self, issuer: &str) -> Fetched {
        let asked = WellKnown { url: &self.url(), issuer, roots: Some(&self.ca.pem()) };
        fetch(asked, &Env::default(), &self.allowed()).await
    }

    /// A configuration that allows this provider, which is on this machine.
    fn allowed(&self) -> Egress {
        Egress::new([HostPort::parse(&format!("127.0.0.1:{}", self.port)).unwrap()])
    }
}

async fn head(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

const ISSUER: &str = "https://idp.example/realm";

fn document(issuer: &str, keys: &str) -> String {
    json!({ "issuer": issuer, "jwks_uri": keys, "token_endpoint": "canary" }).to_string()
}

fn kind(fetched: &Fetched) -> &'static str {
    match fetched {
        Fetched::Fine(_) => "fine",
        Fetched::OtherIssuer(_) => "other issuer",
        Fetched::Unreachable(_) => "unreachable",
        Fetched::NotTried(_) => "not tried",
    }
}

#[tokio::test]
async fn each_discovery_document_has_its_own_result() {
    let keys = "https://idp.example/keys";
    let large = format!("{{\"issuer\": \"{}\"}}", "x".repeat(DOCUMENT_BYTES_MAX));
    let cases = [
        ("as it should be", 200, document(ISSUER, keys), "fine", "its keys at https://idp.example/keys"),
        ("keys in the clear", 200, document(ISSUER, "http://idp.example/keys"), "fine", "nothing protects"),
        ("a slash more", 200, document("https://idp.example/realm/", keys), "other issuer", "a slash at the end"),
        ("another issuer", 200, document("https://else.example", keys), "other issuer", "https://else.example"),
        ("letters count", 200, document("https://IDP.example/realm", keys), "other issuer", "IDP"),
        ("no issuer", 200, "{}".to_owned(), "other issuer", "names no issuer"),
        ("an issuer that is not text", 200, json!({"issuer": 5}).to_string(), "other issuer", "names no issuer"),
        ("no keys", 200, json!({"issuer": ISSUER}).to_string(), "unreachable", "no jwks_uri"),
        ("keys that are no address", 200, document(ISSUER, "keys"), "unreachable", "no jwks_uri"),
        ("a web page", 200, "<html>canary".to_owned(), "unreachable", "is a web page"),
        ("a list", 200, "[]".to_owned(), "unreachable", "unexpected shape"),
        ("too much", 200, large, "unreachable", "the response is larger than 256 KiB"),
        ("not found", 404, "canary".to_owned(), "unreachable", "answered 404"),
        ("failing", 500, "canary".to_owned(), "unreachable", "answered 500"),
        ("a terminal's language", 200, document("https://\x1b[2J", keys), "other issuer", "\\u{1b}[2J"),
    ];
    for (case, status, body, expected, message) in cases {
        let provider = Provider::answering(status, body).await;
        let fetched = provider.tried(ISSUER).await;
        let said = fetched.message();
        assert_eq!(kind(&fetched), expected, "case: {case}: {said}");
        assert!(said.contains(message) && said.contains(&provider.url()), "case: {case}: {said}");
        assert!(!said.contains("canary"), "case: {case}: {said}");
    }
}

#[tokio::test]
async fn nothing_goes_along_that_could_be_a_credential() {
    let provider = Provider::answering(200, "{}").await;
    provider.tried(ISSUER).await;
    let asked = provider.asked.lock().unwrap().clone();
    let [request] = asked.as_slice() else { panic!("one request: {asked:?}") };
    let head = request.to_ascii_lowercase();
    assert!(head.starts_with("get /.well-known/openid-configuration "), "{head}");
    assert!(!["authorization", "cookie", "impersonate"].iter().any(|name| head.contains(name)), "{head}");
}

#[tokio::test]
async fn redirects_are_followed_over_tls_and_not_for_ever() {
    let chain = Provider::start(|path, port| {
        Some(match path {
            PATH => (302, "/moved".to_owned(), String::new()),
            "/moved" => (308, format!("https://127.0.0.1:{port}/here"), String::new()),
            _ => (200, String::new(), document(ISSUER, "https://idp.example/keys")),
        })
    })
    .await;
    let fetched = chain.tried(ISSUER).await;
    assert_eq!(kind(&fetched), "fine", "{fetched:?}");
    assert!(fetched.message().contains("/here"), "the address that answered is said: {fetched:?}");

    let cases = [
        ("round and round", "/again", "more than 10 times"),
        ("to plain http", "http://127.0.0.1/x", "this is not an https URL"),
        ("nowhere", "", "without saying where"),
        ("to another host without a scheme", "//evil.example/x", "without saying where"),
    ];
    for (case, location, expected) in cases {
        let provider = Provider::start(move |_, _| Some((302, location.to_owned(), String::new()))).await;
        let fetched = provider.tried(ISSUER).await;
        assert_eq!(kind(&fetched), "unreachable", "case: {case}: {fetched:?}");
        assert!(fetched.message().contains(expected), "case: {case}: {fetched:?}");
    }
}

#[tokio::test]
async fn only_the_configured_ca_vouches_for_the_server() {
    let provider = Provider::answering(200, document(ISSUER, "https://idp.example/keys")).await;
    let other = authority("somebody else");
    let cases = [
        ("another CA", Some(other.pem()), "unreachable", "not signed by a trusted authority"),
        ("no CA at all", Some("no PEM".to_owned()), "not tried", "holds no usable PEM"),
    ];
    for (case, roots, expected, message) in cases {
        let asked = WellKnown { url: &provider.url(), issuer: ISSUER, roots: roots.as_deref() };
        let fetched = fetch(asked, &Env::default(), &provider.allowed()).await;
        assert_eq!(kind(&fetched), expected, "case: {case}: {fetched:?}");
        assert!(fetched.message().contains(message), "case: {case}: {fetched:?}");
    }
    assert_eq!(provider.asked.lock().unwrap().len(), 0, "nobody was asked anything");
}

#[tokio::test]
async fn an_address_that_nobody_answers_at_is_said() {
    let closed = closed_port();
    let cases = [
        ("refused", format!("https://127.0.0.1:{}/x", closed.port), "unreachable", "connection refused"),
        ("no such name", "https://nobody.invalid/x".to_owned(), "unreachable", "cannot be resolved"),
        ("plain http", "http://127.0.0.1/x".to_owned(), "not tried", "not an https URL"),
        ("no URL", "https://a b".to_owned(), "not tried", "not a URL"),
        ("a user in it", "https://jo@127.0.0.1/x".to_owned(), "not tried", "a user as well"),
    ];
    for (case, url, expected, message) in cases {
        let ca = authority("x").pem();
        let egress = Egress::new([HostPort::parse(&format!("127.0.0.1:{}", closed.port)).unwrap()]);
        let fetched = fetch(WellKnown { url: &url, issuer: ISSUER, roots: Some(&ca) }, &Env::default(), &egress).await;
        assert_eq!(kind(&fetched), expected, "case: {case}: {fetched:?}");
        assert!(fetched.message().contains(message), "case: {case}: {fetched:?}");
    }
}

#[tokio::test]
async fn a_provider_that_says_nothing_is_given_up_after_five_seconds() {
    let provider = Provider::start(|_, _| None).await;
    let url = provider.url();
    let ca = provider.ca.pem();
    let env = Env::default();
    let egress = provider.allowed();
    let fetching = fetch(WellKnown { url: &url, issuer: ISSUER, roots: Some(&ca) }, &env, &egress);
    tokio::pin!(fetching);
    // TLS needs real time; from the request on nothing happens any more.
    loop {
        tokio::select! {
            fetched = &mut fetching => panic!("it was silent: {fetched:?}"),
            () = tokio::task::yield_now() => {}
        }
        if !provider.asked.lock().unwrap().is_empty() {
            break;
        }
    }
    tokio::time::pause();
    let fetched = fetching.await;
    assert_eq!(fetched, Fetched::Unreachable(format!("{url}: no answer within 5 s")));
}

#[tokio::test]
async fn the_proxy_of_the_environment_is_used_and_named() {
    let provider = Provider::answering(200, document(ISSUER, "https://idp.example/keys")).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (proxy, target) = (listener.local_addr().unwrap(), provider.port);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let asked = head(&mut stream).await;
        assert!(asked.starts_with("CONNECT idp.test:443 "), "{asked}");
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let mut onward = TcpStream::connect(("127.0.0.1", target)).await.unwrap();
        let _ = copy_bidirectional(&mut stream, &mut onward).await;
    });
    let url = format!("https://idp.test{PATH}");
    let ca = provider.ca.pem();
    let asked = WellKnown { url: &url, issuer: ISSUER, roots: Some(&ca) };
    let env = Env::new([("HTTPS_PROXY", format!("http://{proxy}"))]);
    let fetched = fetch(asked, &env, &Egress::default()).await;
    assert_eq!(kind(&fetched), "fine", "{fetched:?}");
    assert!(fetched.message().contains(&format!("(through the proxy {proxy})")), "{fetched:?}");
    let exempt = Env::new([("HTTPS_PROXY", format!("http://{proxy}")), ("NO_PROXY", "idp.test".to_owned())]);
    let fetched = fetch(asked, &exempt, &Egress::default()).await;
    assert!(!fetched.message().contains("proxy"), "NO_PROXY counts: {fetched:?}");
}

#[tokio::test]
async fn a_document_is_not_fetched_from_this_machine_or_a_metadata_server() {
    let provider = Provider::answering(200, document(ISSUER, "https://idp.example/keys")).await;
    let ca = provider.ca.pem();
    let cases = [
        ("loopback", provider.url(), "loopback address 127.0.0.1"),
        ("metadata", "https://169.254.169.254/x".to_owned(), "metadata (link-local) address 169.254.169.254"),
        ("link-local", "https://[fe80::1]/x".to_owned(), "link-local address [fe80::1]"),
    ];
    for (case, url, expected) in cases {
        let asked = WellKnown { url: &url, issuer: ISSUER, roots: Some(&ca) };
        let fetched = fetch(asked, &Env::default(), &Egress::default()).await;
        assert_eq!(kind(&fetched), "not tried", "case: {case}: {fetched:?}");
        assert!(fetched.message().contains(expected), "case: {case}: {fetched:?}");
    }
    assert_eq!(provider.asked.lock().unwrap().len(), 0, "nothing was sent");
    // A redirect is a URL of a stranger, too.
    let onward = provider.url();
    let redirecting = Provider::start(move |_, _| Some((302, onward.clone(), String::new()))).await;
    let fetched = redirecting.tried(ISSUER).await;
    assert_eq!(kind(&fetched), "not tried", "{fetched:?}");
    assert_eq!(provider.asked.lock().unwrap().len(), 0, "nothing was sent");
}
