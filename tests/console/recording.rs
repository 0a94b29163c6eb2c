//! A session on the demo, recorded on a real terminal, replayed there and without one.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use crate::pty::Program;
use crate::stage::demo_with;

fn replay(folder: &std::path::Path, option: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trueup"))
        .args(["replay", "session", option])
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap()
}

#[test]
fn a_recorded_session_replays_to_the_frames_that_the_terminal_showed() {
    let mut demo = demo_with(|program| program.args(&["--record", "session"]).size(120, 40));
    demo.find_orphan();
    demo.pty.send("?");
    demo.pty.wait_for_text("Help");
    let help = demo.pty.text();
    demo.pty.send("?");
    demo.pty.wait_for("the help to close", |screen| !screen.contents().contains("Mark or unmark the row"));
    demo.pty.send("\x03");
    assert!(demo.pty.expect_clean_exit().success());

    let file = demo.folder.path().join("session");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let check = replay(demo.folder.path(), "--check");
    let (said, wrong) = (String::from_utf8_lossy(&check.stdout), String::from_utf8_lossy(&check.stderr));
    assert!(said.contains("every frame is as recorded"), "{said}{wrong}");
    assert!(check.status.success());
    let frames = String::from_utf8(replay(demo.folder.path(), "--frames").stdout).unwrap();
    // Lines of the help, which nothing but the terminal itself had shown.
    for line in help.lines().map(str::trim_end).filter(|line| line.len() > 20) {
        assert!(frames.contains(line), "no `{line}` in the replay");
    }
}

#[test]
fn a_recording_opens_in_the_console_read_only() {
    let mut demo = demo_with(|program| program.args(&["--record", "session"]).size(120, 40));
    demo.find_orphan();
    demo.pty.send("\x03");
    assert!(demo.pty.expect_clean_exit().success());

    let mut pty = Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&["replay", "session", "--utc"])
        .env("HOME", demo.folder.path())
        .env("LANG", "C.UTF-8")
        .folder(demo.folder.path())
        .size(120, 40)
        .start();
    pty.wait_for_text("Timeline");
    pty.send("1/verdict:orphan-certain kind:secret name~ext-auth\r");
    pty.wait_for_text("ext-auth-console");
    pty.send("r");
    pty.wait_for_text("from a session recording");
    pty.send("\x03");
    assert!(pty.expect_clean_exit().success());
}
