//! What the API server refuses of Approvals and Proposals: the policies, roles and kinds of `deploy/`, installed on a real
//! server, each refusal with its message.
//!
//! Not here: what the controller checks again (`crates/controller`).

use std::path::Path;
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::support::crds::install_crd;
use crate::support::http::{Request, Response};
use crate::support::real::{Connection, RealServer, User};

/// Policies and roles take effect through watches of the server's own, a moment after they were created.
const EFFECTIVE_WAIT_MAX: Duration = Duration::from_secs(30);

pub const NAMESPACE: &str = "trueup";
pub const CONTROLLER: &str = "system:serviceaccount:trueup:trueup";
const APPROVALS: &str = "/apis/trueup.dev/v1alpha1/namespaces/trueup/approvals";
const PROPOSALS: &str = "/apis/trueup.dev/v1alpha1/namespaces/trueup/proposals";
const PLAN_ID: &str = "sha256:7029d4a7985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c";

const ADMIN: &str = "admin";
const ANN: &str = "ann@example.com";

/// Installs kinds, admission and roles of `deploy/`, and gives people their roles.
pub async fn install(at: &Connection) {
    for kind in ["approvals", "proposals"] {
        install_crd(at, &file(&format!("deploy/crds/{kind}.trueup.dev.yaml"))).await;
    }
    for name in ["namespace", "admission", "rbac", "people"] {
        for object in documents(&file(&format!("deploy/base/{name}.yaml"))) {
            create(at, object).await;
        }
    }
    bind(at, "trueup-senior-approver", ANN).await;
    bind(at, "trueup-approver", "bob@example.com").await;
    bind(at, "trueup-viewer", "eve@example.com").await;
    // As ClusterRole trueup-approver, but without a verb of a tier.
    let rules = json!([{ "apiGroups": ["trueup.dev"], "resources": ["approvals"], "verbs": ["create"] }]);
    let role = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": "creator" }, "rules": rules });
    create(at, role).await;
    bind(at, "creator", "carl@example.com").await;
    bind(at, "creator", CONTROLLER).await;
    until_effective(at).await;
}

/// Waits until both policies refuse and every role counts, in trials that write nothing.
async fn until_effective(at: &Connection) {
    let is_ready = async || {
        let refused = |answer: &Response, text: &str| {
            answer.status >= 400 && answer.body["message"].as_str().is_some_and(|message| message.contains(text))
        };
        let wrong = send(at, ANN, trial(APPROVALS, approval(ANN, 1, |spec| spec["approver"] = json!("x")))).await;
        let foreign = send(at, ADMIN, trial(PROPOSALS, proposal())).await;
        let bobs = send(at, "bob@example.com", trial(APPROVALS, approval("bob@example.com", 2, |_| {}))).await;
        let anns = send(at, ANN, trial(APPROVALS, approval(ANN, 4, |_| {}))).await;
        let made = send(at, CONTROLLER, trial(PROPOSALS, proposal())).await;
        let carls = send(at, "carl@example.com", trial(APPROVALS, approval("carl@example.com", 1, |_| {}))).await;
        let own = send(at, CONTROLLER, trial(APPROVALS, approval(CONTROLLER, 1, |_| {}))).await;
        let accepted = [bobs, anns, made, carls].iter().all(|answer| answer.status == 201);
        accepted
            && refused(&wrong, "spec.approver has to be")
            && refused(&foreign, "only the controller")
            && refused(&own, "the controller cannot approve")
    };
    let waiting = async { while !is_ready().await {} };
    tokio::time::timeout(EFFECTIVE_WAIT_MAX, waiting).await.expect("policies and roles take effect");
}

fn trial(path: &str, object: Value) -> Request {
    Request::post(path, object).query("dryRun", "All")
}

async fn send(at: &Connection, user: &str, request: Request) -> Response {
    // Impersonated, the administrator would lose the group that makes one.
    let request = if user == ADMIN { request } else { request.header("impersonate-user", user) };
    at.send(&request).await.unwrap()
}

fn approval(approver: &str, tier: u8, edit: impl Fn(&mut Value)) -> Value {
    let words = match tier {
        1 => "",
        2 => "1",
        3 => "guest-payments",
        _ => "guest-payments 7029d4a7",
    };
    let mut spec = json!({ "proposal": "guest-payments-hosted-oidc-7029d4a7", "planID": PLAN_ID, "tier": tier,
        "approver": approver, "words": words, "decision": "approve" });
    edit(&mut spec);
    let metadata = json!({ "generateName": "a-", "namespace": NAMESPACE });
    json!({ "apiVersion": "trueup.dev/v1alpha1", "kind": "Approval", "metadata": metadata, "spec": spec })
}

