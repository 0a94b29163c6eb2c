//! The stack against servers and proxies on this machine.

mod servers;

use std::path::Path;

use http::StatusCode;

use self::servers::{ApiServer, Relay, connect_proxy, socks5_proxy};
use super::*;
use crate::connect::send::{self, TransportError};
use crate::connect::testing::{Authority, authority, closed_port, still};
use crate::connect::{PluginPolicy, classify};
use trueup_core::world::{Gap, GapCause};
use trueup_net::SecretText;

const CANARY: &str = "canary-77d0c1";

fn inline(text: &str) -> PemSource {
    PemSource::Inline(SecretText::new(text.to_owned()))
}

fn access(server: &str, roots: &Authority) -> Access {
    Access {
        context: "x".to_owned(),
        place: "the text".to_owned(),
        server: server.parse().unwrap(),
        namespace: "default".to_owned(),
        verification: Verification::Full { roots: Some(inline(&roots.pem())), server_name: None },
        proxy: None,
        certificate: None,
        bearer: Bearer::None,
        impersonation: Impersonation::default(),
        trust: Trust::UsersOwn,
    }
}

async fn opened(access: &Access) -> Connection {
    let env = Env::default();
    let login = Arc::new(Login::new(&access.bearer, &env, &PluginPolicy::Any, still()));
    open(access, &login, &Impersonation::default(), &env, None).await.expect("it can be prepared")
}

async fn get(connection: &Connection, path: &str) -> Result<serde_json::Value, TransportError> {
    let (status, body) = send::get_bytes(&connection.client, path, send::JSON).await?;
    assert_eq!(status, StatusCode::OK);
    Ok(serde_json::from_slice(&body).unwrap())
}

async fn gap(connection: &Connection) -> Gap {
    let error = get(connection, "/version").await.expect_err("it should fail");
    assert!(!format!("{error:?}").contains(CANARY));
    classify::transport(&error, "asking")
}

#[tokio::test]
async fn requests_share_one_http2_connection_and_carry_the_headers() {
    let roots = authority("roots");
    let server =
        ApiServer::start(roots.sign(&["127.0.0.1"], rcgen::KeyPair::generate().unwrap()), &["h2", "http/1.1"], None)
            .await;
    let mut access = access(&format!("{}/prefix", server.url("127.0.0.1")), &roots);
    access.bearer = Bearer::Token(SecretText::new(CANARY.to_owned()));
    access.impersonation.user = Some("someone".to_owned());
    let connection = opened(&access).await;
    for _ in 0..3 {
        let seen = get(&connection, "/api?limit=5").await.unwrap();
        assert_eq!(seen["version"], "HTTP/2.0");
        assert_eq!(seen["path"], "/prefix/api?limit=5");
        assert_eq!(seen["headers"]["authorization"], format!("Bearer {CANARY}"));
        assert_eq!(seen["headers"]["impersonate-user"], "someone");
        assert_eq!(seen["headers"]["user-agent"], concat!("trueup/", env!("CARGO_PKG_VERSION")));
    }
    assert_eq!(server.connections(), 1);
    assert_eq!(connection.tls, TlsTrust::Verified);
    assert!(!format!("{connection:?} {access:?}").contains(CANARY));
}

#[tokio::test]
async fn a_server_without_http2_is_spoken_to_in_http1() {
    let roots = authority("roots");
    let server =
        ApiServer::start(roots.sign(&["127.0.0.1"], rcgen::KeyPair::generate().unwrap()), &["http/1.1"], None).await;
    let connection = opened(&access(&server.url("127.0.0.1"), &roots)).await;
    assert_eq!(get(&connection, "/api").await.unwrap()["version"], "HTTP/1.1");
}

