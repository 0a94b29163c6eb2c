//! Secrets of live clusters end at the edge: the credentials a cluster is reached with, what plugins print, and Secrets
//! that no API server would have let in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Either, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use trueup_sim::{Identity, Listening, SimCluster, listen, listen_with_tokens};

use super::canaries::Canaries;
use super::fixture::{GUEST_CONFIG, HOSTED, folder};
use super::live::sim;

const ANYWHERE: &str = "127.0.0.1:0";
/// A port that is never listened on.
const UNREACHABLE: &str = "127.0.0.1:1";

/// Runs the binary with a noisy environment that holds a secret of its own.
fn run(dir: &Path, canaries: &mut Canaries, args: &[&str]) -> Output {
    let tmp = dir.to_str().unwrap();
    tokio::task::block_in_place(|| {
        Command::new(env!("CARGO_BIN_EXE_trueup"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("RUST_LOG", "trace")
            .env("AWS_SECRET_ACCESS_KEY", canaries.next())
            .env("HTTPS_PROXY", format!("http://user:{}@{UNREACHABLE}", canaries.next()))
            .env("NO_PROXY", "127.0.0.1")
            .current_dir("/")
            .args(args.iter().map(|arg| arg.replace("$TMP", tmp)))
            .args(["-v", "--kubeconfig", &format!("{tmp}/kubeconfig"), "--log", &format!("{tmp}/log")])
            .args(["--config", &format!("{tmp}/config.toml")])
            .output()
            .unwrap()
    })
}

/// Where something is judged.
const ALL: [&[&str]; 7] = [
    &["plan", "-o", "table", "--out", "$TMP/plan"],
    &["plan", "-o", "json"],
    &["plan", "-o", "markdown"],
    &["plan", "-o", "csv"],
    &["explain", "Secret/openshift-config/*"],
    &["explain", "old-client", "-o", "json"],
    &["doctor"],
];
/// Where the way in is the matter.
const FEW: [&[&str]; 2] = [&["plan", "-o", "json", "--out", "$TMP/plan"], &["doctor"]];

/// Runs commands and looks for secrets in all they wrote. Returns it.
fn everything(dir: &Path, canaries: &mut Canaries, case: &str, commands: &[&[&str]]) -> String {
    std::fs::write(dir.join("config.toml"), "[safety]\nsettle = \"0s\"\n").unwrap();
    let mut written = Vec::new();
    for args in commands {
        let output = run(dir, canaries, args);
        for (place, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
            canaries.assert_absent(&format!("case: {case}: {place} of {args:?}"), &bytes);
            written.extend(bytes);
        }
    }
    for file in ["plan", "log"] {
        let bytes = std::fs::read(dir.join(file)).unwrap_or_default();
        canaries.assert_absent(&format!("case: {case}: the {file} file"), &bytes);
    }
    String::from_utf8_lossy(&written).into_owned()
}

fn kubeconfig(server: &str, cluster: Value, user: Value) -> String {
    let mut cluster = cluster;
    cluster["server"] = json!(server);
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "mgmt",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "mgmt", "context": {"cluster": "c", "user": "u"}}],
    })
    .to_string()
}

fn plugin(dir: &Path, script: &str) -> String {
    let path = dir.join("plugin");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn exec(command: &str, canaries: &mut Canaries) -> Value {
    json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, "interactiveMode": "Never",
        "args": ["--client-secret", canaries.next()], "env": [{"name": "PASSWORD", "value": canaries.next()}]}})
}

fn credential(token: &str) -> String {
    let answer =
        json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}});
    format!("cat <<'END'\n{answer}\nEND")
}

