//! The loop on simulated clusters, in paused time.

mod accounts;
mod aws_failures;
mod budgets;
mod clocks;
mod deletes;
mod kubeconfig;
mod lists;
mod powervs;
mod scale;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::*;
use crate::connect::{Connection, Connector, FixedConnector, LinkError};
use crate::observe::{Clock, Jitter, Ports, WatchStart};
use trueup_checks::judgements::Judgements;
use trueup_checks::{Check, CheckDescription, CheckRules, ContextCache, Ruled, Touched};
use trueup_core::decode::Digester;
use trueup_core::decode::{DataSort, Reader};
use trueup_core::engine::{CheckName, Explanation, Judgement, State, SubjectId};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterName, ClusterSource, CollectionId, Delta, Fact, FactKind, Gap, GapCause, Interest,
    Interner, Key, Link, Misfit, Namespace, RawObject, Reading, Resource, ResourceVersion, RiskClass, View, World,
};
use trueup_sim::{Fault, FaultAction, GroupFault, Matcher, ResourceKind, Rule, SimCluster, SimOptions, Verb};

const START: &str = "2026-11-16T10:00:00Z";
const PATIENCE: Duration = Duration::from_secs(120);
const CONFIG_MAPS: Resource =
    Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const WIDGETS: Resource =
    Resource { group: "example.org", version: "v1", kind: "Widget", plural: "widgets", namespaced: true };

/// What the test's check keeps of a ConfigMap.
#[derive(Debug, Clone, PartialEq)]
struct Mark {
    drifted: bool,
    until: Option<Timestamp>,
}

impl Fact for Mark {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let until = raw.meta.annotation("until").and_then(|text| text.parse().ok());
        Ok(Self { drifted: raw.meta.label("drifted").is_some(), until })
    }
}

/// A check: ConfigMaps of namespace `watched` must not have the label `drifted`. Widgets are wanted where served.
struct VersionFloor;

fn marks_id(cluster: &ClusterName) -> CollectionId {
    CollectionId::namespaced(cluster, CONFIG_MAPS, "watched")
}

fn subject(cluster: &ClusterName, name: &str) -> SubjectId {
    let (domain, namespace) = (CheckName("marks"), Some("watched".to_owned()));
    SubjectId {
        domain,
        cluster: cluster.clone(),
        api_version: "v1",
        kind: "ConfigMap",
        namespace,
        name: name.to_owned(),
        cloud: None,
    }
}

impl CheckRules for VersionFloor {
    type Fleet<'a> = ();
    type Context<'a> = Reading<'a, Mark>;
    type Subject<'a> = Option<&'a Mark>;
    type Ruling<'a> = (State, &'static str, Option<Timestamp>);

    const NAME: CheckName = CheckName("marks");
    const DESCRIPTION: CheckDescription = CheckDescription::named("marks");

    fn interests_of(&self, cluster: &Cluster, _: View<'_>) -> Vec<Interest> {
        let mut wanted = vec![marks_id(&cluster.name).interest::<Mark>()];
        if !cluster.served.lacks(&WIDGETS) {
            wanted.push(CollectionId::all(&cluster.name, WIDGETS).interest::<Mark>());
        }
        wanted
    }

    fn touched(&self, changes: &ChangeSet, _: View<'_>) -> Touched {
        let clusters = changes.iter().map(|change| change.cluster().clone()).collect();
        Touched { clusters, ..Touched::default() }
    }

    fn fleet<'a>(&'a self, _: View<'a>) {}

    fn context<'a>(&'a self, cluster: &ClusterName, view: View<'a>, (): &()) -> Option<Reading<'a, Mark>> {
        view.cluster(cluster).map(|_| view.read(&marks_id(cluster)))
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        let Some(marks) = contexts.of(cluster) else { return BTreeSet::new() };
        let names = marks.iter().map(|(key, _)| subject(cluster, key.name.as_str()));
        names.chain(marks.gap().map(|_| subject(cluster, "*"))).collect()
    }

    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<Option<&'a Mark>> {
        let marks = contexts.of(&id.cluster)?;
        let mark = marks.iter().find(|(key, _)| key.name.as_str() == id.name).map(|(_, mark)| mark);
        (mark.is_some() || (id.name == "*" && marks.gap().is_some())).then_some(mark)
    }

    fn rule<'a>(
        &'a self,
        _: &SubjectId,
        mark: &Option<&'a Mark>,
        contexts: &ContextCache<'a, Self>,
    ) -> Option<Self::Ruling<'a>> {
        let Some(mark) = mark else { return Some((State::Unknown, "unknown", None)) };
        let until = mark.until.filter(|until| *until > contexts.view.now);
        let expired = mark.until.is_some() && until.is_none();
        Some((if mark.drifted || expired { State::Drift } else { State::Match }, "present", until))
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let (state, verdict, until) = ruled.ruling;
        Judgement { state, verdict, codes: Vec::new(), ownership_proofs: 0, until }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        let (expected, actual) = (json!({}), json!({}));
        let (summary, evidence, remedy) = (ruled.ruling.1.to_owned(), Vec::new(), Vec::new());
        Explanation { uid: None, created: None, summary, expected, actual, evidence, remedy }
    }
}

