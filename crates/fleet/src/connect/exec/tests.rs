//! Plugins that answer, hang, fail, babble or are not there: shell scripts in a folder of their own.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]
#![expect(clippy::disallowed_methods, reason = "the test measures real time")]

use std::path::Path;

use super::*;
use crate::connect::kubeconfig::ExecVersion;
use crate::connect::testing::block_on;

const CANARY: &str = "canary-3b7e55a0c9d1";

struct Plugin {
    folder: tempfile::TempDir,
    spec: ExecSpec,
}

fn plugin(script: &str) -> Plugin {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plugin");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let spec = ExecSpec {
        version: ExecVersion::V1,
        command: path,
        args: vec![],
        env: vec![],
        install_hint: None,
        needs_terminal: NeedsTerminal::No,
        cluster_info: None,
    };
    Plugin { folder, spec }
}

fn env() -> Env {
    Env::new([("PATH", "/usr/bin:/bin"), ("INHERITED", "yes")])
}

fn credential(status: &str) -> String {
    format!(r#"{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{status}}}"#)
}

fn outcome(plugin: &Plugin) -> Result<Credential, ExecError> {
    block_on(run(&plugin.spec, &env(), &PluginPolicy::Any, TIMEOUT))
}

#[test]
fn a_plugins_token_and_certificate_are_taken() {
    let status = format!(
        r#"{{"token":"{CANARY}","clientCertificateData":"C","clientKeyData":"K","expirationTimestamp":"2030-01-02T03:04:05Z"}}"#
    );
    let got = outcome(&plugin(&format!("echo '{}'", credential(&status)))).unwrap();
    assert_eq!(got.token, Some(SecretText::new(CANARY.to_owned())));
    assert_eq!(got.certificate, Some((SecretText::new("C".to_owned()), SecretText::new("K".to_owned()))));
    assert_eq!(got.expires_at, Some("2030-01-02T03:04:05Z".parse().unwrap()));
    assert!(!format!("{got:?}").contains(CANARY));
}

#[test]
fn yaml_will_do_as_an_answer() {
    let script =
        "printf 'apiVersion: client.authentication.k8s.io/v1\\nkind: ExecCredential\\nstatus:\\n  token: t\\n'";
    assert_eq!(outcome(&plugin(script)).unwrap().token, Some(SecretText::new("t".to_owned())));
}

#[test]
fn a_plugin_gets_its_arguments_its_variables_and_no_terminal() {
    let mut plugin = plugin(&format!(
        "read line && exit 9; echo \"$1 $GIVEN $INHERITED $KUBERNETES_EXEC_INFO\" > \"$OUT\"; echo '{}'",
        credential(r#"{"token":"t"}"#)
    ));
    let out = plugin.folder.path().join("out");
    plugin.spec.args = vec![SecretText::new("first".to_owned())];
    plugin.spec.env = vec![
        ("GIVEN".to_owned(), SecretText::new("given".to_owned())),
        ("OUT".to_owned(), SecretText::new(out.display().to_string())),
    ];
    plugin.spec.cluster_info = Some(SecretText::new(r#"{"server":"https://h"}"#.to_owned()));
    outcome(&plugin).unwrap();
    let recorded = std::fs::read_to_string(out).unwrap();
    let (words, info) = recorded.split_once(" {").unwrap();
    assert_eq!(words, "first given yes");
    let info: serde_json::Value = serde_json::from_str(&format!("{{{info}")).unwrap();
    let expected = serde_json::json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "spec": { "interactive": false, "cluster": { "server": "https://h" } },
    });
    assert_eq!(info, expected);
}

#[test]
fn bare_names_are_looked_up_in_the_path_and_missing_ones_come_with_their_hint() {
    let mut found = plugin(&format!("echo '{}'", credential(r#"{"token":"t"}"#)));
    found.spec.command = "plugin".into();
    let path = Env::new([("PATH", format!("/nowhere:{}:/bin:/usr/bin", found.folder.path().display()))]);
    assert!(block_on(run(&found.spec, &path, &PluginPolicy::Any, TIMEOUT)).is_ok());

    found.spec.install_hint = Some("brew install\x1b[31m it".to_owned());
    let missing = block_on(run(&found.spec, &env(), &PluginPolicy::Any, TIMEOUT)).unwrap_err();
    assert_eq!(missing.to_string(), "the credential plugin plugin is not installed; brew install\\u{1b}[31m it");
}

#[test]
fn a_plugin_that_insists_on_a_terminal_is_not_started() {
    let mut plugin = plugin("touch \"$0.ran\"");
    plugin.spec.needs_terminal = NeedsTerminal::Yes;
    assert!(matches!(outcome(&plugin), Err(ExecError::NeedsTerminal { .. })));
    assert!(!plugin.folder.path().join("plugin.ran").exists());
}

#[test]
fn nothing_a_plugin_prints_reaches_an_error() {
    let cases = [
        ("garbage", format!("echo 'token: [{CANARY}'"), "not an ExecCredential"),
        (
            "exit 1 after printing it",
            format!("echo '{}'; exit 1", credential(&format!(r#"{{"token":"{CANARY}"}}"#))),
            "exit status: 1",
        ),
        (
            "repeated on stderr",
            format!("echo {CANARY}; echo got {CANARY} today >&2; exit 2"),
            "failed (exit status: 2)",
        ),
        ("on stderr alone", format!("echo the {CANARY} was bad >&2; exit 3"), "failed (exit status: 3)"),
        (
            "other version",
            format!("echo '{}' | sed 's,k8s.io/v1,k8s.io/v2,'", credential(&format!(r#"{{"token":"{CANARY}"}}"#))),
            "apiVersion",
        ),
        (
            "certificate without key",
            format!("echo '{}'", credential(&format!(r#"{{"token":"{CANARY}","clientKeyData":"k"}}"#))),
            "without key",
        ),
        (
            "bad time",
            format!("echo '{}'", credential(&format!(r#"{{"token":"{CANARY}","expirationTimestamp":"{CANARY}"}}"#))),
            "not a time",
        ),
        (
            "token of another shape",
            format!("echo '{}'", credential(&format!(r#"{{"token":["{CANARY}"]}}"#))),
            "not an ExecCredential",
        ),
        ("nothing in it", format!("echo '{}'", credential("{}")), "neither"),
        ("empty", "true".to_owned(), "empty"),
        ("killed", format!("echo {CANARY}; kill -9 $$"), "signal: 9"),
    ];
    for (case, script, expected) in cases {
        let error = outcome(&plugin(&script)).expect_err(case);
        let shown = format!("{error} {error:?}");
        assert!(error.to_string().contains(expected), "case: {case}: {shown}");
        assert!(!shown.contains(CANARY), "case: {case}: {shown}");
    }
}

#[test]
fn a_flood_on_stderr_does_not_block_the_plugin() {
    let script = "i=0; while [ $i -lt 4000 ]; do echo 'word after word after word' >&2; i=$((i+1)); done; exit 1";
    assert!(matches!(outcome(&plugin(script)), Err(ExecError::Failed { .. })));
}

#[test]
fn the_log_gets_stderr_without_what_stood_on_stdout_or_looks_like_a_credential() {
    let cases = [
        ("repeated", format!("got {CANARY} today"), format!("{{\"token\":\"{CANARY}\"}}"), "got … today"),
        ("a credential", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY was bad".to_owned(), String::new(), "… was bad"),
        ("a reason", "The SSO session has expired".to_owned(), String::new(), "The SSO session has expired"),
        ("escape sequences", "\x1b[2Jgone".to_owned(), String::new(), "\\u{1b}[2Jgone"),
    ];
    for (case, stderr, stdout, expected) in cases {
        assert_eq!(loggable(stderr.as_bytes(), stdout.as_bytes()), expected, "case: {case}");
    }
    let flood = "word after word ".repeat(10_000);
    assert!(loggable(flood.as_bytes(), b"").len() <= 2 * STDERR_MAX);
}

#[test]
fn a_helper_that_keeps_the_pipes_open_is_neither_waited_for_nor_ended() {
    let helper = "(while [ ! -e \"$0.go\" ]; do sleep 0.01; done; touch \"$0.done\") &";
    let plugin = plugin(&format!("{helper} echo '{}'", credential(r#"{"token":"t"}"#)));
    assert!(outcome(&plugin).is_ok());
    std::fs::write(plugin.folder.path().join("plugin.go"), "").unwrap();
    let done = plugin.folder.path().join("plugin.done");
    wait_until("the helper continues", || done.exists());
}

#[tokio::test(start_paused = true)]
async fn a_plugin_that_hangs_is_ended_with_all_it_started() {
    let script = "sleep 600 & echo canary-3b7e55a0c9d1; echo still here >&2; echo $! > \"$0.tmp\"; mv \"$0.tmp\" \"$0.pid\"; wait";
    let plugin = plugin(script);
    let marker = plugin.folder.path().join("plugin.pid");
    let environment = env();
    // The clock stands still while there is something to do, so the time limit strikes only once this lets it.
    let time_passes = async {
        let mut turns_since_started = 0;
        while turns_since_started < 1000 {
            tokio::task::yield_now().await;
            turns_since_started += usize::from(marker.exists());
        }
        tokio::time::advance(TIMEOUT).await;
    };
    let (ended, ()) = tokio::join!(run(&plugin.spec, &environment, &PluginPolicy::Any, TIMEOUT), time_passes);
    let error = ended.unwrap_err();
    match &error {
        ExecError::TimedOut { after, .. } => assert_eq!(*after, TIMEOUT),
        other => panic!("{other:?}"),
    }
    assert!(!format!("{error} {error:?}").contains(CANARY));
    wait_until_gone(recorded_pid(plugin.folder.path()));
}

#[test]
fn giving_up_waiting_ends_the_plugin_and_all_it_started() {
    let plugin = plugin("sleep 600 & echo $! > \"$0.tmp\"; mv \"$0.tmp\" \"$0.pid\"; wait");
    let marker = plugin.folder.path().join("plugin.pid");
    let environment = env();
    block_on(async {
        let running = run(&plugin.spec, &environment, &PluginPolicy::Any, TIMEOUT);
        let started = async {
            while !marker.exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = running => panic!("it hangs"),
            () = started => {}
        }
    });
    wait_until_gone(recorded_pid(plugin.folder.path()));
}

fn recorded_pid(folder: &Path) -> Pid {
    let text = std::fs::read_to_string(folder.join("plugin.pid")).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

/// A killed process may stay listed as a zombie until its new parent reaps it; that counts as gone.
fn wait_until_gone(pid: Pid) {
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    wait_until("the process is gone", || {
        let zombie = std::fs::read_to_string(&stat).is_ok_and(|text| text.contains(") Z "));
        zombie || rustix::process::test_kill_process(pid).is_err()
    });
}

fn wait_until(claim: &str, holds: impl Fn() -> bool) {
    let started = std::time::Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "never came true: {claim}");
        std::thread::yield_now();
    }
}

#[test]
fn an_interactive_plugin_learns_that_and_its_answer_is_read_separately() {
    let script = r#"read -r code; echo "$KUBERNETES_EXEC_INFO" >&2; printf '%s' "$code""#;
    let mut plugin = plugin(script);
    plugin.spec.needs_terminal = NeedsTerminal::Yes;
    let mut command = on_terminal(&plugin.spec, &env(), &PluginPolicy::Any).unwrap();
    let answer = credential(&format!(r#"{{"token":"{CANARY}"}}"#));
    let typed = plugin.folder.path().join("typed");
    std::fs::write(&typed, format!("{answer}\n")).unwrap();
    command.stdin(std::fs::File::open(typed).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = block_on(async { command.spawn().unwrap().wait_with_output().await.unwrap() });
    assert!(String::from_utf8_lossy(&ended.stderr).contains(r#""interactive":true"#));
    let got = read(&plugin.spec, &ended.stdout).unwrap();
    assert_eq!(got.token, Some(SecretText::new(CANARY.to_owned())));
    let error = read(&plugin.spec, format!("hello {CANARY}").as_bytes()).unwrap_err();
    assert!(!error.to_string().contains(CANARY), "{error}");
}
