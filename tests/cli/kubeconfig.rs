//! Kubeconfigs in a folder, and `trueup token`, as a shell sees them.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::canaries::Canaries;
use super::fixture::{folder, run, transcript};

const NOW: &str = "2026-11-16T10:00:00Z";

/// A token of EKS that was signed at this time of day.
fn eks(time: &str, secret: &str) -> String {
    let query = format!(
        "Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256\
         &X-Amz-Credential=ASIAEXAMPLE%2F20261116%2Feu-west-1%2Fsts%2Faws4_request&X-Amz-Date=20261116T{time}Z\
         &X-Amz-Expires=60&X-Amz-Security-Token={secret}&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature={secret}"
    );
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(format!("https://sts.eu-west-1.amazonaws.com/?{query}")))
}

fn config(server: &str, user: Value) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{ "name": "c", "cluster": { "server": server } }],
        "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
        "users": [{ "name": "u", "user": user }]
    })
    .to_string()
}

fn secret(namespace: &str, name: &str, kind: &str, labels: Value, data: &[(&str, &str)]) -> Value {
    let data: serde_json::Map<String, Value> =
        data.iter().map(|(key, value)| ((*key).to_owned(), json!(STANDARD.encode(value)))).collect();
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": kind, "data": data,
        "metadata": {
            "namespace": namespace, "name": name, "labels": labels, "uid": format!("u-{name}"), "resourceVersion": "7"
        }
    })
}

fn target(cluster: &str, config: &str) -> Value {
    let labels = json!({ "cluster.x-k8s.io/cluster-name": cluster });
    secret("shops", &format!("{cluster}-kubeconfig"), "cluster.x-k8s.io/secret", labels, &[("value", config)])
}

fn source(cluster: &str, config: &str) -> Value {
    let name = format!("{cluster}-outputs-kubeconfig");
    secret("default", &name, "connection.crossplane.io/v1alpha1", json!({}), &[("kubeconfig", config)])
}