struct PausedClock(tokio::time::Instant);

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        START.parse::<Timestamp>().unwrap() + jiff::SignedDuration::try_from(self.0.elapsed()).unwrap()
    }
}

struct FixedJitter;

impl Jitter for FixedJitter {
    fn fraction(&self) -> f64 {
        0.5
    }
}

/// Guests by name.
#[derive(Clone, Default)]
struct Guests(BTreeMap<String, SimCluster>);

impl GuestResolver for Guests {
    fn member(&self, guest: &Guest, _: &Connection) -> Member {
        let sim = &self.0[guest.hosted_by.name.as_str()];
        Member {
            name: guest.name.clone(),
            class: RiskClass::Dev,
            source: ClusterSource::Hosted { by: guest.hosted_by.cluster.clone() },
            hosted_by: Some(guest.hosted_by.clone()),
            connector: Arc::new(FixedConnector(sim.client())),
            namespaces: Vec::new(),
        }
    }
}

/// A connector that hands out its clients one after the other, and the last one again and again.
struct InTurn {
    clients: Vec<kube::Client>,
    calls: AtomicUsize,
}

impl Connector for InTurn {
    fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed).min(self.clients.len() - 1);
        let client = self.clients[call].clone();
        Box::pin(async move { FixedConnector(client).connect().await })
    }
}

fn cluster(name: &str, seed: u64) -> SimCluster {
    let sim = SimCluster::new(SimOptions { name: name.to_owned(), seed, start: START.parse().unwrap() });
    sim.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "watched"}})).unwrap();
    sim
}

fn management(guests: &[&str]) -> SimCluster {
    let sim = cluster("mgmt", 1);
    sim.register(
        ResourceKind::custom("hypershift.openshift.io/v1beta1", "HostedCluster", "hostedclusters").with_status(),
    );
    sim.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters"}})).unwrap();
    for name in guests {
        sim.seed(json!({
            "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedCluster",
            "metadata": {"name": name, "namespace": "clusters"},
            "status": {"kubeconfig": {"name": format!("{name}-admin-kubeconfig")}},
        }))
        .unwrap();
    }
    sim
}

fn put(sim: &SimCluster, name: &str, labels: serde_json::Value) {
    let metadata = json!({"name": name, "namespace": "watched", "labels": labels});
    sim.seed(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})).unwrap();
}

fn member(name: &str, connector: impl Connector + 'static) -> Member {
    Member {
        name: ClusterName::new(name),
        class: RiskClass::Prod,
        source: ClusterSource::Kubeconfig { context: name.to_owned() },
        hosted_by: None,
        connector: Arc::new(connector),
        namespaces: Vec::new(),
    }
}

fn live(members: Vec<Member>, guests: Guests, live_max: usize) -> Live {
    let ports =
        Ports::new(Arc::new(PausedClock(tokio::time::Instant::now())), Arc::new(FixedJitter), Digester::new(&[5; 32]));
    Live::new(LiveSetup { domains: vec![Box::new(VersionFloor)], members, resolver: Box::new(guests), ports, live_max })
}

