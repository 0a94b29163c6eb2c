//! The user's own kubeconfig files beside the clusters they lead to, as a shell sees them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tempfile::TempDir;
use trueup_core::engine::Plan;
use trueup_sim::{Listening, listen};

use super::canaries::Canaries;
use super::fixture::{add, folder, guest_with_an_orphan, run, run_with_state};
use super::live::sim;

/// An empty management cluster on a port, and a folder with a kubeconfig whose contexts all lead there.
struct Own {
    dir: TempDir,
    _port: Listening,
}

/// Contexts by name, each with its user.
async fn own(users: &[(&str, Value)]) -> Own {
    let address = "127.0.0.1:0".parse().unwrap();
    let port = listen(address, vec![("mgmt".to_owned(), sim("mgmt", 1, &[]))]).await.unwrap();
    let server = format!("http://{}", port.clusters[0].1);
    let named = |field: &str, of: &dyn Fn(&str, &Value) -> Value| -> Value {
        users.iter().map(|(name, user)| json!({ "name": name, field: of(name, user) })).collect()
    };
    let text = json!({
        "current-context": users[0].0,
        "clusters": [{ "name": "c", "cluster": { "server": server } }],
        "contexts": named("context", &|name, _| json!({ "cluster": "c", "user": name })),
        "users": named("user", &|_, user| user.clone()),
    });
    Own { dir: folder(&[("kubeconfig", &text.to_string())]), _port: port }
}

fn plan(own: &Own, args: &[&str]) -> (Plan, i32) {
    let all = [&["plan", "--kubeconfig", "$TMP/kubeconfig", "-o", "json"], args].concat();
    let output = tokio::task::block_in_place(|| run_with_state(&own.dir, &all));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (plan, output.status.code().unwrap())
}

fn contexts(plan: &Plan) -> Vec<String> {
    let own = plan.findings.iter().filter(|finding| finding.subject.kind == "Context");
    own.map(|finding| format!("{} {} {}", finding.id, finding.verdict, finding.codes.join(","))).collect()
}

fn plugin() -> Value {
    let answer = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": { "token": "t" }
    });
    let args = ["-c".to_owned(), format!("echo '{answer}'")];
    json!({ "exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": args, "interactiveMode": "Never"
    } })
}

fn jwt(until: i64, signature: &str) -> String {
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!(
        "{}.{}.{}",
        part(json!({"alg": "RS256"})),
        part(json!({"iat": 1, "exp": until})),
        URL_SAFE_NO_PAD.encode(signature)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_with_a_credential_plugin_has_no_finding() {
    let own = own(&[("mgmt", plugin())]).await;
    let (plan, code) = plan(&own, &[]);
    assert_eq!((contexts(&plan), code), (vec!["kubeconfig/local/Context/_/mgmt fresh exec-user".to_owned()], 0));
    let sources: Vec<(&str, &str)> =
        plan.targets.iter().map(|target| (target.cluster.as_str(), target.source.as_str())).collect();
    assert_eq!(sources, [("local", "local"), ("mgmt", "kubeconfig")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_contexts_in_scope_are_judged() {
    let own = own(&[
        ("mgmt", json!({ "token": "opaque" })),
        ("gone", json!({ "tokenFile": "nowhere/token" })),
        ("old", json!({ "token": jwt(2, "s") })),
    ])
    .await;
    let mgmt = "kubeconfig/local/Context/_/mgmt fresh ";
    let cases: [(&str, &[&str], Vec<&str>); 4] = [
        ("the current one", &[], vec![mgmt]),
        ("one by name", &["--context", "old"], vec!["kubeconfig/local/Context/_/old expired "]),
        (
            "all of them",
            &["--all-contexts"],
            vec!["kubeconfig/local/Context/_/gone unreadable ", mgmt, "kubeconfig/local/Context/_/old expired "],
        ),
        ("another check", &["--domain", "hosted-oidc"], vec![]),
    ];
    for (case, args, expected) in cases {
        assert_eq!(contexts(&plan(&own, args).0), expected, "case: {case}");
    }
    let (unread, _) = plan(&own, &["--context", "gone"]);
    let finding = unread.findings.iter().find(|finding| finding.subject.kind == "Context").unwrap();
    assert!(finding.summary.contains("tokenFile names the file token"), "{}", finding.summary);
    assert!(!finding.summary.contains("nowhere"), "{}", finding.summary);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_context_hides_no_other() {
    let own = own(&[("mgmt", json!({ "token": "opaque" }))]).await;
    let path = own.dir.path().join("kubeconfig");
    let mut text: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    text["contexts"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "name": "nowhere", "context": { "cluster": "gone", "user": "gone" } }));
    std::fs::write(&path, text.to_string()).unwrap();
    let (plan, code) = plan(&own, &["--all-contexts"]);
    let expected = ["kubeconfig/local/Context/_/mgmt fresh ", "kubeconfig/local/Context/_/nowhere contract context"];
    assert_eq!((contexts(&plan), code), (expected.map(str::to_owned).to_vec(), 3));
    let chosen = tokio::task::block_in_place(|| {
        run_with_state(&own.dir, &["plan", "--kubeconfig", "$TMP/kubeconfig", "--context", "nowhere"])
    });
    assert_eq!(chosen.status.code(), Some(1), "what was named has to be there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_called_local_keeps_its_name() {
    let own = own(&[("local", json!({ "token": "opaque" }))]).await;
    let (plan, code) = plan(&own, &[]);
    assert_eq!((contexts(&plan), code), (vec!["kubeconfig/local-kubeconfig/Context/_/local fresh ".to_owned()], 0));
}

#[test]
fn a_folder_is_judged_without_the_users_kubeconfig() {
    let dir = guest_with_an_orphan();
    add(dir.path(), &[("kubeconfig", "{current-context: x, contexts: [{name: x}]}")]);
    let output = run(&dir, &["plan", "--from", "$TMP", "--kubeconfig", "$TMP/kubeconfig", "-o", "json"]);
    let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap();
    assert!(plan.targets.iter().all(|target| target.source.as_str() == "snapshot"), "{:?}", plan.targets);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_credential_is_printed() {
    let mut canaries = Canaries::default();
    let token_in_file = canaries.next();
    let own = own(&[
        ("opaque", json!({ "token": canaries.next() })),
        ("old", json!({ "token": jwt(2, &canaries.next()) })),
        ("file", json!({ "tokenFile": "token" })),
        ("password", json!({ "username": "anna", "password": canaries.next() })),
        ("malformed", json!({ "token": format!("k8s-aws-v1.{}", canaries.next()) })),
        ("certificate", json!({ "client-certificate-data": canaries.next(), "client-key-data": canaries.next() })),
    ])
    .await;
    add(own.dir.path(), &[("token", &token_in_file)]);
    let all = ["--kubeconfig", "$TMP/kubeconfig", "--all-contexts", "--log", "$TMP/log", "-v"];
    let cases: [&[&str]; 5] = [
        &["plan"],
        &["plan", "-o", "json"],
        &["plan", "-o", "markdown"],
        &["plan", "-o", "csv"],
        &["explain", "kubeconfig/local/Context/_/old"],
    ];
    for args in cases {
        let args = [args, &all].concat();
        let output = tokio::task::block_in_place(|| run_with_state(&own.dir, &args));
        let text = [output.stdout.as_slice(), &output.stderr].concat();
        canaries.assert_absent(&args.join(" "), &text);
        assert!(String::from_utf8_lossy(&text).contains("old"), "{}", String::from_utf8_lossy(&text));
    }
    canaries.assert_absent("the log", &std::fs::read(own.dir.path().join("log")).unwrap());
}
