//! Logging in from the console: a credential plugin that insists on a person.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use crate::pty::Program;

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

#[test]
fn an_interactive_plugin_gets_the_terminal_and_its_output_is_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut serving = Command::new(env!("CARGO_BIN_EXE_trueup"));
    serving.args(["demo", "--headless"]).env("TMPDIR", path).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut served = Served(serving.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(served.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let plugin = path.join("plugin");
    fs::write(&plugin, PLUGIN).unwrap();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).unwrap();
    let exec = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1, command: {}, interactiveMode: Always}}",
        plugin.display()
    );
    let kubeconfig = fs::read_to_string(line.trim()).unwrap().replace("token: trueup-demo", &exec);
    fs::write(path.join("kubeconfig"), kubeconfig).unwrap();
    let mut pty = Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["--kubeconfig", "kubeconfig", "--context", "mgmt-eu"])
        .env("HOME", path)
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .folder(path)
        .size(120, 40)
        .start();
    pty.wait_for_text("login expired");
    pty.send("X");
    pty.wait_for_text("Code?");
    pty.send("1234\r");
    pty.wait_for_text("guest-payments");
    assert!(!pty.text().contains("ExecCredential"));
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}
