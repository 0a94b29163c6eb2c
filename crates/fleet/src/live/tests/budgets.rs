//! The loop when a cluster sends more than the budgets allow, and when there is always something to do.

use super::*;
use crate::budgets::{Budgets, Ledger};

fn within(sim: &SimCluster, budgets: Budgets) -> (Live, Ledger) {
    let ports =
        Ports::new(Arc::new(PausedClock(tokio::time::Instant::now())), Arc::new(FixedJitter), Digester::new(&[5; 32]))
            .with_budgets(budgets);
    let (ledger, members) = (ports.ledger.clone(), vec![member("c", FixedConnector(sim.client()))]);
    let (domains, resolver): (Vec<Box<dyn Check>>, _) = (vec![Box::new(VersionFloor)], Box::new(Guests::default()));
    (Live::new(LiveSetup { domains, members, resolver, ports, live_max: LIVE_MAX }), ledger)
}

#[tokio::test(start_paused = true)]
async fn a_collection_that_its_watch_grows_over_its_budget_is_unknown_and_not_held() {
    let sim = cluster("c", 1);
    put(&sim, "first", json!({}));
    let (mut live, ledger) = within(&sim, Budgets { objects_per_collection: 5, ..Budgets::default() });
    assert_eq!(live.wait_settled(PATIENCE).await, Settled::Yes);
    assert!(gap_of(&live, "c").is_none() && ledger.total() > 0);
    for number in 0..10 {
        put(&sim, &format!("more-{number}"), json!({}));
    }
    until(&mut live, "over budget", |live| {
        gap_of(live, "c").is_some_and(|(cause, message)| {
            cause == GapCause::OverBudget && message.ends_with("raise objects_per_collection in [budgets]")
        })
    })
    .await;
    assert_eq!(live.view().read::<Mark>(&marks_id(&ClusterName::new("c"))).iter().count(), 0);
    for number in 0..10 {
        sim.remove("v1", "ConfigMap", &format!("watched/more-{number}")).unwrap();
    }
    until(&mut live, "complete again", |live| gap_of(live, "c").is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn no_step_begins_after_the_patience() {
    let sim = cluster("c", 1);
    let members = (0..40).map(|number| member(&format!("c{number}"), FixedConnector(sim.client()))).collect();
    let mut live = live(members, Guests::default(), LIVE_MAX);
    live.wait_settled(Duration::ZERO).await;
    // Every connection is made, and none is taken in yet.
    for _ in 0..2_000 {
        tokio::task::yield_now().await;
    }
    let before = live.generation();
    assert!(matches!(live.wait_settled(Duration::ZERO).await, Settled::TimedOut { .. }));
    assert_eq!(live.generation(), before, "work that is ready does not extend the deadline");
}
