//! An API server that never ends, is slow or sends wrong answers: what `plan` prints, and its exit code.
//!
//! Whatever it does, the collection is unknown with the reason, nothing is deleted, and memory and time stay bounded.
//! `cargo test --release --test cli hostile -- --nocapture` prints peak memory and time of each case, and with
//! `TRUEUP_LARGE_FLEETS` also of 20,000 HostedClusters.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use trueup_core::engine::Plan;
use trueup_sim::{Listening, SimCluster, listen};

use super::fixture::{COPIES, GUEST_CONFIG, HOSTED, add, folder};
use super::live::sim;

mod console;
mod front;
mod measured;
mod thousands;

use front::{Attack, Attacked, CONTROL_PLANES, hostile};
use measured::{Measured, report, run_measured};

fn page(token: &str, version: u64, kind: &str) -> String {
    format!(
        r#"{{"kind":"{kind}","apiVersion":"hypershift.openshift.io/v1beta1","metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[]}}"#
    )
}

fn answer(stream: &mut TcpStream, kind: &str, body: &str) {
    answer_with(stream, 200, kind, body);
}

fn answer_with(stream: &mut TcpStream, code: u16, kind: &str, body: &str) {
    let head = format!(
        "HTTP/1.1 {code} Status\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
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

const CONFIG: &str = "[budgets]\npages_per_list = 40\nevents_per_second = 2000\ntime_per_collection = \"10s\"\n";
/// What a case may take: the patience of `plan`, and time to start and to report on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(60 + 30);
/// What a case may take at its peak. A response that is being decoded may have 64 MiB.
const PEAK_MIB_MAX: u64 = 300;
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The management cluster `mgmt` behind a hostile server, as a folder with kubeconfig and config.
async fn behind(mgmt: SimCluster, front: impl FnOnce(SocketAddr) -> SocketAddr) -> (tempfile::TempDir, Listening) {
    let port = listen("127.0.0.1:0".parse().unwrap(), vec![("mgmt".to_owned(), mgmt)]).await.unwrap();
    let server = port.clusters[0].1;
    let front = front(server);
    let dir = folder(&[("kubeconfig", &port.kubeconfig().replace(&server.to_string(), &front.to_string()))]);
    add(dir.path(), &[("config.toml", CONFIG)]);
    (dir, port)
}

/// Runs `plan` against a folder of [`behind`].
fn plan(dir: &tempfile::TempDir, args: &[&str]) -> Measured {
    let all = ["plan", "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml", "-o", "json", "--domain"];
    let all = [&all[..], &["hosted-oidc"], args].concat();
    tokio::task::block_in_place(|| run_measured(dir, &all))
}

/// One way to attack, and what `plan` says of it.
struct Case {
    name: &'static str,
    on: Attacked,
    attack: Arc<Attack>,
    /// One of these sentences.
    expected: &'static [&'static str],
}

impl Case {
    fn lists(
        name: &'static str,
        attack: impl Fn(&mut TcpStream, u64) + Send + Sync + 'static,
        expected: &'static [&'static str],
    ) -> Self {
        let attack = move |stream: &mut TcpStream, nth, _: &str| {
            attack(stream, nth);
            true
        };
        Self { name, on: Attacked::Lists, attack: Arc::new(attack), expected }
    }
}

/// A guest, and its management cluster behind a hostile server.
async fn management(case: &Case) -> (tempfile::TempDir, [Listening; 2]) {
    let guest = sim("guest-a", 2, &[GUEST_CONFIG, COPIES]);
    let guest_port = listen("127.0.0.1:0".parse().unwrap(), vec![("guest-a".to_owned(), guest)]).await.unwrap();
    let mgmt: SimCluster = sim("mgmt", 1, &[HOSTED]);
    let kubeconfig = base64::engine::general_purpose::STANDARD.encode(guest_port.kubeconfig());
    mgmt.seed(serde_json::json!({"apiVersion": "v1", "kind": "Secret", "data": {"kubeconfig": kubeconfig},
        "metadata": {"name": "guest-a-admin-kubeconfig", "namespace": "clusters"}}))
        .unwrap();
    let attack = case.attack.clone();
    let (dir, port) = behind(mgmt, |server| hostile(server, &[CONTROL_PLANES], case.on, attack)).await;
    (dir, [port, guest_port])
}

/// Plans against the fleet with the management cluster behind a hostile server: the collection is not complete, the
/// reason is named, and nothing can be deleted on its word.
async fn assert_unknown(case: Case, args: &[&str]) {
    let (dir, _ports) = management(&case).await;
    let Case { name, expected, .. } = case;
    let measured = plan(&dir, args);
    let stderr = String::from_utf8_lossy(&measured.output.stderr);
    let plan = Plan::read(&String::from_utf8_lossy(&measured.output.stdout))
        .unwrap_or_else(|error| panic!("{name}: {error}: {stderr}"));
    assert_eq!(measured.output.status.code(), Some(3), "{name}: {stderr}");
    let is_expected = |line: &&str| expected.iter().any(|sentence| line.contains(sentence));
    let said = stderr.lines().find(is_expected).unwrap_or_else(|| panic!("{name}: {stderr}"));
    report(name, said, &measured, PEAK_MIB_MAX, TIME_MAX);
    let state = plan.observations.iter().find(|one| one.resource.contains("hostedcontrolplanes"));
    assert_ne!(state.map(|one| one.state.as_str()), Some("complete"), "{name}");
    let deletes =
        plan.actions.iter().filter(|action| action.verb().as_str() == "delete" && action.blocked_by.is_empty());
    assert_eq!(deletes.count(), 0, "{name}");
}

