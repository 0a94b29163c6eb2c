//! Kubeconfigs on a real API server under a watch: the effect of one event, and dry runs without effect.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use trueup_checks::kubeconfig::Kubeconfigs;
use trueup_core::decode::Digester;
use trueup_core::engine::executor::{
    BackupsThere, ClusterPort, Clusters, DryRunPorts, DryRunResult, ExecutorClock, dry_run,
};
use trueup_core::engine::journal::Answer;
use trueup_core::engine::{Action, Plan};
use trueup_core::world::{ClusterName, ClusterSource, RiskClass};
use trueup_fleet::connect::{
    Connector as _, Env, Impersonation, Kubeconfig, KubeconfigConnector, Places, PluginPolicy,
};
use trueup_fleet::kube_cluster::KubeCluster;
use trueup_fleet::live::{Guest, GuestResolver, LIVE_MAX, Live, LiveSetup, Member, Settled};
use trueup_fleet::observe::{Ports, ProcessJitter, WallClock};

use super::renewal::{MINUTE, Workload, Workloads, action, get, merge, plan};
use crate::support::canaries::Canaries;
use crate::support::http::Request;

const PATIENCE: Duration = Duration::from_secs(60);

struct NoGuests;

impl GuestResolver for NoGuests {
    fn member(&self, guest: &Guest, _: &trueup_fleet::connect::Connection) -> Member {
        panic!("a cluster without HostedClusters has no guest {guest:?}")
    }
}

fn connector(workloads: &Workloads) -> KubeconfigConnector {
    let env = Env::new(Vec::<(String, String)>::new());
    let places = Places::new(Some(workloads.server.kubeconfig()), &env);
    let access = Kubeconfig::read(&places).unwrap().access("admin").unwrap();
    KubeconfigConnector::new(access, Impersonation::default(), env, &PluginPolicy::Any, Arc::new(Timestamp::now))
}

fn watch(workloads: &Workloads) -> Live {
    let member = Member {
        name: ClusterName::new("mgmt"),
        class: RiskClass::Dev,
        source: ClusterSource::Kubeconfig { context: "admin".to_owned() },
        hosted_by: None,
        connector: Arc::new(connector(workloads)),
        namespaces: Vec::new(),
    };
    Live::new(LiveSetup {
        domains: vec![Box::new(Kubeconfigs::default())],
        members: vec![member],
        resolver: Box::new(NoGuests),
        ports: Ports::new(Arc::new(WallClock), Arc::new(ProcessJitter), Digester::new(&[1; 32])),
        live_max: LIVE_MAX,
    })
}

/// Everything that is said of a kubeconfig from now on, until this is. What was known before may be said once more first: it
/// was judged while the loop settled.
async fn said_until(live: &mut Live, name: &str, before: &str, last: &str) -> Vec<&'static str> {
    let mut said = Vec::new();
    let waited = tokio::time::timeout(PATIENCE, async {
        while said.last() != Some(&last) {
            let update = live.step().await;
            let own = update.findings.iter().filter(|(subject, _)| subject.name == name);
            said.extend(own.filter_map(|(_, held)| held.as_ref()).map(|held| held.judgement.verdict));
        }
    });
    assert!(waited.await.is_ok(), "never {last}: {said:?}");
    said.into_iter().skip_while(|verdict| *verdict == before).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_source_is_a_finding_after_one_event() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, mut canaries) = (workloads.at(), Canaries::default());
    let demo = Workload::new("watched", "demo-watched");
    demo.make(&at).await;
    let old = demo.kubeconfig(MINUTE * 3, &mut canaries);
    demo.make_source(&at, &old).await;
    demo.make_target(&at, &old).await;
    let mut live = watch(workloads);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    let held = |live: &Live| {
        let mut all = live.judgements().iter().filter(|(subject, _)| subject.name == demo.target());
        all.next().map(|(_, held)| held.judgement.verdict)
    };
    assert_eq!(held(&live), Some("fresh"));

    let fresh = demo.kubeconfig(SignedDuration::ZERO, &mut canaries);
    merge(&at, &demo.source_path(), json!({"stringData": {"kubeconfig": fresh}})).await;
    let began = Instant::now();
    let said = said_until(&mut live, &demo.target(), "fresh", "behind-source").await;
    println!("a changed source is a finding after {:?}", began.elapsed());
    assert_eq!(said, ["behind-source"], "nothing is said in between");

    merge(&at, &demo.target_path(), json!({"stringData": {"value": fresh}})).await;
    assert_eq!(said_until(&mut live, &demo.target(), "behind-source", "fresh").await, ["fresh"]);
}

struct RealTime;

impl ExecutorClock for RealTime {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(span))
    }
}

async fn tried(workloads: &Workloads, plan: &Plan, action: &Action) -> DryRunResult {
    let client = connector(workloads).connect().await.unwrap().client;
    let source: Arc<dyn ClusterPort> = Arc::new(KubeCluster::new(client.clone()));
    let clusters = Clusters::from([(action.cluster.clone(), source)]);
    let ports = DryRunPorts { clusters: &clusters, vault: &BackupsThere(None), clock: &RealTime };
    dry_run(&KubeCluster::new(client), &plan.id, action, ports).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_can_be_dry_run_without_effect() {
    let Some(workloads) = Workloads::shared().await else { return };
    let (at, desk, mut canaries) = (workloads.at(), workloads.desk(), Canaries::default());
    let demo = Workload::new("rehearsed", "demo-rehearsed");
    demo.make(&at).await;
    demo.make_source(&at, &demo.kubeconfig(MINUTE, &mut canaries)).await;
    demo.make_target(&at, &demo.kubeconfig(MINUTE * 20, &mut canaries)).await;
    let before = get(&at, &demo.target_path()).await;
    let (update, _, _) = plan(&desk, &demo);
    let rehearsal = tried(workloads, &update, action(&update, &demo).unwrap()).await;
    assert!(
        matches!(&rehearsal, DryRunResult::Answered(reply) if reply.answer == Answer::Done),
        "update: {rehearsal:?}"
    );
    assert_eq!(get(&at, &demo.target_path()).await, before);

    let gone = Request::new(Method::DELETE, demo.target_path());
    assert_eq!(at.send(&gone).await.unwrap().status, 200);
    let (create, _, _) = plan(&desk, &demo);
    let making = action(&create, &demo).unwrap();
    assert_eq!(making.verb().as_str(), "create");
    let rehearsal = tried(workloads, &create, making).await;
    assert!(
        matches!(&rehearsal, DryRunResult::Answered(reply) if reply.answer == Answer::Done),
        "create: {rehearsal:?}"
    );
    assert_eq!(at.send(&Request::get(demo.target_path())).await.unwrap().status, 404);

    merge(&at, &demo.source_path(), json!({"metadata": {"labels": {"moved": "on"}}})).await;
    let rehearsal = tried(workloads, &create, making).await;
    assert!(matches!(&rehearsal, DryRunResult::NotSent(end) if end.why().contains("changed since")), "{rehearsal:?}");
    canaries.assert_absent("the result", format!("{rehearsal:?}").as_bytes());
}
