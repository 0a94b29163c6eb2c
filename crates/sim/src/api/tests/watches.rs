#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]
use jiff::SignedDuration;

use super::*;
use crate::WatchId;

fn open(world: &mut World, target: &str) -> WatchId {
    match world.server.handle(world.now, &Request::get(target)) {
        Answer::Watch(id) => id,
        other => panic!("expected a watch, got {other:?}"),
    }
}

/// Type, name and version of a watch's pending events.
fn heard(world: &mut World, id: WatchId) -> Vec<(String, String)> {
    let poll = world.server.poll_watch(id, world.now);
    let events = poll.lines.iter().map(|line| serde_json::from_slice::<Value>(line).expect("a line is JSON"));
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    events.map(|event| (text(&event["type"]), text(&event["object"]["metadata"]["name"]))).collect()
}

fn event(kind: &str, name: &str) -> (String, String) {
    (kind.into(), name.into())
}

#[test]
fn leaving_the_selection_is_a_delete_event_and_entering_it_an_add_event() {
    let mut world = world();
    let from = world.server.version();
    let id = open(&mut world, &format!("{MAPS}?watch=true&resourceVersion={from}&labelSelector=k%3D1"));
    world.created(MAPS, &map("a"));
    assert_eq!(heard(&mut world, id), []);
    let path = format!("{MAPS}/a");
    for (value, expected) in [("1", "ADDED"), ("2", "DELETED"), ("1", "ADDED")] {
        world.patch(&path, MERGE, &json!({ "metadata": { "labels": { "k": value } } }));
        assert_eq!(heard(&mut world, id), [event(expected, "a")]);
    }
    world.patch(&path, MERGE, &json!({ "data": { "x": "1" } }));
    assert_eq!(heard(&mut world, id), [event("MODIFIED", "a")]);
    world.delete(&path, &Value::Null);
    assert_eq!(heard(&mut world, id), [event("DELETED", "a")]);
}

#[test]
fn an_update_that_changes_nothing_is_no_event() {
    let mut world = world();
    let object = world.created(MAPS, &map_with("a", json!({ "x": "1" })));
    let id = open(&mut world, &format!("{MAPS}?watch=true&resourceVersion={}", version(&object)));
    let (_, again) = world.put(&format!("{MAPS}/a"), &map_with("a", json!({ "x": "1" })));
    assert_eq!(version(&again), version(&object));
    assert_eq!(heard(&mut world, id), []);
}

#[test]
fn initial_events_end_with_a_bookmark() {
    let mut world = world();
    let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let id = open(&mut world, &format!("{MAPS}?{query}"));
    let poll = world.server.poll_watch(id, world.now);
    let events: Vec<Value> = poll.lines.iter().map(|line| serde_json::from_slice(line).expect("JSON")).collect();
    assert_eq!(events[0]["type"], "ADDED");
    assert_eq!(events[1]["type"], "BOOKMARK");
    assert_eq!(events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    assert_eq!(events[1]["object"]["metadata"]["resourceVersion"], world.server.version().to_string());
}

#[test]
fn a_quiet_watch_gets_bookmarks_and_an_end() {
    let mut world = world();
    let from = world.server.version();
    let query = format!("watch=true&allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion={from}");
    let id = open(&mut world, &format!("{MAPS}?{query}"));
    assert_eq!(heard(&mut world, id), []);
    for (seconds, expected) in [(60, 1), (30, 0), (8, 1)] {
        world.now += SignedDuration::from_secs(seconds);
        assert_eq!(heard(&mut world, id).len(), expected, "after {seconds} more seconds");
    }
    world.now += SignedDuration::from_secs(2);
    assert!(world.server.poll_watch(id, world.now).ended);
    assert_eq!(world.server.open_watches(), 0);
}

#[test]
fn a_watch_older_than_the_history_gets_410_and_is_closed() {
    let mut world = world();
    let from = world.server.version();
    let id = open(&mut world, &format!("{MAPS}?watch=true&resourceVersion={from}"));
    world.created(MAPS, &map("a"));
    world.created(MAPS, &map("b"));
    world.server.compact(world.server.version());
    let poll = world.server.poll_watch(id, world.now);
    let event: Value = serde_json::from_slice(&poll.lines[0]).expect("JSON");
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(message(&event["object"]), format!("too old resource version: {from} ({})", world.server.version()));
    assert!(poll.ended);
}

#[test]
fn a_delete_event_has_the_version_of_the_removal() {
    let mut world = world();
    let object = world.created(MAPS, &map("a"));
    let id = open(&mut world, &format!("{MAPS}?watch=true&resourceVersion={}", version(&object)));
    world.delete(&format!("{MAPS}/a"), &Value::Null);
    let poll = world.server.poll_watch(id, world.now);
    let event: Value = serde_json::from_slice(&poll.lines[0]).expect("JSON");
    assert_eq!(event["object"]["metadata"]["resourceVersion"], world.server.version().to_string());
}
