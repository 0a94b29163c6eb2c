//! An API server that never ends, is slow or sends wrong answers: what `plan` prints, and its exit code.
//!
//! A raw server stands in front of a simulated cluster: it answers one path as the case says, byte for byte, and passes
//! every other request on. Whatever it does, the collection is unknown with the reason and nothing is deleted.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use trueup_core::engine::Plan;
use trueup_sim::{SimCluster, listen};

use super::fixture::{COPIES, GUEST_CONFIG, HOSTED, add, folder, run_with_state};
use super::live::sim;

/// Answers the nth request of the attacked path: false when it is to be passed on.
type Attack = dyn Fn(&mut TcpStream, u64) -> bool + Send + Sync;

/// The list that orphans are judged by.
const ATTACKED: &str = "/apis/hypershift.openshift.io/v1beta1/hostedcontrolplanes?";

/// Reads the head of a request.
fn head_of(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// Passes a request on and its answer back. Requests of an observer have no body.
fn pass_on(mut client: TcpStream, head: &str, server: SocketAddr) {
    let Ok(mut upstream) = TcpStream::connect(server) else { return };
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    if upstream.write_all(head.as_bytes()).is_ok() {
        std::io::copy(&mut upstream, &mut client).ok();
    }
}

/// A server in front of another.
fn hostile(server: SocketAddr, attack: Arc<Attack>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(AtomicU64::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (attack, requests) = (attack.clone(), requests.clone());
            std::thread::spawn(move || {
                let mut stream = stream;
                let Some(head) = head_of(&mut stream) else { return };
                let is_attacked = head.contains(ATTACKED) && !head.contains("watch=true");
                if !is_attacked || !attack(&mut stream, requests.fetch_add(1, Ordering::Relaxed)) {
                    pass_on(stream, &head, server);
                }
            });
        }
    });
    address
}

fn page(token: &str, version: u64, kind: &str) -> String {
    format!(
        r#"{{"kind":"{kind}","apiVersion":"hypershift.openshift.io/v1beta1","metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[]}}"#
    )
}

fn answer(stream: &mut TcpStream, kind: &str, body: &str) {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok();
}

/// Writes pieces until the client hangs up.
fn write_for_ever(stream: &mut TcpStream, head: &str, piece: &[u8], pause: Duration) {
    let mut going = stream.write_all(head.as_bytes()).is_ok();
    while going {
        going = stream.write_all(piece).is_ok();
        std::thread::sleep(pause);
    }
}

const CONFIG: &str = "[budgets]\npages_per_list = 40\ntime_per_collection = \"10s\"\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Plans against the fleet with the management cluster behind a hostile server.
async fn planned(attack: Arc<Attack>, args: &[&str]) -> (Plan, String, i32) {
    let address = "127.0.0.1:0".parse().unwrap();
    let guest = sim("guest-a", 2, &[GUEST_CONFIG, COPIES]);
    let guest_port = listen(address, vec![("guest-a".to_owned(), guest)]).await.unwrap();
    let mgmt: SimCluster = sim("mgmt", 1, &[HOSTED]);
    let kubeconfig = base64::engine::general_purpose::STANDARD.encode(guest_port.kubeconfig());
    mgmt.seed(serde_json::json!({"apiVersion": "v1", "kind": "Secret", "data": {"kubeconfig": kubeconfig},
        "metadata": {"name": "guest-a-admin-kubeconfig", "namespace": "clusters"}}))
        .unwrap();
    let mgmt_port = listen(address, vec![("mgmt".to_owned(), mgmt)]).await.unwrap();
    let text = mgmt_port.kubeconfig();
    let server: SocketAddr =
        text.split("http://").nth(1).and_then(|rest| rest.lines().next()).unwrap().trim().parse().unwrap();
    let front = hostile(server, attack);
    let dir = folder(&[("kubeconfig", &text.replace(&server.to_string(), &front.to_string()))]);
    add(dir.path(), &[("config.toml", CONFIG)]);
    let all = ["plan", "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml", "-o", "json", "--domain"];
    let all = [&all[..], &["hosted-oidc"], args].concat();
    let output = tokio::task::block_in_place(|| run_with_state(&dir, &all));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (plan, stderr, output.status.code().unwrap())
}

