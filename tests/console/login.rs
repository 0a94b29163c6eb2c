//! Logging in from the console: a credential plugin that insists on a person.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::pty::{Program, Pty};

/// Asks for a code and gives it as the token.
const PLUGIN: &str = r#"#!/bin/sh
printf 'Code? ' >&2
read -r code
echo "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"$code\"}}"
"#;

/// A served demo that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Serves the demo, and writes a kubeconfig for it whose user has this plugin.
fn serve(path: &Path, script: &str, mode: &str) -> Served {
    let mut serving = Command::new(env!("CARGO_BIN_EXE_trueup"));
    serving.args(["demo", "--headless"]).env("TMPDIR", path).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut served = Served(serving.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let plugin = path.join("plugin");
    fs::write(&plugin, script).unwrap();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).unwrap();
    let exec = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: {}, interactiveMode: {mode}}}",
        plugin.display()
    );
    let kubeconfig = fs::read_to_string(line.trim()).unwrap().replace("token: trueup-demo", &exec);
    fs::write(path.join("kubeconfig"), kubeconfig).unwrap();
    served
}

/// The title of the dialog, which takes no answer in its first moment.
const QUESTION: &str = "Run this credential plugin?";

fn console(path: &Path) -> Pty {
    Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["--kubeconfig", "kubeconfig", "--context", "mgmt-eu"])
        .env("HOME", path)
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .folder(path)
        .size(120, 40)
        .start()
}

#[test]
fn an_interactive_plugin_gets_the_terminal_and_its_output_is_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let _served = serve(path, PLUGIN, "Always");
    let mut pty = console(path);
    pty.wait_for_text(QUESTION);
    pty.send_until("y", "the plugin asks", |screen| !screen.contains(QUESTION));
    pty.wait_for_text("Code?");
    pty.send("1234\r");
    pty.wait_for_text("guest-payments");
    assert!(!pty.text().contains("ExecCredential"));
    pty.send("\x03");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn a_plugin_is_run_when_the_user_says_so_and_from_then_on_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let script = PLUGIN.replace("printf 'Code? ' >&2\nread -r code", ": > \"$0.ran\"\ncode=1234");
    let _served = serve(path, &script, "Never");
    let mark = path.join("plugin.ran");
    let mut pty = console(path);
    pty.wait_for_text(QUESTION);
    assert!(!mark.exists(), "it ran without a question");
    pty.send_until("y", "the plugin runs", |screen| !screen.contains(QUESTION));
    pty.wait_for_text("guest-payments");
    assert!(mark.exists());
    pty.send("\x03");
    assert!(pty.expect_clean_exit().success());
    let kept = path.join(".local/state/trueup/plugins");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let mut pty = console(path);
    pty.wait_for_text("guest-payments");
    pty.send("\x03");
    assert!(pty.expect_clean_exit().success());
}
