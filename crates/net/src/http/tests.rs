use std::convert::Infallible;

use http_body_util::StreamBody;

use super::*;
use crate::egress::{Destination, Egress};
use crate::roots::BadRoots;

fn client(service_body: &'static str) -> HttpClient {
    HttpClient::in_process(tower::service_fn(move |request: Request<Full<Bytes>>| async move {
        let sent = request.into_body().collect().await.unwrap().to_bytes();
        let text = format!("{} {service_body}", String::from_utf8_lossy(&sent));
        Ok::<_, Infallible>(Response::builder().status(403).body(Full::new(Bytes::from(text))).unwrap())
    }))
}

fn asked() -> Request<Bytes> {
    Request::post("https://example.com/").body(Bytes::from_static(b"ping")).unwrap()
}

#[tokio::test]
async fn any_status_is_an_answer() {
    let answer = client("pong").send(asked()).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (StatusCode::FORBIDDEN, &b"ping pong"[..]));
}

#[tokio::test]
async fn an_answer_is_read_up_to_its_limit_and_not_past_it() {
    for (case, body_max, fits) in [("exactly", 9, true), ("one too many", 8, false)] {
        let client = HttpClient { body_max, ..client("pong") };
        let read = client.send(asked()).await.map(|answer| answer.body.len());
        let expected = if fits { Ok(9) } else { Err(HttpError::TooLarge { bytes_max: 8 }) };
        assert_eq!(read, expected, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_ends_at_the_time_limit() {
    let slow = HttpClient::in_process(tower::service_fn(|_: Request<Full<Bytes>>| async {
        let body = StreamBody::new(futures::stream::pending::<Result<http_body::Frame<Bytes>, Infallible>>());
        Ok::<_, Infallible>(Response::new(body))
    }));
    assert_eq!(slow.send(asked()).await.unwrap_err(), HttpError::TimedOut { after: ANSWER_TIMEOUT });
}

#[tokio::test]
async fn a_failed_connection_is_reported_by_its_cause() {
    let held = tokio::net::TcpSocket::new_v4().unwrap();
    held.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = held.local_addr().unwrap();
    let client = HttpClient::new(HttpSettings::new(Egress::user_named())).unwrap();
    let answer = client.send(Request::get(format!("http://{address}/")).body(Bytes::new()).unwrap()).await;
    assert_eq!(answer.unwrap_err(), HttpError::NotReached(NotReached::Refused));
}

#[tokio::test]
async fn a_document_of_a_cluster_is_not_fetched_from_this_machine() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let permit = Egress::default().permit(&Destination::Document).unwrap();
    let client = HttpClient::new(HttpSettings::new(permit)).unwrap();
    let answer = client.send(Request::get(format!("https://{address}/")).body(Bytes::new()).unwrap()).await;
    let expected = format!(
        "{address} is named by the cluster and leads to the loopback address 127.0.0.1; to allow it, set [egress] allow = \
         [\"{address}\"]"
    );
    assert_eq!(answer.unwrap_err().to_string(), expected);
}

#[test]
fn a_bundle_is_read_whole_or_refused() {
    let made = rcgen::generate_simple_self_signed(vec!["ca.example".to_owned()]).unwrap();
    let good = made.cert.pem();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let cases = [
        ("one", good.clone(), Ok(Some(1))),
        ("two, with text between", format!("# ours\n{good}\nand\n{good}"), Ok(Some(2))),
        ("empty", " \n".to_owned(), Ok(None)),
        ("no PEM", "hello".to_owned(), Err(BadRoots::NoPem)),
        ("the second is none", format!("{good}{broken}"), Err(BadRoots::BadCertificate { number: 2 })),
        ("cut off", good[..good.len() / 2].to_owned(), Err(BadRoots::BadCertificate { number: 1 })),
    ];
    for (case, text, expected) in cases {
        let actual = Roots::parse(&text).map(|roots| roots.map(|roots| roots.certificates().count()));
        assert_eq!(actual, expected, "case: {case}");
    }
}

#[test]
fn an_unusable_proxy_is_an_error_and_never_a_direct_connection() {
    let cases = [
        ("none", "", true),
        ("http", "http://proxy:3128", true),
        ("bare host and port", "proxy:3128", true),
        ("with a password", "http://user:canary@proxy:1", true),
        ("socks5", "socks5://proxy:1080", true),
        ("ftp", "ftp://proxy", false),
        ("TLS to the proxy", "https://proxy", true),
        ("nonsense", "::: no", false),
    ];
    for (case, value, usable) in cases {
        let proxies = Proxies::of(|name| (name == "HTTPS_PROXY").then_some(value));
        let made =
            HttpClient::new(HttpSettings { proxies: proxies.clone(), ..HttpSettings::new(Egress::user_named()) });
        assert_eq!(made.is_ok(), usable, "case: {case}");
        assert_eq!(format!("{proxies:?}"), "Proxies(…)");
    }
}
