use super::*;

#[test]
fn a_delete_replies_with_the_deleted_object() {
    let mut world = world();
    let object = world.created(MAPS, &map("a"));
    let (code, status) = world.delete(&format!("{MAPS}/a"), &Value::Null);
    let expected = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": { "name": "a", "kind": "configmaps", "uid": uid(&object) },
    });
    assert_eq!((code, status), (200, expected));
    assert_eq!(world.get(&format!("{MAPS}/a")).0, 404);
}

#[test]
fn a_precondition_that_does_not_hold_stops_a_delete() {
    let mut world = world();
    let object = world.created(MAPS, &map("a"));
    let cases = [
        (
            "other uid",
            json!({ "uid": "x" }),
            format!(
                "the UID in the precondition (x) does not match the UID in record ({}). The object might have been deleted and then recreated",
                uid(&object)
            ),
        ),
        (
            "other version",
            json!({ "resourceVersion": "1" }),
            format!(
                "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({}). The object might have been modified",
                version(&object)
            ),
        ),
    ];
    for (case, preconditions, why) in cases {
        let (code, status) = world.delete(&format!("{MAPS}/a"), &json!({ "preconditions": preconditions }));
        let expected = format!("Operation cannot be fulfilled on ConfigMap \"a\": {why}");
        assert_eq!((code, message(&status)), (409, expected.as_str()), "case: {case}");
    }
    let right = json!({ "preconditions": { "uid": uid(&object), "resourceVersion": version(&object) } });
    assert_eq!(world.delete(&format!("{MAPS}/a"), &right).0, 200);
}

#[test]
fn an_object_with_finalizers_stays_until_the_last_one_is_removed() {
    let mut world = world();
    let mut object = map("a");
    object["metadata"]["finalizers"] = json!(["a.io/1", "a.io/2"]);
    world.created(MAPS, &object);
    let path = format!("{MAPS}/a");
    let (code, waiting) = world.delete(&path, &Value::Null);
    assert_eq!((code, &waiting["metadata"]["deletionTimestamp"]), (200, &json!("2026-01-02T03:04:05Z")));
    assert_eq!(version(&world.delete(&path, &Value::Null).1), version(&waiting), "a second delete changes nothing");

    let (code, status) = world.patch(&path, MERGE, &json!({ "metadata": { "finalizers": ["a.io/3"] } }));
    assert_eq!(
        (code, message(&status)),
        (
            422,
            "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"a.io/3\"}"
        )
    );
    let (code, status) = world.post(MAPS, &map("a"));
    assert_eq!((code, message(&status)), (409, "object is being deleted: configmaps \"a\" already exists"));

    assert_eq!(world.patch(&path, MERGE, &json!({ "metadata": { "finalizers": ["a.io/2"] } })).0, 200);
    assert_eq!(world.get(&path).0, 200);
    assert_eq!(world.patch(&path, MERGE, &json!({ "metadata": { "finalizers": null } })).0, 200);
    assert_eq!(world.get(&path).0, 404);
}

#[test]
fn a_dry_run_changes_nothing() {
    let mut world = world();
    world.created(MAPS, &map("a"));
    let before = world.server.version();
    let path = format!("{MAPS}/a");
    assert_eq!(world.post(&format!("{MAPS}?dryRun=All"), &map("b")).0, 201);
    assert_eq!(world.put(&format!("{path}?dryRun=All"), &map_with("a", json!({ "x": "1" }))).0, 200);
    assert_eq!(world.delete(&path, &json!({ "dryRun": ["All"] })).0, 200);
    assert_eq!(world.server.version(), before);
}

/// Objects left after each pass, for an owner and a dependent.
#[test]
fn garbage_collection_runs_on_request_and_follows_the_policy() {
    let cases = [
        ("background", "Background", 404, 404),
        ("foreground", "Foreground", 404, 404),
        ("orphan", "Orphan", 404, 200),
    ];
    for (case, policy, owner_left, dependent_left) in cases {
        let mut world = world();
        let owner = world.created(MAPS, &map("owner"));
        let mut dependent = map("dependent");
        dependent["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid(&owner), "blockOwnerDeletion": true,
        }]);
        world.created(MAPS, &dependent);
        assert_eq!(world.delete(&format!("{MAPS}/owner"), &json!({ "propagationPolicy": policy })).0, 200);
        assert_eq!(world.get(&format!("{MAPS}/dependent")).0, 200, "no cascade without a pass; case: {case}");
        while world.server.collect_garbage(world.now) > 0 {}
        assert_eq!(world.get(&format!("{MAPS}/owner")).0, owner_left, "case: {case}");
        assert_eq!(world.get(&format!("{MAPS}/dependent")).0, dependent_left, "case: {case}");
    }
}

#[test]
fn a_new_object_with_the_name_of_a_deleted_owner_keeps_no_dependents() {
    let mut world = world();
    let owner = world.created(MAPS, &map("owner"));
    let mut dependent = map("dependent");
    dependent["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid(&owner) }]);
    world.created(MAPS, &dependent);
    world.delete(&format!("{MAPS}/owner"), &Value::Null);
    world.created(MAPS, &map("owner"));
    world.server.collect_garbage(world.now);
    assert_eq!(world.get(&format!("{MAPS}/dependent")).0, 404);
}

#[test]
fn a_terminating_namespace_is_emptied_and_then_removed() {
    let mut world = world();
    world.created("/api/v1/namespaces", &json!({ "metadata": { "name": "n" } }));
    world.created("/api/v1/namespaces/n/configmaps", &map("a"));
    world.delete("/api/v1/namespaces/n", &Value::Null);
    while world.server.collect_garbage(world.now) > 0 {}
    assert_eq!(world.get("/api/v1/namespaces/n").0, 404);
    assert_eq!(world.get("/api/v1/namespaces/n/configmaps/a").0, 404);
}