fn capt(cluster: &str) -> [Value; 2] {
    let spec = json!({ "controlPlaneEndpoint": { "host": format!("https://{cluster}.eks.example"), "port": 443 } });
    let meta = |prefix: &str| json!({ "namespace": "shops", "name": cluster, "uid": format!("{prefix}-{cluster}"), "resourceVersion": "3" });
    [
        json!({ "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "metadata": meta("c"), "spec": spec }),
        json!({
            "apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "CAPTControlPlane", "metadata": meta("p"), "spec": spec
        }),
    ]
}

/// A management cluster with a kubeconfig of every sort. `secret` stands in each of them.
fn fleet(secret: &str) -> TempDir {
    let at = |cluster: &str, time: &str| {
        config(&format!("https://{cluster}.eks.example"), json!({ "token": eks(time, secret) }))
    };
    let exec =
        json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": [secret] } });
    let mut objects: Vec<Value> =
        ["behind", "fresh", "gone", "moved", "planted", "stuck", "unread"].iter().flat_map(|name| capt(name)).collect();
    objects.extend([
        target("behind", &at("behind", "094000")),
        source("behind", &at("behind", "095800")),
        target("fresh", &at("fresh", "095900")),
        source("fresh", &at("fresh", "095900")),
        source("gone", &at("gone", "095900")),
        target("moved", &at("elsewhere", "095900")),
        source("moved", &at("elsewhere", "095900")),
        target("planted", &config("https://planted.eks.example", exec)),
        target("stuck", &at("stuck", "093000")),
        source("stuck", &at("stuck", "093000")),
        target("unread", &at("unread", "095900")),
        source("unread", &format!("{secret}: [")),
    ]);
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string();
    folder(&[("fleet.yaml", &format!("now: {NOW}\nclusters: {{ mgmt: {{}} }}\n")), ("clusters/mgmt/all.json", &list)])
}

#[test]
fn a_plan_lists_working_kubeconfigs_and_repairs_those_with_a_good_source() {
    let dir = fleet("s3cret");
    insta::assert_snapshot!(transcript(&dir, &["plan", "--from", "$TMP", "--utc", "--domain", "kubeconfig"]), @r##"
plan $ID  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

mgmt  prod  snapshot
  o stale   Secret  shops/behind-kubeconfig   expired          the EKS token expired 5m ago; its source Secret default/behind-outputs-kubeconfig is good: look at the controller that copies it
  ~ drift   Secret  shops/fresh-kubeconfig    contract         it has no owner reference; its control plane should own it
  + missing Secret  shops/gone-kubeconfig     missing          the Secret does not exist; its source Secret default/gone-outputs-kubeconfig is good: look at the controller that copies it
  ~ drift   Secret  shops/moved-kubeconfig    endpoint-drift   it leads to https://elsewhere.eks.example:443, and the cluster is at https://moved.eks.example:443; its source Secret default/moved-outputs-kubeconfig leads to another endpoint than the cluster's: look at the provider
  ! error   Secret  shops/planted-kubeconfig  exec-refused     key value has exec, which is refused in a kubeconfig from a cluster; its source Secret default/planted-outputs-kubeconfig does not exist: look at the provider
  o stale   Secret  shops/stuck-kubeconfig    expired          the EKS token expired 15m ago; its source Secret default/stuck-outputs-kubeconfig ended too 15m ago: look at the provider
  ~ drift   Secret  shops/unread-kubeconfig   contract         it has no owner reference; its control plane should own it; its source Secret default/unread-outputs-kubeconfig holds an unusable value in its key kubeconfig: look at the provider

  [x] a1 T1 update   Secret shops/behind-kubeconfig  stale, undo: restore-from-backup
  [x] a2 T3 patch    Secret shops/behind-kubeconfig  missing, undo: restore-from-backup
  [x] a3 T3 patch    Secret shops/fresh-kubeconfig  missing, undo: restore-from-backup
  [x] a4 T1 create   Secret shops/gone-kubeconfig  missing, undo: delete-what-was-created
  [x] a5 T3 patch    Secret shops/moved-kubeconfig  missing, undo: restore-from-backup
  [x] a6 T3 patch    Secret shops/planted-kubeconfig  missing, undo: restore-from-backup
  [x] a7 T3 patch    Secret shops/stuck-kubeconfig  missing, undo: restore-from-backup
  [x] a8 T3 patch    Secret shops/unread-kubeconfig  missing, undo: restore-from-backup

1 cluster; 7 findings: 1 missing, 3 drift, 2 stale, 1 error; 8 actions: 1 create, 6 patch, 1 update
----- stderr
----- exit 2
"##);
}

#[test]
fn a_finding_is_explained_with_its_source_and_without_its_secrets() {
    let dir = fleet("s3cret");
    insta::assert_snapshot!(transcript(&dir, &["explain", "shops/behind-kubeconfig", "--from", "$TMP", "--utc"]), @r##"
Secret shops/behind-kubeconfig in mgmt
o stale, expired, behind-source, contract, owner-missing
the EKS token expired 5m ago; its source Secret default/behind-outputs-kubeconfig is good: look at the controller that copies it
id: kubeconfig/mgmt/Secret/shops/behind-kubeconfig

EXPECTED
  data:
    value: <680 bytes, EKS token, until at most 2026-11-16T10:13:00Z>
  exists: true
  labels:
    cluster.x-k8s.io/cluster-name: behind
  owner: its own cluster
  server: https://behind.eks.example:443
  source: mgmt Secret default/behind-outputs-kubeconfig
  type: cluster.x-k8s.io/secret
  until: not ended

ACTUAL
  credential: EKS token
  data:
    value: <680 bytes, EKS token, until at most 2026-11-16T09:55:00Z>
  exists: true
  issued: 2026-11-16T09:40:00Z
  labels:
    cluster.x-k8s.io/cluster-name: behind
  owner: -
  server: https://behind.eks.example:443
  source: mgmt Secret default/behind-outputs-kubeconfig
  type: cluster.x-k8s.io/secret
  until: 2026-11-16T09:55:00Z
  valid from: 2026-11-16T09:40:00Z

EVIDENCE
  1 it has no owner reference; its control plane should own it
    mgmt Secret shops/behind-kubeconfig metadata.ownerReferences (version 7)
  2 leads to https://behind.eks.example:443, where the cluster is
    mgmt Secret shops/behind-kubeconfig data.value (version 7)
  3 EKS token, until at most 2026-11-16T09:55:00Z
    mgmt Secret shops/behind-kubeconfig data.value (version 7)
  4 the cluster is at https://behind.eks.example:443
    mgmt Cluster shops/behind spec.controlPlaneEndpoint
  5 the cluster is at https://behind.eks.example:443
    mgmt CAPTControlPlane shops/behind spec.controlPlaneEndpoint
  6 the source holds other bytes, issued 2m ago
    mgmt Secret default/behind-outputs-kubeconfig data.kubeconfig (version 7)

REMEDY
  [x] a1 update Secret shops/behind-kubeconfig
      tier T1, reason stale, undo: restore-from-backup
      owned: label cluster.x-k8s.io/cluster-name=behind
      owned: type cluster.x-k8s.io/secret
        data:
      -   value: <680 bytes, EKS token, until at most 2026-11-16T09:55:00Z>
      +   value: <680 bytes, EKS token, until at most 2026-11-16T10:13:00Z>
  [x] a2 patch Secret shops/behind-kubeconfig
      tier T3, reason missing, undo: restore-from-backup
      owned: label cluster.x-k8s.io/cluster-name=behind
      owned: type cluster.x-k8s.io/secret
        metadata:
      +   ownerReferences: [{"apiVersion":"controlplane.cluster.x-k8s.io/v1beta1","controller":true,"kind":"CAPTControlPlane","name":"behind","uid":"p-behind"}]
----- stderr
----- exit 0
"##);
}

#[test]
fn an_update_is_bound_to_the_version_of_its_source() {
    let dir = fleet("s3cret");
    let plan: Value = serde_json::from_slice(&run(&dir, &["plan", "--from", "$TMP", "-o", "json"]).stdout).unwrap();
    let actions = plan["actions"].as_array().unwrap();
    let update = actions.iter().find(|action| action["verb"] == "update").unwrap();
    assert_eq!(update["preconditions"]["uid"], "u-behind-kubeconfig");
    assert_eq!(
        update["preconditions"]["source"],
        json!({ "uid": "u-behind-outputs-kubeconfig", "resourceVersion": "7" })
    );
    assert_eq!(update["change"]["copy"]["keys"], json!({ "value": "kubeconfig" }));
    assert_eq!((&update["tier"], &update["selected"]), (&json!(1), &json!(true)));
}

#[test]
fn no_command_prints_a_secret_of_a_kubeconfig() {
    let mut canaries = Canaries::default();
    let value = canaries.next();
    let dir = fleet(&value);
    let out = tempfile::tempdir().unwrap();
    let (plan, log) = (out.path().join("plan"), out.path().join("log"));
    let (plan, log) = (plan.to_str().unwrap(), log.to_str().unwrap());
    for format in ["table", "json", "markdown", "csv"] {
        let output = run(&dir, &["plan", "--from", "$TMP", "-v", "-o", format, "--out", plan, "--log", log]);
        canaries.assert_absent(format, &[output.stdout, output.stderr].concat());
        canaries.assert_absent("plan file", &fs::read(plan).unwrap());
    }
    canaries.assert_absent("log", &fs::read(log).unwrap_or_default());
    for name in ["behind", "gone", "moved", "planted", "stuck", "unread"] {
        let output = run(&dir, &["explain", &format!("shops/{name}-kubeconfig"), "--from", "$TMP", "-o", "json"]);
        canaries.assert_absent(name, &[output.stdout, output.stderr].concat());
    }
    let inputs = [
        eks("095900", &value),
        format!("Bearer {}", eks("095900", &value)),
        config("https://a.example", json!({ "token": value })),
        config("https://a.example", json!({ "username": "u", "password": value })),
        config("https://a.example", json!({ "exec": { "command": value } })),
        format!("{value}: ["),
        format!("k8s-aws-v1.{value}"),
        format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(format!("https://{value}.example/?{value}"))),
    ];
    for (place, input) in inputs.iter().enumerate() {
        for format in ["table", "json"] {
            let output = token(&["-o", format, "--now", NOW], input);
            canaries.assert_absent(&format!("token {place}"), &[output.stdout, output.stderr].concat());
        }
    }
}

/// The planted plugin would make this file.
#[test]
fn a_plugin_planted_in_a_secret_is_never_run() {
    let proof = tempfile::tempdir().unwrap();
    let file = proof.path().join("run");
    let user = json!({ "exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "/usr/bin/touch", "interactiveMode": "Never",
        "args": [file.to_str().unwrap()]
    } });
    let planted = config("https://planted.eks.example", user);
    let mut objects: Vec<Value> = capt("planted").to_vec();
    objects.extend([target("planted", &planted), source("planted", &planted)]);
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects }).to_string();
    let dir = folder(&[
        ("fleet.yaml", &format!("now: {NOW}\nclusters: {{ mgmt: {{}} }}\n")),
        ("clusters/mgmt/all.json", &list),
    ]);
    let plan = run(&dir, &["plan", "--from", "$TMP", "--probe"]);
    assert!(String::from_utf8_lossy(&plan.stdout).contains("exec-refused"), "it was judged");
    run(&dir, &["explain", "planted", "--from", "$TMP"]);
    token(&["--now", NOW], &planted);
    assert!(!file.exists(), "the plugin ran");
}

