use super::*;

fn managers(object: &Value) -> Vec<(&str, &str, &Value)> {
    let entries = object["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice);
    entries
        .iter()
        .map(|entry| {
            (entry["manager"].as_str().unwrap_or(""), entry["operation"].as_str().unwrap_or(""), &entry["fieldsV1"])
        })
        .collect()
}

#[test]
fn a_create_and_an_update_own_the_fields_they_set() {
    let mut world = world();
    let object = world.created(&format!("{MAPS}?fieldManager=one"), &map_with("a", json!({ "x": "1" })));
    let both = json!({ "f:data": { ".": {}, "f:x": {} } });
    assert_eq!(managers(&object), [("one", "Update", &both)]);
    let (_, object) = world.patch(&format!("{MAPS}/a?fieldManager=two"), MERGE, &json!({ "data": { "y": "1" } }));
    let second = json!({ "f:data": { "f:y": {} } });
    assert_eq!(managers(&object), [("one", "Update", &both), ("two", "Update", &second)]);
}

#[test]
fn applying_over_another_manager_is_a_conflict_until_forced() {
    let mut world = world();
    let path = format!("{MAPS}/a");
    let (code, _) =
        world.patch(&format!("{path}?fieldManager=one"), APPLY, &map_with("a", json!({ "x": "1", "y": "1" })));
    assert_eq!(code, 201);
    let (code, status) = world.patch(&format!("{path}?fieldManager=two"), APPLY, &map_with("a", json!({ "x": "2" })));
    assert_eq!((code, message(&status)), (409, "Apply failed with 1 conflict: conflict with \"one\": .data.x"));
    assert_eq!(
        status["details"]["causes"],
        json!([{ "reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".data.x" }])
    );
    let (code, status) =
        world.patch(&format!("{path}?fieldManager=two"), APPLY, &map_with("a", json!({ "x": "2", "y": "2" })));
    assert_eq!(
        (code, message(&status)),
        (409, "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.x\n- .data.y")
    );

    let (code, object) =
        world.patch(&format!("{path}?fieldManager=two&force=true"), APPLY, &map_with("a", json!({ "x": "2" })));
    assert_eq!((code, &object["data"]), (200, &json!({ "x": "2", "y": "1" })));
    let owns = |name: &str| json!({ "f:data": { format!("f:{name}"): {} } });
    assert_eq!(managers(&object), [("one", "Apply", &owns("y")), ("two", "Apply", &owns("x"))]);
}

#[test]
fn a_conflict_with_an_updater_names_its_version() {
    let mut world = world();
    world.created(&format!("{MAPS}?fieldManager=one"), &map_with("a", json!({ "x": "1" })));
    let (_, status) = world.patch(&format!("{MAPS}/a?fieldManager=two"), APPLY, &map_with("a", json!({ "x": "2" })));
    assert_eq!(message(&status), "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.x");
}

#[test]
fn a_field_no_longer_applied_is_removed_unless_another_manager_owns_it() {
    let mut world = world();
    let path = format!("{MAPS}/a");
    world.patch(&format!("{path}?fieldManager=one"), APPLY, &map_with("a", json!({ "x": "1", "y": "1", "z": "1" })));
    world.patch(&format!("{path}?fieldManager=two"), APPLY, &map_with("a", json!({ "y": "1" })));
    let (_, object) = world.patch(&format!("{path}?fieldManager=one"), APPLY, &map_with("a", json!({ "x": "1" })));
    assert_eq!(object["data"], json!({ "x": "1", "y": "1" }), "z is removed, y is shared and stays");
}

#[test]
fn applying_the_same_twice_changes_nothing() {
    let mut world = world();
    let path = format!("{WIDGETS}/w?fieldManager=one");
    let (_, first) = world.patch(&path, APPLY, &widget("w", json!({ "a": { "b": 1 }, "list": [1, 2] })));
    world.now += jiff::SignedDuration::from_secs(5);
    let (code, second) = world.patch(&path, APPLY, &widget("w", json!({ "a": { "b": 1 }, "list": [1, 2] })));
    assert_eq!((code, &second), (200, &first));
}

#[test]
fn an_apply_without_a_manager_or_for_another_kind_is_refused() {
    let mut world = world();
    let (code, status) = world.patch(&format!("{MAPS}/a"), APPLY, &map("a"));
    assert_eq!(
        (code, message(&status)),
        (422, "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch")
    );
    let other = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" } });
    let (code, status) = world.patch(&format!("{MAPS}/a?fieldManager=m"), APPLY, &other);
    assert_eq!((code, message(&status)), (400, "invalid object type: /v1, Kind=Secret"));
}

#[test]
fn a_yaml_body_can_be_applied() {
    let mut world = world();
    let body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: value\n";
    let request = Request::new(Method::PATCH, &format!("{MAPS}/a?fieldManager=m"), body).with_content_type(APPLY);
    let (code, object) = world.send(&request);
    assert_eq!((code, &object["data"]), (201, &json!({ "key": "value" })));
}

#[test]
fn status_and_spec_are_written_through_their_own_endpoints() {
    let mut world = world();
    let mut object = widget("w", json!({ "x": 1 }));
    object["status"] = json!({ "ready": true });
    let created = world.created(WIDGETS, &object);
    assert_eq!((&created["status"], &created["metadata"]["generation"]), (&Value::Null, &json!(1)));

    let both = json!({ "spec": { "x": 2 }, "status": { "ready": true } });
    let (_, object) = world.patch(&format!("{WIDGETS}/w/status"), MERGE, &both);
    assert_eq!((&object["spec"]["x"], &object["status"]["ready"]), (&json!(1), &json!(true)));
    assert_eq!(object["metadata"]["generation"], 1);
    let (_, object) = world.patch(&format!("{WIDGETS}/w"), MERGE, &both);
    assert_eq!((&object["spec"]["x"], &object["metadata"]["generation"]), (&json!(2), &json!(2)));
}

#[test]
fn a_json_patch_applies_as_a_whole_or_not_at_all() {
    let mut world = world();
    world.created(MAPS, &map_with("a", json!({ "x": "1" })));
    let path = format!("{MAPS}/a");
    let cases = [
        (
            "test fails",
            json!([{ "op": "add", "path": "/data/y", "value": "1" }, { "op": "test", "path": "/data/x", "value": "2" }]),
        ),
        ("nothing to remove", json!([{ "op": "remove", "path": "/data/nope" }])),
        ("no such operation", json!([{ "op": "turn", "path": "/data/x" }])),
    ];
    for (case, patch) in cases {
        let (code, status) = world.patch(&path, JSON_PATCH, &patch);
        let expected = (422, "the server rejected our request due to an error in our request");
        assert_eq!((code, message(&status)), expected, "case: {case}");
    }
    assert_eq!(world.get(&path).1["data"], json!({ "x": "1" }));
}

#[test]
fn string_data_of_a_secret_is_folded_and_its_type_is_filled_in() {
    let mut world = world();
    let secret =
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "stringData": { "p": "q" } });
    let object = world.created("/api/v1/namespaces/default/secrets", &secret);
    assert_eq!((&object["data"], &object["type"]), (&json!({ "p": "cQ==" }), &json!("Opaque")));
    assert_eq!(object["stringData"], Value::Null);
}

#[test]
fn a_definition_serves_its_kind_until_it_is_deleted() {
    let mut world = world();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "gadgets.example.org" },
        "spec": {
            "group": "example.org", "scope": "Cluster",
            "names": { "plural": "gadgets", "kind": "Gadget" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": { "type": "object" } } }],
        },
    });
    let path = "/apis/example.org/v1/gadgets";
    assert_eq!(world.get(path).0, 404);
    let created = world.created("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    assert_eq!(created["status"]["conditions"][1]["type"], "Established");
    let gadget = json!({ "apiVersion": "example.org/v1", "kind": "Gadget", "metadata": { "name": "g" } });
    assert_eq!(world.post(path, &gadget).0, 201);
    world.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.org", &Value::Null);
    assert_eq!(world.get(path).0, 404);
}
