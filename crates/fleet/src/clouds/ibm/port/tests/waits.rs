//! Blocked deletes: retried while the cause may pass, reported meanwhile, explained when it stays.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_blocked_delete_is_retried_for_minutes_and_the_wait_is_reported() {
    let stage = stage();
    stage.sim.with(|server, now| server.edit(now, "lb", |lb| lb.state = "update_pending".into()));
    let sim = stage.sim.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(150)).await;
        sim.with(|server, now| server.edit(now, "lb", |lb| lb.state = "active".into()));
    });
    let delete = stage.action("a1", "delete", "lb", json!({}), &[]);
    let report = stage.run(stage.plan(vec![delete])).await;
    assert_eq!(report.ends["a1"], ActionResult::Done(VerifiedState::Gone));
    let waits = stage.waits.lock().unwrap();
    let held = |text: &String| text.starts_with("a1 120s: VPC: delete") && text.contains("update_pending");
    assert!(waits.iter().any(held), "{waits:?}");
    assert!(waits.iter().any(|text| text.ends_with("s: it is being deleted")), "{waits:?}");
    assert_eq!(stage.accepted_deletes().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_stays_held_back_says_by_what_and_the_way_out() {
    let cases = [
        ("sg", "a security group can be deleted once no target"),
        ("net", "a network can be deleted once no machine uses it"),
        ("dhcp", "a network can be deleted once no machine uses it"),
    ];
    for (id, way_out) in cases {
        let stage = stage();
        let held = if id == "dhcp" { "net" } else { id };
        stage.sim.with(|server, now| server.edit(now, held, |thing| thing.held_by = vec!["vm-7".into()]));
        let delete = stage.action("a1", "delete", id, json!({}), &[]);
        let report = stage.run(stage.plan(vec![delete])).await;
        let ActionResult::Failed { why } = &report.ends["a1"] else { panic!("{id}: {:?}", report.ends) };
        assert!(why.contains("vm-7") && why.contains(way_out), "{id}: {why}");
        assert!(stage.is_there(id), "{id}");
    }
}

/// Edge case 37: the provider tears down as well.
#[tokio::test(start_paused = true)]
async fn what_somebody_else_deletes_while_it_is_held_back_is_done() {
    let stage = stage();
    stage.sim.with(|server, now| server.edit(now, "lb", |lb| lb.state = "update_pending".into()));
    let sim = stage.sim.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(35)).await;
        sim.with(|server, now| server.edit(now, "lb", |lb| lb.state = "removed".into()));
    });
    let delete = stage.action("a1", "delete", "lb", json!({}), &[]);
    let report = stage.run(stage.plan(vec![delete])).await;
    assert_eq!(report.ends["a1"], ActionResult::Done(VerifiedState::Gone));
    assert_eq!(stage.accepted_deletes(), Vec::<String>::new());
}
