//! The commands on live clusters: simulated ones behind real ports, read by the real client.

use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use trueup_core::engine::Plan;
use trueup_sim::{Listening, ResourceKind, SimCluster, SimOptions, listen};

use super::fixture::{COPIES, GUEST_CONFIG, HOSTED, folder, run_with_state, transcript};

/// A management cluster and its guest, both on ports, and the folder with the kubeconfig of the first.
pub struct Fleet {
    pub dir: tempfile::TempDir,
    pub mgmt: SimCluster,
    pub guest: SimCluster,
    _ports: (Listening, Listening),
}

pub fn sim(name: &str, seed: u64, files: &[&str]) -> SimCluster {
    let sim = SimCluster::new(SimOptions { name: name.to_owned(), seed, start: jiff::Timestamp::now() });
    for (kind, plural) in [("HostedCluster", "hostedclusters"), ("HostedControlPlane", "hostedcontrolplanes")] {
        if name == "mgmt" {
            sim.register(ResourceKind::custom("hypershift.openshift.io/v1beta1", kind, plural).with_status());
        }
    }
    let configs = [
        ("Infrastructure", "infrastructures"),
        ("Authentication", "authentications"),
        ("Proxy", "proxies"),
        ("Image", "images"),
        ("APIServer", "apiservers"),
        ("OAuth", "oauths"),
    ];
    for (kind, plural) in configs {
        if name != "mgmt" {
            sim.register(ResourceKind::custom("config.openshift.io/v1", kind, plural).cluster_scoped().with_status());
        }
    }
    for namespace in ["clusters", "clusters-guest-a", "openshift-config"] {
        sim.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).unwrap();
    }
    for object in files.iter().flat_map(|text| serde_saphyr::from_multiple::<Value>(text).unwrap()) {
        match object["items"].as_array() {
            None => drop(sim.seed(object).unwrap()),
            Some(items) => items.iter().for_each(|item| {
                let mut item = item.clone();
                item["apiVersion"] = json!("v1");
                item["kind"] = json!("Secret");
                sim.seed(item).unwrap();
            }),
        }
    }
    sim
}

pub async fn fleet() -> Fleet {
    fleet_with_guest_at("127.0.0.1").await
}

/// The same, with another name for this machine in the guest's kubeconfig.
pub async fn fleet_with_guest_at(host: &str) -> Fleet {
    let address = "127.0.0.1:0".parse().unwrap();
    let guest = sim("guest-a", 2, &[GUEST_CONFIG, COPIES]);
    let guest_port = listen(address, vec![("guest-a".to_owned(), guest.clone())]).await.unwrap();
    let mgmt = sim("mgmt", 1, &[HOSTED]);
    let kubeconfig =
        base64::engine::general_purpose::STANDARD.encode(guest_port.kubeconfig().replace("127.0.0.1", host));
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"kubeconfig": kubeconfig},
        "metadata": {"name": "guest-a-admin-kubeconfig", "namespace": "clusters"}});
    mgmt.seed(secret).unwrap();
    let mgmt_port = listen(address, vec![("mgmt".to_owned(), mgmt.clone())]).await.unwrap();
    let dir = folder(&[("kubeconfig", &mgmt_port.kubeconfig())]);
    Fleet { dir, mgmt, guest, _ports: (mgmt_port, guest_port) }
}

/// Runs the binary beside the simulated servers.
async fn plan(fleet: &Fleet, args: &[&str]) -> (Plan, String, i32) {
    let all = [&["plan", "--kubeconfig", "$TMP/kubeconfig", "-o", "json"], args].concat();
    let output = tokio::task::block_in_place(|| run_with_state(&fleet.dir, &all));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (plan, stderr, output.status.code().unwrap())
}

