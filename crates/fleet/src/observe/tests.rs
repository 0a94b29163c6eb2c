//! The observer against a scripted server, in paused time.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

use super::testing::*;
use super::{Epoch, Inbox, Observer, ObserverSetup, Ports, VersionFloor, outbox};
use crate::budgets::{Budgets, Ledger};
use trueup_core::world::{
    ClusterName, CollectionId, Completeness, Fact, GapCause, Interest, Key, Namespace, Resource, ResourceVersion, World,
};
use trueup_sim::{Fault, FaultAction, Matcher, SimCluster, SimOptions, Verb};

mod budgets;

const CONFIG_MAPS: Resource =
    Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

/// An observer, its outbox and the world it fills.
struct Bench {
    observer: Observer,
    inbox: Inbox,
    world: World,
    interests: Vec<Interest>,
    ledger: Ledger,
}

impl Bench {
    fn new(fake: &Fake, interests: Vec<Interest>) -> Self {
        Self::with(fake, interests, VersionFloor::default(), &[])
    }

    fn with(fake: &Fake, interests: Vec<Interest>, marks: VersionFloor, namespaces: &[&str]) -> Self {
        Self::of(fake.client(), interests, marks, namespaces)
    }

    fn of(client: kube::Client, interests: Vec<Interest>, marks: VersionFloor, namespaces: &[&str]) -> Self {
        Self::with_ports(client, interests, marks, namespaces, ports())
    }

    /// One kind of fact of all Secrets, within budgets.
    fn within(fake: &Fake, budgets: Budgets) -> Self {
        let (client, ports) = (fake.client(), ports().with_budgets(budgets));
        Self::with_ports(client, vec![interest::<Version>()], VersionFloor::default(), &[], ports)
    }

    fn with_ports(
        client: kube::Client,
        interests: Vec<Interest>,
        marks: VersionFloor,
        namespaces: &[&str],
        ports: Ports,
    ) -> Self {
        let ledger = ports.ledger.clone();
        let (outbox, inbox) = outbox();
        let mut observer = Observer::new(ObserverSetup {
            client,
            epoch: Epoch(1),
            ports,
            marks,
            outbox,
            fallback_namespaces: namespaces.iter().map(|&name| Namespace::new(name)).collect(),
        });
        let mut world = World::default();
        interests.iter().for_each(|interest| world.open(interest));
        observer.set_interests(&interests);
        Self { observer, inbox, world, interests, ledger }
    }

    /// Takes reports until the first collection is in the expected state.
    async fn until(&mut self, what: &str, reached: impl Fn(&Completeness, &[(String, String)]) -> bool) {
        let waited = timeout(Duration::from_secs(3600), async {
            while !reached(&self.state(), &self.versions()) {
                let batch = self.inbox.next().await;
                self.world.apply(&batch.collection, batch.fact, batch.delta);
                self.ledger.retain(&batch.cluster, self.world.bytes_of(&batch.cluster));
            }
        });
        if waited.await.is_err() {
            panic!("never {what}: {:?} {:?}", self.state(), self.versions());
        }
    }

    async fn until_complete(&mut self) {
        self.until("complete", |state, _| state.is_complete()).await;
    }

    async fn until_gap(&mut self, cause: GapCause) -> String {
        self.until(&format!("{cause:?}"), |state, _| state.gap().is_some_and(|gap| gap.cause == cause)).await;
        self.state().gap().unwrap().message.to_string()
    }

    fn state(&self) -> Completeness {
        self.world.observations().next().unwrap().1.clone()
    }

    fn versions(&self) -> Vec<(String, String)> {
        let view = self.world.view(jiff::Timestamp::UNIX_EPOCH);
        let reading = view.read::<Version>(&self.interests[0].id);
        reading.iter().map(|(key, fact)| (key.name.to_string(), fact.0.clone())).collect()
    }
}

fn interest<F: Fact>() -> Interest {
    secrets().interest::<F>()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect()
}

