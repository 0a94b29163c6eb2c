//! The annotator's role, tried with a token that a real API server issues and that moto exchanges.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::ROLE;
use super::applying::{NAMESPACE, definition, machine_set, named, said, set_platform};
use super::server::Moto;
use crate::fleet::{create, furnish_management, inline_kubeconfig};
use crate::support::crds::install_crd;
use crate::support::real::{Connection, RealServer, User};

/// An annotator with a role and its token, as the EKS webhook leaves its pod, and a set to annotate.
async fn seed(at: &Connection, server: &RealServer) {
    furnish_management(at, server).await;
    install_crd(at, &definition()).await;
    create(at, named("Namespace", None, NAMESPACE, json!({}))).await;
    let infrastructure = json!({
        "apiVersion": "config.openshift.io/v1", "kind": "Infrastructure", "metadata": { "name": "cluster" },
        "spec": { "platformSpec": { "type": "AWS" } },
    });
    create(at, infrastructure).await;
    set_platform(at, json!({ "region": "us-east-1" })).await;
    create(at, machine_set("m6i.8xlarge")).await;
    create(at, named("ServiceAccount", Some(NAMESPACE), "annotator", json!({}))).await;
    let token = json!({ "path": "token", "audience": "sts.amazonaws.com", "expirationSeconds": 3600 });
    let spec = json!({
        "serviceAccountName": "annotator",
        "containers": [{
            "name": "manager", "image": "example.com/annotator:1",
            "env": [
                { "name": "AWS_ROLE_ARN", "value": ROLE },
                { "name": "AWS_WEB_IDENTITY_TOKEN_FILE", "value": "/var/aws/token" },
            ],
            "volumeMounts": [{ "name": "aws", "mountPath": "/var/aws" }],
        }],
        "volumes": [{ "name": "aws", "projected": { "sources": [{ "serviceAccountToken": token }] } }],
    });
    let labels = json!({ "app": "capa-annotator" });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "namespace": NAMESPACE, "name": "capa-annotator" },
        "spec": { "selector": { "matchLabels": labels }, "template": { "metadata": { "labels": labels }, "spec": spec } },
    });
    create(at, deployment).await;
    let pod =
        json!({ "metadata": { "namespace": NAMESPACE, "name": "capa-annotator-1", "labels": labels }, "spec": spec });
    create(at, named("Pod", Some(NAMESPACE), "capa-annotator-1", pod)).await;
}

/// What is said about the one set.
fn finding(folder: &Path, aws: &str, more: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.env_clear().env("XDG_STATE_HOME", folder.join("state")).current_dir(folder);
    command.env("AWS_ENDPOINT_URL", aws).env("AWS_ACCESS_KEY_ID", "AKIAOWN").env("AWS_SECRET_ACCESS_KEY", "canary-own");
    command.args(["plan", "--domain", "machineset-capacity", "-o", "json", "--settle", "0s", "--log", "log", "-v"]);
    command.args(["--kubeconfig", "kubeconfig"]).args(more);
    let output = tokio::task::block_in_place(|| command.output().unwrap());
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let [one] = plan["findings"].as_array().unwrap().as_slice() else { panic!("{}", said(&output)) };
    let log = std::fs::read_to_string(folder.join("log")).unwrap();
    // What every token of a service account begins with.
    assert!(!log.contains("eyJ") && !said(&output).contains("eyJ") && !log.contains("canary"), "a token is shown");
    one.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_the_annotators_service_account_is_tried_on_request_only() {
    let Some(server) = tokio::task::spawn_blocking(RealServer::start).await.unwrap() else { return };
    let Some(moto) = tokio::task::spawn_blocking(Moto::start).await.unwrap() else { return };
    let at = server.connect(User::Admin);
    seed(&at, &server).await;
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("kubeconfig"), inline_kubeconfig(&server, "prod", "admin")).unwrap();
    let tried = |finding: &Value| {
        let all = finding["evidence"].as_array().unwrap().iter();
        let messages = all.map(|one| one["says"].as_str().unwrap_or_default().to_owned());
        messages.filter(|message| message.starts_with("tried:")).collect::<Vec<_>>()
    };
    let quiet = finding(home.path(), &moto.url(), &[]);
    assert_eq!((quiet["verdict"].as_str(), tried(&quiet)), (Some("missing"), vec![]), "{quiet}");
    let probed = finding(home.path(), &moto.url(), &["--probe"]);
    let lines = tried(&probed);
    let expected = "tried: STS accepts a token of the ServiceAccount as \
                    arn:aws:sts::123456789012:assumed-role/annotator/trueup-probe (the token has aud sts.amazonaws.com, iss ";
    assert!(lines.len() == 1 && lines[0].starts_with(expected), "{probed}");
    let subject = format!("sub system:serviceaccount:{NAMESPACE}:annotator");
    assert!(lines[0].contains(&subject), "{probed}");
    assert_eq!(probed["verdict"], "missing", "an accepted role changes no verdict");
}
