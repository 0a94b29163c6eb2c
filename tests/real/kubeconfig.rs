//! `trueup plan` on a real management cluster with kubeconfigs of CAPT: what the server's own selectors and versions give.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use trueup_core::engine::{Finding, Plan};

use super::fleet::{create, furnish_management, inline_kubeconfig, run};
use crate::support::crds::install_crd;
use crate::support::http::Request;
use crate::support::real::{Connection, RealServer, User};

/// Small definitions that take any field.
fn definition(group: &str, kind: &str, plural: &str) -> String {
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group, "scope": "Namespaced", "names": { "kind": kind, "plural": plural },
            "versions": [{
                "name": "v1beta1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": any, "status": any } } }
            }]
        }
    })
    .to_string()
}

fn eks(minutes_old: i64) -> String {
    let signed = Timestamp::now() - SignedDuration::from_mins(minutes_old);
    let date = signed.strftime("%Y%m%dT%H%M%SZ");
    let query = format!(
        "Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=ASIAEXAMPLE%2F20261116%2Feu-west-1%2Fsts%2Faws4_request&X-Amz-Date={date}\
         &X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=00"
    );
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(format!("https://sts.eu-west-1.amazonaws.com/?{query}")))
}

fn config(host: &str, minutes_old: i64) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{ "name": "c", "cluster": { "server": format!("https://{host}") } }],
        "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
        "users": [{ "name": "u", "user": { "token": eks(minutes_old) } }]
    })
    .to_string()
}

fn secret(namespace: &str, name: &str, kind: &str, key: &str, config: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": kind, "stringData": { key: config },
        "metadata": { "namespace": namespace, "name": name, "labels": { "cluster.x-k8s.io/cluster-name": "demo", "mine": "kept" } }
    })
}

/// Whether a target has the owner reference that CAPT writes.
#[derive(PartialEq)]
enum Owner {
    Plane,
    None,
}

/// CAPT's cluster `demo` in a namespace, at a place of its own, with a target that is seven minutes old.
async fn seed(at: &Connection, namespace: &str, host: &str, owner: Owner) {
    let namespace_object = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
    create(at, namespace_object).await;
    for (api_version, kind) in
        [("cluster.x-k8s.io/v1beta1", "Cluster"), ("controlplane.cluster.x-k8s.io/v1beta1", "CAPTControlPlane")]
    {
        let spec = json!({ "controlPlaneEndpoint": { "host": host, "port": 443 } });
        let metadata = json!({ "namespace": namespace, "name": "demo" });
        create(at, json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec })).await;
    }
    let mut target = secret(namespace, "demo-kubeconfig", "cluster.x-k8s.io/secret", "value", &config(host, 7));
    if owner == Owner::Plane {
        target["metadata"]["ownerReferences"] = json!([plane_reference(at, namespace).await]);
    }
    create(at, target).await;
}

/// The controller reference to a namespace's control plane, as CAPT writes it.
async fn plane_reference(at: &Connection, namespace: &str) -> Value {
    let path = format!("/apis/controlplane.cluster.x-k8s.io/v1beta1/namespaces/{namespace}/captcontrolplanes/demo");
    json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "name": "demo",
        "uid": metadata(at, &path).await["uid"], "controller": true, "blockOwnerDeletion": true
    })
}

fn planned(server: &RealServer) -> Plan {
    let output = run(
        &inline_kubeconfig(server, "mgmt", "admin"),
        &["plan", "-o", "json", "--settle", "0s", "--domain", "kubeconfig"],
    );
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

fn said(plan: &Plan) -> Vec<String> {
    let line = |finding: &Finding| {
        let namespace = finding.subject.namespace.as_deref().unwrap_or("_");
        let codes: String = finding.codes.iter().map(|code| format!(" {code}")).collect();
        format!("{namespace}/{} {}{codes}", finding.subject.name, finding.verdict)
    };
    plan.findings.iter().map(line).collect()
}

async fn merge(at: &Connection, path: &str, patch: Value) {
    let request = Request::new(Method::PATCH, path).json("application/merge-patch+json", patch);
    let answer = at.send(&request).await.unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
}

async fn metadata(at: &Connection, path: &str) -> Value {
    at.send(&Request::get(path)).await.unwrap().body["metadata"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn kubeconfigs_of_capt_are_judged_with_their_sources() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else {
        return;
    };
    let at = server.connect(User::Admin);
    furnish_management(&at, &server).await;
    install_crd(&at, &definition("cluster.x-k8s.io", "Cluster", "clusters")).await;
    install_crd(&at, &definition("controlplane.cluster.x-k8s.io", "CAPTControlPlane", "captcontrolplanes")).await;
    seed(&at, "team-a", "one.eks.example", Owner::Plane).await;
    seed(&at, "team-b", "two.eks.example", Owner::None).await;
    create(&at, secret("default", "demo-outputs-kubeconfig", "Opaque", "kubeconfig", &config("one.eks.example", 1)))
        .await;
    // Of Cluster API's type, in a namespace without a cluster: the server's own selector finds it.
    create(&at, secret("kube-public", "lost-kubeconfig", "cluster.x-k8s.io/secret", "value", &config("x.example", 60)))
        .await;

    let plan = planned(&server);
    assert_eq!(
        said(&plan),
        [
            "_/mgmt fresh",
            "kube-public/lost-kubeconfig expired contract label",
            "team-a/demo-kubeconfig behind-source",
            "team-b/demo-kubeconfig wrong-cluster contract owner-missing",
        ]
    );
    let repair = plan.actions.iter().find(|action| action.verb().as_str() == "patch").unwrap();
    assert_eq!((repair.target.namespace.as_deref(), u8::from(repair.tier)), (Some("team-b"), 3), "{repair:?}");
    let diff = &repair.diff;
    let owner = plane_reference(&at, "team-b").await;
    assert!(diff.contains(owner["uid"].as_str().unwrap()), "the owner is that namespace's own: {diff}");
    let update = plan.actions.iter().find(|action| action.verb().as_str() == "update").unwrap();
    let source = metadata(&at, "/api/v1/namespaces/default/secrets/demo-outputs-kubeconfig").await;
    let bound = update.preconditions.source.as_ref().unwrap();
    assert_eq!((&source["uid"], &source["resourceVersion"]), (&json!(bound.uid), &json!(bound.resource_version)));
    let target = metadata(&at, "/api/v1/namespaces/team-a/secrets/demo-kubeconfig").await;
    assert_eq!(target["resourceVersion"], json!(update.preconditions.resource_version));
    assert_eq!(update.blocked_by, []);

    let path = "/api/v1/namespaces/default/secrets/demo-outputs-kubeconfig";
    merge(&at, path, json!({ "data": { "kubeconfig": null } })).await;
    let plan = planned(&server);
    assert_eq!(said(&plan)[2], "team-a/demo-kubeconfig source-invalid key");
    let actions: Vec<_> =
        plan.actions.iter().map(|action| (action.target.namespace.as_deref(), action.verb().as_str())).collect();
    let expected = [(Some("kube-public"), "label"), (Some("team-b"), "patch")];
    assert_eq!(actions, expected, "the target in team-a is left as it is");

    let renewed = STANDARD.encode(config("one.eks.example", 0));
    merge(&at, path, json!({ "data": { "kubeconfig": renewed } })).await;
    merge(&at, "/api/v1/namespaces/team-a/secrets/demo-kubeconfig", json!({ "data": { "value": renewed } })).await;
    assert_eq!(said(&planned(&server))[2], "team-a/demo-kubeconfig fresh");
}
