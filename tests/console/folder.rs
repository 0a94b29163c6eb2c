//! The console on a recording, and the files it writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::pty::{Program, Pty};

const HOSTED: &str = r#"
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata: { name: guest-a, namespace: clusters, uid: hc-1, resourceVersion: "10" }
spec: { configuration: { authentication: { type: OIDC, oidcProviders: [] } } }
---
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedControlPlane
metadata: { name: guest-a, namespace: clusters-guest-a, uid: hcp-1, resourceVersion: "11" }
spec: { configuration: { authentication: { type: OIDC, oidcProviders: [] } } }
"#;

const GUEST: &str = r#"
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: { name: cluster, uid: i-1, resourceVersion: "20" }
status: { controlPlaneTopology: External }
---
apiVersion: config.openshift.io/v1
kind: Authentication
metadata: { name: cluster, uid: au-1, resourceVersion: "21" }
spec: { type: OIDC, oidcProviders: [] }
---
apiVersion: v1
kind: Secret
metadata:
  name: old-client
  namespace: openshift-config
  uid: s-2
  resourceVersion: "32"
  labels: { hypershift.openshift.io/managed: "true", hypershift.openshift.io/oidc-provider-managed: "true" }
type: Opaque
data: { clientSecret: b2xkLXNlY3JldA== }
"#;

const FLEET: &str = "now: 2026-11-16T10:00:00Z\nclusters:\n  mgmt: { class: prod }\n  guest-a:\n    \
                     hosted_by: { cluster: mgmt, namespace: clusters, name: guest-a }\n";

const CONFIG: &str = "[[console.views]]\nname = 'orphans'\nscreen = 'hosted-oidc'\nfilter = 'verdict:orphan'\n";

/// A recording of a guest with one orphan, a config beside it, and folders for what is written.
fn given() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("recording/fleet.yaml", FLEET),
        ("recording/clusters/mgmt/hosted.yaml", HOSTED),
        ("recording/clusters/guest-a/all.yaml", GUEST),
        ("config/trueup/config.toml", CONFIG),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn console(folder: &Path) -> Pty {
    program(folder).start()
}

fn program(folder: &Path) -> Program {
    Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["--from", "recording", "--utc"])
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("LANG", "C.UTF-8")
        .folder(folder)
        .size(120, 40)
}

fn quit(mut pty: Pty) {
    pty.send("\x03");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn a_recording_can_be_planned_and_not_approved() {
    let folder = given();
    let mut pty = console(folder.path());
    pty.wait_for_text("■ recorded");
    pty.send("gv");
    pty.wait_for_text("view, hosted-oidc verdict:orphan");
    pty.send("\r");
    pty.wait_for_text("old-client");
    pty.send("r");
    pty.wait_for_text("−1 delete");
    pty.send("a");
    pty.wait_for_text("recorded clusters cannot be changed");
    pty.send("w");
    pty.wait_for_text("wrote trueup-plan-");
    let plans = fs::read_dir(folder.path()).unwrap().filter_map(Result::ok);
    let is_plan = |name: &str| name.starts_with("trueup-plan-");
    assert_eq!(plans.filter(|file| is_plan(&file.file_name().to_string_lossy())).count(), 1);
    quit(pty);
}

#[test]
fn view_state_and_accepted_findings_persist_across_runs_and_commands() {
    let folder = given();
    let mut pty = console(folder.path());
    pty.wait_for_text("■ recorded");
    pty.send("1");
    pty.wait_for_text("EVIDENCE");
    pty.send("Akept for the audit\r");
    pty.wait_for_text("Accept until");
    pty.send("9999-12-31\r");
    // An accepted finding matches, and is hidden with the others.
    pty.wait_for_text("Nothing to fix: 2 match");
    pty.send("=");
    pty.wait_for_text("accepted until 9999-12-31: kept for the audit");
    quit(pty);
    let mut again = console(folder.path());
    again.wait_for_text("[1 Hosted OIDC]");
    again.wait_for_text("accepted until 9999-12-31: kept for the audit");
    quit(again);
    let plan = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("XDG_CONFIG_HOME", folder.path().join("config"))
        .args(["plan", "-v", "--from"])
        .arg(folder.path().join("recording"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&plan.stdout);
    assert!(said.contains("accepted until 9999-12-31"), "{said}");
    assert!(!said.contains("delete"), "{said}");
}

#[test]
fn keys_and_themes_are_read_again_when_their_files_change() {
    let folder = given();
    let mut pty = console(folder.path());
    pty.wait_for_text("■ recorded");
    fs::write(folder.path().join("config/trueup/keys.toml"), "[global]\nquit = 'f10'\nqiut = 'f9'\n").unwrap();
    pty.wait_for_text("keys.toml:3: unknown action `qiut`");
    fs::write(folder.path().join("config/trueup/keys.toml"), "[global]\nquit = 'Q'\n").unwrap();
    pty.wait_for_text("reloaded keys and themes");
    pty.send("Q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn the_theme_can_follow_the_terminal_background() {
    let folder = given();
    fs::write(folder.path().join("config/trueup/config.toml"), "[console]\ntheme = 'auto'\n").unwrap();
    let cases = [
        ("light", (250, 250, 250), vt100::Color::Rgb(0xfb, 0xfa, 0xf6)),
        ("dark", (10, 10, 10), vt100::Color::Rgb(0x12, 0x16, 0x1f)),
    ];
    for (case, behind, expected) in cases {
        let program = program(folder.path()).env("TERM", "xterm-256color").env("COLORTERM", "truecolor");
        let mut pty = program.background(behind).start();
        pty.wait_for_text("■ recorded");
        let shown = pty.screen().cell(0, 0).map(vt100::Cell::bgcolor);
        assert_eq!(shown, Some(expected), "case: {case}\n{}", pty.picture());
        pty.send("\x03");
        assert!(pty.expect_clean_exit().success());
    }
}
