//! Tests of the real kube client on the simulated cluster, in virtual time.

#![expect(clippy::disallowed_methods, reason = "the test measures real time")]

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;
use tokio::time::{Duration, Instant, timeout};

use super::{Fault, FaultAction, Matcher, ResourceKind, SimCluster, SimOptions, Verb};
use super::{Identity, listen, listen_with_tokens};

fn cluster() -> SimCluster {
    let start = "2026-01-02T03:04:05Z".parse().expect("a fixed time parses");
    SimCluster::new(SimOptions { name: "hub".into(), seed: 1, start })
}

fn widgets(cluster: &SimCluster) -> Api<DynamicObject> {
    cluster.register(ResourceKind::custom("example.com/v1", "Widget", "widgets").with_status());
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    Api::namespaced_with(cluster.client(), "default", &kind)
}

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": name }, "data": { "x": "1" } })).expect("a valid object")
}

#[tokio::test(start_paused = true)]
async fn the_real_client_creates_lists_patches_and_deletes() {
    let cluster = cluster();
    let api: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    let created = api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert!(created.metadata.uid.is_some());
    let patch = Patch::Merge(json!({ "data": { "y": "2" } }));
    let patched = api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(patched.data.map(|data| data.len()), Some(2));
    let list = api.list(&ListParams::default()).await.unwrap();
    assert_eq!(list.items.len(), 2, "with the root certificate");
    api.delete("a", &DeleteParams::default()).await.unwrap();
    let gone = api.get("a").await.unwrap_err();
    assert!(matches!(&gone, kube::Error::Api(status) if status.is_not_found()), "{gone}");
    let secrets: Api<Secret> = Api::all(cluster.client());
    assert_eq!(secrets.list(&ListParams::default()).await.unwrap().items.len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_watch_receives_changes_and_bookmarks_in_virtual_time() {
    let cluster = cluster();
    let api = widgets(&cluster);
    let began = Instant::now();
    let params = WatchParams::default().timeout(200);
    let mut events = api.watch(&params, "0").await.unwrap().boxed();
    cluster
        .seed(json!({ "apiVersion": "example.com/v1", "kind": "Widget", "metadata": { "name": "w", "namespace": "default" } }))
        .unwrap();
    let added = events.try_next().await.unwrap();
    assert!(
        matches!(&added, Some(WatchEvent::Added(object)) if object.metadata.name.as_deref() == Some("w")),
        "{added:?}"
    );
    assert_eq!(began.elapsed(), Duration::ZERO, "an event does not wait for a clock");
    let mark = events.try_next().await.unwrap();
    assert!(matches!(mark, Some(WatchEvent::Bookmark(_))), "{mark:?}");
    assert_eq!(began.elapsed().as_secs(), 60);
    while events.try_next().await.unwrap().is_some() {}
    assert_eq!(began.elapsed().as_secs(), 200, "the stream ends at its announced timeout");
    assert_eq!(cluster.with(|server, _| server.open_watches()), 0);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_stream_closes_the_watch() {
    let cluster = cluster();
    let api: Api<ConfigMap> = Api::all(cluster.client());
    let mut events = api.watch(&WatchParams::default(), "0").await.unwrap().boxed();
    events.try_next().await.unwrap();
    assert_eq!(cluster.with(|server, _| server.open_watches()), 1);
    drop(events);
    assert_eq!(cluster.with(|server, _| server.open_watches()), 0);
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_is_an_error_after_the_write() {
    let cluster = cluster();
    let api: Api<ConfigMap> = Api::namespaced(cluster.client(), "default");
    cluster.fault(Fault::once(Matcher::of("configmaps").verb(Verb::Create), FaultAction::ReplyLost));
    let lost = api.create(&PostParams::default(), &config_map("a")).await.unwrap_err();
    assert!(!matches!(lost, kube::Error::Api(_)), "{lost}");
    assert!(api.get("a").await.is_ok(), "the write was carried out");
}

#[tokio::test(start_paused = true)]
async fn a_truncated_response_and_an_html_page_are_not_read_as_lists() {
    let cluster = cluster();
    let api: Api<ConfigMap> = Api::all(cluster.client());
    for action in [FaultAction::Truncate { bytes: 40 }, FaultAction::Html] {
        cluster.fault(Fault::once(Matcher::of("configmaps"), action.clone()));
        let list = api.list(&ListParams::default()).await;
        assert!(list.is_err(), "{action:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stall_lasts_as_long_as_the_client_waits() {
    let cluster = cluster();
    let api: Api<ConfigMap> = Api::all(cluster.client());
    cluster.fault(Fault::once(Matcher::any(), FaultAction::Stall));
    let began = Instant::now();
    let waited = timeout(Duration::from_secs(30), api.list(&ListParams::default())).await;
    assert!(waited.is_err());
    assert_eq!(began.elapsed().as_secs(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_client_of_another_user_has_only_that_users_rights() {
    let cluster = cluster();
    cluster.rbac(|rbac| {
        rbac.restrict("nobody");
    });
    let api: Api<Secret> = Api::all(cluster.client_as("nobody", &[]));
    let refused = api.list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 403), "{refused}");
    let user = cluster.request_log().pop().map(|line| line.user);
    assert_eq!(user.as_deref(), Some("nobody"));
}

/// A client over a socket, with an optional bearer token.
fn visitor(address: SocketAddr, token: Option<&str>) -> kube::Client {
    let mut config = kube::Config::new(format!("http://{address}").parse().expect("a valid address"));
    config.auth_info.token = token.map(|token| token.to_owned().into());
    kube::Client::try_from(config).expect("a plain client needs nothing")
}

#[tokio::test]
async fn clusters_on_ports_serve_clients_side_by_side() {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (hub, edge) = (cluster(), cluster());
    let listening = listen(any, vec![("hub".into(), hub.clone()), ("edge".into(), edge)]).await.unwrap();
    let [(_, hub_at), (_, edge_at)] = listening.clusters[..] else { panic!("two clusters, two ports") };
    let maps = |at| Api::<ConfigMap>::namespaced(visitor(at, None), "default");
    let mut events = maps(hub_at).watch(&WatchParams::default(), "0").await.unwrap().boxed();
    maps(hub_at).create(&PostParams::default(), &config_map("a")).await.unwrap();
    let mut names = Vec::new();
    while names.len() < 2 {
        if let Some(WatchEvent::Added(object)) = events.try_next().await.unwrap() {
            names.extend(object.metadata.name);
        }
    }
    assert_eq!(names, ["kube-root-ca.crt", "a"]);
    assert!(maps(edge_at).get("a").await.is_err(), "the other cluster has no such object");
    assert!(listening.kubeconfig().contains(&format!("server: http://{hub_at}")));
}

#[tokio::test]
async fn a_token_selects_the_identity_and_an_unknown_token_is_rejected() {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let cluster = cluster();
    let tokens = BTreeMap::from([("t0k".to_owned(), Identity::new("guest", &[]))]);
    let listening = listen_with_tokens(any, vec![("hub".into(), cluster.clone())], tokens).await.unwrap();
    let at = listening.clusters[0].1;
    let list = async |token| Api::<ConfigMap>::all(visitor(at, Some(token))).list(&ListParams::default()).await;
    assert!(list("t0k").await.is_ok());
    assert_eq!(cluster.request_log().pop().map(|line| line.user).as_deref(), Some("guest"));
    let refused = list("other").await.unwrap_err();
    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 401), "{refused}");
}
