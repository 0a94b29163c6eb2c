//! A server that sends more than the budgets allow, or never comes to an end.
//!
//! Each case: the collection is unknown with the reason, nothing of it is held, and it is listed again after a backoff.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

fn small() -> Budgets {
    Budgets { objects_per_collection: 1_000, pages_per_list: 50, events_per_second: 100, ..Budgets::default() }
}

fn secrets_from(first: usize, count: usize) -> Vec<String> {
    (first..first + count).map(|number| secret(&format!("s{number}"), 1)).collect()
}

/// A list that never ends: every page has a new token.
fn endless(objects_a_page: usize) -> (Fake, Arc<AtomicUsize>) {
    let pages = Arc::new(AtomicUsize::new(0));
    let counted = pages.clone();
    let fake = Fake::new(move |_| {
        let number = counted.fetch_add(1, Ordering::Relaxed);
        Reply::text(200, page(10, &format!("t{number}"), &secrets_from(number * objects_a_page, objects_a_page)))
    });
    (fake, pages)
}

/// The reason, once nothing is known; what was read is not held.
async fn unknown_because(bench: &mut Bench, cause: GapCause) -> String {
    let message = bench.until_gap(cause).await;
    assert!(bench.versions().is_empty() || cause != GapCause::OverBudget, "a short list is not kept: {message}");
    assert!(!bench.state().is_complete());
    message
}

#[tokio::test(start_paused = true)]
async fn endless_pages_end_at_the_budget_of_objects() {
    let (fake, pages) = endless(100);
    let mut bench = Bench::within(&fake, small());
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert_eq!(
        message,
        "listing v1/secrets in all namespaces: over budget: more than 1000 objects; raise objects_per_collection in [budgets]"
    );
    assert_eq!(bench.state().as_str(), "unknown");
    assert_eq!(pages.load(Ordering::Relaxed), 11, "no page is read after the budget is exceeded");
    assert_eq!(bench.ledger.total(), 0, "nothing of the list is kept");
}

