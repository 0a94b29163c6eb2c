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
use trueup::sim::{Identity, Listening, SimCluster, listen, listen_with_tokens};

use super::canaries::Canaries;
use super::fixture::{GUEST_CONFIG, HOSTED, folder};
use super::live::sim;

const ANYWHERE: &str = "127.0.0.1:0";
/// A port that is never listened on.
const NOBODY: &str = "127.0.0.1:1";

/// Runs the binary with a noisy environment that holds a secret of its own.
fn run(dir: &Path, canaries: &mut Canaries, args: &[&str]) -> Output {
    let tmp = dir.to_str().unwrap();
    tokio::task::block_in_place(|| {
        Command::new(env!("CARGO_BIN_EXE_trueup"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("RUST_LOG", "trace")
            .env("AWS_SECRET_ACCESS_KEY", canaries.next())
            .env("HTTPS_PROXY", format!("http://user:{}@{NOBODY}", canaries.next()))
            .env("NO_PROXY", "127.0.0.1")
            .current_dir("/")
            .args(args.iter().map(|arg| arg.replace("$TMP", tmp)))
            .args(["-v", "--kubeconfig", &format!("{tmp}/kubeconfig"), "--log", &format!("{tmp}/log")])
            .args(["--config", &format!("{tmp}/config.toml")])
            .output()
            .unwrap()
    })
}

/// Runs plans in every format, explanations and the doctor, and looks for secrets in all they wrote. Returns it.
fn everything(dir: &Path, canaries: &mut Canaries, case: &str) -> String {
    std::fs::write(dir.join("config.toml"), "[safety]\nsettle = \"0s\"\n").unwrap();
    let mut commands: Vec<Vec<&str>> =
        ["table", "json", "markdown", "csv"].map(|format| vec!["plan", "-o", format, "--out", "$TMP/plan"]).to_vec();
    commands.extend([
        vec!["explain", "Secret/openshift-config/*"],
        vec!["explain", "old-client", "-o", "json"],
        vec!["doctor"],
    ]);
    let mut written = Vec::new();
    for args in commands {
        let output = run(dir, canaries, &args);
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
async fn no_credential_of_the_kubeconfig_is_in_any_output() {
    let mut canaries = Canaries::default();
    let token = canaries.next();
    let (_port, server) = locked(&token).await;
    let dir = folder(&[]);
    let tmp = dir.path();
    let c = &mut canaries;
    let no_port = format!("https://{NOBODY}");
    let user_in_server = format!("https://user:{}@{NOBODY}", c.next());
    let proxy = json!({"proxy-url": format!("http://user:{}@{NOBODY}", c.next())});
    let (leaky, garbage) = (c.next(), c.next());
    let key = json!({"client-certificate-data": c.next_base64(), "client-key-data": c.next_base64()});
    let token_file = tmp.join("token");
    std::fs::write(&token_file, format!("{}\n{}\u{1}", c.next(), c.next())).unwrap();
    let none = || json!({});
    let no_script = String::new;
    let running = |c: &mut Canaries| exec(tmp.join("plugin").to_str().unwrap(), c);
    let cases = [
        ("a plugin's token", credential(&token), kubeconfig(&server, none(), running(c)), "guest-a"),
        ("a plugin's garbage", format!("echo {garbage}"), kubeconfig(&server, none(), running(c)), "no ExecCredential"),
        (
            "a plugin that fails and repeats its token",
            format!("{}\necho login with {leaky} failed >&2\nexit 3", credential(&leaky)),
            kubeconfig(&server, none(), running(c)),
            "plugin failed",
        ),
        ("a token that is refused", no_script(), kubeconfig(&server, none(), json!({"token": c.next()})), "401"),
        ("a plugin's token that is refused", credential(&leaky), kubeconfig(&server, none(), running(c)), "401"),
        (
            "a password",
            no_script(),
            kubeconfig(&server, none(), json!({"username": "u", "password": c.next()})),
            "mgmt",
        ),
        ("a key that is none", no_script(), kubeconfig(&no_port, none(), key), "client certificate"),
        ("a token file", no_script(), kubeconfig(&server, none(), json!({"tokenFile": token_file})), "token"),
        ("a proxy's password", no_script(), kubeconfig(&no_port, proxy, json!({"token": c.next()})), "mgmt"),
        ("a password in the address", no_script(), kubeconfig(&user_in_server, none(), none()), "server"),
        (
            "a plugin that is not there",
            no_script(),
            kubeconfig(&server, none(), exec("no-such-plugin", c)),
            "not installed",
        ),
        ("broken YAML", no_script(), format!("users:\n- user: {{ token: {} \n  - [", c.next()), "not a kubeconfig"),
        (
            "a field of another shape",
            no_script(),
            kubeconfig(&server, none(), json!({"token": [c.next()]})),
            "kubeconfig",
        ),
    ];
    for (case, script, kubeconfig, expected) in cases {
        plugin(tmp, &script);
        std::fs::write(tmp.join("kubeconfig"), kubeconfig).unwrap();
        let written = everything(tmp, &mut canaries, case);
        assert!(written.contains(expected), "case: {case}: nothing says {expected}:\n{written}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_guests_kubeconfig_is_in_any_output() {
    let mut canaries = Canaries::default();
    let c = &mut canaries;
    let cases = [
        ("no kubeconfig", format!("{}: [", c.next()), "not a kubeconfig"),
        (
            "a token that goes nowhere",
            kubeconfig(&format!("http://{NOBODY}"), json!({}), json!({"token": c.next()})),
            "guest-a",
        ),
        ("a plugin", kubeconfig(&format!("http://{NOBODY}"), json!({}), exec("/bin/true", c)), "refused"),
        (
            "a key that is none",
            kubeconfig(
                &format!("https://{NOBODY}"),
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
        let written = everything(dir.path(), &mut canaries, case);
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
        ("a number", number, "can't be read"),
        ("a list", format!("[\"{}\"]", c.next()), "can't be read"),
        ("a map", format!("{{\"{}\": \"{}\"}}", c.next(), c.next()), "can't be read"),
        ("no base64", format!("\"!!{}!!\"", c.next()), "old-client"),
        ("no JSON", format!("\"{}\" {}", c.next(), c.next()), "secrets"),
        ("a text without end", format!("\"{}", c.next()), "secrets"),
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
        let written = everything(dir.path(), &mut canaries, case);
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
                    Ok::<_, trueup::sim::SimLost>(answer)
                }
            });
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            tokio::spawn(async move { drop(server.serve_connection(TokioIo::new(socket), service).await) });
        }
    });
    address
}