/// One cluster whose lists are watched on request.
fn read_once(sim: &SimCluster) -> Live {
    let ports =
        Ports::new(Arc::new(PausedClock(tokio::time::Instant::now())), Arc::new(FixedJitter), Digester::new(&[5; 32]))
            .with_watches(WatchStart::OnRequest);
    let members = vec![member("c", FixedConnector(sim.client()))];
    let domains: Vec<Box<dyn Check>> = vec![Box::new(VersionFloor)];
    Live::new(LiveSetup { domains, members, resolver: Box::new(Guests::default()), ports, live_max: LIVE_MAX })
}

fn alone(sim: &SimCluster) -> Live {
    live(vec![member("c", FixedConnector(sim.client()))], Guests::default(), LIVE_MAX)
}

/// `cluster/name state` of every finding.
fn findings(live: &Live) -> Vec<String> {
    let all = live.judgements().iter();
    all.map(|(subject, held)| format!("{}/{} {}", subject.cluster, subject.name, held.judgement.state.as_str()))
        .collect()
}

async fn until(live: &mut Live, what: &str, reached: impl Fn(&Live) -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(3600), async {
        while !reached(live) {
            live.step().await;
        }
    });
    assert!(waited.await.is_ok(), "never {what}: {:?}", findings(live));
}

fn gap_of(live: &Live, cluster: &str) -> Option<(GapCause, String)> {
    let gap = live.view().read::<Mark>(&marks_id(&ClusterName::new(cluster))).gap()?;
    Some((gap.cause, gap.message.to_string()))
}

