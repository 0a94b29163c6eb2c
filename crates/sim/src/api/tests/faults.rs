#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]
use super::*;
use crate::{Fault, FaultAction, GroupFault, Matcher, Verb};

fn maps() -> Matcher {
    Matcher::of("configmaps")
}

fn strike(world: &mut World, action: FaultAction) {
    world.server.faults().add(Fault::once(maps(), action));
}

#[test]
fn each_fault_commits_exactly_what_its_name_says() {
    let cases = [
        ("refused", FaultAction::Refuse { code: 503, retry_after_seconds: Some(3) }, false),
        ("refused after commit", FaultAction::RefuseAfterCommit { code: 504 }, true),
        ("lost before", FaultAction::LostBefore, false),
        ("reply lost", FaultAction::ReplyLost, true),
        ("stalled", FaultAction::Stall, false),
        ("cut", FaultAction::Truncate { bytes: 10 }, true),
        ("a page", FaultAction::Html, false),
    ];
    for (case, action, is_committed) in cases {
        let mut world = world();
        strike(&mut world, action);
        world.server.handle(world.now, &Request::new(Method::POST, MAPS, bytes_of(&map("a"))));
        let expected = if is_committed { 200 } else { 404 };
        assert_eq!(world.get(&format!("{MAPS}/a")).0, expected, "case: {case}");
        assert_eq!(world.server.faults().struck(), 1, "case: {case}");
    }
}

#[test]
fn a_refusal_has_its_code_and_retry_after() {
    let mut world = world();
    strike(&mut world, FaultAction::Refuse { code: 429, retry_after_seconds: Some(3) });
    let reply = world.reply(&Request::get(MAPS));
    assert_eq!((reply.status, reply.retry_after_seconds), (429, Some(3)));
    assert_eq!(world.get(MAPS).0, 200, "the fault applies once");
}

#[test]
fn a_fault_affects_only_the_matching_request_it_waits_for() {
    let mut world = world();
    let matcher = maps().verb(Verb::List).namespace("default");
    let fault = Fault::once(matcher, FaultAction::Refuse { code: 500, retry_after_seconds: None }).after(1);
    world.server.faults().add(fault);
    assert_eq!(world.get("/api/v1/configmaps").0, 200, "another namespace");
    assert_eq!(world.get(&format!("{MAPS}/kube-root-ca.crt")).0, 200, "another verb");
    assert_eq!(world.get(MAPS).0, 200, "the first request passes");
    assert_eq!(world.get(MAPS).0, 500);
    assert_eq!(world.get(MAPS).0, 200);
}

#[test]
fn an_empty_list_looks_complete() {
    let mut world = world();
    strike(&mut world, FaultAction::EmptyList);
    let (code, list) = world.get(&format!("{MAPS}?limit=1"));
    assert_eq!((code, &list["items"], &list["metadata"]["continue"]), (200, &json!([]), &Value::Null));
}

#[test]
fn a_stale_replica_serves_an_older_state() {
    let mut world = world();
    let first = world.created(MAPS, &map_with("a", json!({ "x": "1" })));
    world.patch(&format!("{MAPS}/a"), MERGE, &json!({ "data": { "x": "2" } }));
    strike(&mut world, FaultAction::StaleReplica { writes: 1 });
    assert_eq!(world.get(&format!("{MAPS}/a")).1["data"]["x"], "1");
    strike(&mut world, FaultAction::StaleReplica { writes: 1 });
    assert_eq!(world.get(MAPS).1["metadata"]["resourceVersion"], version(&first));
    assert_eq!(world.get(&format!("{MAPS}/a")).1["data"]["x"], "2");
}

#[test]
fn a_page_of_a_list_can_expire() {
    let mut world = world();
    world.server.faults().add(Fault::once(maps(), FaultAction::Expired).after(1));
    assert_eq!(world.get(&format!("{MAPS}?limit=1")).0, 200);
    let (code, status) = world.get(&format!("{MAPS}?limit=1"));
    assert_eq!((code, &status["reason"]), (410, &json!("Expired")));
}

#[test]
fn watches_break_and_stall_on_demand() {
    let mut world = world();
    let open = |world: &mut World| match world.server.handle(world.now, &Request::get(&format!("{MAPS}?watch=true"))) {
        Answer::Watch(id) => id,
        other => panic!("expected a watch, got {other:?}"),
    };
    let (broken, silent) = (open(&mut world), open(&mut world));
    world.server.poll_watch(broken, world.now);
    world.server.silence_watches(&maps());
    assert_eq!(world.server.poll_watch(silent, world.now), Default::default());
    world.server.drop_watches(&maps());
    assert!(world.server.poll_watch(broken, world.now).ended);

    strike(&mut world, FaultAction::WatchDrop { after_events: 1 });
    let id = open(&mut world);
    let poll = world.server.poll_watch(id, world.now);
    assert_eq!((poll.lines.len(), poll.ended), (1, true));
}

#[test]
fn a_lost_group_is_not_listed_and_an_unavailable_one_is() {
    let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let cases = [("lost", GroupFault::Lost, 404, false), ("unavailable", GroupFault::Unavailable, 503, true)];
    for (case, fault, code, is_listed) in cases {
        let mut world = world();
        world.server.faults().group("example.com", fault);
        assert_eq!(world.get(WIDGETS).0, code, "case: {case}");
        assert_eq!(world.get("/apis/example.com/v1").0, code, "case: {case}");
        let (_, groups) = world.send(&Request::get("/apis").with_accept(aggregated));
        let items = groups["items"].as_array().expect("groups");
        let found = items.iter().find(|item| item["metadata"]["name"] == "example.com");
        assert_eq!(found.is_some(), is_listed, "case: {case}");
        let freshness = found.map(|group| group["versions"][0]["freshness"].clone());
        assert_eq!(freshness, is_listed.then(|| json!("Stale")), "case: {case}");
    }
}

#[test]
fn the_request_log_records_user_and_request() {
    let mut world = world();
    world.get(&format!("{MAPS}?limit=1"));
    strike(&mut world, FaultAction::LostBefore);
    world.server.handle(world.now, &Request::get(MAPS));
    let seen: Vec<_> =
        world.server.request_log().map(|line| (line.target.as_str(), line.user.as_str(), line.code)).collect();
    assert_eq!(seen, [(&*format!("{MAPS}?limit=1"), "admin", Some(200)), (MAPS, "admin", None)]);
}

#[test]
fn the_same_seed_gives_the_same_responses() {
    let responses = |seed| {
        let mut world = World { server: Server::new(seed, world().now), now: world().now };
        let mut object = map("");
        object["metadata"] = json!({ "generateName": "a-" });
        world.created(MAPS, &object)
    };
    assert_eq!(responses(1), responses(1));
    assert_ne!(responses(1), responses(2));
}
