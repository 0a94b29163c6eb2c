//! The whole move to OIDC and back on a real API server: what the operators do is played, what is ours is applied. And two
//! questions beside it: who a token is, and whose the day-2 Secrets of a guest are.

use std::time::Duration;

use serde_json::{Value, json};
use trueup_core::engine::Plan;

use super::desk::Desk;
use super::external_oidc::{AUTHENTICATION, MERGE, asked, get, patch, seed};
use super::fleet::{copy, create, furnish_guest, furnish_management, host, inline_kubeconfig, start_two};
use super::oidc::{Issuer, start_with};
use crate::support::canaries::Canaries;
use crate::support::crds::install_crd;
use crate::support::http::Request;
use crate::support::killed::said;
use crate::support::real::{Connection, RealServer, User};

const KAS: &str = "openshift-kube-apiserver";
const SERVERS: &str = "/apis/operator.openshift.io/v1/kubeapiservers/cluster";
const WEBHOOK: &str = "webhook-authentication-integrated-oauth";

/// What the two OAuth servers consist of.
const PARTS: [(&str, &str, &str); 24] = [
    ("APIService", "", "v1.oauth.openshift.io"),
    ("APIService", "", "v1.user.openshift.io"),
    ("Route", "openshift-authentication", "oauth-openshift"),
    ("Deployment", "openshift-authentication", "oauth-openshift"),
    ("Service", "openshift-authentication", "oauth-openshift"),
    ("ServiceAccount", "openshift-authentication", "oauth-openshift"),
    ("ConfigMap", "openshift-authentication", "v4-0-config-system-cliconfig"),
    ("ConfigMap", "openshift-authentication", "v4-0-config-system-metadata"),
    ("ConfigMap", "openshift-authentication", "v4-0-config-system-service-ca"),
    ("ConfigMap", "openshift-authentication", "v4-0-config-system-trusted-ca-bundle"),
    ("Secret", "openshift-authentication", "v4-0-config-system-ocp-branding-template"),
    ("Secret", "openshift-authentication", "v4-0-config-system-session"),
    ("ClusterRoleBinding", "", "system:openshift:openshift-authentication"),
    ("ConfigMap", "openshift-config-managed", "oauth-openshift"),
    ("ConfigMap", "openshift-config-managed", "oauth-serving-cert"),
    ("Role", "openshift-config-managed", "system:openshift:oauth-servercert-trust"),
    ("RoleBinding", "openshift-config-managed", "system:openshift:oauth-servercert-trust"),
    ("Deployment", "openshift-oauth-apiserver", "apiserver"),
    ("Service", "openshift-oauth-apiserver", "api"),
    ("ServiceAccount", "openshift-oauth-apiserver", "oauth-apiserver-sa"),
    ("ClusterRoleBinding", "", "system:openshift:oauth-apiserver"),
    ("ClusterRoleBinding", "", "system:openshift:useroauthaccesstoken-manager"),
    ("ClusterRole", "", "system:openshift:useroauthaccesstoken-manager"),
    ("Secret", "openshift-config", WEBHOOK),
];

