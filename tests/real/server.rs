//! The real server itself: what the other tests here take for granted about it.
//!
//! Not here: how it answers (`compare`).

use std::time::Duration;

use serde_json::json;

use crate::support::crds::install_crds;
use crate::support::http::Request;
use crate::support::real::{RealServer, User};

/// The authorizer reads roles from a watch of its own, so rights arrive a moment after they were granted.
const GRANTED_WAIT_MAX: Duration = Duration::from_secs(20);

#[tokio::test]
async fn each_user_has_the_permissions_of_its_name() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let admin = server.connect(User::Admin);
    let namespace = admin.fresh_namespace().await;
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]});
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "limited"}]});
    let before = server.connect(User::Limited).send(&Request::get(&secrets)).await.unwrap();
    assert_eq!(before.status, 403, "limited has no rights of its own");

    let rbac = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
    for (plural, object) in [("roles", role), ("rolebindings", binding)] {
        let made = admin.send(&Request::post(format!("{rbac}/{plural}"), object)).await.unwrap();
        assert_eq!(made.status, 201, "{}", made.body);
    }
    let limited = server.connect(User::Limited);
    let granted = tokio::time::timeout(GRANTED_WAIT_MAX, async {
        while limited.send(&Request::get(&secrets)).await.unwrap().status != 200 {}
    });
    granted.await.expect("limited may list what it was bound to");

    let refused = server.connect(User::Nobody).send(&Request::get(&secrets)).await.unwrap();
    let sentence = format!(
        "secrets is forbidden: User \"nobody\" cannot list resource \"secrets\" in API group \"\" in the namespace \"{namespace}\""
    );
    assert_eq!((refused.status, refused.body["message"].as_str()), (403, Some(sentence.as_str())));
}

#[tokio::test]
async fn the_kubeconfig_works_for_the_client_that_trueup_uses() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let kubeconfig = kube::config::Kubeconfig::read_from(server.kubeconfig()).unwrap();
    for context in ["admin", "admin-cert"] {
        let chosen = kube::config::KubeConfigOptions { context: Some(context.to_owned()), ..Default::default() };
        let config = kube::Config::from_custom_kubeconfig(kubeconfig.clone(), &chosen).await.unwrap();
        let version = kube::Client::try_from(config).unwrap().apiserver_version().await.unwrap();
        assert_eq!((version.major.as_str(), version.minor.as_str()), ("1", "36"), "context: {context}");
    }
}

#[tokio::test]
async fn a_second_server_is_another_cluster_and_can_go_down() {
    let Some(first) = RealServer::shared() else {
        return;
    };
    let Some(mut guest) = RealServer::start() else {
        return;
    };
    let uid_of = async |server: &RealServer| {
        let answer = server.connect(User::Admin).send(&Request::get("/api/v1/namespaces/kube-system")).await;
        answer.map(|answer| answer.body["metadata"]["uid"].clone())
    };
    assert_ne!(uid_of(first).await.unwrap(), uid_of(&guest).await.unwrap());

    let folder = guest.kubeconfig().parent().unwrap().to_owned();
    let connection = guest.connect(User::Admin);
    guest.stop();
    connection.send(&Request::get("/readyz")).await.expect_err("a server that was stopped gives no answer");
    assert!(!folder.exists(), "the folder of a stopped server stays behind: {}", folder.display());
    assert!(uid_of(first).await.is_ok(), "the other server is still there");
}

#[tokio::test]
async fn the_kinds_that_trueup_reads_are_served_once_installed() {
    let Some(server) = RealServer::shared() else {
        return;
    };
    let admin = server.connect(User::Admin);
    let names = install_crds(&admin).await;
    assert_eq!(names.len(), 8, "{names:?}");
    for name in names {
        let (plural, group) = name.split_once('.').unwrap();
        let version = if group == "hypershift.openshift.io" { "v1beta1" } else { "v1" };
        let list = admin.send(&Request::get(format!("/apis/{group}/{version}/{plural}"))).await.unwrap();
        assert_eq!((list.status, &list.body["items"]), (200, &json!([])), "kind: {name}");
    }
}