/// Replies to lists with `list`, and to each watch with a stream whose sender is left in the returned slot.
fn listing(
    mut list: impl FnMut(usize) -> Reply + Send + 'static,
) -> (Fake, std::sync::Arc<std::sync::Mutex<Vec<UnboundedSender<Bytes>>>>) {
    let watches: std::sync::Arc<std::sync::Mutex<Vec<UnboundedSender<Bytes>>>> = Default::default();
    let senders = watches.clone();
    let mut lists = 0;
    let fake = Fake::new(move |uri| {
        if uri.contains("watch=true") {
            let (sender, reply) = Reply::open();
            senders.lock().unwrap().push(sender);
            return reply;
        }
        lists += 1;
        list(lists)
    });
    (fake, watches)
}

#[tokio::test(start_paused = true)]
async fn a_paged_list_and_a_watch_report_every_change() {
    let (fake, watches) = listing(|nth| match nth {
        1 => Reply::text(200, page(10, "more", &[secret("a", 1), secret("b", 2)])),
        _ => Reply::text(200, page(10, "", &[secret("c", 3)])),
    });
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    assert_eq!(bench.versions(), pairs(&[("a", "1"), ("b", "2"), ("c", "3")]));
    tokio::time::sleep(Duration::from_millis(1)).await;
    let watch = watches.lock().unwrap()[0].clone();
    watch.send(event("MODIFIED", &secret("a", 11))).unwrap();
    watch.send(event("DELETED", &secret("b", 12))).unwrap();
    // Split inside the line, and inside a character of it.
    let added = event("ADDED", &secret("dé", 13));
    let cut = added.iter().position(|&byte| byte >= 0x80).unwrap() + 1;
    watch.send(added.slice(..cut)).unwrap();
    watch.send(added.slice(cut..)).unwrap();
    bench.until("changed", |_, versions| versions == pairs(&[("a", "11"), ("c", "3"), ("dé", "13")])).await;
    assert_eq!(
        fake.log(),
        [
            "/api/v1/secrets?limit=100",
            "/api/v1/secrets?limit=1000&continue=more",
            "/api/v1/secrets?watch=true&allowWatchBookmarks=true&timeoutSeconds=270&resourceVersion=10"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_page_is_reported_early_and_never_as_complete() {
    let (fake, held_back) = listing(|nth| match nth {
        1 => Reply::text(200, page(10, "more", &[secret("a", 1), secret("b", 2)])),
        _ => Reply::open().1,
    });
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until("partial", |_, versions| versions == pairs(&[("a", "1"), ("b", "2")])).await;
    assert_eq!(bench.state().as_str(), "partial");
    assert_eq!(&*bench.state().gap().unwrap().message, "listing v1/secrets in all namespaces: 2 so far");
    assert!(held_back.lock().unwrap().is_empty(), "no watch starts from a partial list");
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_advances_version_and_time_without_a_change() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    let Completeness::Complete { at: listed_at, .. } = bench.state() else { panic!("not complete") };
    tokio::time::sleep(Duration::from_secs(60)).await;
    watches.lock().unwrap()[0].send(bookmark(99)).unwrap();
    bench
        .until("confirmed", |state, _| match state {
            Completeness::Complete { version, at } => {
                *version == ResourceVersion::Number(99) && *at >= listed_at + jiff::SignedDuration::from_secs(60)
            }
            Completeness::Partial { .. } | Completeness::Unknown { .. } => false,
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_expires_while_paging_restarts_and_drops_its_pages() {
    let (fake, _watches) = listing(|nth| match nth {
        1 => Reply::text(200, page(10, "more", &[secret("gone", 1)])),
        2 => Reply::text(410, r#"{"kind":"Status","code":410,"reason":"Expired"}"#),
        _ => Reply::text(200, page(20, "", &[secret("a", 15)])),
    });
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    assert_eq!(bench.versions(), pairs(&[("a", "15")]));
}

#[tokio::test(start_paused = true)]
async fn pages_of_two_versions_are_never_one_list() {
    let (fake, _watches) = listing(|nth| match nth {
        1 => Reply::text(200, page(10, "more", &[secret("gone", 1)])),
        2 => Reply::text(200, page(12, "", &[secret("b", 11)])),
        _ => Reply::text(200, page(20, "", &[secret("a", 15)])),
    });
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    assert_eq!(bench.versions(), pairs(&[("a", "15")]));
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_not_a_complete_list_is_unknown_with_a_reason() {
    let html = "<html>CANARY</html>";
    let cut = r#"{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"CANARY"}},"#;
    let status = r#"{"kind":"Status","metadata":{},"status":"Failure","message":"CANARY","reason":"InternalError"}"#;
    let half = |first: String, second: Reply| vec![Reply::text(200, first), second];
    let cases: Vec<(&str, Vec<Reply>, GapCause)> = vec![
        ("html", vec![Reply::text(200, html)], GapCause::Unreadable),
        ("truncated", vec![Reply::text(200, cut)], GapCause::Unreadable),
        ("a status with 200", vec![Reply::text(200, status)], GapCause::Unreadable),
        ("a version of 0", vec![Reply::text(200, page(0, "", &[]))], GapCause::Unreadable),
        ("403", vec![Reply::text(403, status)], GapCause::Forbidden),
        ("401", vec![Reply::text(401, html)], GapCause::Unauthorized),
        ("404", vec![Reply::text(404, html)], GapCause::Discovery),
        ("406", vec![Reply::text(406, html)], GapCause::Unreadable),
        ("429", vec![Reply::text(429, status).retry_after(2)], GapCause::Unreachable),
        ("503", vec![Reply::text(503, html)], GapCause::Unreachable),
        ("page 2 fails", half(page(5, "more", &[secret("a", 1)]), Reply::text(500, status)), GapCause::Unreachable),
        ("page 2 is html", half(page(5, "more", &[secret("a", 1)]), Reply::text(200, html)), GapCause::Unreadable),
        ("page 2 never ends", half(page(5, "more", &[secret("a", 1)]), Reply::text(200, "")), GapCause::Unreadable),
    ];
    for (case, replies, cause) in cases {
        let mut replies = replies.into_iter();
        let (fake, _watches) = listing(move |_| replies.next().unwrap_or_else(|| Reply::text(200, "")));
        let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
        let message = bench.until_gap(cause).await;
        assert!(!message.contains("CANARY") && message.contains("v1/secrets in all namespaces"), "{case}: {message}");
        let seen = if case.starts_with("page 2") { pairs(&[("a", "1")]) } else { pairs(&[]) };
        assert_eq!(bench.versions(), seen, "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_list_is_retried_after_the_servers_retry_after() {
    let (fake, _watches) = listing(|nth| match nth {
        1 => Reply::text(503, "").retry_after(20),
        _ => Reply::text(200, page(5, "", &[])),
    });
    let began = tokio::time::Instant::now();
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    assert!(began.elapsed() >= Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_response_is_unreachable() {
    let kept = std::sync::Mutex::new(Vec::new());
    let fake = Fake::new(move |_| {
        let (sender, reply) = Reply::open();
        kept.lock().unwrap().push(sender);
        reply
    });
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_gap(GapCause::Unreachable).await;
}

#[tokio::test(start_paused = true)]
async fn a_stalled_watch_is_lost_until_the_next_list() {
    let (fake, watches) = listing(|nth| Reply::text(200, page(10 * nth as u64, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    let began = tokio::time::Instant::now();
    let message = bench.until_gap(GapCause::Silent).await;
    assert!(message.contains("540 s"), "{message}");
    assert_eq!(began.elapsed().as_secs(), 540);
    assert_eq!(bench.versions(), pairs(&[("a", "1")]), "earlier objects are still shown");
    assert!(watches.lock().unwrap().len() >= 2, "the watch was reopened first");
    bench.until_complete().await;
    assert_eq!(fake.log().iter().filter(|uri| uri.contains("limit=")).count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_broken_watch_resumes_from_the_last_version_without_a_list() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    watches.lock().unwrap()[0].send(event("MODIFIED", &secret("a", 17))).unwrap();
    bench.until("changed", |_, versions| versions == pairs(&[("a", "17")])).await;
    watches.lock().unwrap()[0].send(Bytes::from_static(b"garbage\n")).unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let log = fake.log();
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(log[2].ends_with("resourceVersion=17"), "{log:?}");
    assert!(bench.state().is_complete());
}

#[tokio::test(start_paused = true)]
async fn watches_cut_after_a_while_resume_and_those_that_never_open_are_lost() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_secs(55)).await;
        watches.lock().unwrap().last().unwrap().send(Bytes::from_static(b"cut\n")).unwrap();
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(bench.inbox.try_next().is_none() && bench.state().is_complete());

    let mut asked = 0;
    let fake = Fake::new(move |_| {
        asked += 1;
        if asked == 1 { Reply::text(200, page(10, "", &[secret("a", 1)])) } else { Reply::text(500, "") }
    });
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    bench.until_gap(GapCause::Unreachable).await;
    assert_eq!(fake.log().iter().filter(|uri| uri.contains("watch=true")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_expired_watch_lists_again_and_reports_deleted_objects() {
    let (fake, watches) = listing(|nth| match nth {
        1 => Reply::text(200, page(10, "", &[secret("a", 1), secret("b", 2)])),
        _ => Reply::text(200, page(30, "", &[secret("b", 2)])),
    });
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    watches.lock().unwrap()[0].send(event("ERROR", r#"{"kind":"Status","code":410,"reason":"Expired"}"#)).unwrap();
    bench.until("listed again", |state, versions| state.is_complete() && versions == pairs(&[("b", "2")])).await;
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_keeps_the_others_and_a_partial_collection() {
    let bad = r#"{"metadata":{"name":"x","namespace":"n","resourceVersion":"3","labels":{"bad":"y"}}}"#.to_owned();
    let broken = r#"{"metadata":{"name":"x","namespace":"n","resourceVersion":"3"},"data":"CANARY"}"#.to_owned();
    for (case, object) in [("does not fit", bad), ("has another shape", broken)] {
        let (fake, _watches) =
            listing(move |_| Reply::text(200, page(10, "", &[secret("a", 1), object.clone(), secret("b", 2)])));
        let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
        let message = bench.until_gap(GapCause::Unreadable).await;
        assert!(!message.contains("CANARY"), "{case}: {message}");
        assert_eq!(bench.versions(), pairs(&[("a", "1"), ("b", "2")]), "{case}");
        assert_eq!(bench.state().as_str(), "partial", "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_undecodable_object_in_a_watch_is_partial_until_the_next_list() {
    let (fake, watches) = listing(|nth| Reply::text(200, page(10 * nth as u64, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    watches.lock().unwrap()[0].send(event("ADDED", r#"{"metadata":{"name":"x"},"data":7}"#)).unwrap();
    bench.until_gap(GapCause::Unreadable).await;
    watches.lock().unwrap()[0].send(event("ADDED", &secret("b", 14))).unwrap();
    bench.until("continues", |state, versions| !state.is_complete() && versions.len() == 2).await;
    watches.lock().unwrap().clear();
    bench.until_complete().await;
    assert_eq!(bench.versions(), pairs(&[("a", "1")]));
}

#[tokio::test(start_paused = true)]
async fn a_list_from_a_lagging_replica_is_rejected_and_not_watched() {
    let (fake, _watches) = listing(|nth| match nth {
        1 => Reply::text(200, page(10, "", &[secret("old", 1)])),
        _ => Reply::text(200, page(60, "", &[secret("new", 55)])),
    });
    let marks = VersionFloor::default();
    marks.raise(&secrets(), &ResourceVersion::Number(50));
    let mut bench = Bench::with(&fake, vec![interest::<Version>()], marks, &[]);
    let message = bench.until_gap(GapCause::CutShort).await;
    assert!(message.contains("version 10 is older than 50"), "{message}");
    bench.until_complete().await;
    assert_eq!(bench.versions(), pairs(&[("new", "55")]));
    assert!(fake.log().iter().all(|uri| !uri.contains("resourceVersion=10")));
}

#[tokio::test(start_paused = true)]
async fn two_kinds_of_fact_share_one_list_and_one_watch() {
    let (fake, _watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>(), interest::<Digested>(), interest::<Version>()]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    while let Some(batch) = bench.inbox.try_next() {
        bench.world.apply(&batch.collection, batch.fact, batch.delta);
    }
    assert_eq!(fake.log().len(), 2, "{:?}", fake.log());
    let view = bench.world.view(jiff::Timestamp::UNIX_EPOCH);
    let key = Key::new(Some("n"), "a");
    assert!(view.read::<Digested>(&secrets()).get(&key).present().unwrap().0.is_some());
}

#[tokio::test(start_paused = true)]
async fn adding_a_kind_of_fact_lists_again_and_removing_one_does_not() {
    let (fake, _watches) = listing(|nth| Reply::text(200, page(10 * nth as u64, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let both = [interest::<Version>(), interest::<Digested>()];
    bench.world.open(&both[1]);
    bench.observer.set_interests(&both);
    tokio::time::sleep(Duration::from_secs(5)).await;
    while let Some(batch) = bench.inbox.try_next() {
        bench.world.apply(&batch.collection, batch.fact, batch.delta);
    }
    assert!(bench.world.view(jiff::Timestamp::UNIX_EPOCH).read::<Digested>(&secrets()).is_complete());
    bench.observer.set_interests(&[interest::<Digested>()]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let lists = fake.log().iter().filter(|uri| uri.contains("limit=")).count();
    assert_eq!(lists, 2, "{:?}", fake.log());
}

#[tokio::test(start_paused = true)]
async fn removing_an_interest_ends_its_watch_and_drops_its_reports() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    bench.observer.set_interests(&[]);
    assert!(bench.inbox.try_next().is_none());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(watches.lock().unwrap()[0].is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_observer_leaves_no_task_behind() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[])));
    let bench = Bench::new(&fake, vec![interest::<Version>()]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    bench.observer.stop().await;
    assert!(watches.lock().unwrap()[0].is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_long_list_is_paged_and_survives_a_lost_page() {
    let sim = sim();
    for count in 0..1200 {
        sim.seed(config_map(count)).unwrap();
    }
    let pages = || Matcher::of("configmaps").verb(Verb::List);
    sim.fault(Fault::once(pages(), FaultAction::Expired).after(1));
    let id = CollectionId::namespaced(&ClusterName::new("c"), CONFIG_MAPS, "default");
    let mut bench = Bench::of(sim.client(), vec![id.interest::<Version>()], VersionFloor::default(), &[]);
    bench.until_complete().await;
    assert_eq!(bench.versions().len(), 1200 + 1, "and kube-root-ca.crt");
    let lists = sim.request_log().iter().filter(|logged| format!("{logged:?}").contains("limit=")).count();
    assert_eq!(lists, 2 + 3, "two pages of the first attempt, three of the second");
}

#[tokio::test(start_paused = true)]
async fn a_metadata_only_collection_receives_no_data() {
    let sim = sim();
    let metadata = serde_json::json!({"name": "s", "namespace": "default"});
    let secret = serde_json::json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"k": "djE="}});
    sim.seed(secret).unwrap();
    let id = CollectionId::namespaced(&ClusterName::new("c"), SECRETS, "default");
    for (case, id, digested) in [("full", id.clone(), true), ("metadata", id.metadata(), false)] {
        let mut bench = Bench::of(sim.client(), vec![id.clone().interest::<Digested>()], VersionFloor::default(), &[]);
        bench.until_complete().await;
        let view = bench.world.view(jiff::Timestamp::UNIX_EPOCH);
        let fact = view.read::<Digested>(&id).get(&Key::new(Some("default"), "s")).present().unwrap();
        assert_eq!(fact.0.is_some(), digested, "case: {case}");
    }
}

fn sim() -> SimCluster {
    let start = "2026-11-16T10:00:00Z".parse().unwrap();
    SimCluster::new(SimOptions { name: "c".to_owned(), seed: 1, start })
}

fn config_map(count: usize) -> serde_json::Value {
    let metadata = serde_json::json!({"name": format!("m{count}"), "namespace": "default"});
    serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_gets_the_latest_version_of_every_object() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1), secret("b", 2)])));
    let mut bench = Bench::new(&fake, vec![interest::<Version>()]);
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let watch = watches.lock().unwrap()[0].clone();
    for version in 100..1100 {
        watch.send(event("MODIFIED", &secret("a", version))).unwrap();
        // Several changes of one object in one chunk keep their order, too.
        let back = [event("DELETED", &secret("c", version)), event("ADDED", &secret("c", version))].concat();
        watch.send(Bytes::from(back)).unwrap();
        tokio::task::yield_now().await;
    }
    watch.send(event("DELETED", &secret("b", 2000))).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut reports = 0;
    while let Some(batch) = bench.inbox.try_next() {
        bench.world.apply(&batch.collection, batch.fact, batch.delta);
        reports += 1;
    }
    assert_eq!(reports, 1);
    assert_eq!(bench.versions(), pairs(&[("a", "1099"), ("c", "1099")]));
}

#[tokio::test(start_paused = true)]
async fn without_cluster_wide_rights_the_named_namespaces_are_read_and_never_complete() {
    let (sender, watch) = Reply::open();
    let mut watch = Some(watch);
    let fake = Fake::new(move |uri| match uri {
        "/api/v1/secrets?limit=100" | "/api/v1/namespaces/q/secrets?limit=1000" => Reply::text(403, "{}"),
        "/api/v1/namespaces/n/secrets?limit=1000" => Reply::text(200, page(10, "", &[secret("a", 1)])),
        _ => watch.take().unwrap_or_else(|| Reply::text(500, "")),
    });
    let mut bench = Bench::with(&fake, vec![interest::<Version>()], VersionFloor::default(), &["n", "q"]);
    bench.until("seen", |_, versions| !versions.is_empty()).await;
    let Completeness::Partial { gap } = bench.state() else { panic!("{:?}", bench.state()) };
    let message = "listing v1/secrets in all namespaces: forbidden (403); read only in n, forbidden too in q";
    assert_eq!((gap.cause, &*gap.message), (GapCause::Forbidden, message));
    sender.send(event("ADDED", &secret("b", 20))).unwrap();
    bench.until("watched", |state, versions| versions.len() == 2 && !state.is_complete()).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_is_read_again_for_a_newer_version_and_a_single_404_proves_nothing() {
    let mut gets = 0;
    let fake = Fake::new(move |_| {
        gets += 1;
        match gets {
            1 => Reply::text(200, secret("s", 5)),
            // A lagging replica.
            2 => Reply::text(200, secret("s", 5)),
            3 => Reply::text(200, secret("s", 9)),
            _ => Reply::text(404, "{}"),
        }
    });
    let id = CollectionId::object(&ClusterName::new("c"), SECRETS, Some("n"), "s");
    let at_least = |version| Interest {
        read_at_least: Some(ResourceVersion::Number(version)),
        ..id.clone().interest::<Version>()
    };
    let mut bench = Bench::new(&fake, vec![at_least(4)]);
    bench.until("read", |_, versions| versions == pairs(&[("s", "5")])).await;
    assert!(bench.state().is_complete(), "the collection is this one object");
    tokio::time::sleep(Duration::from_secs(900)).await;
    assert_eq!(fake.log().len(), 1, "no newer version, no request");
    bench.observer.set_interests(&[at_least(9)]);
    bench.until("read again", |_, versions| versions == pairs(&[("s", "9")])).await;
    assert_eq!(fake.log().len(), 3);
    bench.observer.set_interests(&[at_least(12)]);
    bench.until("unknown", |state, _| state.as_str() == "unknown").await;
    assert_eq!(bench.state().gap().unwrap().cause, GapCause::NotObserved);
}