#[tokio::test(start_paused = true)]
async fn endless_empty_pages_end_at_the_budget_of_pages() {
    let (fake, pages) = endless(0);
    let mut bench = Bench::within(&fake, small());
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert!(message.ends_with("over budget: more than 50 pages; raise pages_per_list in [budgets]"), "{message}");
    assert_eq!(pages.load(Ordering::Relaxed), 50);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_exactly_the_budgets_is_complete() {
    let (fake, _watches) = listing(|nth| {
        let token = if nth == 50 { String::new() } else { format!("t{nth}") };
        Reply::text(200, page(10, &token, &secrets_from(nth * 20, 20)))
    });
    let mut bench = Bench::within(&fake, small());
    bench.until_complete().await;
    assert_eq!(bench.versions().len(), 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_continue_token_is_an_error() {
    // Two tokens in turn: the last page alone does not show the cycle.
    let (fake, _watches) = listing(|nth| {
        let token = if nth.is_multiple_of(2) { "even" } else { "odd" };
        Reply::text(200, page(10, token, &secrets_from(nth, 1)))
    });
    let mut bench = Bench::within(&fake, small());
    let message = unknown_because(&mut bench, GapCause::CutShort).await;
    assert_eq!(message, "listing v1/secrets in all namespaces: the server repeated a continue token");
    assert_eq!(fake.log().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_list_over_the_bytes_of_its_cluster_is_dropped() {
    let (fake, _pages) = endless(100);
    let budgets = Budgets { bytes_per_cluster: 64 << 10, ..Budgets::default() };
    let mut bench = Bench::within(&fake, budgets);
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert!(message.ends_with("the cluster needs more than 64KiB; raise bytes_per_cluster in [budgets]"), "{message}");
    assert!(bench.ledger.peak() < 128 << 10, "one page more than the budget: {}", bench.ledger.peak());
    assert_eq!(bench.ledger.total(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_memory_of_the_process_is_one_budget_for_all_clusters() {
    let (fake, _watches) = listing(|_| Reply::text(200, page(10, "", &secrets_from(0, 100))));
    let mut bench = Bench::within(&fake, Budgets { memory_total: 64 << 10, ..Budgets::default() });
    let mut others = bench.ledger.charge(&ClusterName::new("other"));
    others.set(60 << 10);
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert!(message.ends_with("the fleet needs more than 64KiB; raise memory_total in [budgets]"), "{message}");
    drop(others);
    bench.until_complete().await;
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_events_closes_the_watch_and_the_collection_is_listed_again() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::within(&fake, small());
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let watch = watches.lock().unwrap()[0].clone();
    for number in 0..10_000 {
        watch.send(event("ADDED", &secret(&format!("s{number}"), 11 + number))).unwrap();
    }
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert_eq!(
        message,
        "watching v1/secrets in all namespaces: over budget: more than 100 events per second; raise events_per_second in [budgets]"
    );
    assert!(watch.is_closed(), "the connection is closed");
    assert!(bench.ledger.peak() < 64 << 10, "what was not read is not kept: {}", bench.ledger.peak());
    let requests = fake.log().len();
    // The list is older than the events: with a newer one it is complete again.
    bench.until_gap(GapCause::CutShort).await;
    assert_eq!(fake.log().len(), requests + 1, "listed again after a backoff");
}

#[tokio::test(start_paused = true)]
async fn as_many_events_as_the_budget_in_each_second_are_no_flood() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::within(&fake, small());
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let watch = watches.lock().unwrap()[0].clone();
    for second in 0..5u64 {
        for number in 0..100 {
            let version = 11 + second * 100 + number;
            watch.send(event("MODIFIED", &secret("a", version))).unwrap();
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    bench.until("all taken", |state, versions| state.is_complete() && versions == pairs(&[("a", "510")])).await;
}

#[tokio::test(start_paused = true)]
async fn a_queue_without_a_reader_is_bounded_in_bytes() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 1)])));
    let mut bench = Bench::within(&fake, Budgets { bytes_per_cluster: 64 << 10, ..Budgets::default() });
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let watch = watches.lock().unwrap()[0].clone();
    for number in 0..10_000 {
        if watch.send(event("ADDED", &secret(&format!("s{number}"), 11 + number))).is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    watch.closed().await;
    assert!(bench.ledger.peak() < 66 << 10, "{}", bench.ledger.peak());
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert!(message.ends_with("raise bytes_per_cluster in [budgets]"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_list_ends_at_the_time_of_its_collection() {
    // Every page comes in time, and there is always one more.
    let slow = Fake::new({
        let pages = Mutex::new(0u64);
        move |_| {
            let mut number = pages.lock().unwrap();
            *number += 1;
            let (sender, reply) = Reply::open();
            let text = page(10, &format!("t{number}"), &[secret("a", 1)]);
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(30)).await;
                sender.send(Bytes::from(text)).ok();
            });
            reply
        }
    });
    let mut bench = Bench::within(&slow, Budgets::default());
    let began = tokio::time::Instant::now();
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert!(message.ends_with("not listed within 300 s; raise time_per_collection in [budgets]"), "{message}");
    assert_eq!(began.elapsed().as_secs(), 300);
}

#[tokio::test(start_paused = true)]
async fn the_lists_of_a_slow_cluster_end_together() {
    // No list is answered, and only a few run at once: the others wait for their turn.
    let fake = Fake::new(|_| {
        let (sender, reply) = Reply::open();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            sender.send(Bytes::from(page(10, &format!("{:?}", tokio::time::Instant::now()), &[]))).ok();
        });
        reply
    });
    let interests: Vec<Interest> = (0..40)
        .map(|number| {
            let id = secrets();
            let namespaced = CollectionId::namespaced(&id.cluster, id.resource, &format!("n{number}"));
            namespaced.interest::<Version>()
        })
        .collect();
    let ports = ports().with_budgets(Budgets::default());
    let mut bench = Bench::with_ports(fake.client(), interests.clone(), VersionFloor::default(), &[], ports);
    let began = tokio::time::Instant::now();
    let mut reasons = std::collections::BTreeMap::new();
    while reasons.len() < interests.len() {
        let batch = bench.inbox.next().await;
        if let trueup_core::world::Delta::Seen { gap, .. } = batch.delta {
            reasons.entry(batch.collection).or_insert(gap.message);
        }
    }
    assert_eq!(began.elapsed().as_secs(), 900, "the time of the cluster, however many collections it has");
    let late = reasons.values().filter(|reason| reason.contains("raise time_per_cluster in [budgets]")).count();
    assert!(late > 20, "{late} of {}", reasons.len());
}

#[tokio::test(start_paused = true)]
async fn a_single_object_over_the_bytes_of_its_cluster_is_not_kept() {
    let fake = Fake::new(|_| {
        let text = "x".repeat(128 << 10);
        let object = format!(
            r#"{{"metadata":{{"name":"s","namespace":"n","resourceVersion":"5","annotations":{{"a":"{text}"}}}}}}"#
        );
        Reply::text(200, object)
    });
    let id = CollectionId::object(&ClusterName::new("c"), SECRETS, Some("n"), "s");
    let ports = ports().with_budgets(Budgets { bytes_per_cluster: 64 << 10, ..Budgets::default() });
    let interests = vec![id.interest::<Version>()];
    let mut bench = Bench::with_ports(fake.client(), interests, VersionFloor::default(), &[], ports);
    let message = unknown_because(&mut bench, GapCause::OverBudget).await;
    assert!(message.starts_with("reading v1/secrets n/s: over budget"), "{message}");
    assert_eq!(bench.ledger.total(), 0);
}

#[tokio::test(start_paused = true)]
async fn events_that_go_back_in_time_change_nothing() {
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 9)])));
    let mut bench = Bench::within(&fake, small());
    bench.until_complete().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    watches.lock().unwrap()[0].send(event("MODIFIED", &secret("a", 20))).unwrap();
    bench.until("changed", |_, versions| versions == pairs(&[("a", "20")])).await;
    // The server repeats it on every connection: the watch cannot continue.
    let feed = tokio::spawn(async move {
        loop {
            let senders: Vec<_> = watches.lock().unwrap().drain(..).collect();
            for sender in &senders {
                sender.send(event("MODIFIED", &secret("a", 15))).ok();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let message = bench.until_gap(GapCause::Unreadable).await;
    feed.abort();
    assert_eq!(message, "watching v1/secrets in all namespaces: an event is older than the one before it");
    assert_eq!(bench.versions(), pairs(&[("a", "20")]), "the older object was not taken in");
    assert!(!bench.state().is_complete());
}

#[tokio::test(start_paused = true)]
async fn an_object_of_another_kind_is_no_event_and_no_list() {
    let pod = r#"{"kind":"Pod","metadata":{"name":"p","namespace":"n","resourceVersion":"20"}}"#;
    let (fake, watches) = listing(|_| Reply::text(200, page(10, "", &[secret("a", 9)])));
    let mut bench = Bench::within(&fake, small());
    bench.until_complete().await;
    let feed = tokio::spawn(async move {
        loop {
            let senders: Vec<_> = watches.lock().unwrap().drain(..).collect();
            for sender in &senders {
                sender.send(event("ADDED", pod)).ok();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let message = bench.until_gap(GapCause::Unreadable).await;
    feed.abort();
    assert_eq!(message, "watching v1/secrets in all namespaces: an event has an object of another kind");
    assert_eq!(bench.versions(), pairs(&[("a", "9")]));
    let other = page(10, "", &[]).replace("SecretList", "PodList");
    let (fake, _watches) = listing(move |_| Reply::text(200, other.clone()));
    let mut bench = Bench::within(&fake, small());
    let message = unknown_because(&mut bench, GapCause::Unreadable).await;
    assert_eq!(message, "listing v1/secrets in all namespaces: the server sent a list of another kind");
}

#[tokio::test(start_paused = true)]
async fn collections_over_the_budget_of_their_cluster_have_no_task_and_start_when_one_ends() {
    let (fake, _watches) = listing(|_| Reply::text(200, page(10, "", &[])));
    let in_namespace = |name: &str| {
        let all = interest::<Version>().id;
        CollectionId::namespaced(&all.cluster, all.resource, name).interest::<Version>()
    };
    let interests = vec![in_namespace("a"), in_namespace("b"), in_namespace("c")];
    let budgets = Budgets { collections_per_cluster: 2, ..Budgets::default() };
    let ports = ports().with_budgets(budgets);
    let mut bench = Bench::with_ports(fake.client(), interests.clone(), VersionFloor::default(), &[], ports);
    let states = async |bench: &mut Bench, expected: [&str; 3]| {
        let known = |bench: &Bench| bench.world.observations().map(|(_, state, _)| state.as_str()).collect::<Vec<_>>();
        let reached = timeout(Duration::from_secs(60), async {
            while known(bench) != expected {
                let batch = bench.inbox.next().await;
                bench.world.apply(&batch.collection, batch.fact, batch.delta);
            }
        });
        assert!(reached.await.is_ok(), "{:?}, expected {expected:?}", known(bench));
    };
    states(&mut bench, ["complete", "complete", "unknown"]).await;
    let gaps: Vec<_> = bench.world.observations().filter_map(|(_, state, _)| state.gap().cloned()).collect();
    assert_eq!(gaps[0].cause, GapCause::OverBudget);
    let reason = "the cluster has more than 2 lists to watch; raise collections_per_cluster in [budgets]";
    assert!(gaps[0].message.contains(reason), "{gaps:?}");
    bench.observer.resync();
    let repeated =
        timeout(Duration::from_secs(60), async { while bench.inbox.next().await.collection != interests[2].id {} });
    assert!(repeated.await.is_ok(), "who waits for a list that is read again gets an answer");
    bench.observer.set_interests(&interests[1..]);
    states(&mut bench, ["complete", "complete", "complete"]).await;
}
