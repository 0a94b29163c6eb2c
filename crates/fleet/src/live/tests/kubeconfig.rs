//! The check on a simulated API server, in paused time: events and the clock move its verdicts, and nothing else is asked.

use serde_json::json;
use trueup_checks::kubeconfig::Kubeconfigs;
use trueup_checks::kubeconfig::testing::{Config, DEMO, config, given, minutes, unowned_target};
use trueup_checks::testing::now;

use super::*;

fn server() -> SimCluster {
    server_with(&["v1beta1"])
}

/// A server that serves Cluster API in these versions.
fn server_with(versions: &[&str]) -> SimCluster {
    let sim = SimCluster::new(SimOptions { name: "mgmt".to_owned(), seed: 1, start: now() });
    let clusters = versions.iter().map(|version| (format!("cluster.x-k8s.io/{version}"), "Cluster", "clusters"));
    let plane = ("controlplane.cluster.x-k8s.io/v1beta1".to_owned(), "CAPTControlPlane", "captcontrolplanes");
    for (api_version, kind, plural) in clusters.chain([plane]) {
        sim.register(ResourceKind::custom(&api_version, kind, plural).with_status());
    }
    for namespace in ["team-a", "team-z"] {
        sim.seed(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } })).unwrap();
    }
    for mut object in given().fleet.members["mgmt"].objects.clone() {
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.retain(|field, _| field != "uid" && field != "resourceVersion");
        // The server gives the control plane, which comes first, a uid of its own.
        if let Some(owners) = metadata.get_mut("ownerReferences") {
            let plane = sim.object("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane", "team-a/demo").unwrap();
            owners[0]["uid"] = plane["metadata"]["uid"].clone();
        }
        if object["kind"] == "Cluster" {
            object["apiVersion"] = json!(format!("cluster.x-k8s.io/{}", versions[0]));
        }
        sim.seed(object).unwrap();
    }
    sim
}

fn watch(sim: &SimCluster) -> Live {
    let ports =
        Ports::new(Arc::new(PausedClock(tokio::time::Instant::now())), Arc::new(FixedJitter), Digester::new(&[5; 32]));
    Live::new(LiveSetup {
        domains: vec![Box::new(Kubeconfigs::default())],
        members: vec![member("mgmt", FixedConnector(sim.client()))],
        resolver: Box::new(Guests::default()),
        ports,
        live_max: 1,
    })
}

fn said(live: &Live) -> Vec<String> {
    let all = live.judgements().iter();
    all.map(|(subject, held)| format!("{} {} {:?}", subject.name, held.judgement.verdict, held.judgement.codes))
        .collect()
}

async fn until(live: &mut Live, expected: &[&str]) {
    let waited = tokio::time::timeout(Duration::from_secs(3600), async {
        while said(live) != expected {
            live.step().await;
        }
    });
    assert!(waited.await.is_ok(), "never {expected:?}: {:?}", said(live));
}

fn write(sim: &SimCluster, key: &str, field: &str, config: &Config) {
    let value = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, config.text());
    sim.edit("v1", "Secret", key, |object| object["data"][field] = json!(value)).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_source_that_changes_shows_its_target_behind_and_a_copy_settles_it() {
    let sim = server();
    let mut live = watch(&sim);
    live.wait_settled(Duration::from_secs(60)).await;
    assert_eq!(said(&live), ["demo-kubeconfig fresh []"]);
    let renewed = config().signed(minutes(0));
    write(&sim, "default/demo-outputs-kubeconfig", "kubeconfig", &renewed);
    until(&mut live, &["demo-kubeconfig behind-source []"]).await;
    write(&sim, DEMO, "value", &renewed);
    until(&mut live, &["demo-kubeconfig fresh []"]).await;
    sim.edit("v1", "Secret", "default/demo-outputs-kubeconfig", |object| object["data"] = json!({})).unwrap();
    until(&mut live, &["demo-kubeconfig source-invalid [\"key\"]"]).await;
}

#[tokio::test(start_paused = true)]
async fn clusters_are_read_in_the_newest_version_of_cluster_api_that_is_served() {
    for versions in [&["v1beta1"][..], &["v1beta2"], &["v1beta1", "v1beta2"]] {
        let sim = server_with(versions);
        let mut live = watch(&sim);
        live.wait_settled(Duration::from_secs(60)).await;
        assert_eq!(said(&live), ["demo-kubeconfig fresh []"], "{versions:?}");
        let version = |logged: trueup_sim::Logged| {
            let rest = logged.target.strip_prefix("/apis/cluster.x-k8s.io/")?.to_owned();
            rest.split_once("/clusters").map(|(version, _)| version.to_owned())
        };
        let asked: BTreeSet<String> = sim.request_log().into_iter().filter_map(version).collect();
        assert_eq!(asked, BTreeSet::from([(*versions.last().unwrap()).to_owned()]), "{versions:?}");
        // Only a Cluster that was read misses its kubeconfig.
        sim.remove("v1", "Secret", DEMO).unwrap();
        until(&mut live, &["demo-kubeconfig missing []"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_verdict_changes_at_the_instant_it_should_with_no_word_from_the_server() {
    let sim = server();
    let mut live = watch(&sim);
    live.wait_settled(Duration::from_secs(60)).await;
    until(&mut live, &["demo-kubeconfig expiring []"]).await;
    let since = live.judgements().iter().next().unwrap().1.since;
    assert_eq!(since, minutes(9), "signed a minute ago: five of fifteen are left then");
    until(&mut live, &["demo-kubeconfig expired []"]).await;
    assert_eq!(live.judgements().iter().next().unwrap().1.since, minutes(14));
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_the_type_is_found_in_a_namespace_without_clusters() {
    let sim = server();
    let mut orphan = unowned_target("team-z", "gone", &config()).0;
    orphan["metadata"].as_object_mut().unwrap().retain(|field, _| field != "uid" && field != "resourceVersion");
    sim.seed(orphan).unwrap();
    let mut live = watch(&sim);
    live.wait_settled(Duration::from_secs(60)).await;
    assert_eq!(said(&live), ["demo-kubeconfig fresh []", "gone-kubeconfig fresh []"]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_reported_and_never_its_value() {
    let sim = server();
    let mut live = watch(&sim);
    live.wait_settled(Duration::from_secs(60)).await;
    let moved = config().server("https://elsewhere.example").text();
    let value = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, moved);
    let edit = |object: &mut serde_json::Value| object["data"]["value"] = json!(value);
    sim.with(|server, now| server.edit_as("eks-copier", now, ("v1", "Secret", DEMO), edit)).unwrap();
    let waited = tokio::time::timeout(Duration::from_secs(3600), async {
        loop {
            let edits = live.step().await.edits;
            if !edits.is_empty() {
                return edits;
            }
        }
    });
    let edits = waited.await.expect("an edit");
    let line = |edit: &Arc<trueup_core::world::ObjectEdit>| {
        format!("{} {} {}: {}", edit.cluster, edit.kind, edit.key, edit.describe("→"))
    };
    let lines: Vec<String> = edits.iter().map(line).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("mgmt Secret team-a/demo-kubeconfig: value "), "{lines:?}");
    assert!(!format!("{edits:?}").contains("elsewhere"), "{edits:?}");
}