/// A management cluster that knows one token, and what its address is.
async fn locked(token: &str) -> (Listening, String) {
    let tokens = BTreeMap::from([(token.to_owned(), Identity::admin())]);
    let mgmt = sim("mgmt", 1, &[HOSTED]);
    let port = listen_with_tokens(ANYWHERE.parse().unwrap(), vec![("mgmt".to_owned(), mgmt)], tokens).await.unwrap();
    let server = format!("http://{}", port.clusters[0].1);
    (port, server)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_plugin_prints_is_in_any_output() {
    let mut canaries = Canaries::default();
    let c = &mut canaries;
    let (token, wrong, garbage, claims) = (c.next(), c.next(), c.next(), c.next_base64());
    let (_port, server) = locked(&token).await;
    let dir = folder(&[]);
    let fails = format!("{}\necho login with {wrong} failed >&2\nexit 3", credential(&wrong));
    let cases = [
        (
            "a token",
            credential(&token),
            "Secret clusters/guest-a-admin-kubeconfig with the guest's kubeconfig does not exist",
        ),
        ("a token that is refused", credential(&wrong), "401 Unauthorized"),
        ("garbage", format!("echo {garbage}"), "it is not an ExecCredential"),
        (
            "another token on stderr",
            format!("echo bearer eyJhbGciOiJSUzI1NiJ9.{}.c2ln expired >&2\nexit 3", claims.trim_end_matches('=')),
            "plugin failed (exit status: 3)",
        ),
        ("a token, repeated with an error", fails, "plugin failed (exit status: 3)"),
    ];
    for (case, script, expected) in cases {
        let user = exec(&plugin(dir.path(), &script), &mut canaries);
        std::fs::write(dir.path().join("kubeconfig"), kubeconfig(&server, json!({}), user)).unwrap();
        let written = everything(dir.path(), &mut canaries, case, &FEW);
        assert!(written.contains(expected), "case: {case}: nothing says {expected}:\n{written}");
        assert!(!written.contains("login with"), "case: {case}: stderr of the plugin is for the log:\n{written}");
    }
    let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(log.contains("running credential plugin") && log.contains("login with … failed"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_list_in_the_config_no_other_plugin_runs() {
    let mut canaries = Canaries::default();
    let token = canaries.next();
    let (_port, server) = locked(&token).await;
    let dir = folder(&[]);
    let path = plugin(dir.path(), &format!(": > \"$0.ran\"\n{}", credential(&token)));
    let user = exec(&path, &mut canaries);
    std::fs::write(dir.path().join("kubeconfig"), kubeconfig(&server, json!({}), user)).unwrap();
    for (case, list, runs) in [("another", "aws", false), ("none", "", false), ("this one", path.as_str(), true)] {
        let list = if list.is_empty() { String::new() } else { format!("{list:?}") };
        std::fs::write(dir.path().join("config.toml"), format!("[exec]\nallow = [{list}]\n")).unwrap();
        let output = run(dir.path(), &mut canaries, &["doctor"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(dir.path().join("plugin.ran").exists(), runs, "case: {case}: {said}");
        assert_eq!(said.contains("is not in [exec] allow"), !runs, "case: {case}: {said}");
        assert_eq!(said.contains("exec         [exec] allow: "), runs, "case: {case}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_credential_of_the_kubeconfig_is_in_any_output() {
    let mut canaries = Canaries::default();
    let c = &mut canaries;
    let (_port, server) = locked(&c.next()).await;
    let dir = folder(&[]);
    let token_file = dir.path().join("token");
    std::fs::write(&token_file, format!("{}\n{}\u{1}", c.next(), c.next())).unwrap();
    let (none, nowhere) = (|| json!({}), format!("https://{UNREACHABLE}"));
    let user_in_server = format!("https://user:{}@{UNREACHABLE}", c.next());
    let proxy = json!({"proxy-url": format!("http://user:{}@{UNREACHABLE}", c.next())});
    let password = json!({"username": "u", "password": c.next()});
    let missing = exec("no-such-plugin", c);
    let login = |user: Value| kubeconfig(&server, none(), user);
    let cases = [
        ("a token", login(json!({"token": c.next()})), "401 Unauthorized"),
        ("a token file", login(json!({"tokenFile": token_file})), "characters that no header can hold"),
        ("a token of another shape", login(json!({"token": [c.next()]})), "not a kubeconfig"),
        ("a password", login(password), "401 Unauthorized"),
        ("a plugin that is not there", login(missing), "not installed"),
        ("a key that is none", kubeconfig(&nowhere, none(), broken_key(c)), "client certificate"),
        ("a proxy's password", kubeconfig(&nowhere, proxy, none()), "the proxy 127.0.0.1:1 refused the connection"),
        ("a password in the address", kubeconfig(&user_in_server, none(), none()), "holds a user name or password"),
        ("broken YAML", format!("users:\n- user: {{ token: {} \n  - [", c.next()), "not a kubeconfig"),
    ];
    for (case, kubeconfig, expected) in cases {
        std::fs::write(dir.path().join("kubeconfig"), kubeconfig).unwrap();
        let written = everything(dir.path(), &mut canaries, case, &FEW);
        assert!(written.contains(expected), "case: {case}: nothing says {expected}:\n{written}");
        assert!(
            written.contains("!! cluster") || written.contains("!! kubeconfig"),
            "case: {case}: the doctor sees nothing:\n{written}"
        );
    }
}

fn broken_key(canaries: &mut Canaries) -> Value {
    json!({"client-certificate-data": canaries.next_base64(), "client-key-data": canaries.next_base64()})
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_guests_kubeconfig_is_in_any_output() {
    let mut canaries = Canaries::default();
    let c = &mut canaries;
    let cases = [
        ("no kubeconfig", format!("{}: [", c.next()), "not a kubeconfig"),
        (
            "a token that goes nowhere",
            kubeconfig(&format!("http://{UNREACHABLE}"), json!({}), json!({"token": c.next()})),
            "connection refused",
        ),
        ("a plugin", kubeconfig(&format!("http://{UNREACHABLE}"), json!({}), exec("/bin/true", c)), "refused"),
        (
            "a key that is none",
            kubeconfig(
                &format!("https://{UNREACHABLE}"),
                json!({}),
                json!({"client-certificate-data": c.next_base64(), "client-key-data": c.next_base64()}),
            ),
            "client certificate",
        ),
    ];
    for (case, text, expected) in cases {
        let mgmt = sim("mgmt", 1, &[HOSTED]);
        mgmt.seed(admin_kubeconfig(&text)).unwrap();
        let port = listen(ANYWHERE.parse().unwrap(), vec![("mgmt".to_owned(), mgmt)]).await.unwrap();
        let dir = folder(&[("kubeconfig", &port.kubeconfig())]);
        let written = everything(dir.path(), &mut canaries, case, &FEW);
        assert!(written.contains(expected), "case: {case}: nothing says {expected}:\n{written}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_value_of_a_secret_that_cannot_be_read_is_in_any_output() {
    let mut canaries = Canaries::default();
    let number = canaries.next().replace("canary", "1").replace(|letter: char| !letter.is_ascii_digit(), "7");
    canaries.guard(&number);
    let c = &mut canaries;
    let cases = [
        ("a number", number, "cannot be read"),
        ("a list", format!("[\"{}\"]", c.next()), "cannot be read"),
        ("a map", format!("{{\"{}\": \"{}\"}}", c.next(), c.next()), "cannot be read"),
        ("no base64", format!("\"!!{}!!\"", c.next()), "Secret/openshift-config/spoilt"),
        ("no JSON", format!("\"{}\" {}", c.next(), c.next()), "the response is not JSON"),
        ("a text without end", format!("\"{}", c.next()), "the response is not JSON"),
    ];
    for (case, spoilt, expected) in cases {
        let guest = sim("guest-a", 2, &[GUEST_CONFIG]);
        for name in ["client", "old-client"] {
            let data = json!({"clientSecret": canaries.next_base64()});
            guest
                .seed(json!({"apiVersion": "v1", "kind": "Secret", "data": data,
                "metadata": {"name": name, "namespace": "openshift-config"}}))
                .unwrap();
        }
        guest
            .seed(json!({"apiVersion": "v1", "kind": "Secret", "data": {"clientSecret": "c3BvaWwgbWU="},
            "metadata": {"name": "spoilt", "namespace": "openshift-config"}}))
            .unwrap();
        let address = spoiling(guest, ("\"c3BvaWwgbWU=\"", spoilt)).await;
        let mgmt = sim("mgmt", 1, &[HOSTED]);
        mgmt.seed(admin_kubeconfig(&kubeconfig(&format!("http://{address}"), json!({}), json!({})))).unwrap();
        let port = listen(ANYWHERE.parse().unwrap(), vec![("mgmt".to_owned(), mgmt)]).await.unwrap();
        let dir = folder(&[("kubeconfig", &port.kubeconfig())]);
        let written = everything(dir.path(), &mut canaries, case, &ALL);
        assert!(written.contains(expected), "case: {case}: nothing says {expected}:\n{written}");
    }
}

fn admin_kubeconfig(text: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "data": {"kubeconfig": STANDARD.encode(text)},
        "metadata": {"name": "guest-a-admin-kubeconfig", "namespace": "clusters"}})
}

/// Serves a cluster, and replaces one text by another in every list of Secrets.
async fn spoiling(sim: SimCluster, (before, after): (&'static str, String)) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind(ANYWHERE).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (sim, after) = (sim.clone(), after.clone());
            let service = hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let is_list = request.uri().path().ends_with("/secrets")
                    && !request.uri().query().is_some_and(|query| query.contains("watch="));
                let (answer, after) = (sim.service().oneshot(request), after.clone());
                async move {
                    let (head, body) = answer.await?.into_parts();
                    if !is_list {
                        return Ok(http::Response::from_parts(head, Either::Left(body)));
                    }
                    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                    let text = String::from_utf8_lossy(&bytes).replace(before, &after);
                    let answer = http::Response::from_parts(head, Either::Right(Full::new(Bytes::from(text))));
                    Ok::<_, trueup_sim::ConnectionReset>(answer)
                }
            });
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            tokio::spawn(async move { drop(server.serve_connection(TokioIo::new(socket), service).await) });
        }
    });
    address
}