async fn create_parts(at: &Connection) {
    for (kind, namespace, name) in PARTS {
        let api = match kind {
            "Deployment" => "apps/v1",
            "Route" => "route.openshift.io/v1",
            "APIService" => "apiregistration.k8s.io/v1",
            "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding" => "rbac.authorization.k8s.io/v1",
            _ => "v1",
        };
        let mut object = json!({"apiVersion": api, "kind": kind, "metadata": {"name": name}});
        if !namespace.is_empty() {
            object["metadata"]["namespace"] = json!(namespace);
        }
        match kind {
            "Deployment" => {
                let labels = json!({"app": name});
                object["spec"] = json!({"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "c", "image": "registry.example/oauth"}]}}});
            }
            // Without a service it is this server's own, and available.
            "APIService" => {
                let (version, group) = name.split_once('.').unwrap();
                object["spec"] =
                    json!({"group": group, "version": version, "groupPriorityMinimum": 1000, "versionPriority": 15});
            }
            "Route" => {
                object["status"] = json!({"ingress": [{"conditions": [{"type": "Admitted", "status": "True"}]}]});
            }
            "Service" => object["spec"] = json!({"ports": [{"port": 443}]}),
            "Role" | "ClusterRole" => object["rules"] = json!([]),
            "RoleBinding" | "ClusterRoleBinding" => {
                let group = "rbac.authorization.k8s.io";
                let role = if kind == "RoleBinding" { "Role" } else { "ClusterRole" };
                object["roleRef"] = json!({"apiGroup": group, "kind": role, "name": "x"});
                object["subjects"] = json!([{"apiGroup": group, "kind": "User", "name": "system:x"}]);
            }
            _ => {}
        }
        create(at, object).await;
        if kind == "Deployment" {
            let ready =
                json!({"status": {"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
            patch(at, &format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status"), MERGE, ready).await;
        }
    }
}

/// What a revision of kube-apiserver authenticates with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Oidc,
    OAuth,
}

/// The settings of a revision.
fn config(mode: Mode) -> Value {
    let plugins = json!([
        "authorization.openshift.io/RestrictSubjectBindings",
        "authorization.openshift.io/ValidateRoleBindingRestriction"
    ]);
    let resources = "/etc/kubernetes/static-pod-resources";
    if mode == Mode::Oidc {
        let file = format!("{resources}/configmaps/auth-config/auth-config.json");
        json!({"apiServerArguments": {"authentication-config": [file], "disable-admission-plugins": plugins},
            "authConfig": {"oauthMetadataFile": ""}})
    } else {
        let file = format!("{resources}/secrets/webhook-authenticator/kubeConfig");
        json!({"apiServerArguments": {"authentication-token-webhook-config-file": [file], "enable-admission-plugins": plugins},
            "authConfig": {"oauthMetadataFile": format!("{resources}/configmaps/oauth-metadata/oauthMetadata")}})
    }
}

fn config_map(namespace: &str, name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data})
}

/// What kube-apiserver's operator does: its settings, a revision, and the node on it.
async fn roll_out(at: &Connection, revision: i64, mode: Mode) {
    let settings = config(mode);
    patch(at, SERVERS, MERGE, json!({"spec": {"observedConfig": null}})).await;
    patch(at, SERVERS, MERGE, json!({"spec": {"observedConfig": settings}})).await;
    create(at, config_map(KAS, &format!("config-{revision}"), json!({"config.yaml": settings.to_string()}))).await;
    if mode == Mode::Oidc {
        let copied = get(at, &format!("/api/v1/namespaces/{KAS}/configmaps/auth-config")).await.expect("it was copied");
        create(at, config_map(KAS, &format!("auth-config-{revision}"), copied["data"].clone())).await;
    }
    let node = json!({"nodeName": "master-0", "currentRevision": revision});
    let status = json!({"status": {"latestAvailableRevision": revision, "nodeStatuses": [node]}});
    patch(at, &format!("{SERVERS}/status"), MERGE, status).await;
}

/// kube-apiserver's copies for the OAuth server.
async fn copy_for_oauth(at: &Connection) {
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "webhook-authenticator", "namespace": KAS}});
    create(at, secret).await;
    create(at, config_map(KAS, "oauth-metadata", json!({"oauthMetadata": "{}"}))).await;
}

/// A namespaced kind that keeps every field.
async fn define(at: &Connection, group: &str, kind: &str) {
    let plural = format!("{}s", kind.to_lowercase());
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "listKind": format!("{kind}List"),
            "plural": plural, "singular": kind.to_lowercase()},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
            {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}});
    install_crd(at, &definition.to_string()).await;
}

