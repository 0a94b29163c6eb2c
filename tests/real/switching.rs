//! Turning a cluster over to OIDC on a real API server: previewed, sealed, sent and undone.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use trueup_core::engine::{Action, Finding, Plan};

use super::desk::Desk;
use super::external_oidc::{AUTHENTICATION, MERGE, asked, get, patch, seed};
use super::fleet::{create, inline_kubeconfig};
use super::oidc::Issuer;
use crate::support::killed::said;
use crate::support::real::{Connection, RealServer, User};

const CONFIG: &str = "[domains.external-oidc]\nmanage = true\noffer_switch = true\n";
const CANARY: &str = "canary-5b1e77";

/// An authority that signs administrators' certificates, and an administrator.
async fn prepare(at: &Connection) {
    let key = rcgen::KeyPair::generate().unwrap();
    let authority = rcgen::CertificateParams::new(vec![]).unwrap().self_signed(&key).unwrap().pem();
    create(
        at,
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "admin-kubeconfig-client-ca",
        "namespace": "openshift-config"}, "data": {"ca-bundle.crt": authority}}),
    )
    .await;
    create(at, json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "provider-admins"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
        "name": "cluster-admin"}, "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jo@example.org"}]}))
        .await;
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    create(
        at,
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "users.user.openshift.io"}, "spec": {"group": "user.openshift.io", "scope": "Cluster",
        "names": {"kind": "User", "listKind": "UserList", "plural": "users", "singular": "user"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}}),
    )
    .await;
    let user =
        json!({"apiVersion": "user.openshift.io/v1", "kind": "User", "metadata": {"name": "jane"}, "fullName": CANARY});
    let path = "/apis/user.openshift.io/v1/users";
    // A definition is served a moment after it was taken.
    let made = async {
        while at.send(&crate::support::http::Request::post(path, user.clone())).await.unwrap().status != 201 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), made).await.expect("the kind is served");
}