#[tokio::test]
async fn cleartext_servers_work_and_are_marked() {
    let server = ApiServer::start_cleartext().await;
    let connection = opened(&access(&server.url("127.0.0.1"), &authority("roots"))).await;
    assert_eq!(get(&connection, "/api").await.unwrap()["version"], "HTTP/1.1");
    assert_eq!(connection.tls, TlsTrust::Loopback);
    let skew = connection.clock.skew().expect("hyper's server sends a Date");
    assert!(skew.is_excessive(), "the clock of the test stands still: {skew}");
}

#[tokio::test]
async fn only_a_server_with_the_right_name_and_authority_is_believed() {
    let (roots, others) = (authority("roots"), authority("others"));
    let server = ApiServer::start(roots.sign(&["api.inner"], rcgen::KeyPair::generate().unwrap()), &["h2"], None).await;
    let url = server.url("127.0.0.1");

    let stranger = gap(&opened(&access(&url, &others)).await).await;
    assert_eq!(&*stranger.message, "asking: the server's certificate is not signed by a trusted authority");
    let misnamed = gap(&opened(&access(&url, &roots)).await).await;
    assert!(misnamed.message.contains("is for another name"), "{}", misnamed.message);
    assert_eq!((stranger.cause, misnamed.cause), (GapCause::Unreachable, GapCause::Unreachable));

    let mut named = access(&url, &roots);
    named.verification =
        Verification::Full { roots: Some(inline(&roots.pem())), server_name: Some("api.inner".to_owned()) };
    assert_eq!(get(&opened(&named).await, "/api").await.unwrap()["sni"], "api.inner");

    let mut unverified = access(&url, &others);
    unverified.verification = Verification::Skipped { server_name: None };
    let connection = opened(&unverified).await;
    assert_eq!(connection.tls, TlsTrust::Unverified);
    assert!(get(&connection, "/api").await.is_ok());
}

#[tokio::test]
async fn client_certificates_of_every_kind_are_shown() {
    let (roots, people) = (authority("roots"), authority("people"));
    let server =
        ApiServer::start(roots.sign(&["127.0.0.1"], rcgen::KeyPair::generate().unwrap()), &["h2"], Some(&people)).await;
    for (case, algorithm) in [
        ("EC", &rcgen::PKCS_ECDSA_P256_SHA256),
        ("P-384", &rcgen::PKCS_ECDSA_P384_SHA384),
        ("Ed25519", &rcgen::PKCS_ED25519),
    ] {
        let me = people.sign(&["me"], rcgen::KeyPair::generate_for(algorithm).unwrap());
        let mut access = access(&server.url("127.0.0.1"), &roots);
        access.certificate = Some(ClientCertificate { chain: inline(&me.chain), key: inline(&me.key.serialize_pem()) });
        assert_eq!(get(&opened(&access).await, "/api").await.unwrap()["client_certificates"], 1, "case: {case}");
    }
    let nobody = gap(&opened(&access(&server.url("127.0.0.1"), &roots)).await).await;
    assert_eq!(nobody.cause, GapCause::Unauthorized, "{}", nobody.message);
}

#[tokio::test]
async fn keys_are_read_in_every_common_form() {
    let file =
        |name: &str| PemSource::File(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../net/src/fixtures")).join(name));
    let cases = [
        ("RSA, PKCS#1", "rsa.crt", "rsa.pkcs1.key", Ok(())),
        ("RSA, PKCS#8", "rsa.crt", "rsa.pkcs8.key", Ok(())),
        ("EC, SEC1", "ec.crt", "ec.sec1.key", Ok(())),
        ("EC, PKCS#8", "ec.crt", "ec.pkcs8.key", Ok(())),
        ("Ed25519", "ed25519.crt", "ed25519.key", Ok(())),
        ("encrypted", "ec.crt", "ec.encrypted.key", Err("is encrypted")),
        ("of another certificate", "ec.crt", "rsa.pkcs8.key", Err("do not fit together")),
        ("not a key", "ec.crt", "ec.crt", Err("-----BEGIN PRIVATE KEY-----")),
        ("not a certificate", "ec.sec1.key", "ec.sec1.key", Err("-----BEGIN CERTIFICATE-----")),
        ("missing", "none.crt", "ec.sec1.key", Err("cannot be read (entity not found)")),
    ];
    let verification = Verification::Full { roots: Some(file("ec.crt")), server_name: None };
    for (case, chain, key, expected) in cases {
        let certificate = ClientCertificate { chain: file(chain), key: file(key) };
        let actual = client_config(&verification, Some(&certificate), read_pem).await.map(|_| ());
        match (actual, expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "case: {case}: {error}"),
            (actual, expected) => panic!("case: {case}: {actual:?} instead of {expected:?}"),
        }
    }
}

