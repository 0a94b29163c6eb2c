//! A pod's ServiceAccount, as the kubelet mounts it, against a real kube-apiserver.
//!
//! Not here: rotation of the token, which the unit tests of the login cover.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use trueup_fleet::connect::{
    Connector as _, Env, IN_CLUSTER, Impersonation, Kubeconfig, KubeconfigConnector, Places, PluginPolicy, PodAccount,
    Selection, send,
};

use crate::support::http::Request;
use crate::support::real::{RealServer, User};

const PATIENCE: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The address of the server as the environment of a pod names it, and the CA that a pod has in `ca.crt`.
fn address_and_ca(server: &RealServer) -> (Env, Vec<u8>) {
    let places = Places::new(Some(server.kubeconfig()), &Env::default());
    let url = Kubeconfig::read(&places).unwrap().access("admin").unwrap().server;
    let (host, port) = (url.host().unwrap().to_owned(), url.port_u16().unwrap().to_string());
    let env = Env::new([("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", port)]);
    (env, std::fs::read(server.kubeconfig().parent().unwrap().join("ca.crt")).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_is_known_to_the_server_as_its_service_account() {
    let Some(server) = RealServer::shared() else { return };
    let admin = server.connect(User::Admin);
    let namespace = admin.fresh_namespace().await;
    let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
    let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "trueup" } });
    assert_eq!(admin.send(&Request::post(&accounts, account)).await.unwrap().status, 201);
    let asked = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
    let issued = admin.send(&Request::post(format!("{accounts}/trueup/token"), asked)).await.unwrap();
    let token = issued.body["status"]["token"].as_str().unwrap();

    let mount = tempfile::tempdir().unwrap();
    let (env, ca) = address_and_ca(server);
    std::fs::write(mount.path().join("token"), token).unwrap();
    std::fs::write(mount.path().join("ca.crt"), ca).unwrap();
    std::fs::write(mount.path().join("namespace"), &namespace).unwrap();

    let pod = PodAccount::mounted_at(&env, mount.path());
    let kubeconfig = Kubeconfig::read(&Places::Search { files: Vec::new(), pod }).unwrap();
    assert_eq!(kubeconfig.select(&Selection::Current).unwrap(), [IN_CLUSTER]);
    let access = kubeconfig.access(IN_CLUSTER).unwrap();
    assert_eq!(access.namespace, namespace);
    let connector =
        KubeconfigConnector::new(access, Impersonation::default(), env, &PluginPolicy::Any, Arc::new(Timestamp::now));
    let client = connector.connect().await.unwrap().client;
    let review = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview" });
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (status, body) = send::post_json(&client, path, &review, ANSWER_BYTES_MAX, PATIENCE).await.unwrap();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 201, "{answer}");
    let user = &answer["status"]["userInfo"]["username"];
    assert_eq!(user, &json!(format!("system:serviceaccount:{namespace}:trueup")));
}