fn plan(desk: &Desk, more: &[&str]) -> (Plan, String) {
    let args = ["plan", "--settle", "0s", "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml", "--out"];
    let output = desk.run(&[&args[..], &["$TMP/plan.json", "--domain", "external-oidc"], more].concat());
    let text = std::fs::read_to_string(desk.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
    (Plan::read(&text).unwrap(), said(&output))
}

fn switch(plan: &Plan) -> &Action {
    plan.actions.iter().find(|action| action.verb().as_str() == "patch").expect("the switch is in the plan")
}

fn finding(plan: &Plan) -> &Finding {
    let id = "external-oidc/ocp/Authentication/_/cluster";
    plan.findings.iter().find(|finding| finding.id == id).expect("the Authentication is judged")
}

fn desk(server: &RealServer, user: &str) -> Desk {
    let desk = Desk::with(&inline_kubeconfig(server, "ocp", user));
    std::fs::write(desk.path("config.toml"), CONFIG).unwrap();
    desk
}

fn apply(desk: &Desk, file: &str, plan: &Plan, action: &Action) -> (Option<i32>, String) {
    let args = ["apply", file, "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml", "--look-back", "0s"];
    let output = desk.run(&[&args[..], &["--expect", &plan.id, "--only", &action.id]].concat());
    (output.status.code(), said(&output))
}

async fn spec(at: &Connection) -> Value {
    get(at, AUTHENTICATION).await.unwrap()["spec"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_switch_needs_a_remaining_login_and_is_sealed_sent_and_undone() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else { return };
    let at = server.connect(User::Admin);
    seed(&at, &server).await;
    prepare(&at).await;
    let mut before = asked(json!(["a"]));
    before["spec"]["type"] = json!("IntegratedOAuth");
    before["spec"]["webhookTokenAuthenticator"] = json!({"kubeConfig": {"name": "webhook"}});
    patch(&at, AUTHENTICATION, MERGE, before.clone()).await;

    let by_token = desk(&server, "admin");
    let (shut, text) = plan(&by_token, &[]);
    let gates: Vec<&str> = switch(&shut).blocked_by.iter().map(|blocked| blocked.gate.as_str()).collect();
    assert_eq!(gates, ["access"], "{text}");
    assert!(text.contains("you could lose your own access"), "{text}");

    let by_certificate = desk(&server, "admin-cert");
    let (open, text) = plan(&by_certificate, &[]);
    let action = switch(&open);
    assert_eq!((action.blocked_by.as_slice(), action.selected, u8::from(action.tier)), (&[][..], false, 3), "{text}");
    let message: Vec<&str> = finding(&open).evidence.iter().map(|line| line.message.as_str()).collect();
    for expected in [
        "your own login is a client certificate",
        "cluster-admin is bound to user jo@example.org",
        "rollback from OIDC",
    ] {
        assert!(message.iter().any(|line| line.contains(expected)), "{expected}: {message:?}");
    }
    let (code, text) = apply(&by_certificate, "$TMP/plan.json", &open, action);
    assert_eq!(code, Some(0), "{text}");
    let switched = spec(&at).await;
    assert_eq!((&switched["type"], &switched["webhookTokenAuthenticator"]), (&json!("OIDC"), &Value::Null));
    assert_eq!(switched["oidcProviders"], before["spec"]["oidcProviders"], "providers stay as they are");
    let files = by_certificate.state_files();
    assert!(files.iter().any(|(path, _)| path.extension().is_some_and(|end| end == "age")), "the users are sealed");
    let clear = |bytes: &[u8]| bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    assert!(!files.iter().any(|(_, bytes)| clear(bytes)) && !text.contains(CANARY), "and lie nowhere in the clear");

    let args = ["undo", &open.id[7..15], "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml"];
    let undone = by_certificate.run(&[&args[..], &["--out", "$TMP/undo.json"]].concat());
    assert_eq!(undone.status.code(), Some(0), "{}", said(&undone));
    let undo = Plan::read(&std::fs::read_to_string(by_certificate.path("undo.json")).unwrap()).unwrap();
    let (code, text) = apply(&by_certificate, "$TMP/undo.json", &undo, &undo.actions[0]);
    assert_eq!(code, Some(0), "{text}");
    let back = spec(&at).await;
    assert_eq!(back["type"], before["spec"]["type"]);
    assert_eq!(back["webhookTokenAuthenticator"], before["spec"]["webhookTokenAuthenticator"]);
}

async fn ask_for_issuer(at: &Connection, url: &str) {
    let mut wanted = asked(json!(["a"]));
    wanted["spec"]["oidcProviders"][0]["issuer"] =
        json!({"issuerURL": url, "audiences": ["a"], "issuerCertificateAuthority": {"name": "idp-ca"}});
    patch(at, AUTHENTICATION, MERGE, wanted).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discovery_document_is_fetched_only_on_request() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else { return };
    let at = server.connect(User::Admin);
    seed(&at, &server).await;
    let issuer = Issuer::start().await;
    create(
        &at,
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "idp-ca", "namespace": "openshift-config"},
        "data": {"ca-bundle.crt": issuer.ca}}),
    )
    .await;
    let desk = desk(&server, "admin");
    let host = issuer.base.trim_start_matches("https://");
    let refused = format!("[egress] allow = [\"{host}\"]");
    ask_for_issuer(&at, &issuer.base).await;
    let (by_default, _) = plan(&desk, &["--probe"]);
    let evidence = &finding(&by_default).evidence;
    assert!(
        evidence.iter().any(|line| line.message.contains(&refused)),
        "a cluster may not name loopback: {evidence:?}"
    );
    assert_eq!(issuer.asked.load(Ordering::SeqCst), 0, "nothing was sent to it");
    let allow = format!("{CONFIG}[egress]\nallow = [\"{host}\", \"127.0.0.1:1\"]\n");
    std::fs::write(desk.path("config.toml"), allow).unwrap();
    let cases = [
        ("the same issuer", issuer.base.clone(), "tried from here: ", None),
        ("a slash more", format!("{}/", issuer.base), "a slash at the end", Some("issuer-mismatch")),
        ("no server", "https://127.0.0.1:1".to_owned(), "connection refused", Some("discovery-unreachable")),
    ];
    for (case, url, message, code) in cases {
        ask_for_issuer(&at, &url).await;
        let before = issuer.asked.load(Ordering::SeqCst);
        let (quiet, _) = plan(&desk, &[]);
        assert_eq!(issuer.asked.load(Ordering::SeqCst), before, "case: {case}: nobody asked for it");
        assert!(!finding(&quiet).codes.iter().any(|code| code.contains("issuer") || code.contains("discovery")));
        let (probed, text) = plan(&desk, &["--probe"]);
        let found = finding(&probed);
        let codes: Vec<&str> = found.codes.iter().map(String::as_str).collect();
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "case: {case}: {text}");
        let is_listed =
            found.evidence.iter().any(|line| line.message.contains(message) && line.message.contains(&*url));
        assert!(is_listed, "case: {case}: {:?}", found.evidence);
        let args = ["oidc", "render", "--probe", "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml"];
        let rendered = desk.run(&args);
        let text = said(&rendered);
        assert!(text.contains(message), "case: {case}: {text}");
        assert!(code.is_none_or(|code| text.contains(&format!("warning: {code}: "))), "case: {case}: {text}");
    }
}
