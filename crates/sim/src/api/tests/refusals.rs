use super::*;
use crate::{Identity, Rule};

#[test]
fn a_refusal_has_the_message_of_kube_apiserver() {
    let subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    let cases = [
        ("missing object", Method::GET, "/nope", Value::Null, 404, "configmaps \"nope\" not found".to_owned()),
        ("taken name", Method::POST, "", map("kube-root-ca.crt"), 409, "configmaps \"kube-root-ca.crt\" already exists".into()),
        ("bad name", Method::POST, "", map("A_b"), 422, format!("ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": {subdomain}")),
        ("no name", Method::POST, "", map(""), 422, "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required".into()),
        ("replacing nothing", Method::PUT, "/nope", map("nope"), 404, "configmaps \"nope\" not found".into()),
        ("other name", Method::PUT, "/kube-root-ca.crt", map("b"), 400, "the name of the object (b) does not match the name on the URL (kube-root-ca.crt)".into()),
        ("number as text", Method::POST, "", map_with("a", json!({ "x": 1 })), 400, "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string".into()),
        ("other version", Method::POST, "", json!({ "apiVersion": "v2", "kind": "ConfigMap", "metadata": { "name": "a" } }), 400, "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\"".into()),
        ("method of a collection", Method::PUT, "", map("a"), 405, "the server does not allow this method on the requested resource".into()),
    ];
    for (case, method, path, body, code, expected) in cases {
        let mut world = world();
        let body = if body.is_null() { Bytes::new() } else { bytes_of(&body) };
        let (actual_code, status) = world.send(&Request::new(method, &format!("{MAPS}{path}"), body));
        assert_eq!((actual_code, message(&status)), (code, expected.as_str()), "case: {case}");
        assert_eq!(status["kind"], "Status", "case: {case}");
    }
}

#[test]
fn a_missing_or_terminating_namespace_accepts_no_new_objects() {
    let mut world = world();
    let (code, status) = world.post("/api/v1/namespaces/nope/configmaps", &map("a"));
    assert_eq!((code, message(&status)), (404, "namespaces \"nope\" not found"));

    world.created("/api/v1/namespaces", &json!({ "metadata": { "name": "going" } }));
    let (code, namespace) = world.delete("/api/v1/namespaces/going", &Value::Null);
    assert_eq!((code, &namespace["status"]["phase"]), (200, &json!("Terminating")));
    let (code, status) = world.post("/api/v1/namespaces/going/configmaps", &map("a"));
    assert_eq!(
        (code, message(&status)),
        (
            403,
            "configmaps \"a\" is forbidden: unable to create new content in namespace going because it is being terminated"
        )
    );
}

#[test]
fn an_unknown_path_returns_text_and_an_unknown_resource_a_status() {
    let mut world = world();
    let reply = world.reply(&Request::get("/apis/nobody.example.com/v1/things"));
    assert_eq!((reply.status, &reply.body[..]), (404, &b"404 page not found\n"[..]));
    let (code, status) = world.get("/api/v1/namespaces/default/things");
    assert_eq!((code, message(&status)), (404, "the server could not find the requested resource"));
}

#[test]
fn a_stale_update_is_a_conflict_and_an_unversioned_one_depends_on_the_kind() {
    let mut world = world();
    let first = world.created(MAPS, &map_with("a", json!({ "x": "1" })));
    let (code, _) = world.put(&format!("{MAPS}/a"), &map_with("a", json!({ "x": "2" })));
    assert_eq!(code, 200, "a built-in kind may be overwritten without a version");

    let mut stale = map_with("a", json!({ "x": "3" }));
    stale["metadata"]["resourceVersion"] = version(&first).into();
    let (code, status) = world.put(&format!("{MAPS}/a"), &stale);
    assert_eq!(
        (code, message(&status)),
        (
            409,
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
        )
    );

    world.created(WIDGETS, &widget("w", json!({})));
    let (code, status) = world.put(&format!("{WIDGETS}/w"), &widget("w", json!({ "x": 1 })));
    assert_eq!(
        (code, message(&status)),
        (
            422,
            "widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        )
    );
}

#[test]
fn an_update_that_names_another_uid_is_refused_by_the_storage() {
    let mut world = world();
    let object = world.created(MAPS, &map("a"));
    let mut other = map("a");
    other["metadata"]["uid"] = "x".into();
    let (code, status) = world.put(&format!("{MAPS}/a"), &other);
    let expected = format!(
        "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: {}",
        uid(&object)
    );
    assert_eq!((code, message(&status)), (409, expected.as_str()));
}

#[test]
fn an_immutable_object_keeps_its_data() {
    let mut world = world();
    let mut frozen = map_with("a", json!({ "x": "1" }));
    frozen["immutable"] = true.into();
    world.created(MAPS, &frozen);
    let (code, status) = world.put(&format!("{MAPS}/a"), &map_with("a", json!({ "x": "2" })));
    assert_eq!(
        (code, message(&status)),
        (
            422,
            "ConfigMap \"a\" is invalid: [immutable: Forbidden: field is immutable when `immutable` is set, data: Forbidden: field is immutable when `immutable` is set]"
        )
    );
}

#[test]
fn access_denials_have_the_real_message_and_match_self_reviews() {
    let nobody = Identity::new("nobody", &[]);
    let cases = [
        (
            "in a namespace",
            "/api/v1/namespaces/x/secrets",
            "secrets is forbidden: User \"nobody\" cannot list resource \"secrets\" in API group \"\" in the namespace \"x\"",
        ),
        (
            "everywhere",
            "/api/v1/secrets",
            "secrets is forbidden: User \"nobody\" cannot list resource \"secrets\" in API group \"\" at the cluster scope",
        ),
        (
            "one object",
            "/api/v1/namespaces/x/secrets/s",
            "secrets \"s\" is forbidden: User \"nobody\" cannot get resource \"secrets\" in API group \"\" in the namespace \"x\"",
        ),
        (
            "another group",
            "/apis/example.com/v1/widgets",
            "widgets.example.com is forbidden: User \"nobody\" cannot list resource \"widgets\" in API group \"example.com\" at the cluster scope",
        ),
    ];
    for (case, path, expected) in cases {
        let mut world = world();
        world.server.rbac().restrict("nobody");
        let (code, status) = world.send(&Request::get(path).with_identity(Some(nobody.clone())));
        assert_eq!((code, message(&status)), (403, expected), "case: {case}");
    }

    let mut world = world();
    world.server.rbac().allow("nobody", Rule::new(&["get"], "secrets").in_namespace("default"));
    let review = |verb: &str| {
        let spec = json!({ "resourceAttributes": { "verb": verb, "resource": "secrets", "namespace": "default" } });
        let body = json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        Request::new(Method::POST, path, bytes_of(&body)).with_identity(Some(nobody.clone()))
    };
    assert_eq!(world.send(&review("get")).1["status"]["allowed"], true);
    assert_eq!(world.send(&review("delete")).1["status"]["allowed"], false);
}

#[test]
fn a_caller_without_identity_is_unauthorized() {
    let mut world = world();
    let (code, status) = world.send(&Request::get(MAPS).with_identity(None));
    assert_eq!((code, message(&status)), (401, "Unauthorized"));
}