fn link(live: &Live, cluster: &str) -> Link {
    live.view().cluster(&ClusterName::new(cluster)).unwrap().link.clone()
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_the_next_step_of_the_way_to_a_guest() {
    let (mgmt, guest) = (management(&["guest-a"]), cluster("guest-a", 2));
    put(&guest, "x", json!({}));
    let guests = Guests([("guest-a".to_owned(), guest)].into());
    let mut live = live(vec![member("mgmt", FixedConnector(mgmt.client()))], guests, LIVE_MAX);
    let begun = tokio::time::Instant::now();
    until(&mut live, "judged", |live| findings(live).contains(&"guest-a/x match".to_owned())).await;
    // The servers answer at once, so that all of this is our own waiting.
    assert!(begun.elapsed() < Duration::from_millis(50), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_serves_nothing_of_what_was_asked_is_settled_at_once() {
    let ports =
        Ports::new(Arc::new(PausedClock(tokio::time::Instant::now())), Arc::new(FixedJitter), Digester::new(&[5; 32]));
    let domains: Vec<Box<dyn Check>> = vec![Box::new(trueup_checks::external_oidc::ExternalOidc::default())];
    let members = vec![member("c", FixedConnector(cluster("c", 1).client()))];
    let mut live =
        Live::new(LiveSetup { domains, members, resolver: Box::new(Guests::default()), ports, live_max: LIVE_MAX });
    assert_eq!(live.wait_settled(Duration::from_secs(1)).await, Settled::Yes);
    assert!(matches!(link(&live, "c"), Link::Live { .. }), "{:?}", link(&live, "c"));
}

#[tokio::test(start_paused = true)]
async fn watches_on_request_begin_where_the_lists_ended() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    let watches = || sim.request_log().iter().filter(|logged| logged.target.contains("watch=")).count();
    let mut live = read_once(&sim);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(findings(&live), ["c/x match"]);
    put(&sim, "y", json!({"drifted": "yes"}));
    assert!(
        tokio::time::timeout(Duration::from_secs(60), async { while live.step().await.is_empty() {} }).await.is_err()
    );
    assert_eq!(watches(), 0, "no list was watched");
    live.handle(Command::StartWatches);
    until(&mut live, "the change between list and watch", |live| findings(live).contains(&"c/y drift".to_owned()))
        .await;
    assert!(watches() > 0);
}

#[tokio::test(start_paused = true)]
async fn guests_are_found_judged_and_followed() {
    let (mgmt, guest) = (management(&["guest-a"]), cluster("guest-a", 2));
    put(&guest, "x", json!({}));
    put(&mgmt, "m", json!({"drifted": "yes"}));
    let guests = Guests([("guest-a".to_owned(), guest.clone())].into());
    let mut live = live(vec![member("mgmt", FixedConnector(mgmt.client()))], guests, LIVE_MAX);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(findings(&live), ["guest-a/x match", "mgmt/m drift"]);
    let found = live.view().cluster(&ClusterName::new("guest-a")).unwrap().clone();
    assert!(
        found.hosted_by.is_some() && found.identity.is_known() && matches!(found.link, Link::Live { .. }),
        "{found:?}"
    );

    put(&guest, "x", json!({"drifted": "yes"}));
    until(&mut live, "drifted", |live| findings(live) == ["guest-a/x drift", "mgmt/m drift"]).await;

    mgmt.remove("hypershift.openshift.io/v1beta1", "HostedCluster", "clusters/guest-a").unwrap();
    until(&mut live, "forgotten", |live| findings(live) == ["mgmt/m drift"]).await;
    assert!(live.view().cluster(&ClusterName::new("guest-a")).is_none());
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_an_unknown_that_says_why_and_ends_with_the_fault() {
    let lists = || Matcher::of("configmaps").verb(Verb::List);
    let refuse = |code| FaultAction::Refuse { code, retry_after_seconds: None };
    let cases = [
        ("503", Fault::always(lists(), refuse(503)), GapCause::Unreachable),
        ("html", Fault::always(lists(), FaultAction::Html), GapCause::Unreadable),
        ("breaks off", Fault::always(lists(), FaultAction::Truncate { bytes: 60 }), GapCause::Unreachable),
        ("connection lost", Fault::always(lists(), FaultAction::LostBefore), GapCause::Unreachable),
        ("never answers", Fault::always(lists(), FaultAction::Stall), GapCause::Unreachable),
        ("expired each time", Fault::always(lists(), FaultAction::Expired), GapCause::CutShort),
    ];
    for (case, fault, expected) in cases {
        let sim = cluster("c", 3);
        put(&sim, "x", json!({}));
        sim.fault(fault);
        let mut live = alone(&sim);
        until(&mut live, case, |live| gap_of(live, "c").is_some_and(|(cause, _)| cause == expected)).await;
        assert_eq!(findings(&live), ["c/* unknown"], "case: {case}");
        sim.clear_faults();
        until(&mut live, case, |live| findings(live) == ["c/x match"]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_read_is_unknown_and_named() {
    let sim = cluster("c", 3);
    sim.rbac(|rbac| {
        rbac.deny("admin", Rule::new(&["list", "watch"], "configmaps"));
    });
    let mut live = live(
        vec![Member {
            namespaces: vec![Namespace::new("watched")],
            ..member("c", FixedConnector(sim.client_as("admin", &[])))
        }],
        Guests::default(),
        LIVE_MAX,
    );
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(findings(&live), ["c/* unknown"]);
    let message = "listing v1/configmaps in namespace watched: forbidden (403)";
    assert_eq!(gap_of(&live, "c"), Some((GapCause::Forbidden, message.to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_refused_login_is_tried_once_more_and_then_waits_for_a_person() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    let unknown = || kube::Client::new(sim.service_unauthenticated(), "default");
    let connector = InTurn { clients: vec![unknown(), unknown(), sim.client()], calls: AtomicUsize::new(0) };
    let mut live = live(vec![member("c", connector)], Guests::default(), LIVE_MAX);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert!(matches!(link(&live, "c"), Link::AuthExpired { .. }), "{:?}", link(&live, "c"));
    assert_eq!(gap_of(&live, "c").unwrap().0, GapCause::Unauthorized);
    live.handle(Command::Reconnect(ClusterName::new("c")));
    until(&mut live, "back", |live| findings(live) == ["c/x match"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_cluster_is_unknown_and_recovers() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    sim.fault(Fault::always(Matcher::any(), FaultAction::LostBefore));
    let dead = kube::Client::new(tower::service_fn(refused), "default");
    let connector = InTurn { clients: vec![dead, sim.client()], calls: AtomicUsize::new(0) };
    let mut live = live(vec![member("c", connector)], Guests::default(), LIVE_MAX);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert!(matches!(link(&live, "c"), Link::Degraded { .. }));
    assert_eq!(findings(&live), ["c/* unknown"]);
    assert_eq!(gap_of(&live, "c").unwrap().0, GapCause::Unreachable);
    sim.clear_faults();
    until(&mut live, "back", |live| findings(live) == ["c/x match"]).await;
    assert!(matches!(link(&live, "c"), Link::Live { .. }));
}

async fn refused(
    _: http::Request<kube::client::Body>,
) -> Result<http::Response<http_body_util::Empty<bytes::Bytes>>, std::io::Error> {
    Err(std::io::ErrorKind::ConnectionRefused.into())
}

#[tokio::test(start_paused = true)]
async fn more_guests_than_slots_are_all_judged_and_the_rest_keep_what_was_read() {
    let names = ["g1", "g2", "g3"];
    let mgmt = management(&names);
    let mut guests = Guests::default();
    for (seed, name) in names.iter().enumerate() {
        let sim = cluster(name, 10 + seed as u64);
        put(&sim, "x", json!({}));
        guests.0.insert((*name).to_owned(), sim);
    }
    let mut live = live(vec![member("mgmt", FixedConnector(mgmt.client()))], guests, 1);
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    let busy = |live: &Live| names.map(|name| matches!(link(live, name), Link::Live { .. }));
    assert_eq!(busy(&live), [false, false, true]);
    let (cause, message) = gap_of(&live, "g1").unwrap();
    assert_eq!((cause, message.ends_with("not watched")), (GapCause::NotObserved, true), "{message}");
    assert_eq!(findings(&live), ["g1/* unknown", "g1/x match", "g2/* unknown", "g2/x match", "g3/x match"]);
    live.handle(Command::Need(ClusterName::new("g1")));
    until(&mut live, "g1 live", |live| busy(live) == [true, false, false] && gap_of(live, "g1").is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn a_verdict_changes_when_its_time_comes() {
    let sim = cluster("c", 3);
    let annotations = json!({"until": "2026-11-16T10:20:00Z"});
    let metadata = json!({"name": "x", "namespace": "watched", "annotations": annotations});
    sim.seed(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})).unwrap();
    let mut live = alone(&sim);
    live.wait_settled(PATIENCE).await;
    assert_eq!(findings(&live), ["c/x match"]);
    until(&mut live, "expired", |live| findings(live) == ["c/x drift"]).await;
    let since = live.judgements().get(&subject(&ClusterName::new("c"), "x")).unwrap().since;
    assert_eq!(since, "2026-11-16T10:20:00Z".parse().unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_verdict_holds_only_from_look_to_look() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({"drifted": "yes"}));
    let mut live = alone(&sim);
    live.wait_settled(PATIENCE).await;
    let held = |live: &Live| live.judgements().held_for(live.view())[&subject(&ClusterName::new("c"), "x")];
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(held(&live).as_secs(), 0, "time alone is no second look");
    live.resync();
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert_eq!(held(&live).as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn looking_again_right_away_is_no_failure_and_waits_for_nothing() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    let mut live = alone(&sim);
    live.wait_settled(PATIENCE).await;
    let began = tokio::time::Instant::now();
    for _ in 0..5 {
        live.resync();
        assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    }
    // The shortest wait after a failure takes as long.
    assert!(began.elapsed() < Duration::from_millis(250), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_is_not_asked_for_and_one_that_goes_is_unknown() {
    let sim = cluster("c", 3);
    let mut live = alone(&sim);
    live.wait_settled(PATIENCE).await;
    assert!(sim.request_log().iter().all(|logged| !format!("{logged:?}").contains("widgets")));
    sim.register(ResourceKind::custom("example.org/v1", "Widget", "widgets"));
    let widgets = CollectionId::all(&ClusterName::new("c"), WIDGETS);
    let complete = |live: &Live| live.view().read::<Mark>(&widgets).is_complete();
    until(&mut live, "served", complete).await;
    sim.with(|server, _| {
        server.faults().group("example.org", GroupFault::Lost);
    });
    until(&mut live, "withdrawn", |live| {
        let served = &live.view().cluster(&ClusterName::new("c")).unwrap().served;
        matches!(served, trueup_core::world::Served::Unknown(gap) if gap.message.contains("was served earlier"))
    })
    .await;
    assert!(!complete(&live) || live.view().read::<Mark>(&widgets).iter().next().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_was_never_served_is_not_missed_once_discovery_works() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    sim.register(ResourceKind::custom("other.org/v1", "Other", "others"));
    sim.with(|server, _| {
        server.faults().group("other.org", GroupFault::Unavailable);
    });
    let mut live = alone(&sim);
    let served = |live: &Live| live.view().cluster(&ClusterName::new("c")).unwrap().served.clone();
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert!(matches!(served(&live), trueup_core::world::Served::Unknown(_)));
    assert_eq!(findings(&live), ["c/x match"], "what can be listed is known all the same");
    sim.clear_faults();
    until(&mut live, "discovered", |live| matches!(served(live), trueup_core::world::Served::Complete(_))).await;
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
}

#[tokio::test(start_paused = true)]
async fn another_cluster_under_the_same_name_starts_from_nothing() {
    let (old, new) = (cluster("old", 3), cluster("new", 4));
    put(&old, "x", json!({}));
    for count in 0..50 {
        put(&old, "busy", json!({"count": count.to_string()}));
    }
    put(&new, "y", json!({}));
    let connector = InTurn { clients: vec![old.client(), new.client()], calls: AtomicUsize::new(0) };
    let mut live = live(vec![member("c", connector)], Guests::default(), LIVE_MAX);
    live.wait_settled(PATIENCE).await;
    assert_eq!(findings(&live), ["c/busy match", "c/x match"]);
    assert!(new.version() < old.version(), "the new cluster counts from lower versions");
    live.handle(Command::Reconnect(ClusterName::new("c")));
    until(&mut live, "new", |live| findings(live) == ["c/y match"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_lags_never_takes_the_view_back() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    put(&sim, "x", json!({"drifted": "yes"}));
    let mut live = alone(&sim);
    live.wait_settled(PATIENCE).await;
    assert_eq!(findings(&live), ["c/x drift"]);
    sim.fault(Fault::always(Matcher::of("configmaps").verb(Verb::List), FaultAction::StaleReplica { writes: 1 }));
    live.handle(Command::Resync);
    until(&mut live, "refused", |live| gap_of(live, "c").is_some_and(|(cause, _)| cause == GapCause::CutShort)).await;
    assert_eq!(findings(&live), ["c/* unknown", "c/x drift"]);
    sim.clear_faults();
    until(&mut live, "whole", |live| findings(live) == ["c/x drift"]).await;
}

#[tokio::test(start_paused = true)]
async fn updates_are_published_and_questions_answered() {
    let sim = cluster("c", 3);
    put(&sim, "x", json!({}));
    let (commands, mut orders) = mpsc::channel(4);
    let (publish, mut updates) = mpsc::channel(1);
    let mut live = alone(&sim);
    let running = tokio::spawn(async move { live.run(&mut orders, &publish).await });
    let found = subject(&ClusterName::new("c"), "x");
    let mut all = Update::default();
    while !all.findings.contains_key(&found) {
        all.merge(updates.recv().await.unwrap());
    }
    assert!(all.clusters.contains_key(&ClusterName::new("c")));
    let (answer, answered) = oneshot::channel();
    let slot = Mutex::new(Some(answer));
    let question: Question = Box::new(move |live| {
        let (view, judgements) = (live.view(), live.judgements());
        let answer = slot.lock().unwrap().take().unwrap();
        answer.send((view.clusters().count(), judgements.len())).unwrap();
    });
    commands.send(Command::Ask(question)).await.unwrap();
    assert_eq!(answered.await.unwrap(), (1, 1));
    drop(commands);
    running.await.unwrap();
}

/// What may happen to a world, in numbers.
#[derive(Debug, Clone)]
enum Happening {
    Put { cluster: u8, name: u8, drifted: bool, until: Option<u8> },
    Removed { cluster: u8, name: u8 },
    Listed { cluster: u8 },
    Lost { cluster: u8 },
    TimePasses(u8),
}

fn happening() -> impl Strategy<Value = Happening> {
    let (cluster, name) = (|| 0u8..2, || 0u8..4);
    prop_oneof![
        6 => (cluster(), name(), any::<bool>(), proptest::option::of(0u8..60))
            .prop_map(|(cluster, name, drifted, until)| Happening::Put { cluster, name, drifted, until }),
        2 => (cluster(), name()).prop_map(|(cluster, name)| Happening::Removed { cluster, name }),
        1 => cluster().prop_map(|cluster| Happening::Listed { cluster }),
        1 => cluster().prop_map(|cluster| Happening::Lost { cluster }),
        3 => (1u8..20).prop_map(Happening::TimePasses),
    ]
}

fn delta(happening: &Happening, number: u64, now: Timestamp) -> Option<(u8, Delta)> {
    let (version, kind) = (ResourceVersion::Number(number), FactKind::of::<Mark>());
    let key = |name: &u8| Key::new(Some("watched"), &name.to_string());
    match happening {
        Happening::Put { cluster, name, drifted, until } => {
            let labels = if *drifted { r#"{"drifted":"y"}"# } else { "{}" };
            let until = until.map_or(String::new(), |seconds| at(seconds).to_string());
            let object = format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"watched","labels":{labels},"annotations":{{"until":"{until}"}}}}}}"#
            );
            let digester = Digester::new(&[0; 32]);
            let sort = DataSort::Other;
            let reader =
                Reader { digester: &digester, sort, digested: &[], reduced: &[], api_version: "v1", kind: "ConfigMap" };
            let mut facts = kind.new_batch();
            facts.push(&reader.object(&object).unwrap(), &mut Interner::default()).unwrap();
            Some((*cluster, Delta::Changed { facts, removed: Vec::new(), version, at: now }))
        }
        Happening::Removed { cluster, name } => {
            let facts = kind.new_batch();
            Some((*cluster, Delta::Changed { facts, removed: vec![key(name)], version, at: now }))
        }
        Happening::Listed { cluster } => {
            Some((*cluster, Delta::Listed { facts: kind.new_batch(), version, at: now, gap: None }))
        }
        Happening::Lost { cluster } => Some((*cluster, Delta::Lost { gap: Gap::new(GapCause::Silent, "silent") })),
        Happening::TimePasses(_) => None,
    }
}

fn at(seconds: u8) -> Timestamp {
    Timestamp::from_second(i64::from(seconds)).unwrap()
}

fn judged(judgements: &Judgements) -> Vec<(SubjectId, Judgement)> {
    judgements.iter().map(|(subject, held)| (subject.clone(), held.judgement.clone())).collect()
}

proptest! {
    #[test]
    fn current_judgements_equal_judging_everything_again(happenings in proptest::collection::vec(happening(), 1..60)) {
        let domains: Vec<Box<dyn Check>> = vec![Box::new(VersionFloor)];
        let names = [ClusterName::new("0"), ClusterName::new("1")];
        let mut world = World::default();
        let mut everything = ChangeSet::default();
        for name in &names {
            let member = Member { name: name.clone(), ..offline() };
            everything.extend(world.put_cluster(super::cluster_session::ClusterSession::new(member).cluster()));
            world.open(&marks_id(name).interest::<Mark>());
        }
        let mut now = Timestamp::UNIX_EPOCH;
        let mut kept = Judgements::default();
        kept.follow(&domains, world.view(now), &everything);
        for (number, happening) in (1..).zip(&happenings) {
            let mut changes = ChangeSet::default();
            if let Happening::TimePasses(seconds) = happening {
                now += Duration::from_secs(u64::from(*seconds));
            }
            if let Some((cluster, delta)) = delta(happening, number, now) {
                let id = marks_id(&names[usize::from(cluster)]);
                changes = world.apply(&id, FactKind::of::<Mark>(), delta).1;
            }
            kept.follow(&domains, world.view(now), &changes);
            kept.wake(&domains, world.view(now));
            let mut judged_again = Judgements::default();
            judged_again.follow(&domains, world.view(now), &everything);
            prop_assert_eq!(judged(&kept), judged(&judged_again));
            prop_assert_eq!(kept.next_deadline(), judged_again.next_deadline());
        }
    }
}

/// A member nobody connects to.
fn offline() -> Member {
    struct Nowhere;
    impl Connector for Nowhere {
        fn connect(&self) -> BoxFuture<'_, Result<Connection, LinkError>> {
            Box::pin(std::future::pending())
        }
    }
    member("nowhere", Nowhere)
}
