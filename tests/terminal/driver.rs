//! The terminal the tests use, tested with standard programs.

use std::time::Duration;

use rustix::process::Signal;

use crate::pty::{Modes, Program, keys};

fn shell(script: &str) -> Program {
    Program::new("/bin/sh").env("PATH", "/usr/bin:/bin").args(&["-c", script])
}

#[test]
fn typed_text_is_echoed_by_cat() {
    let mut pty = Program::new("/bin/cat").start();
    pty.send("hello\r");
    pty.wait_for("the echo and the line", |screen| screen.contents() == "hello\nhello");
    pty.send("\x04");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn a_program_gets_its_size_and_every_change_of_it() {
    let script = "trap 'stty size' WINCH; stty size; while :; do read line; done";
    let mut pty = shell(script).size(100, 30).start();
    pty.wait_for_text("30 100");
    pty.resize(60, 16);
    // A shell runs its trap after the read: one key makes sure.
    pty.send(keys::ENTER);
    pty.wait_for_text("16 60");
}

#[test]
fn terminal_queries_are_answered() {
    let ask = |question: &str| {
        format!("stty raw -echo; printf '{question}'; head -c 1 >/dev/null; stty -raw echo; echo answered")
    };
    let cases = [
        ("where the cursor is", shell(&ask("\\033[6n"))),
        ("what kind it is", shell(&ask("\\033[c"))),
        ("what is behind", shell(&ask("\\033]11;?\\007")).background((1, 2, 3))),
    ];
    for (case, program) in cases {
        let mut pty = program.start();
        pty.wait_for(case, |screen| screen.contents().contains("answered"));
    }
}

#[test]
#[should_panic(expected = "the program ended")]
fn a_wait_ends_with_the_program() {
    shell("printf nothing").start().wait_for_text("something");
}

#[test]
#[should_panic(expected = "the terminal's settings were not set back")]
fn settings_left_behind_are_found() {
    shell("stty -echo").start().wait_for_exit();
}

#[test]
fn modes_left_on_are_found() {
    let on = "\\033[?1049h\\033[?1002h\\033[?2004h\\033[?25l\\033[?1004h\\033[?2026h\\033[22;0t\\033[>1u\\033[1m";
    let mut pty = shell(&format!("printf '{on}'")).start();
    pty.wait_for_exit();
    let all = Modes {
        alternate_screen: true,
        mouse: true,
        paste: true,
        cursor_hidden: true,
        focus: true,
        synchronized: true,
        titles: 1,
        keyboard: 1,
        styled: true,
    };
    assert_eq!(pty.modes(), all);
}

#[test]
fn a_partial_frame_is_not_read() {
    let mut pty = shell("printf '\\033[?2026hhalf'; read line; printf ' whole\\033[?2026l'; read line").start();
    pty.send(keys::ENTER);
    pty.wait_for("the first look", |screen| !screen.contents().is_empty());
    assert!(pty.text().contains("half") && pty.text().contains("whole"), "{}", pty.picture());
}

#[test]
fn stops_and_ends_by_signals_are_seen() {
    let mut pty = shell("echo up; while :; do read line; done").start();
    pty.wait_for_text("up");
    pty.signal(Signal::STOP);
    pty.wait_until_stopped();
    pty.signal(Signal::CONT);
    pty.signal(Signal::KILL);
    assert!(!pty.expect_clean_exit().success());
}

#[test]
fn an_idle_program_is_distinguished_from_one_that_writes() {
    let mut pty = shell("echo up; read line; echo more; read line").start();
    pty.wait_for_text("up");
    assert_eq!(pty.bytes_within(Duration::from_millis(50)), 0);
    pty.send(keys::ENTER);
    pty.wait_for_text("more");
}
