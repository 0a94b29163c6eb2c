//! The observer and the loop against a real kube-apiserver: what tests on the simulated one take for granted.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;
use trueup_checks::testing::NoSubjects;
use trueup_checks::{Check, Pass, Touched};
use trueup_core::decode::Digester;
use trueup_core::engine::CheckName;
use trueup_core::world::{
    ChangeSet, Cluster, ClusterName, ClusterSource, CollectionId, Completeness, Fact, GapCause, Interest, Interner,
    Key, Link, Misfit, RawObject, Resource, RiskClass, Served, View,
};
use trueup_fleet::connect::{Env, Impersonation, Kubeconfig, KubeconfigConnector, Places, PluginPolicy};
use trueup_fleet::live::{Guest, GuestResolver, LIVE_MAX, Live, LiveSetup, Member, Settled};
use trueup_fleet::observe::{Ports, ProcessJitter, WallClock};

use crate::support::http::Request;
use crate::support::real::{Connection, RealServer, User};

const PATIENCE: Duration = Duration::from_secs(60);
const CONFIG_MAPS: Resource =
    Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const SECRETS: Resource = Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };

/// The keys of an object's data, and its version.
#[derive(Debug, Clone, PartialEq)]
struct Keys {
    keys: Vec<String>,
    version: String,
}

impl Fact for Keys {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let keys = raw.data.iter().map(|entry| entry.key.to_string()).collect();
        Ok(Self { keys, version: raw.meta.resource_version.to_string() })
    }
}

/// A check that only wants to see things.
struct Looking(Vec<Interest>);

impl Check for Looking {
    fn name(&self) -> CheckName {
        CheckName("looking")
    }

    fn interests_of(&self, cluster: &Cluster, _: View<'_>) -> Vec<Interest> {
        self.0.iter().filter(|interest| interest.id.cluster == cluster.name).cloned().collect()
    }

    fn interested(&self, changes: &ChangeSet, _: View<'_>) -> BTreeSet<ClusterName> {
        changes.iter().map(|change| change.cluster().clone()).collect()
    }

    fn touched(&self, _: &ChangeSet, _: View<'_>) -> Touched {
        Touched::default()
    }

    fn pass<'a>(&'a self, _: View<'a>) -> Box<dyn Pass + 'a> {
        Box::new(NoSubjects)
    }
}

struct NoGuests;

impl GuestResolver for NoGuests {
    fn member(&self, guest: &Guest, _: &trueup_fleet::connect::Connection) -> Member {
        panic!("a cluster without HostedClusters has no guest {guest:?}")
    }
}

fn live(kubeconfig: &Path, context: &str, interests: Vec<Interest>) -> Live {
    let env = Env::new(Vec::<(String, String)>::new());
    let access = Kubeconfig::read(&Places::new(Some(kubeconfig), &env)).unwrap().access(context).unwrap();
    let connector =
        KubeconfigConnector::new(access, Impersonation::default(), env, &PluginPolicy::Any, Arc::new(Timestamp::now));
    let member = Member {
        name: cluster(),
        class: RiskClass::Dev,
        source: ClusterSource::Kubeconfig { context: context.to_owned() },
        hosted_by: None,
        connector: Arc::new(connector),
        namespaces: Vec::new(),
    };
    Live::new(LiveSetup {
        domains: vec![Box::new(Looking(interests))],
        members: vec![member],
        resolver: Box::new(NoGuests),
        ports: Ports::new(Arc::new(WallClock), Arc::new(ProcessJitter), Digester::new(&[1; 32])),
        live_max: LIVE_MAX,
    })
}

fn cluster() -> ClusterName {
    ClusterName::new("real")
}

async fn create(connection: &Connection, namespace: &str, plural: &str, object: serde_json::Value) {
    let path = format!("/api/v1/namespaces/{namespace}/{plural}");
    let answer = connection.send(&Request::post(path, object)).await.unwrap();
    assert_eq!(answer.status, 201, "{}", answer.body);
}

async fn until(live: &mut Live, what: &str, reached: impl Fn(View<'_>) -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !reached(live.view()) {
            live.step().await;
        }
    });
    assert!(waited.await.is_ok(), "never {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_is_listed_in_pages_and_watched() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let admin = server.connect(User::Admin);
    let namespace = admin.fresh_namespace().await;
    for count in 0..520 {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{count}")}, "data": {"a": "b"}});
        create(&admin, &namespace, "configmaps", object).await;
    }
    let id = CollectionId::namespaced(&cluster(), CONFIG_MAPS, &namespace);
    let mut live = live(server.kubeconfig(), "admin", vec![id.clone().interest::<Keys>()]);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    let known = live.view().cluster(&cluster()).unwrap().clone();
    assert!(matches!(known.link, Link::Live { .. }), "{:?}", known.link);
    assert!(matches!(known.served, Served::Complete(_)), "{:?}", known.served);
    assert!(!known.identity.kube_system_uid.is_empty());
    let listed = live.view().read::<Keys>(&id);
    let first = listed.get(&Key::new(Some(&namespace), "m0")).present().cloned().unwrap();
    assert!(listed.is_complete() && listed.iter().count() >= 520, "{:?}", listed.gap());
    assert_eq!(first.keys, ["a"]);

    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}});
    create(&admin, &namespace, "configmaps", object).await;
    let late = Key::new(Some(&namespace), "late");
    until(&mut live, "added", |view| view.read::<Keys>(&id).get(&late).present().is_some()).await;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/late");
    admin.send(&Request::new(http::Method::DELETE, path)).await.unwrap();
    until(&mut live, "gone", |view| view.read::<Keys>(&id).get(&late).is_proven_absent()).await;

    live.resync();
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert!(live.view().read::<Keys>(&id).is_complete(), "a second list is not older than the watch");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_sends_metadata_only_and_objects_by_name() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let admin = server.connect(User::Admin);
    let namespace = admin.fresh_namespace().await;
    let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "v"}});
    create(&admin, &namespace, "secrets", object).await;
    let all = CollectionId::namespaced(&cluster(), SECRETS, &namespace).metadata();
    let one = CollectionId::object(&cluster(), SECRETS, Some(&namespace), "s");
    let none = CollectionId::object(&cluster(), SECRETS, Some(&namespace), "nobody");
    let interests = [&all, &one, &none].map(|id| id.clone().interest::<Keys>());
    let mut live = live(server.kubeconfig(), "admin", interests.to_vec());
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    let view = live.view();
    let key = Key::new(Some(&namespace), "s");
    let keys = |id| view.read::<Keys>(id).get(&key).present().map(|fact| fact.keys.clone());
    assert_eq!(keys(&all), Some(Vec::new()));
    assert_eq!(keys(&one), Some(vec!["k".to_owned()]));
    let missing = view.read::<Keys>(&none);
    assert!(matches!(missing.completeness(), Some(Completeness::Unknown { .. })), "{:?}", missing.completeness());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_that_refuses_leaves_everything_unknown() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let id = CollectionId::all(&cluster(), SECRETS);
    let mut live = live(server.kubeconfig(), "nobody", vec![id.clone().interest::<Keys>()]);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    let gap = live.view().read::<Keys>(&id).gap().unwrap();
    assert_eq!(gap.cause, GapCause::Forbidden, "{gap}");
    assert!(gap.message.contains("listing v1/secrets in all namespaces"), "{gap}");
}