fn states(plan: &Plan) -> Vec<(&str, &str)> {
    plan.findings.iter().map(|finding| (finding.subject.name.as_str(), finding.verdict.as_str())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_guest_is_found_read_and_judged_like_a_recorded_one() {
    let fleet = fleet().await;
    let (plan, stderr, code) = plan(&fleet, &["--settle", "1s", "--domain", "hosted-oidc"]).await;
    let expected = [("client", "referenced"), ("old-client", "orphan-certain"), ("guest-a", "valid")];
    assert_eq!(states(&plan), expected, "{stderr}");
    let sources: Vec<(&str, &str)> =
        plan.targets.iter().map(|target| (target.cluster.as_str(), target.source.as_str())).collect();
    assert_eq!(sources, [("guest-a", "hosted"), ("mgmt", "kubeconfig")]);
    let gates: Vec<&str> = plan.actions[0].blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
    assert_eq!((gates, code), (vec![], 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_whose_kubeconfig_leads_to_a_metadata_server_is_unknown_until_the_config_allows_it() {
    let fleet = fleet_with_guest_at("169.254.169.254").await;
    let (plan, stderr, code) = plan(&fleet, &["--settle", "0s", "--domain", "hosted-oidc"]).await;
    let line = "to allow it, set [egress] guests = { \"guest-a\" = [\"http\", \"link-local\"] }";
    assert!(stderr.contains("the metadata (link-local) address 169.254.169.254") && stderr.contains(line), "{stderr}");
    assert!(plan.findings.iter().all(|finding| finding.verdict != "orphan-certain"), "{:?}", states(&plan));
    assert_eq!(code, 3, "{stderr}");
    let doctor =
        tokio::task::block_in_place(|| run_with_state(&fleet.dir, &["doctor", "--kubeconfig", "$TMP/kubeconfig"]));
    assert!(String::from_utf8_lossy(&doctor.stdout).contains(line), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_not_verified_offers_no_writes() {
    // Leads here as well, but does not say so: by its name it could be anywhere.
    let fleet = fleet_with_guest_at("0.0.0.0").await;
    let (plan, _, _) = plan(&fleet, &["--settle", "0s"]).await;
    let gates: Vec<&str> = plan.actions[0].blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
    assert_eq!(gates, ["insecure"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_without_read_permission_is_unknown_and_named() {
    let fleet = fleet().await;
    fleet.mgmt.remove("v1", "Secret", "clusters/guest-a-admin-kubeconfig").unwrap();
    let (plan, stderr, code) = plan(&fleet, &[]).await;
    // A HostedCluster is judged without its guest.
    let of_guest = |kind: &str| !["Context", "HostedCluster"].contains(&kind);
    let mut of_clusters = plan.findings.iter().filter(|finding| of_guest(&finding.subject.kind));
    assert!(plan.actions.is_empty() && of_clusters.all(|finding| finding.state.as_str() == "unknown"), "{stderr}");
    assert!(stderr.contains("guest-a"), "{stderr}");
    assert_eq!(code, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_checks_live_clusters() {
    let fleet = fleet().await;
    let said = tokio::task::block_in_place(|| transcript(&fleet.dir, &["doctor", "--kubeconfig", "$TMP/kubeconfig"]));
    for expected in [
        "cluster      mgmt is reachable",
        "cluster      guest-a is reachable",
        "permission   guest-a: delete secrets in openshift-config",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

/// `trueup plan --watch` of the fleet, and its lines.
struct Watching {
    child: tokio::process::Child,
    lines: tokio::io::Lines<tokio::io::BufReader<tokio::process::ChildStdout>>,
}

impl Watching {
    fn start(fleet: &Fleet, more: &[&str]) -> Self {
        let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_trueup"))
            .env_clear()
            .args(["plan", "--watch", "--settle", "0s", "--kubeconfig"])
            .arg(fleet.dir.path().join("kubeconfig"))
            .args(more)
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdout = tokio::io::BufReader::new(child.stdout.take().unwrap());
        Self { child, lines: tokio::io::AsyncBufReadExt::lines(stdout) }
    }

    async fn next(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(30), self.lines.next_line()).await;
        line.expect("a line comes").unwrap().expect("the watch continues")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_prints_a_line_for_each_finding_that_changes() {
    let fleet = fleet().await;
    let mut watching = Watching::start(&fleet, &[]);
    while !watching.next().await.starts_with("2 clusters") {}
    fleet.guest.remove("v1", "Secret", "openshift-config/old-client").unwrap();
    let line = watching.next().await;
    assert!(
        line.contains("gone  hosted-oidc/guest-a/Secret/openshift-config/old-client  (was extra, orphan-certain)"),
        "{line}"
    );
    watching.child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn watch_as_json_prints_the_plan_and_then_an_object_per_change() {
    let fleet = fleet().await;
    let mut watching = Watching::start(&fleet, &["-o", "json"]);
    let plan = trueup_core::engine::Plan::read(&watching.next().await).unwrap();
    assert_eq!(plan.actions.len(), 1);
    fleet.guest.remove("v1", "Secret", "openshift-config/old-client").unwrap();
    let mut change: serde_json::Value = serde_json::from_str(&watching.next().await).unwrap();
    change["at"].take();
    let expected = serde_json::json!({
        "schema": "trueup/change/v1", "at": null, "finding": "hosted-oidc/guest-a/Secret/openshift-config/old-client",
        "domain": "hosted-oidc", "cluster": "guest-a",
        "subject": { "apiVersion": "v1", "kind": "Secret", "namespace": "openshift-config", "name": "old-client" },
        "from": { "state": "extra", "verdict": "orphan-certain" }, "to": null,
    });
    assert_eq!(change, expected);
    watching.child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_is_exit_130() {
    let fleet = fleet().await;
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .args(["plan", "--watch", "--settle", "0s", "--kubeconfig"])
        .arg(fleet.dir.path().join("kubeconfig"))
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    tokio::io::AsyncReadExt::read_exact(child.stdout.as_mut().unwrap(), &mut first).await.unwrap();
    let id = child.id().unwrap().to_string();
    tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(130));
}