#[tokio::test]
async fn proxies_are_asked_for_the_servers_name() {
    let roots = authority("roots");
    let server = ApiServer::start(roots.sign(&["api.inner"], rcgen::KeyPair::generate().unwrap()), &["h2"], None).await;
    let (http, socks) = (connect_proxy(server.port(), "200 OK").await, socks5_proxy(server.port()).await);
    let url = format!("https://api.inner:{}", server.port());
    let cases = [
        ("CONNECT", format!("http://me:{CANARY}@127.0.0.1:{}", http.port()), &http),
        ("SOCKS5", format!("socks5://127.0.0.1:{}", socks.port()), &socks),
    ];
    for (case, proxy_url, proxy) in cases {
        let mut access = access(&url, &roots);
        access.proxy = Some(SecretText::new(proxy_url));
        let connection = opened(&access).await;
        assert_eq!(get(&connection, "/api").await.unwrap()["version"], "HTTP/2.0", "case: {case}");
        assert_eq!(proxy.asked_for(), [format!("api.inner:{}", server.port())], "case: {case}");
        assert_eq!(connection.proxy, Some(format!("127.0.0.1:{}", proxy.port())), "case: {case}");
        assert!(!format!("{connection:?} {access:?}").contains(CANARY), "case: {case}");
    }
    let credentials = "me:canary-77d0c1";
    assert_eq!(
        http.authorized_with(),
        Some(base64::Engine::encode(&base64::engine::general_purpose::STANDARD, credentials))
    );
}

#[tokio::test]
async fn a_proxy_that_says_no_is_named() {
    let proxy = connect_proxy(1, "403 Forbidden").await;
    let mut access = access("https://api.inner:6443", &authority("roots"));
    access.proxy = Some(SecretText::new(format!("http://me:{CANARY}@127.0.0.1:{}", proxy.port())));
    let gap = gap(&opened(&access).await).await;
    assert_eq!(&*gap.message, format!("asking: the proxy 127.0.0.1:{} refused the connection", proxy.port()));
}

