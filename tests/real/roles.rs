//! `trueup rbac` on real servers: the belt holds.
//!
//! Not here: which rule follows from which permission (`cli::rbac`).

use std::time::Duration;

use http::Method;
use serde_json::json;

use super::approvals::{create, documents};
use crate::support::http::Request;
use crate::support::real::{RealServer, User};

const USER: &str = "least";
/// Policies and roles take effect through watches of the server's own, a moment after they were created.
const EFFECTIVE_WAIT_MAX: Duration = Duration::from_secs(30);

/// What the binary prints, without a cluster.
fn printed(args: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_trueup"));
    let output = command.env_clear().env("HOME", dir.path()).arg("rbac").args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_belt_lets_a_user_delete_only_what_carries_a_mark_of_its_owner() {
    let Some(server) = RealServer::start() else { return };
    let at = server.connect(User::Admin);
    let namespace = at.fresh_namespace().await;
    for object in documents(&printed(&["--belt", "--user", USER])) {
        create(&at, object).await;
    }
    let rules = json!([{ "apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["delete"] }]);
    let metadata = json!({ "name": "deleter" });
    create(&at, json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules })).await;
    create(
        &at,
        json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": metadata,
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "deleter" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER }] }),
    )
    .await;

    let oidc = json!({ "hypershift.openshift.io/oidc-provider-managed": "true" });
    let opted_out = json!({ "hypershift.openshift.io/oidc-provider-managed": "false" });
    let cases = [
        ("plain", "Secret", json!({}), false),
        ("oidc", "Secret", json!({ "labels": oidc }), true),
        ("oidc-map", "ConfigMap", json!({ "labels": oidc }), true),
        ("opted-out", "Secret", json!({ "labels": opted_out }), false),
        ("managed", "ConfigMap", json!({ "labels": { "hypershift.openshift.io/managed": "true" } }), true),
        ("of-cluster", "Secret", json!({ "annotations": { "hypershift.openshift.io/cluster": "clusters/a" } }), true),
        (
            "referenced",
            "Secret",
            json!({ "annotations": { "referenced-resource.hypershift.openshift.io/a": "true" } }),
            true,
        ),
        ("kubeconfig", "Secret", json!({ "labels": { "cluster.x-k8s.io/cluster-name": "a" } }), true),
        ("labelled-map", "ConfigMap", json!({ "labels": { "cluster.x-k8s.io/cluster-name": "a" } }), false),
    ];
    let path = |kind: &str, name: &str| format!("/api/v1/namespaces/{namespace}/{}s/{name}", kind.to_lowercase());
    for (name, kind, mut metadata, _) in cases.clone() {
        (metadata["name"], metadata["namespace"]) = (json!(name), json!(namespace));
        create(&at, json!({ "apiVersion": "v1", "kind": kind, "metadata": metadata })).await;
    }
    let delete = async |user: &str, kind: &str, name: &str, trial: bool| {
        let mut request = Request::new(Method::DELETE, path(kind, name));
        // Impersonated, the administrator would lose the group that makes one.
        if user != "admin" {
            request = request.header("impersonate-user", user);
        }
        if trial {
            request = request.query("dryRun", "All");
        }
        at.send(&request).await.unwrap()
    };
    let is_effective = async || {
        let refused = delete(USER, "Secret", "plain", true).await;
        let allowed = delete(USER, "Secret", "oidc", true).await;
        refused.body["message"].as_str().is_some_and(|text| text.contains("no mark of its owner"))
            && allowed.status == 200
    };
    let waiting = async { while !is_effective().await {} };
    tokio::time::timeout(EFFECTIVE_WAIT_MAX, waiting).await.expect("the belt takes effect");
    for (name, kind, _, is_allowed) in cases {
        let answer = delete(USER, kind, name, false).await;
        assert_eq!(answer.status, if is_allowed { 200 } else { 403 }, "case: {name}: {}", answer.body["message"]);
    }
    assert_eq!(delete("admin", "Secret", "plain", false).await.status, 200, "another user is not limited");
}
