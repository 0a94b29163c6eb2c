//! Tests of the scenario through its clusters' APIs.

use std::os::unix::fs::PermissionsExt as _;

use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::objects::COPIES;
use super::*;

fn start() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn options() -> ScenarioOptions {
    ScenarioOptions { seed: 5, guests_more: 2, objects_more: 30, start: start() }
}

fn cluster<'s>(scenario: &'s Scenario, name: &str) -> &'s DemoCluster {
    scenario.clusters.iter().find(|cluster| cluster.name == name).unwrap()
}

async fn get(cluster: &DemoCluster, path: &str) -> Result<(StatusCode, Vec<u8>), NotReached> {
    let request = Request::get(path).body(http_body_util::Empty::new()).unwrap();
    let answer = cluster.service().oneshot(request).await?;
    let status = answer.status();
    Ok((status, answer.into_body().collect().await.map_err(NotReached::Lost)?.to_bytes().to_vec()))
}

/// Everything the clusters store, as JSON.
async fn everything(scenario: &Scenario) -> String {
    let paths = [
        "/api/v1/namespaces",
        "/api/v1/configmaps",
        "/api/v1/secrets",
        "/apis/config.openshift.io/v1/authentications",
        "/apis/hypershift.openshift.io/v1beta1/hostedclusters",
        "/apis/hypershift.openshift.io/v1beta1/hostedcontrolplanes",
    ];
    let mut text = String::new();
    for cluster in scenario.clusters.iter().filter(|cluster| cluster.reach == Reach::Open) {
        for path in paths {
            let (status, body) = get(cluster, path).await.unwrap();
            text.push_str(&format!("{} {path} {status}\n{}\n", cluster.name, String::from_utf8(body).unwrap()));
        }
    }
    text
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_objects_byte_for_byte() {
    let first = everything(&Scenario::new(&options())).await;
    assert!(first.contains("team-"), "unrelated objects are seeded");
    assert_eq!(first, everything(&Scenario::new(&options())).await);
    assert_ne!(first, everything(&Scenario::new(&ScenarioOptions { seed: 6, ..options() })).await);
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_events() {
    let lived = async |seed| {
        let scenario = Scenario::new(&ScenarioOptions { seed, ..options() });
        let mut life = scenario.runner();
        let beats: Vec<ScenarioEvent> = (0..90).filter_map(|_| life.tick()).collect();
        (beats, everything(&scenario).await)
    };
    let (first, second, other) = (lived(5).await, lived(5).await, lived(7).await);
    assert_eq!(first, second);
    assert_ne!(first.0, other.0, "the seed decides which provider comes first");
}

#[tokio::test(start_paused = true)]
async fn a_scenario_that_keeps_running_does_not_grow() {
    let scenario = Scenario::new(&options());
    let mut life = scenario.runner();
    let copies = |scenario: &Scenario| {
        let guest = cluster(scenario, "guest-checkout");
        guest.sim.with(|server, now| {
            let request = crate::Request::get("/api/v1/configmaps");
            let crate::Answer::Reply(reply) = server.handle(now, &request) else { panic!("no list") };
            serde_json::from_slice::<Value>(&reply.body).unwrap()["items"].as_array().unwrap().len()
        })
    };
    // A round has 8 events of 5 ticks, and the providers repeat after 3 rounds.
    let mut after_rounds = |rounds: usize| {
        (0..rounds * 8 * 5).for_each(|_| drop(life.tick()));
        copies(&scenario)
    };
    let settled = after_rounds(3);
    assert_eq!(after_rounds(6), settled);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_copy_in_use_is_copied_again() {
    let scenario = Scenario::new(&options());
    let mut life = scenario.runner();
    life.tick();
    let guest = &cluster(&scenario, "guest-payments").sim;
    let key = format!("{COPIES}/keycloak-console");
    let before = guest.object("v1", "Secret", &key).unwrap();
    let path = format!("/api/v1/namespaces/{COPIES}/secrets/keycloak-console");
    let request = crate::Request::new(http::Method::DELETE, &path, "");
    guest.with(|server, now| drop(server.handle(now, &request)));
    assert!(guest.object("v1", "Secret", &key).is_err());
    life.tick();
    let after = guest.object("v1", "Secret", &key).unwrap();
    assert_eq!(after["data"], before["data"]);
    assert_eq!(after["metadata"]["labels"], before["metadata"]["labels"]);
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_orphan_is_not_copied_again() {
    let scenario = Scenario::new(&options());
    let mut life = scenario.runner();
    let guest = &cluster(&scenario, "guest-payments").sim;
    let key = format!("{COPIES}/ext-auth-console");
    guest.remove("v1", "Secret", &key).unwrap();
    (0..4).for_each(|_| drop(life.tick()));
    assert!(guest.object("v1", "Secret", &key).is_err());
}

#[tokio::test(start_paused = true)]
async fn clusters_fail_as_the_scenario_configures_them() {
    let scenario = Scenario::new(&options());
    let refused = get(cluster(&scenario, "guest-old"), "/version").await.unwrap_err();
    assert!(
        matches!(&refused, NotReached::Refused(error) if error.kind() == std::io::ErrorKind::ConnectionRefused),
        "{refused:?}"
    );
    let forbidden =
        get(cluster(&scenario, "guest-audit"), "/api/v1/namespaces/openshift-config/secrets").await.unwrap();
    assert_eq!(forbidden.0, StatusCode::FORBIDDEN);
    let shown = get(cluster(&scenario, "guest-audit"), "/api/v1/namespaces/openshift-config/configmaps").await.unwrap();
    assert_eq!(shown.0, StatusCode::OK);
    let mut life = scenario.runner();
    while !matches!(life.tick(), Some(ScenarioEvent::ConnectionLost { .. })) {}
    let lost = get(cluster(&scenario, "guest-ledger"), "/version").await.unwrap_err();
    assert!(matches!(lost, NotReached::Lost(_)), "{lost:?}");
    while !matches!(life.tick(), Some(ScenarioEvent::ConnectionBack { .. })) {}
    assert_eq!(get(cluster(&scenario, "guest-ledger"), "/version").await.unwrap().0, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_guest_is_found_by_its_hosted_cluster_and_by_its_kubeconfig() {
    let scenario = Scenario::new(&options());
    let by_role = scenario.guest("mgmt-eu", "clusters", "guest-payments").unwrap();
    assert_eq!(by_role.name, "guest-payments");
    assert!(scenario.guest("mgmt-us", "clusters", "guest-payments").is_none());
    let server = kubeconfig_server(&scenario, "mgmt-eu", "guest-payments");
    assert_eq!(scenario.at(&server).unwrap().name, "guest-payments");
}

/// Returns the server in a guest's admin kubeconfig.
fn kubeconfig_server(scenario: &Scenario, management: &str, guest: &str) -> String {
    use base64::Engine as _;
    let key = format!("clusters/{guest}-admin-kubeconfig");
    let secret = cluster(scenario, management).sim.object("v1", "Secret", &key).unwrap();
    let text = secret["data"]["kubeconfig"].as_str().unwrap();
    let text = String::from_utf8(base64::engine::general_purpose::STANDARD.decode(text).unwrap()).unwrap();
    text.lines().find_map(|line| line.trim().strip_prefix("server: ")).unwrap().to_owned()
}

#[tokio::test]
async fn a_served_scenario_removes_its_private_kubeconfig_on_drop() {
    let parent = tempfile::tempdir().unwrap();
    let mut scenario = Scenario::new(&options());
    let served = serve(&mut scenario, "127.0.0.1:0".parse().unwrap(), parent.path()).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&served.kubeconfig), 0o600);
    assert_eq!(mode(served.kubeconfig.parent().unwrap()), 0o700);
    let text = std::fs::read_to_string(&served.kubeconfig).unwrap();
    let contexts: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("cluster: ")).collect();
    let open: Vec<&str> =
        scenario.clusters.iter().filter(|one| one.reach == Reach::Open).map(|one| one.name.as_str()).collect();
    assert_eq!(contexts, open);
    assert!(!contexts.contains(&"guest-old"));
    drop(served);
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_scenario_that_is_not_served_on_loopback_has_a_config_that_allows_its_guests() {
    let parent = tempfile::tempdir().unwrap();
    let mut scenario = Scenario::new(&options());
    let served = serve(&mut scenario, "127.0.0.1:0".parse().unwrap(), parent.path()).await.unwrap();
    assert_eq!(served.config, None);
    let served = serve(&mut scenario, "0.0.0.0:0".parse().unwrap(), parent.path()).await.unwrap();
    let path = served.config.as_ref().unwrap();
    assert_eq!(path.parent(), served.kubeconfig.parent());
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("\"guest-payments\" = [\"http\", \"loopback\"]\n"), "{text}");
}

#[tokio::test]
async fn served_guests_listen_at_the_address_in_their_kubeconfig() {
    let parent = tempfile::tempdir().unwrap();
    let mut scenario = Scenario::new(&options());
    let served = serve(&mut scenario, "127.0.0.1:0".parse().unwrap(), parent.path()).await.unwrap();
    let address = |name: &str| served.clusters.iter().find(|(one, _)| one == name).map(|(_, address)| *address);
    let server = kubeconfig_server(&scenario, "mgmt-eu", "guest-payments");
    assert_eq!(server, format!("http://{}", address("guest-payments").unwrap()));
    tokio::net::TcpStream::connect(address("guest-payments").unwrap()).await.unwrap();
    assert_eq!(address("guest-old"), None);
    let closed = kubeconfig_server(&scenario, "mgmt-eu", "guest-old");
    let error = tokio::net::TcpStream::connect(closed.strip_prefix("http://").unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
}

/// Writes a shape to a field of every object of a kind, as `kubectl replace` can. Fields that are not there are made.
async fn store_everywhere(
    scenario: &Scenario,
    (path, version, kind): (&str, &str, &str),
    field: &[&str],
    shape: &Value,
) {
    for cluster in scenario.clusters.iter().filter(|cluster| cluster.reach == Reach::Open) {
        let (status, body) = get(cluster, path).await.unwrap();
        if status != StatusCode::OK {
            continue;
        }
        let list: Value = serde_json::from_slice(&body).unwrap();
        for item in list["items"].as_array().unwrap() {
            let text = |name: &str| item["metadata"][name].as_str();
            let name = text("name").unwrap();
            let key = text("namespace").map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
            let change = |object: &mut Value| *super::objects::field_mut(object, field) = shape.clone();
            cluster.sim.edit(version, kind, &key, change).unwrap();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_demo_runs_on_whatever_shape_users_store_in_its_objects() {
    let hosted = "hypershift.openshift.io/v1beta1";
    let hosted_clusters = ("/apis/hypershift.openshift.io/v1beta1/hostedclusters", hosted, "HostedCluster");
    let planes = ("/apis/hypershift.openshift.io/v1beta1/hostedcontrolplanes", hosted, "HostedControlPlane");
    let configs = "config.openshift.io/v1";
    let authentications = ("/apis/config.openshift.io/v1/authentications", configs, "Authentication");
    let servers = ("/apis/operator.openshift.io/v1/kubeapiservers", "operator.openshift.io/v1", "KubeAPIServer");
    let machines = ("/apis/machine.openshift.io/v1beta1/machinesets", "machine.openshift.io/v1beta1", "MachineSet");
    let cases: [(_, &[&str]); 14] = [
        (hosted_clusters, &["spec"]),
        (hosted_clusters, &["spec", "configuration"]),
        (hosted_clusters, &["spec", "configuration", "authentication"]),
        (hosted_clusters, &["spec", "configuration", "authentication", "oidcProviders"]),
        (hosted_clusters, &["status"]),
        (planes, &["spec"]),
        (planes, &["spec", "configuration"]),
        (planes, &["status"]),
        (authentications, &["spec"]),
        (authentications, &["spec", "oidcProviders"]),
        (authentications, &["status"]),
        (servers, &["status", "latestAvailableRevision"]),
        (servers, &["status", "nodeStatuses"]),
        (machines, &["spec"]),
    ];
    let shapes = [Value::Null, json!("x"), json!(i64::MAX), json!([]), json!(["x"]), json!([{ "issuer": 5 }])];
    for (kind, field) in cases {
        for shape in &shapes {
            let scenario = Scenario::new(&ScenarioOptions { guests_more: 0, objects_more: 0, ..options() });
            let mut runner = scenario.runner();
            store_everywhere(&scenario, kind, field, shape).await;
            // Every operator and every event comes twice.
            (0..2 * 8 * 5).for_each(|_| drop(runner.tick()));
        }
    }
}
