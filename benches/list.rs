//! Listing 10,000 Secrets of 1 KiB from a real kube-apiserver, compared with plain paging by curl.
//!
//! `cargo bench --bench list [-- SECRETS]` starts the server (see `tests/real/kube-testserver`, `TRUEUP_REAL_DIR`), fills
//! it, and prints the time until the collection is complete, the ratio to curl, and the peak memory of a process that does
//! nothing else. Without the server it prints a line and exits.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

#[allow(dead_code, reason = "shared with the tests, which use more of it")]
#[path = "../tests/support/mod.rs"]
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;
use jiff::Timestamp;
use serde_json::json;
use server::http::Request;
use server::real::{RealServer, User};
use trueup_core::decode::Digester;
use trueup_core::world::{Content, World};
use trueup_fleet::connect::{
    Connector as _, Env, Impersonation, Kubeconfig, KubeconfigConnector, Places, PluginPolicy,
};
use trueup_fleet::observe::{Epoch, Observer, ObserverSetup, Ports, ProcessJitter, VersionFloor, WallClock, outbox};

/// The argument that makes this program the measured process.
const CHILD: &str = "--list-from";
const NAMESPACE: &str = "openshift-config";
/// Best of a few runs: the machine is shared.
const RUNS: usize = 5;
/// Concurrent creates: fast, without overloading the server.
const WRITES_AT_ONCE: usize = 16;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let Some(place) = words.iter().position(|word| word == CHILD) {
        return child(Path::new(&words[place + 1]));
    }
    let secrets = support::argument().unwrap_or(10_000);
    let Some(server) = RealServer::start() else {
        println!("skipped: no real server to list from");
        return;
    };
    fill(&server, secrets);
    let kubeconfig = server.kubeconfig();
    let curl = best(|| by_curl(kubeconfig, secrets));
    let runs: Vec<Listed> = (0..RUNS).map(|_| by_child(kubeconfig, secrets)).collect();
    let product = runs.iter().map(|run| run.seconds).fold(f64::MAX, f64::min);
    let peak = runs.iter().map(|run| run.peak_kb).max().unwrap_or(0);
    println!(
        "{secrets} Secrets of 1 KiB: complete in {product:.3} s, plain paging by curl {curl:.3} s (best of {RUNS}): ratio {:.2}; peak memory {:.1} MB",
        product / curl,
        peak as f64 / 1024.0
    );
}

fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::MAX, f64::min)
}

fn fill(server: &RealServer, secrets: usize) {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be made");
    runtime.block_on(async {
        let admin = server.connect(User::Admin);
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        admin.send(&Request::post("/api/v1/namespaces", namespace)).await.expect("the server answers");
        let writes = (0..secrets).map(|index| {
            let value = support::base64_value(index, 768);
            let secret = json!({
                "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                "metadata": {"name": format!("secret-{index:05}")}, "data": {"clientSecret": value},
            });
            let request = Request::post(format!("/api/v1/namespaces/{NAMESPACE}/secrets"), secret);
            let admin = admin.clone();
            async move {
                let answer = admin.send(&request).await.expect("the server answers");
                assert_eq!(answer.status, 201, "{}", answer.body);
            }
        });
        futures::stream::iter(writes).buffer_unordered(WRITES_AT_ONCE).collect::<()>().await;
    });
}

/// Pages through the list with curl: one process per page, its body in a file, only the token is read.
fn by_curl(kubeconfig: &Path, secrets: usize) -> f64 {
    let config: serde_json::Value =
        serde_json::from_slice(&std::fs::read(kubeconfig).expect("the server wrote it")).expect("it is JSON");
    let cluster = &config["clusters"][0]["cluster"];
    let text = |value: &serde_json::Value| value.as_str().expect("the kubeconfig is whole").to_owned();
    let users = config["users"].as_array().expect("the kubeconfig has users");
    let admin = users.iter().find(|user| user["name"] == "admin").expect("there is an admin");
    let header = format!("Authorization: Bearer {}", text(&admin["user"]["token"]));
    let page = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let (mut seconds, mut token, mut met) = (0.0, String::new(), 0);
    loop {
        let url =
            format!("{}/api/v1/namespaces/{NAMESPACE}/secrets?limit=500&continue={token}", text(&cluster["server"]));
        let start = Instant::now();
        let status = Command::new("curl")
            .args(["-sS", "--cacert", &text(&cluster["certificate-authority"]), "-H", &header, "-o"])
            .arg(page.path())
            .arg(url)
            .status();
        seconds += start.elapsed().as_secs_f64();
        assert!(status.is_ok_and(|status| status.success()), "curl is there and is answered");
        let list: serde_json::Value =
            serde_json::from_slice(&std::fs::read(page.path()).expect("curl wrote it")).expect("it is JSON");
        met += list["items"].as_array().map_or(0, Vec::len);
        token = list["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            assert_eq!(met, secrets, "curl saw them all");
            return seconds;
        }
    }
}

struct Listed {
    seconds: f64,
    peak_kb: u64,
}

/// Lists in a separate process, to measure its memory.
fn by_child(kubeconfig: &Path, secrets: usize) -> Listed {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program).arg(CHILD).arg(kubeconfig).output().expect("this program starts again");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.split_whitespace();
    let mut next = || words.next().unwrap_or_else(|| panic!("the child said {text:?}"));
    let seconds = next().parse().expect("seconds");
    let peak_kb = next().parse().expect("kilobytes");
    assert_eq!(next(), secrets.to_string(), "the child saw them all");
    Listed { seconds, peak_kb }
}

fn child(kubeconfig: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("threads can be made");
    let (seconds, met) = runtime.block_on(list(kubeconfig.to_owned()));
    println!("{seconds} {} {met}", support::peak_resident_kb());
}

/// From opening the connection to a complete collection.
async fn list(kubeconfig: PathBuf) -> (f64, usize) {
    let interest = support::secret_interest(Content::Full);
    let mut world = World::default();
    world.open(&interest);
    let start = Instant::now();
    let env = Env::new(Vec::<(String, String)>::new());
    let access = Kubeconfig::read(&Places::new(Some(&kubeconfig), &env)).expect("the server wrote it");
    let access = access.access("admin").expect("there is an admin");
    let connector =
        KubeconfigConnector::new(access, Impersonation::default(), env, &PluginPolicy::Any, Arc::new(Timestamp::now));
    let connection = connector.connect().await.expect("the server is there");
    let (sender, mut inbox) = outbox();
    let mut observer = Observer::new(ObserverSetup {
        client: connection.client,
        epoch: Epoch(1),
        ports: Ports::new(Arc::new(WallClock), Arc::new(ProcessJitter), Digester::new(&[7; 32])),
        marks: VersionFloor::default(),
        outbox: sender,
        fallback_namespaces: Vec::new(),
    });
    observer.change(&interest.id, std::slice::from_ref(&interest));
    loop {
        let batch = inbox.next().await;
        world.apply(&batch.collection, batch.fact, batch.delta);
        let known = world.observations().find(|(id, _, _)| **id == interest.id);
        if let Some((_, _, count)) = known.filter(|(_, completeness, _)| completeness.is_complete()) {
            return (start.elapsed().as_secs_f64(), count);
        }
    }
}
