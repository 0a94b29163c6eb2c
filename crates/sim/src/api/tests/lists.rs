use super::*;

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("a list has items");
    items.iter().filter_map(|item| item["metadata"]["name"].as_str()).collect()
}

fn world_with(names: &[(&str, Value)]) -> World {
    let mut world = world();
    for (name, labels) in names {
        let mut object = map(name);
        object["metadata"]["labels"] = labels.clone();
        world.created(MAPS, &object);
    }
    world
}

#[test]
fn a_selector_selects_the_matching_objects() {
    let mut world = world_with(&[
        ("a", json!({ "app": "x", "n": "1" })),
        ("b", json!({ "app": "y", "n": "5" })),
        ("c", json!({ "n": "9" })),
    ]);
    let cases = [
        ("equal", "labelSelector=app%3Dx", vec!["a"]),
        ("not equal", "labelSelector=app!%3Dx,n", vec!["b", "c"]),
        ("in", "labelSelector=app in (x,y)", vec!["a", "b"]),
        ("not in", "labelSelector=app notin (x),n", vec!["b", "c"]),
        ("exists", "labelSelector=app", vec!["a", "b"]),
        ("absent", "labelSelector=!app,n", vec!["c"]),
        ("greater", "labelSelector=n>4", vec!["b", "c"]),
        ("less", "labelSelector=n<4", vec!["a"]),
        ("by name", "fieldSelector=metadata.name%3Db", vec!["b"]),
        ("by other names", "fieldSelector=metadata.name!%3Db&labelSelector=n", vec!["a", "c"]),
    ];
    for (case, query, expected) in cases {
        let (code, list) = world.get(&format!("{MAPS}?{query}"));
        assert_eq!((code, names(&list)), (200, expected), "case: {case}");
    }
}

#[test]
fn an_invalid_selector_is_a_bad_request() {
    let mut world = world();
    let cases = [
        ("two equals", "labelSelector=a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("open list", "labelSelector=a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"),
        (
            "unknown field",
            "fieldSelector=foo=a",
            "\"foo\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
        ("no operator", "fieldSelector=foo", "invalid selector: 'foo'; can't understand 'foo'"),
        ("limit", "limit=abc", "strconv.ParseInt: parsing \"abc\": invalid syntax"),
        (
            "token",
            "continue=!!",
            "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
        ),
    ];
    for (case, query, expected) in cases {
        let (code, status) = world.get(&format!("{MAPS}?{query}"));
        assert_eq!((code, message(&status)), (400, expected), "case: {case}");
    }
}

#[test]
fn all_pages_of_a_list_show_one_version() {
    let mut world = world_with(&[("a", json!({})), ("b", json!({})), ("c", json!({}))]);
    let (_, first) = world.get(&format!("{MAPS}?limit=2"));
    assert_eq!(names(&first), ["a", "b"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 2);
    world.created(MAPS, &map("bb"));
    world.delete(&format!("{MAPS}/c"), &Value::Null);
    let token = first["metadata"]["continue"].as_str().expect("more follows").to_owned();
    let (_, second) = world.get(&format!("{MAPS}?limit=2&continue={token}"));
    assert_eq!(names(&second), ["c", "kube-root-ca.crt"], "the page shows the pinned version");
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    assert_eq!(second["metadata"]["continue"], Value::Null);
}

#[test]
fn a_compacted_page_is_gone_and_offers_an_inconsistent_continuation() {
    let mut world = world_with(&[("a", json!({})), ("b", json!({})), ("c", json!({}))]);
    let (_, first) = world.get(&format!("{MAPS}?limit=2"));
    let token = first["metadata"]["continue"].as_str().expect("more follows").to_owned();
    world.created(MAPS, &map("bb"));
    world.server.compact(world.server.version());
    let (code, status) = world.get(&format!("{MAPS}?limit=5&continue={token}"));
    assert_eq!((code, &status["reason"]), (410, &json!("Expired")));
    assert!(
        message(&status).starts_with("The provided continue parameter is too old to display a consistent list result.")
    );
    let token = status["metadata"]["continue"].as_str().expect("a token for the rest").to_owned();
    let (_, rest) = world.get(&format!("{MAPS}?limit=5&continue={token}"));
    assert_eq!(names(&rest), ["bb", "c", "kube-root-ca.crt"]);
}

#[test]
fn a_version_from_the_future_times_out() {
    let mut world = world();
    let current = world.server.version();
    let (code, status) = world.get(&format!("{MAPS}?resourceVersion=999999"));
    let expected = format!("Timeout: Too large resource version: 999999, current: {current}");
    assert_eq!((code, message(&status)), (504, expected.as_str()));
}

#[test]
fn an_exact_version_returns_the_older_state() {
    let mut world = world();
    let before = world.server.version();
    world.created(MAPS, &map("a"));
    let (_, list) = world.get(&format!("{MAPS}?resourceVersion={before}&resourceVersionMatch=Exact"));
    assert_eq!(names(&list), ["kube-root-ca.crt"]);
}

#[test]
fn namespaces_are_listed_in_the_order_of_their_keys() {
    let mut world = world();
    for namespace in ["a", "a-b"] {
        world.created("/api/v1/namespaces", &json!({ "metadata": { "name": namespace } }));
        world.created(&format!("/api/v1/namespaces/{namespace}/configmaps"), &map("x"));
    }
    let (_, list) = world.get("/api/v1/configmaps?fieldSelector=metadata.name%3Dx");
    let order: Vec<&Value> =
        list["items"].as_array().into_iter().flatten().map(|item| &item["metadata"]["namespace"]).collect();
    // A dash sorts before the slash that ends the namespace.
    assert_eq!(order, ["a-b", "a"]);
}

#[test]
fn lists_are_rendered_in_every_accepted_form() {
    let mut world = world_with(&[("a", json!({ "app": "x" }))]);
    let query = format!("{MAPS}?fieldSelector=metadata.name%3Da");
    let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let (_, list) = world.send(&Request::get(&query).with_accept(partial));
    assert_eq!(
        (&list["kind"], &list["items"][0]["kind"]),
        (&json!("PartialObjectMetadataList"), &json!("PartialObjectMetadata"))
    );
    assert_eq!(list["items"][0]["data"], Value::Null);
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let (_, list) = world.send(&Request::get(&query).with_accept(table));
    assert_eq!((&list["kind"], &list["rows"][0]["cells"]), (&json!("Table"), &json!(["a", 0, "0s"])));
}