/// The state of the attacked collection in the plan, and that nothing can be deleted on its word.
fn assert_unknown(case: &str, expected: &str, (plan, stderr, code): &(Plan, String, i32)) {
    assert_eq!(*code, 3, "{case}: {stderr}");
    assert!(stderr.contains(expected), "{case}: {stderr}");
    let state = plan.observations.iter().find(|one| one.resource.contains("hostedcontrolplanes"));
    assert_ne!(state.map(|one| one.state.as_str()), Some("complete"), "{case}");
    let deletes =
        plan.actions.iter().filter(|action| action.verb().as_str() == "delete" && action.blocked_by.is_empty());
    assert_eq!(deletes.count(), 0, "{case}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_an_end_is_unknown_and_named() {
    let cases: [(&str, Arc<Attack>, &str); 5] = [
        (
            "endless pages",
            Arc::new(|stream, nth| {
                answer(stream, "application/json", &page(&format!("t{nth}"), 10, "HostedControlPlaneList"));
                true
            }),
            "over budget: more than 40 pages; raise pages_per_list in [budgets]",
        ),
        (
            "a repeated continue token",
            Arc::new(|stream, _| {
                answer(stream, "application/json", &page("again", 10, "HostedControlPlaneList"));
                true
            }),
            "the server repeated a continue token",
        ),
        (
            "one byte a second",
            Arc::new(|stream, _| {
                write_for_ever(stream, CHUNKED, b"1\r\n \r\n", Duration::from_secs(1));
                true
            }),
            "over budget: not listed within 10 s; raise time_per_collection in [budgets]",
        ),
        (
            "an endless object",
            Arc::new(|stream, _| {
                let piece = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
                write_for_ever(stream, CHUNKED, &piece, Duration::ZERO);
                true
            }),
            "larger than 64 MiB",
        ),
        (
            "endless headers",
            Arc::new(|stream, _| {
                write_for_ever(stream, "HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n", Duration::ZERO);
                true
            }),
            "hostedcontrolplanes",
        ),
    ];
    for (case, attack, expected) in cases {
        assert_unknown(case, expected, &planned(attack, &["--settle", "0s"]).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_sends_wrong_answers_is_unknown_and_named() {
    let cases: [(&str, Arc<Attack>, &str); 4] = [
        (
            "an empty list of another kind",
            Arc::new(|stream, _| {
                answer(stream, "application/json", &page("", 10, "PodList"));
                true
            }),
            "the server sent a list of another kind",
        ),
        (
            "200 with HTML",
            Arc::new(|stream, _| {
                answer(stream, "text/html", "<html><body>log in</body></html>");
                true
            }),
            "hostedcontrolplanes",
        ),
        (
            "more bytes announced than sent",
            Arc::new(|stream, _| {
                let body = page("", 10, "HostedControlPlaneList");
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len() + 100);
                stream.write_all(head.as_bytes()).ok();
                true
            }),
            "hostedcontrolplanes",
        ),
        (
            "fewer bytes announced than sent",
            Arc::new(|stream, _| {
                let body = page("", 10, "HostedControlPlaneList");
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len() - 10);
                stream.write_all(head.as_bytes()).ok();
                true
            }),
            "hostedcontrolplanes",
        ),
    ];
    for (case, attack, expected) in cases {
        assert_unknown(case, expected, &planned(attack, &["--settle", "0s"]).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_older_than_the_last_one_deletes_nothing() {
    // The first list proposes a delete; the second, after the settling time, is empty and from the past.
    let attack: Arc<Attack> = Arc::new(|stream, nth| {
        if nth > 0 {
            answer(stream, "application/json", &page("", 1, "HostedControlPlaneList"));
        }
        nth > 0
    });
    assert_unknown("backwards", "stale list: version 1 is older than", &planned(attack, &["--settle", "1s"]).await);
}
