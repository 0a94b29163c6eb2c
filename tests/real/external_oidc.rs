//! `auth-config` on a real API server, handed over to trueup: written, kept in step, and never taken from another manager.

use http::Method;
use serde_json::{Value, json};
use trueup_core::engine::{Action, Plan};

use super::desk::Desk;
use super::fleet::{create, furnish_management, inline_kubeconfig};
use crate::support::crds::install_crds_in;
use crate::support::http::Request;
use crate::support::killed::said;
use crate::support::real::{Connection, RealServer, User};

const FILE: &str = "/api/v1/namespaces/openshift-config-managed/configmaps/auth-config";
pub const AUTHENTICATION: &str = "/apis/config.openshift.io/v1/authentications/cluster";
pub const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const CONFIG: &str = "[domains.external-oidc]\nmanage = true\n";

/// What the operator would write for these audiences.
fn rendered(audiences: &str) -> String {
    format!(
        "{{\"kind\":\"AuthenticationConfiguration\",\"apiVersion\":\"apiserver.config.k8s.io/v1beta1\",\"jwt\":[{{\"issuer\":\
         {{\"url\":\"https://idp.example.org\",\"audiences\":{audiences},\"audienceMatchPolicy\":\"MatchAny\"}},\"claimMappings\":\
         {{\"username\":{{\"claim\":\"email\",\"prefix\":\"\"}},\"groups\":{{\"prefix\":\"\"}},\"uid\":{{\"claim\":\"sub\"}}}}}}]}}"
    )
}

pub fn asked(audiences: Value) -> Value {
    json!({"spec": {"type": "OIDC", "oidcProviders": [{
        "name": "idp", "issuer": {"issuerURL": "https://idp.example.org", "audiences": audiences},
        "claimMappings": {"username": {"claim": "email"}},
    }]}})
}

pub async fn patch(at: &Connection, path: &str, content_type: &str, body: Value) {
    let answer = at.send(&Request::new(Method::PATCH, path).json(content_type, body)).await.unwrap();
    assert!([200, 201].contains(&answer.status), "{path}: {}", answer.body);
}

pub async fn get(at: &Connection, path: &str) -> Option<Value> {
    let answer = at.send(&Request::get(path)).await.unwrap();
    (answer.status == 200).then_some(answer.body)
}

