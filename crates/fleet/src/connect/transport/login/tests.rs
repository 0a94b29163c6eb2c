//! When a login is renewed, and when it is not.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::connect::kubeconfig::{ExecVersion, NeedsTerminal};
use crate::connect::testing::still;

/// A plugin that gives `token-N` on its Nth run and the certificate that stands in the file beside it, if any.
const PLUGIN: &str = r#"#!/bin/sh
echo run >> "$0.runs"
count=$(wc -l < "$0.runs" | tr -d ' ')
certificate=$(cat "$0.certificate" 2>/dev/null)
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-%s",' "$count"
printf '"clientCertificateData":"%s","clientKeyData":"%s",' "$certificate" "$certificate"
printf '"expirationTimestamp":"1970-01-01T01:00:00Z"}}'
"#;

struct ExecLogin {
    folder: tempfile::TempDir,
    login: Login,
    seconds: Arc<AtomicI64>,
}

fn exec_login() -> ExecLogin {
    let folder = tempfile::tempdir().unwrap();
    let command = folder.path().join("plugin");
    std::fs::write(&command, PLUGIN).unwrap();
    std::fs::set_permissions(&command, std::fs::Permissions::from_mode(0o755)).unwrap();
    let spec = ExecSpec {
        version: ExecVersion::V1,
        command,
        args: vec![],
        env: vec![],
        install_hint: None,
        needs_terminal: NeedsTerminal::No,
        cluster_info: None,
    };
    let seconds = Arc::new(AtomicI64::new(0));
    let read = seconds.clone();
    let clock: Clock = Arc::new(move || Timestamp::from_second(read.load(Ordering::SeqCst)).unwrap());
    let login =
        Login::new(&Bearer::Exec(Box::new(spec)), &Env::new([("PATH", "/usr/bin:/bin")]), &PluginPolicy::Any, clock);
    ExecLogin { folder, login, seconds }
}

async fn shown(login: &Login) -> (String, Lease) {
    let (header, lease) = login.header().await.unwrap();
    (header.unwrap().to_str().unwrap().to_owned(), lease)
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_token_file_is_read_again_after_a_minute_and_after_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    write(&path, "first\n");
    let login = Login::new(&Bearer::TokenFile(path.clone()), &Env::default(), &PluginPolicy::Any, still());
    let (first, old_lease) = shown(&login).await;
    write(&path, "second");
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!((first.as_str(), shown(&login).await.0.as_str()), ("Bearer first", "Bearer first"));
    tokio::time::advance(Duration::from_secs(2)).await;
    let (second, lease) = shown(&login).await;
    assert_eq!(second, "Bearer second");

    write(&path, "third");
    login.refused(old_lease).await;
    assert_eq!(shown(&login).await.0, "Bearer second", "the refusal of an older token says nothing of this one");
    login.refused(lease).await;
    assert_eq!(shown(&login).await.0, "Bearer third");
}

#[tokio::test]
async fn a_token_file_without_a_usable_token_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let login = Login::new(&Bearer::TokenFile(path.clone()), &Env::default(), &PluginPolicy::Any, still());
    for (case, text, expected) in [("empty", " \n", "it is empty"), ("two lines", "canary\nb", "no header can hold")] {
        write(&path, text);
        let error = login.header().await.unwrap_err();
        assert!(error.to_string().contains(expected), "case: {case}: {error}");
        assert!(!format!("{error} {error:?}").contains("canary"), "case: {case}");
    }
}

#[tokio::test]
async fn many_requests_share_one_plugin_run() {
    let ExecLogin { folder: _folder, login, .. } = exec_login();
    let headers = futures::future::join_all((0..8).map(|_| shown(&login))).await;
    assert!(headers.iter().all(|(header, _)| header == "Bearer token-1"), "{headers:?}");
}

#[tokio::test]
async fn a_plugin_is_asked_again_shortly_before_the_end_and_after_a_refusal() {
    let ExecLogin { folder: _folder, login, seconds } = exec_login();
    let mut turns = Vec::new();
    for second in [0, 3539, 3540] {
        seconds.store(second, Ordering::SeqCst);
        turns.push(shown(&login).await.0);
    }
    assert_eq!(turns, ["Bearer token-1", "Bearer token-1", "Bearer token-2"]);

    seconds.store(0, Ordering::SeqCst);
    let (_, lease) = shown(&login).await;
    login.refused(lease).await;
    login.refused(lease).await;
    assert_eq!(shown(&login).await.0, "Bearer token-3");
}

#[tokio::test]
async fn a_new_certificate_asks_for_a_new_connection() {
    let ExecLogin { folder, login, seconds } = exec_login();
    write(&folder.path().join("plugin.certificate"), "one");
    let first = login.certificate().await.unwrap().expect("the plugin brings one");
    assert_eq!(shown(&login).await.0, "Bearer token-1");

    seconds.store(3600, Ordering::SeqCst);
    assert_eq!(shown(&login).await.0, "Bearer token-2", "the same certificate again is no news");
    write(&folder.path().join("plugin.certificate"), "two");
    let error = login.header().await.unwrap_err();
    assert!(matches!(*error, LoginError::NewCertificate));
    seconds.store(0, Ordering::SeqCst);
    let second = login.certificate().await.unwrap().expect("the plugin brings one");
    assert_ne!(first, second);
    assert_eq!(shown(&login).await.0, "Bearer token-3");
}

#[test]
fn no_login_shows_its_secret() {
    let secret = || SecretText::new("canary".to_owned());
    let bearers = [
        Bearer::Token(secret()),
        Bearer::Basic { username: "me".to_owned(), password: secret() },
        Bearer::Token(SecretText::new("canary\n\u{1}".to_owned())),
    ];
    for bearer in bearers {
        let login = Login::new(&bearer, &Env::default(), &PluginPolicy::Any, still());
        assert!(!format!("{login:?} {bearer:?}").contains("canary"));
    }
}

#[tokio::test]
async fn a_login_a_person_began_needs_no_run_until_its_credential_ends() {
    let ExecLogin { folder, login, seconds } = exec_login();
    let given = Credential {
        token: Some(SecretText::new("given".to_owned())),
        certificate: None,
        expires_at: Some(Timestamp::from_second(1_000).unwrap()),
    };
    let login = login.begun_with(given).unwrap();
    assert_eq!(shown(&login).await.0, "Bearer given");
    assert!(!folder.path().join("plugin.runs").exists());
    seconds.store(1_000, Ordering::SeqCst);
    assert_eq!(shown(&login).await.0, "Bearer token-1");
}
