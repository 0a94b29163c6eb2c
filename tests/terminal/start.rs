//! The start of the console: what is on the screen before anything was read.

use crate::pty::Program;

/// Reading a pipe that nothing is written to does not end.
#[test]
fn the_first_frame_is_drawn_before_config_and_kubeconfig_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let [config, kubeconfig] = ["config.toml", "kubeconfig"].map(|name| folder.path().join(name));
    let made = std::process::Command::new("mkfifo").args([&config, &kubeconfig]).status().unwrap();
    assert!(made.success());
    let mut pty = Program::new(env!("CARGO_BIN_EXE_trueup"))
        .arg("--config")
        .arg(&config)
        .arg("--kubeconfig")
        .arg(&kubeconfig)
        .env("HOME", folder.path())
        .env("LANG", "C.UTF-8")
        .start();
    pty.wait_for_text("trueup");
    pty.wait_for_modes("the console", |modes| modes.alternate_screen && modes.cursor_hidden);
}