/// Healthy OAuth with a provider listed.
async fn seed_oauth(at: &Connection, server: &RealServer) {
    seed(at, server).await;
    for name in ["openshift-authentication", "openshift-oauth-apiserver"] {
        create(at, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await;
    }
    define(at, "authorization.openshift.io", "RoleBindingRestriction").await;
    define(at, "route.openshift.io", "Route").await;
    create_parts(at).await;
    copy_for_oauth(at).await;
    let mut spec = asked(json!(["a"]));
    spec["spec"]["type"] = json!("IntegratedOAuth");
    spec["spec"]["webhookTokenAuthenticator"] = json!({"kubeConfig": {"name": WEBHOOK}});
    patch(at, AUTHENTICATION, MERGE, spec).await;
    let status = json!({"status": {"integratedOAuthMetadata": {"name": "oauth-openshift"}}});
    patch(at, &format!("{AUTHENTICATION}/status"), MERGE, status).await;
    roll_out(at, 8, Mode::OAuth).await;
}

const ON: [&str; 4] = ["--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml"];

/// Plans; returns the exit code, `Kind/namespace/name verdict codes` of what is no match, and what was printed.
fn troubles(desk: &Desk) -> (Option<i32>, Vec<String>, Plan) {
    let args = ["plan", "--settle", "1s", "--out", "$TMP/plan.json", "--domain", "external-oidc"];
    let output = desk.run(&[&args[..], &ON].concat());
    let text = std::fs::read_to_string(desk.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
    let plan = Plan::read(&text).unwrap();
    let troubles = plan.findings.iter().filter(|finding| finding.state.as_str() != "match").map(|finding| {
        let place = finding.id.trim_start_matches("external-oidc/ocp/");
        [&[place.to_owned(), finding.verdict.clone()][..], &finding.codes].concat().join(" ")
    });
    (output.status.code(), troubles.collect(), plan)
}

fn apply(desk: &Desk, plan: &Plan) {
    let args = ["apply", "$TMP/plan.json", "--look-back", "0s", "--expect", &plan.id];
    let output = desk.run(&[&args[..], &ON].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

fn verbs(plan: &Plan) -> Vec<String> {
    let named = |action: &trueup_core::engine::Action| format!("{} {}", action.verb().as_str(), action.target.place());
    plan.actions.iter().map(named).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_move_to_oidc_and_back_is_judged_and_our_part_of_it_applied() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else { return };
    let at = server.connect(User::Admin);
    seed_oauth(&at, &server).await;
    let desk = Desk::with(&inline_kubeconfig(&server, "ocp", "admin"));
    std::fs::write(desk.path("config.toml"), "[domains.external-oidc]\nmanage = true\n").unwrap();
    let (code, found, _) = troubles(&desk);
    assert_eq!((code, found), (Some(0), Vec::new()), "healthy OAuth with a provider listed");

    // There: the file, its copy, the rollout, the leftovers.
    patch(&at, AUTHENTICATION, MERGE, json!({"spec": {"type": "OIDC", "webhookTokenAuthenticator": null}})).await;
    let (code, found, plan) = troubles(&desk);
    assert_eq!(
        (code, found),
        (
            Some(2),
            vec![
                "ConfigMap/openshift-config-managed/auth-config missing".to_owned(),
                "KubeAPIServer/_/cluster not-available".to_owned(),
                "KubeAPIServer/_/cluster/observed-config drift admission-plugins".to_owned(),
            ]
        )
    );
    assert!(plan.actions[0].diff.starts_with("! restarts 1 API server,"), "{}", plan.actions[0].diff);
    assert_eq!(verbs(&plan), ["apply openshift-config-managed/auth-config"]);
    apply(&desk, &plan);
    let (_, _, plan) = troubles(&desk);
    assert_eq!(verbs(&plan), ["apply openshift-kube-apiserver/auth-config"]);
    apply(&desk, &plan);
    roll_out(&at, 9, Mode::Oidc).await;
    let (code, found, plan) = troubles(&desk);
    assert_eq!(found.len(), PARTS.len() + 2, "the OAuth servers and kube-apiserver's two copies: {found:#?}");
    assert!(found.iter().all(|line| line.ends_with(" leftover")), "{found:#?}");
    assert_eq!((code, plan.actions.len()), (Some(2), found.len()));
    apply(&desk, &plan);
    let (code, found, _) = troubles(&desk);
    assert_eq!((code, found), (Some(0), Vec::new()), "a healthy OIDC cluster");

    // Back: nothing of OIDC is left, and everything of the OAuth servers is asked for.
    patch(&at, AUTHENTICATION, MERGE, json!({"spec": {"type": "IntegratedOAuth"}})).await;
    let (code, found, plan) = troubles(&desk);
    let (deletes, creates): (Vec<String>, Vec<String>) =
        verbs(&plan).into_iter().partition(|action| action.starts_with("delete "));
    let files = ["openshift-config-managed", KAS].map(|namespace| format!("delete {namespace}/auth-config"));
    assert_eq!((code, deletes.as_slice()), (Some(2), &files[..]));
    assert_eq!(creates.len(), PARTS.len(), "what we deleted can be restored from its backups: {creates:?}");
    assert!(found.contains(&"KubeAPIServer/_/cluster not-available still-on-oidc".to_owned()), "{found:#?}");
    let missing = found.iter().filter(|line| line.contains(" missing")).count();
    assert_eq!(missing, PARTS.len(), "{found:#?}");
    let ids: Vec<&str> = plan.actions.iter().flat_map(|action| ["--only", action.id.as_str()]).collect();
    let args = ["apply", "$TMP/plan.json", "--look-back", "0s", "--expect", &plan.id];
    let output = desk.run(&[&args[..], &ids, &ON].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let webhook = json!({"spec": {"webhookTokenAuthenticator": {"kubeConfig": {"name": WEBHOOK}}}});
    patch(&at, AUTHENTICATION, MERGE, webhook).await;
    copy_for_oauth(&at).await;
    roll_out(&at, 10, Mode::OAuth).await;
    let (code, found, _) = troubles(&desk);
    assert_eq!((code, found), (Some(0), Vec::new()), "healthy OAuth again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_reviewed_by_the_server_that_takes_it() {
    let issuer = Issuer::start().await;
    let spec = |prefix: &str| {
        json!({"type": "OIDC", "oidcProviders": [{"name": "idp",
            "issuer": {"issuerURL": issuer.base, "audiences": ["app"], "issuerCertificateAuthority": {"name": "idp-ca"}},
            "claimMappings": {"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}, "groups": {"claim": "groups", "prefix": prefix}},
        }]})
    };
    let provider = json!({"issuer": {"url": issuer.base, "certificateAuthority": issuer.ca, "audiences": ["app"], "audienceMatchPolicy": "MatchAny"},
        "claimMappings": {"username": {"claim": "sub", "prefix": ""}, "groups": {"claim": "groups", "prefix": "g:"}, "uid": {"claim": "sub"}}});
    let file = json!({"kind": "AuthenticationConfiguration", "apiVersion": "apiserver.config.k8s.io/v1beta1", "jwt": [provider]});
    let Some(server) = start_with(&file.to_string()) else { return };
    let server = server.expect("it starts with this provider");
    let at = server.connect(User::Admin);
    seed(&at, &server).await;
    create(&at, config_map("openshift-config", "idp-ca", json!({"ca-bundle.crt": issuer.ca}))).await;
    patch(&at, AUTHENTICATION, MERGE, json!({"spec": spec("g:")})).await;
    let desk = Desk::with(&inline_kubeconfig(&server, "ocp", "admin"));
    let token = issuer.token("", &json!({"sub": "jane", "groups": ["dev"]}));
    std::fs::write(desk.path("token"), &token).unwrap();
    let review = || {
        let args =
            ["oidc", "login", "--claims", "$TMP/token", "--review", "-o", "json", "--kubeconfig", "$TMP/kubeconfig"];
        let output = desk.run(&args);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
        assert!(!said(&output).contains(&token), "no token is printed");
        (output.status.code(), answer)
    };
    // Until the server has fetched the keys it refuses every token.
    let taken = async {
        let request = Request::post(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}),
        );
        while server.connect_with(&token).send(&request).await.unwrap().status != 201 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), taken).await.expect("the server takes the token");
    let (code, same) = review();
    assert_eq!((code, &same["review"]["differs"]), (Some(0), &json!([])), "{same}");
    assert_eq!((&same["username"], &same["review"]["username"]), (&json!("jane"), &json!("jane")), "{same}");
    assert_eq!(same["review"]["groups"], json!(["g:dev", "system:authenticated"]), "{same}");

    // The spec has changed, and the server still runs with the old one.
    patch(&at, AUTHENTICATION, MERGE, json!({"spec": spec("corp:")})).await;
    let (code, other) = review();
    assert_eq!((code, &other["review"]["differs"]), (Some(3), &json!(["groups"])), "{other}");
    assert_eq!(other["groups"], json!(["corp:dev"]), "{other}");

    // A token of another issuer: neither takes it.
    let stranger = Issuer::start().await.token("", &json!({"sub": "jane"}));
    std::fs::write(desk.path("token"), &stranger).unwrap();
    let args = ["oidc", "login", "--claims", "$TMP/token", "--review", "-o", "json", "--kubeconfig", "$TMP/kubeconfig"];
    let output = desk.run(&args);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    assert_eq!((&answer["accepted"], &answer["review"]["accepted"]), (&json!(false), &json!(false)), "{answer}");
    assert_eq!(output.status.code(), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn day_2_secrets_of_a_guest_are_protected_whatever_their_labels() {
    const SOURCED: &str = "hypershift.openshift.io/hosted-cluster-sourced";
    let Some((mgmt, guest)) = start_two().await else { return };
    let mut canaries = Canaries::default();
    let (at_mgmt, at_guest) = (mgmt.connect(User::Admin), guest.connect(User::Admin));
    furnish_guest(&at_guest, &guest, &mut canaries).await;
    furnish_management(&at_mgmt, &mgmt).await;
    host(&at_mgmt, "guest-a", &guest, &mut canaries).await;
    // One says it on the object, one only on its stub beside the control plane, as on ARO; both look like orphans.
    let mut own = copy("Secret", "day2-own", json!({"clientSecret": canaries.next()}));
    own["metadata"]["annotations"] = json!({SOURCED: "true"});
    create(&at_guest, own).await;
    create(&at_guest, copy("Secret", "day2-stub", json!({"clientSecret": canaries.next()}))).await;
    let stub = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "day2-stub", "namespace": "clusters-guest-a", "annotations": {SOURCED: "true"}}});
    create(&at_mgmt, stub).await;
    let desk = Desk::with(&inline_kubeconfig(&mgmt, "mgmt", "admin"));
    let args = ["plan", "--settle", "1s", "--domain", "hosted-oidc", "--kubeconfig", "$TMP/kubeconfig", "-o", "json"];
    let output = desk.run(&args);
    let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|_| panic!("{}", said(&output)));
    let judged = |name: &str| {
        let found = plan.findings.iter().find(|finding| finding.cluster == "guest-a" && finding.subject.name == name);
        found.map(|finding| (finding.verdict.clone(), finding.codes.clone(), finding.actions.len())).unwrap()
    };
    for name in ["day2-own", "day2-stub"] {
        assert_eq!(judged(name), ("protected".to_owned(), vec!["day-2".to_owned()], 0), "{name}");
    }
    assert_eq!(judged("old-client").0, "orphan-certain", "the labels alone would delete them");
    assert!(plan.actions.iter().all(|action| !action.target.name.starts_with("day2")), "{:?}", plan.actions);
}