fn proposal() -> Value {
    let cluster = json!({ "name": "guest-payments", "class": "prod",
        "identity": { "kubeSystemUID": "d1f2", "caSHA256": "00" } });
    json!({ "apiVersion": "trueup.dev/v1alpha1", "kind": "Proposal",
        "metadata": { "name": "guest-payments-hosted-oidc-7029d4a7", "namespace": NAMESPACE },
        "spec": { "planID": PLAN_ID, "cluster": cluster, "check": "hosted-oidc", "tier": 3, "actionCount": 2,
            "expiresAt": "2026-11-20T10:00:00Z", "plan": "{}" } })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_refuses_each_wrong_approval_and_accepts_the_right_one() {
    let Some(server) = RealServer::start() else { return };
    let at = server.connect(User::Admin);
    install(&at).await;

    let (bob, carl, eve) = ("bob@example.com", "carl@example.com", "eve@example.com");
    let same = |_: &mut Value| {};
    let cases: Vec<(&str, &str, Value, u16, &str)> = vec![
        ("T1", carl, approval(carl, 1, same), 201, ""),
        ("T2 by an approver", bob, approval(bob, 2, same), 201, ""),
        ("T3 by a senior approver", ANN, approval(ANN, 3, same), 201, ""),
        ("T4 by a senior approver", ANN, approval(ANN, 4, same), 201, ""),
        (
            "in another's name",
            bob,
            approval(ANN, 2, same),
            403,
            "spec.approver has to be the user who creates the Approval: bob@example.com",
        ),
        (
            "the controller itself",
            CONTROLLER,
            approval(CONTROLLER, 1, same),
            403,
            "the controller cannot approve its own Proposals",
        ),
        ("T2 without approve-t2", carl, approval(carl, 2, same), 403, "needs the verb approve-t2"),
        ("T3 without approve-t4", bob, approval(bob, 3, same), 403, "needs the verb approve-t4"),
        ("T4 without approve-t4", bob, approval(bob, 4, same), 403, "needs the verb approve-t4"),
        ("T2 without words", ANN, approval(ANN, 2, |spec| spec["words"] = json!("")), 422, "spec.words is empty"),
        (
            "T3 with no words at all",
            ANN,
            approval(ANN, 3, |spec| drop(spec.as_object_mut().unwrap().remove("words"))),
            422,
            "spec.words is empty",
        ),
        ("a viewer", eve, approval(eve, 1, same), 403, "cannot create resource \"approvals\""),
        (
            "an id that is cut",
            ANN,
            approval(ANN, 3, |spec| spec["planID"] = json!("sha256:7029d4a7")),
            422,
            "spec.planID",
        ),
        ("T5", ANN, approval(ANN, 5, same), 422, "spec.tier"),
        ("another decision", ANN, approval(ANN, 3, |spec| spec["decision"] = json!("maybe")), 422, "spec.decision"),
        (
            "a rejection of T4 without words",
            bob,
            approval(bob, 4, |spec| (spec["decision"], spec["words"]) = (json!("reject"), json!(""))),
            201,
            "",
        ),
        (
            "a rejection in another's name",
            bob,
            approval(ANN, 1, |spec| spec["decision"] = json!("reject")),
            403,
            "spec.approver has to be",
        ),
    ];
    for (case, user, object, status, expected) in cases {
        let answer = send(&at, user, Request::post(APPROVALS, object)).await;
        let message = answer.body["message"].as_str().unwrap_or_default();
        assert_eq!(answer.status, status, "case: {case}: {message}");
        assert!(message.contains(expected), "case: {case}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proposals_and_approvals_never_change_and_only_the_controller_writes_proposals() {
    let Some(server) = RealServer::start() else { return };
    let at = server.connect(User::Admin);
    install(&at).await;

    let refused = send(&at, ADMIN, Request::post(PROPOSALS, proposal())).await;
    assert_eq!(
        (refused.status, refused.body["message"].as_str().unwrap().contains("only the controller writes")),
        (403, true)
    );
    let mut large = proposal();
    large["spec"]["plan"] = json!("x".repeat(524_289));
    let refused = send(&at, CONTROLLER, Request::post(PROPOSALS, large)).await;
    assert_eq!(refused.status, 422, "{}", refused.body["message"]);
    let mut largest = proposal();
    largest["spec"]["plan"] = json!("x".repeat(524_288));
    let made = send(&at, CONTROLLER, Request::post(PROPOSALS, largest)).await;
    assert_eq!(made.status, 201, "{}", made.body["message"]);

    let path = format!("{PROPOSALS}/guest-payments-hosted-oidc-7029d4a7");
    for edit in [json!({ "tier": 1 }), json!({ "plan": "{ }" }), json!({ "cluster": { "class": "dev" } })] {
        let refused = merge(&at, ADMIN, &path, json!({ "spec": edit })).await;
        let message = refused.body["message"].as_str().unwrap();
        assert_eq!(refused.status, 422, "{edit}: {message}");
        assert!(message.contains("spec is immutable"), "{edit}: {message}");
    }
    let status = json!({ "status": { "phase": "Approved" } });
    let refused = merge(&at, ADMIN, &format!("{path}/status"), status.clone()).await;
    assert!(
        refused.body["message"].as_str().unwrap().contains("only the controller writes Proposals"),
        "{}",
        refused.body
    );
    let done = merge(&at, CONTROLLER, &format!("{path}/status"), status).await;
    assert_eq!((done.status, &done.body["status"]["phase"]), (200, &json!("Approved")), "{}", done.body["message"]);

    let made = send(&at, ANN, Request::post(APPROVALS, approval(ANN, 3, |_| {}))).await;
    let path = format!("{APPROVALS}/{}", made.body["metadata"]["name"].as_str().unwrap());
    let refused = merge(&at, ADMIN, &path, json!({ "spec": { "words": "other" } })).await;
    assert_eq!(refused.status, 422, "{}", refused.body["message"]);
    assert!(refused.body["message"].as_str().unwrap().contains("spec is immutable"), "{}", refused.body);
    let labelled = merge(&at, ADMIN, &path, json!({ "metadata": { "labels": { "a": "b" } } })).await;
    assert_eq!(labelled.status, 200, "metadata may change: {}", labelled.body["message"]);

    let table = Request::get(PROPOSALS).header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let table = at.send(&table).await.unwrap().body;
    let names: Vec<&str> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Name", "Cluster", "Check", "Tier", "Actions", "Phase", "Age", "Expires"]);
    let cells = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(cells[1..6], [json!("guest-payments"), json!("hosted-oidc"), json!(3), json!(2), json!("Approved")]);
    assert_eq!(cells[7], "2026-11-20T10:00:00Z");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_approval_of_the_documentation_is_accepted() {
    let Some(server) = RealServer::start() else { return };
    let at = server.connect(User::Admin);
    install(&at).await;
    let page = file("docs/in-cluster.md");
    let mut blocks = page.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next());
    let example = blocks.find(|block| block.contains("kind: Approval")).expect("the page has an Approval");
    let object: Value = serde_saphyr::from_str(example).unwrap();
    let made = send(&at, ANN, Request::post(APPROVALS, object)).await;
    assert_eq!(made.status, 201, "{}", made.body["message"]);
}

pub async fn bind(at: &Connection, role: &str, user: &str) {
    let subject = match user.strip_prefix("system:serviceaccount:").and_then(|account| account.split_once(':')) {
        Some((namespace, name)) => json!({ "kind": "ServiceAccount", "namespace": namespace, "name": name }),
        None => json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }),
    };
    let name = format!("{role}-{}", user.replace(['@', ':'], "-"));
    let binding = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": name, "namespace": NAMESPACE }, "subjects": [subject],
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role } });
    create(at, binding).await;
}

/// Creates an object of one of the kinds in `deploy/`. A namespace that is there is left as it is.
pub async fn create(at: &Connection, object: Value) {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let plural = match kind.as_str() {
        "ValidatingAdmissionPolicy" => "validatingadmissionpolicies".to_owned(),
        _ => format!("{}s", kind.to_lowercase()),
    };
    let root = if version.contains('/') { "/apis" } else { "/api" };
    let path = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{version}/{plural}"),
    };
    let made = at.send(&Request::post(&path, object)).await.unwrap();
    assert!(made.status == 201 || kind == "Namespace" && made.status == 409, "{path}: {}", made.body["message"]);
}

async fn merge(at: &Connection, user: &str, path: &str, patch: Value) -> Response {
    send(at, user, Request::new(Method::PATCH, path).json("application/merge-patch+json", patch)).await
}

pub fn documents(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).expect("manifests are YAML")
}

pub fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}
