//! A management cluster with thousands of HostedClusters: `plan` ends within its patience, and memory follows what is kept.
//!
//! 20,000 are a measurement of a release build: `TRUEUP_LARGE_FLEETS=1 cargo test --release --test cli hostile --
//! --nocapture --test-threads 1`.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::front::{Attack, Attacked, CONTROL_PLANES, HOSTED_CLUSTERS, hostile};
use super::{answer, behind, plan, report};
use crate::live::sim;
use trueup_core::engine::Plan;

/// As many as a debug build judges in its patience on a busy machine.
const SOME: usize = 2_000;
/// Where `plan` took 921 MB and more than 160 s.
const MANY: usize = 20_000;
/// Below the 921 MB that 20,000 took in a release build. Most of it are the 4,000 watches of 2,000 clusters over HTTP/1.1,
/// each with a connection and, in a debug build, large futures: 400 MiB were measured.
const PEAK_MIB_MAX: u64 = 700;
/// The patience of `plan`, and time to start, to judge and to write the plan in a debug build on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(60 + 60);

/// Where HostedControlPlanes are.
#[derive(Clone, Copy)]
pub enum Planes {
    /// In the namespace that HyperShift makes.
    Usual,
    /// Elsewhere, found by the annotation that names their HostedCluster.
    Elsewhere,
}

fn object(kind: &str, nth: usize, planes: Planes) -> Value {
    let name = format!("guest-{nth:05}");
    let namespace = match (kind, planes) {
        ("HostedCluster", _) => "clusters".to_owned(),
        (_, Planes::Usual) => format!("clusters-{name}"),
        (_, Planes::Elsewhere) => format!("elsewhere-{nth:05}"),
    };
    json!({"apiVersion": "hypershift.openshift.io/v1beta1", "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "uid": format!("{kind}-{nth}"), "resourceVersion": "10",
            "annotations": {"hypershift.openshift.io/cluster": format!("clusters/{name}")}},
        "spec": {"infraID": name, "configuration": {"authentication": {"type": "OIDC"}}},
        "status": {"kubeconfig": {"name": format!("{name}-admin-kubeconfig")}}})
}

/// The pages of both lists, made once.
pub struct Pages {
    clusters: Vec<String>,
    planes: Vec<String>,
}

const PAGE: usize = 500;

fn pages(kind: &str, clusters: usize, planes: Planes) -> Vec<String> {
    let page = |nth: usize| {
        let items: Vec<Value> = (nth * PAGE..(nth + 1) * PAGE).map(|one| object(kind, one, planes)).collect();
        let next = if (nth + 1) * PAGE < clusters { (nth + 1).to_string() } else { String::new() };
        json!({"kind": format!("{kind}List"), "apiVersion": "hypershift.openshift.io/v1beta1", "items": items,
            "metadata": {"resourceVersion": "10", "continue": next}})
        .to_string()
    };
    (0..clusters / PAGE).map(page).collect()
}

impl Pages {
    /// Answers one page of either list.
    pub fn serve(&self, stream: &mut TcpStream, head: &str) -> bool {
        let all = if head.contains(CONTROL_PLANES) { &self.planes } else { &self.clusters };
        let token = head.split("continue=").nth(1).map(|rest| rest.split(['&', ' ']).next().unwrap());
        let page = token.map_or(0, |token| token.parse::<usize>().unwrap());
        answer(stream, "application/json", &all[page]);
        stream.flush().is_ok()
    }
}

/// The pages of so many HostedClusters and their HostedControlPlanes.
pub fn thousands(clusters: usize, planes: Planes) -> Pages {
    Pages { clusters: pages("HostedCluster", clusters, planes), planes: pages("HostedControlPlane", clusters, planes) }
}

async fn planned_within_bounds(case: &str, clusters: usize, planes: Planes) {
    let pages = thousands(clusters, planes);
    let attack: Arc<Attack> = Arc::new(move |stream, _, head| pages.serve(stream, head));
    let paths: &[&str] = &[HOSTED_CLUSTERS, CONTROL_PLANES];
    let (dir, _port) = behind(sim("mgmt", 1, &[]), |server| hostile(server, paths, Attacked::Lists, attack)).await;
    let measured = plan(&dir, &["--settle", "0s"]);
    let stderr = String::from_utf8_lossy(&measured.output.stderr);
    let plan = Plan::read(&String::from_utf8_lossy(&measured.output.stdout))
        .unwrap_or_else(|error| panic!("{case}: {error}: {stderr}"));
    let said = stderr.lines().next().unwrap_or_default();
    report(
        case,
        &format!("{} findings, {} lines such as: {said}", plan.findings.len(), stderr.lines().count()),
        &measured,
        PEAK_MIB_MAX,
        TIME_MAX,
    );
    assert_eq!(measured.output.status.code(), Some(3), "{case}: {said}");
    assert!(plan.findings.len() >= clusters, "{case}: every HostedCluster is judged: {}", plan.findings.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_hosted_clusters_are_judged_within_patience_and_memory() {
    planned_within_bounds("2,000 HostedClusters", SOME, Planes::Usual).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_control_planes_in_other_namespaces_cost_the_same() {
    planned_within_bounds("2,000 control planes elsewhere", SOME, Planes::Elsewhere).await;
}

/// Whether fleets of a size that only a release build judges in time are to be measured.
fn is_large_wanted() -> bool {
    std::env::var_os("TRUEUP_LARGE_FLEETS").is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_thousand_hosted_clusters_are_judged_within_patience_and_memory() {
    if is_large_wanted() {
        planned_within_bounds("20,000 HostedClusters", MANY, Planes::Usual).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_thousand_control_planes_in_other_namespaces_cost_the_same() {
    if is_large_wanted() {
        planned_within_bounds("20,000 control planes elsewhere", MANY, Planes::Elsewhere).await;
    }
}