/// Answers without an end.
fn endless() -> [Case; 5] {
    [
        Case::lists(
            "endless pages",
            |stream, nth| {
                answer(stream, "application/json", &page(&format!("t{nth}"), 10, "HostedControlPlaneList"));
            },
            &["over budget: more than 40 pages; raise pages_per_list in [budgets]"],
        ),
        Case::lists(
            "a repeated continue token",
            |stream, _| {
                answer(stream, "application/json", &page("again", 10, "HostedControlPlaneList"));
            },
            &["the server repeated a continue token"],
        ),
        Case::lists(
            "one byte a second",
            |stream, _| {
                write_for_ever(stream, CHUNKED, b"1\r\n \r\n", Duration::from_secs(1));
            },
            &["over budget: not listed within 10 s; raise time_per_collection in [budgets]"],
        ),
        Case::lists(
            "an endless object",
            |stream, _| {
                let piece = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
                write_for_ever(stream, CHUNKED, &piece, Duration::ZERO);
            },
            &["larger than 64 MiB"],
        ),
        Case::lists(
            "endless headers",
            |stream, _| {
                write_for_ever(stream, "HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n", Duration::ZERO);
            },
            &["hostedcontrolplanes"],
        ),
    ]
}

/// Answers that are not the list that was asked for.
fn wrong() -> [Case; 4] {
    [
        Case::lists(
            "an empty list of another kind",
            |stream, _| {
                answer(stream, "application/json", &page("", 10, "PodList"));
            },
            &["the server sent a list of another kind"],
        ),
        Case::lists(
            "200 with HTML",
            |stream, _| {
                answer(stream, "text/html", "<html><body>log in</body></html>");
            },
            &["hostedcontrolplanes"],
        ),
        Case::lists(
            "more bytes announced than sent",
            |stream, _| {
                let body = page("", 10, "HostedControlPlaneList");
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len() + 100);
                stream.write_all(head.as_bytes()).ok();
            },
            &["hostedcontrolplanes"],
        ),
        Case::lists(
            "fewer bytes announced than sent",
            |stream, _| {
                let body = page("", 10, "HostedControlPlaneList");
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len() - 10);
                stream.write_all(head.as_bytes()).ok();
            },
            &["hostedcontrolplanes"],
        ),
    ]
}

/// A list that is older than the one before.
fn older() -> Case {
    // The first list proposes a delete; the second, after the settling time, is empty and from the past.
    let attack: Arc<Attack> = Arc::new(|stream, nth, _| {
        if nth > 0 {
            answer(stream, "application/json", &page("", 1, "HostedControlPlaneList"));
        }
        nth > 0
    });
    Case { name: "backwards", on: Attacked::Lists, attack, expected: &["stale list: version 1 is older than"] }
}

/// More events than the budget allows.
fn flood() -> Case {
    let event = |nth: u64| {
        let object = serde_json::json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane",
            "metadata": {"name": format!("f{nth}"), "namespace": "flood", "uid": format!("u{nth}"),
                "resourceVersion": (1_000_000 + nth).to_string(), "labels": {"padding": "x".repeat(60)}}});
        format!("{}\n", serde_json::json!({"type": "ADDED", "object": object}))
    };
    let attack: Arc<Attack> = Arc::new(move |stream, _, _| {
        let mut nth = 0;
        let mut going = stream.write_all(CHUNKED.as_bytes()).is_ok();
        while going {
            let events: String = (nth..nth + 500).map(event).collect();
            nth += 500;
            going = stream.write_all(format!("{:x}\r\n{events}\r\n", events.len()).as_bytes()).is_ok();
        }
        true
    });
    // The list that follows the flood, if there is time for one, is older than what the flood announced.
    let expected = &["stale list: version", "over budget: more than 2000 events per second"];
    Case { name: "a watch flood", on: Attacked::Watches, attack, expected }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_an_end_is_unknown_and_named() {
    for case in endless() {
        assert_unknown(case, &["--settle", "0s"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_sends_wrong_answers_is_unknown_and_named() {
    for case in wrong() {
        assert_unknown(case, &["--settle", "0s"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_older_than_the_last_one_deletes_nothing() {
    assert_unknown(older(), &["--settle", "1s"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_watch_events_is_unknown_and_named() {
    // The settling time is when a watch has to be followed.
    assert_unknown(flood(), &["--settle", "3s"]).await;
}