/// A cluster of its own that is asked to go over to OIDC, and whose operators sleep.
pub async fn seed(at: &Connection, server: &RealServer) {
    furnish_management(at, server).await;
    install_crds_in(at, "tests/real/crds/openshift").await;
    for name in ["openshift-config-managed", "openshift-config", "openshift-kube-apiserver"] {
        create(at, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await;
    }
    let singleton = |api: &str, kind: &str, spec: Value| json!({"apiVersion": api, "kind": kind, "metadata": {"name": "cluster"}, "spec": spec});
    create(at, singleton("config.openshift.io/v1", "Infrastructure", json!({"platformSpec": {"type": "None"}}))).await;
    create(at, singleton("config.openshift.io/v1", "FeatureGate", json!({}))).await;
    let gates = ["ExternalOIDC", "ExternalOIDCWithUIDAndExtraClaimMappings"].map(|name| json!({"name": name}));
    let listed = json!({"status": {"featureGates": [{"version": "4.20.3", "enabled": gates}]}});
    patch(at, "/apis/config.openshift.io/v1/featuregates/cluster/status", MERGE, listed).await;
    let managed = json!({"managementState": "Managed", "forceRedeploymentReason": ""});
    create(at, singleton("operator.openshift.io/v1", "KubeAPIServer", managed)).await;
    // A node is known before anything runs there; the upstream schema insists on it.
    for node in [json!({"nodeName": "master-0"}), json!({"nodeName": "master-0", "currentRevision": 7})] {
        let nodes = json!({"status": {"nodeStatuses": [node]}});
        patch(at, "/apis/operator.openshift.io/v1/kubeapiservers/cluster/status", MERGE, nodes).await;
    }
    create(at, singleton("config.openshift.io/v1", "Authentication", json!({}))).await;
    patch(at, AUTHENTICATION, MERGE, asked(json!(["a"]))).await;
}

fn plan(desk: &Desk) -> (Plan, Action) {
    let args = ["plan", "--settle", "1s", "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml", "--out"];
    let output = desk.run(&[&args[..], &["$TMP/plan.json", "--domain", "external-oidc"]].concat());
    let text = std::fs::read_to_string(desk.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
    let plan = Plan::read(&text).unwrap();
    let of = |action: &&Action| action.target.namespace.as_deref() == Some("openshift-config-managed");
    let action = plan.actions.iter().find(of).unwrap_or_else(|| panic!("nothing to do: {}", said(&output))).clone();
    assert_eq!(action.blocked_by, [], "{}", said(&output));
    (plan, action)
}

fn apply(desk: &Desk, plan: &Plan, action: &Action) -> (Option<i32>, String) {
    let args = ["apply", "$TMP/plan.json", "--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml"];
    let output = desk.run(&[&args[..], &["--look-back", "0s", "--expect", &plan.id, "--only", &action.id]].concat());
    (output.status.code(), said(&output))
}

#[tokio::test(flavor = "multi_thread")]
async fn auth_config_is_written_updated_and_never_taken_from_another_manager() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else { return };
    let at = server.connect(User::Admin);
    seed(&at, &server).await;
    let desk = Desk::with(&inline_kubeconfig(&server, "ocp", "admin"));
    std::fs::write(desk.path("config.toml"), CONFIG).unwrap();

    let (missing, action) = plan(&desk);
    assert_eq!((action.verb().as_str(), action.reason.as_str()), ("apply", "missing"));
    let (code, text) = apply(&desk, &missing, &action);
    assert_eq!(code, Some(0), "{text}");
    let made = get(&at, FILE).await.expect("it was written");
    assert_eq!(made["data"], json!({"auth-config.json": rendered("[\"a\"]")}));
    assert_eq!(made["metadata"]["managedFields"][0]["manager"], "trueup");

    patch(&at, FILE, MERGE, json!({"data": {"note": "somebody's own"}})).await;
    patch(&at, AUTHENTICATION, MERGE, asked(json!(["a", "b"]))).await;
    let (drift, action) = plan(&desk);
    assert_eq!((action.verb().as_str(), action.reason.as_str()), ("apply", "differs"));
    let (code, text) = apply(&desk, &drift, &action);
    assert_eq!(code, Some(0), "{text}");
    let kept = get(&at, FILE).await.unwrap();
    assert_eq!(kept["data"], json!({"auth-config.json": rendered("[\"a\",\"b\"]"), "note": "somebody's own"}));

    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "auth-config", "namespace": "openshift-config-managed"}, "data": {"auth-config.json": "{}"}});
    patch(&at, &format!("{FILE}?fieldManager=ExternalOIDCController&force=true"), APPLY, theirs).await;
    let before = get(&at, FILE).await.unwrap();
    let (conflict, action) = plan(&desk);
    let (code, text) = apply(&desk, &conflict, &action);
    assert!(code == Some(2) && text.contains("ExternalOIDCController"), "{code:?}: {text}");
    assert_eq!(get(&at, FILE).await.unwrap(), before, "nothing was forced");

    patch(&at, AUTHENTICATION, MERGE, json!({"spec": {"type": "IntegratedOAuth", "oidcProviders": null}})).await;
    let (extra, action) = plan(&desk);
    assert_eq!((action.verb().as_str(), action.reason.as_str()), ("delete", "oidc-not-wanted"));
    let (code, text) = apply(&desk, &extra, &action);
    assert_eq!((code, get(&at, FILE).await), (Some(0), None), "{text}");
}