#[tokio::test]
async fn what_is_wrong_with_a_server_is_said() {
    let roots = authority("roots");
    let closed = closed_port();
    let plain = ApiServer::start_cleartext().await;
    let cases = [
        ("closed", format!("https://127.0.0.1:{}", closed.port), "connection refused"),
        ("no TLS", format!("https://127.0.0.1:{}", plain.port()), "does not speak TLS"),
    ];
    for (case, url, expected) in cases {
        let gap = gap(&opened(&access(&url, &roots)).await).await;
        assert!(gap.message.contains(expected), "case: {case}: {}", gap.message);
        assert_eq!(gap.cause, GapCause::Unreachable, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_the_handshake_is_given_up() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let gap = gap(&opened(&access(&url, &authority("roots"))).await).await;
    assert_eq!(&*gap.message, "asking: no connection within 10 s");
}

#[tokio::test]
async fn a_peer_that_goes_silent_is_noticed_by_ping() {
    let roots = authority("roots");
    let server = ApiServer::start(roots.sign(&["127.0.0.1"], rcgen::KeyPair::generate().unwrap()), &["h2"], None).await;
    let relay = Relay::to(server.port()).await;
    let connection = opened(&access(&format!("https://127.0.0.1:{}", relay.port()), &roots)).await;
    assert!(get(&connection, "/api").await.is_ok());
    relay.swallow_everything();
    tokio::time::pause();
    let before = tokio::time::Instant::now();
    let gap = gap(&connection).await;
    assert_eq!(gap.cause, GapCause::Unreachable);
    assert!(before.elapsed() < send::ANSWER_TIMEOUT, "pings noticed it, not the limit of the answer: {}", gap.message);
}

#[tokio::test]
async fn a_refused_request_is_sent_once() {
    let server = ApiServer::start_cleartext().await;
    let mut access = access(&server.url("127.0.0.1"), &authority("roots"));
    access.bearer = Bearer::Token(SecretText::new(CANARY.to_owned()));
    let connection = opened(&access).await;
    let (status, _) = send::get_bytes(&connection.client, "/status/401", send::JSON).await.unwrap();
    assert_eq!((status, server.requests()), (StatusCode::UNAUTHORIZED, 1));
    let (status, _) = send::get_bytes(&connection.client, "/status/503", send::JSON).await.unwrap();
    assert_eq!((status, server.requests()), (StatusCode::SERVICE_UNAVAILABLE, 2));
    assert!(send::get_bytes(&connection.client, "/hang-up", send::JSON).await.is_err());
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn after_a_refusal_the_next_request_brings_a_fresh_token() {
    let server = ApiServer::start_cleartext().await;
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    let mut access = access(&server.url("127.0.0.1"), &authority("roots"));
    access.bearer = Bearer::TokenFile(token.clone());
    let connection = opened(&access).await;
    let mut sent = Vec::new();
    for (written, path) in [("one", "/api"), ("two", "/status/401"), ("two", "/api")] {
        std::fs::write(&token, written).unwrap();
        let (_, body) = send::get_bytes(&connection.client, path, send::JSON).await.unwrap();
        let seen: serde_json::Value = serde_json::from_slice(&body).unwrap();
        sent.push(seen["headers"]["authorization"].as_str().unwrap().to_owned());
    }
    assert_eq!(sent, ["Bearer one", "Bearer one", "Bearer two"]);
}

#[tokio::test]
async fn a_login_that_fails_ends_the_request_as_unauthorized() {
    let server = ApiServer::start_cleartext().await;
    let mut access = access(&server.url("127.0.0.1"), &authority("roots"));
    access.bearer = Bearer::TokenFile("/nowhere/token".into());
    let gap = gap(&opened(&access).await).await;
    assert_eq!(gap.cause, GapCause::Unauthorized);
    assert_eq!(&*gap.message, "asking: the token file /nowhere/token cannot be read (entity not found)");
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn requests_that_start_together_dial_once() {
    let roots = authority("roots");
    let identity = roots.sign(&["127.0.0.1"], rcgen::KeyPair::generate().unwrap());
    let server = ApiServer::start(identity, &["h2", "http/1.1"], None).await;
    let connection = opened(&access(&server.url("127.0.0.1"), &roots)).await;
    let answers = futures::future::join_all((0..10).map(|_| get(&connection, "/api"))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn idle_connections_are_closed_on_request_and_the_next_request_dials_again() {
    let roots = authority("roots");
    for protocols in [&["h2", "http/1.1"][..], &["http/1.1"]] {
        let identity = roots.sign(&["127.0.0.1"], rcgen::KeyPair::generate().unwrap());
        let server = ApiServer::start(identity, protocols, None).await;
        let connection = opened(&access(&server.url("127.0.0.1"), &roots)).await;
        get(&connection, "/api").await.unwrap();
        let dialed = server.connections();
        get(&connection, "/api").await.unwrap();
        assert_eq!((server.connections(), server.open()), (dialed, dialed), "{protocols:?}: kept for the next request");
        // A response whose body is not read yet is no idle connection.
        let unread = send::stream(&connection.client, "/api", send::JSON).await.unwrap();
        connection.idle.close();
        assert!(!send::collect(unread.into_body(), send::BODY_MAX).await.unwrap().is_empty(), "{protocols:?}");
        while server.open() > 0 {
            tokio::task::yield_now().await;
        }
        let together = futures::future::join_all((0..10).map(|_| get(&connection, "/api"))).await;
        assert!(together.iter().all(Result::is_ok), "{protocols:?}");
        assert!(server.connections() > dialed, "{protocols:?}: dialed again");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_start_together_fail_together() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let connection = opened(&access(&url, &authority("roots"))).await;
    let before = tokio::time::Instant::now();
    let answers = futures::future::join_all((0..10).map(|_| get(&connection, "/api"))).await;
    assert!(answers.iter().all(Result::is_err));
    assert!(before.elapsed() <= 2 * trueup_net::CONNECT_TIMEOUT, "{:?}", before.elapsed());
}

#[tokio::test]
async fn nothing_secret_is_logged() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let listening = tracing::subscriber::set_default(subscriber);
    let roots = authority("roots");
    for protocol in ["h2", "http/1.1"] {
        let identity = roots.sign(&["127.0.0.1"], rcgen::KeyPair::generate().unwrap());
        let server = ApiServer::start(identity, &[protocol], None).await;
        let proxy = connect_proxy(server.port(), "200 OK").await;
        let mut access = access(&server.url("127.0.0.1"), &roots);
        access.bearer = Bearer::Token(SecretText::new(CANARY.to_owned()));
        access.proxy = Some(SecretText::new(format!("http://me:{CANARY}@127.0.0.1:{}", proxy.port())));
        // A quiet path: the server of this test answers with the headers it saw.
        let (status, _) = send::get_bytes(&opened(&access).await.client, "/quiet", send::JSON).await.unwrap();
        assert_eq!(status, StatusCode::OK);
    }
    drop(listening);
    let logged = log.text();
    let packed = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("me:{CANARY}"));
    assert!(logged.contains("connect"), "the log is listened to");
    assert!(!logged.contains(CANARY) && !logged.contains(&packed), "{logged}");
}

/// A log kept in memory.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl tracing_subscriber::fmt::MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn how_a_cluster_is_reached_decides_about_the_kubeconfigs_in_its_secrets() {
    let roots = authority("roots");
    let proxied =
        |url: &str| Access { proxy: Some(SecretText::new("http://proxy.example:3128")), ..access(url, &roots) };
    let cases = [
        ("kind", access("https://127.0.0.1:6443", &roots), HolderReach::Loopback),
        ("k3d", access("https://0.0.0.0:6550", &roots), HolderReach::Loopback),
        ("by name", access("https://localhost:6443", &roots), HolderReach::Loopback),
        ("the served demo", access("http://127.0.0.1:8080", &roots), HolderReach::LoopbackCleartext),
        ("a network", access("https://10.0.0.1:6443", &roots), HolderReach::Network),
        ("a proxy's loopback", proxied("https://127.0.0.1:6443"), HolderReach::Network),
    ];
    for (case, access, expected) in cases {
        assert_eq!(opened(&access).await.holder_reach(), expected, "case: {case}");
    }
}

#[tokio::test]
async fn a_kubeconfig_out_of_a_secret_without_an_origin_gets_the_strictest_policy() {
    let roots = authority("roots");
    let access = Access { trust: Trust::FromSecret, ..access("https://127.0.0.1:6443", &roots) };
    let env = Env::default();
    let login = Arc::new(Login::new(&access.bearer, &env, &PluginPolicy::Any, still()));
    let opened = open(&access, &login, &Impersonation::default(), &env, None).await;
    assert!(matches!(opened, Err(OpenError::Egress(_))));
}