fn token(args: &[&str], input: &str) -> std::process::Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .arg("token")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A usage error is said before anything is read.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn described(args: &[&str], input: &str) -> String {
    let output = token(args, input);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{stdout}{stderr}exit {}\n", output.status.code().unwrap())
}

#[test]
fn an_eks_token_is_described_without_its_secrets() {
    insta::assert_snapshot!(described(&["--now", NOW], &eks("095900", "s3cret")), @r##"
can be used now
  kind                 EKS token
  who                  access key ASIAEXAMPLE (a session)
  region               eu-west-1
  signed               2026-11-16T09:59:00Z
  valid until at most  2026-11-16T10:14:00Z
exit 0
"##);
    insta::assert_snapshot!(described(&["--now", NOW, "-o", "json"], &eks("095900", "s3cret")), @r##"
{
  "at_most": true,
  "kind": "EKS token",
  "problems": [],
  "region": "eu-west-1",
  "says": "can be used now",
  "signed": "2026-11-16T09:59:00Z",
  "usable": true,
  "valid_until": "2026-11-16T10:14:00Z",
  "verdict": "fresh",
  "who": "access key ASIAEXAMPLE (a session)"
}
exit 0
"##);
}

#[test]
fn a_kubeconfig_is_described_by_its_current_context() {
    insta::assert_snapshot!(described(&["--now", NOW], &config("https://A.example/", json!({ "token": eks("094000", "s3cret") }))), @r##"
expired
  kind                 EKS token
  who                  access key ASIAEXAMPLE (a session)
  region               eu-west-1
  signed               2026-11-16T09:40:00Z
  valid until at most  2026-11-16T09:55:00Z
  server               https://a.example:443
  authorities          the system's
  context              c
exit 3
"##);
}

#[test]
fn the_exit_code_tells_usable_from_unusable_tokens() {
    let jwt = |claims: Value| {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.c2ln", part(&json!({ "alg": "RS256" })), part(&claims))
    };
    let server = "https://a.example";
    let plugin = json!({ "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": { "token": eks("094000", "x") } });
    let packed = STANDARD.encode(config(server, json!({ "token": eks("094000", "x") })));
    let cases = [
        ("fresh", eks("095900", "x"), 0),
        ("expiring", eks("095000", "x"), 0),
        ("expired", eks("094500", "x"), 3),
        ("of the future", eks("101000", "x"), 3),
        ("malformed", "k8s-aws-v1.x".to_owned(), 3),
        ("another version", eks("095900", "x").replace("v1.", "v2."), 3),
        ("a header", format!("Bearer {}\n", eks("095900", "x")), 0),
        ("what a plugin answers", plugin.to_string(), 3),
        ("a JWT that ended", jwt(json!({ "exp": 1 })), 3),
        ("a JWT for ever", jwt(json!({ "sub": "a" })), 0),
        ("opaque", "0123456789abcdef".to_owned(), 0),
        ("a kubeconfig with exec", config(server, json!({ "exec": { "command": "x" } })), 0),
        ("a kubeconfig with nothing", config(server, json!({})), 3),
        ("a kubeconfig that ended", config(server, json!({ "token": eks("094000", "x") })), 3),
        ("a kubeconfig in base64", packed, 3),
        ("a kubeconfig without a server", config("", json!({ "token": "x" })), 3),
        ("nothing", String::new(), 1),
        ("another document", "a: b\nc: d\n".to_owned(), 1),
        ("no document", "a: [\nb".to_owned(), 1),
        ("two lines", "hello\nworld\n".to_owned(), 1),
    ];
    for (case, input, expected) in cases {
        let said = described(&["--now", NOW], &input);
        assert!(said.ends_with(&format!("exit {expected}\n")), "case: {case}: {said}");
    }
    assert!(described(&["--now", "tomorrow"], "x").ends_with("exit 1\n"));
    assert!(described(&["/no/such/file"], "").ends_with("exit 1\n"));
}
