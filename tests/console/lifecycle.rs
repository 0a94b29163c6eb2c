//! The terminal before and after, with the real binary.

use rustix::process::Signal;

use crate::pty::{Modes, keys};
use crate::stage::{demo, demo_with};

#[test]
fn sigterm_restores_the_terminal() {
    for signal in [Signal::TERM, Signal::HUP] {
        let mut demo = demo();
        assert_ne!(demo.pty.termios(), demo.pty.termios_before(), "the terminal is in raw mode");
        demo.pty.signal(signal);
        assert!(demo.pty.expect_clean_exit().success(), "{signal:?}");
    }
}

#[test]
fn a_stop_restores_the_terminal_and_a_continue_repaints_it() {
    let mut demo = demo();
    demo.pty.send(keys::CTRL_Z);
    demo.pty.wait_until_stopped();
    demo.pty.wait_for_modes("every mode to be off", |modes| *modes == Modes::default());
    assert_eq!(demo.pty.termios(), demo.pty.termios_before());
    demo.pty.resize(100, 30);
    demo.pty.signal(Signal::CONT);
    demo.pty.wait_for_modes("the screen to be taken", |modes| modes.alternate_screen);
    demo.pty.wait_for_text("guest-payments");
    demo.pty.signal(Signal::TSTP);
    demo.pty.wait_until_stopped();
    demo.pty.wait_for_modes("every mode to be off", |modes| *modes == Modes::default());
    demo.pty.signal(Signal::CONT);
    demo.pty.wait_for_text("guest-payments");
    demo.quit();
}

#[test]
fn the_pager_gets_and_returns_the_terminal() {
    let pager = "cat; echo the pager waits; read line < /dev/tty";
    let mut demo = demo_with(|program| program.env("PAGER", pager).size(120, 40));
    demo.find_orphan();
    demo.pty.send("v");
    demo.pty.wait_for_text("apiVersion: v1");
    demo.pty.send("|");
    demo.pty.wait_for_text("the pager waits");
    assert_eq!(demo.pty.modes(), Modes::default());
    assert_eq!(demo.pty.termios(), demo.pty.termios_before());
    assert!(demo.pty.text().contains("kind: Secret"), "{}", demo.pty.picture());
    demo.pty.send(keys::ENTER);
    demo.pty.wait_for_text("YAML, masked");
    assert!(!demo.pty.text().contains("the pager waits"), "{}", demo.pty.picture());
    demo.quit();
}

#[test]
fn secrets_are_masked_on_the_screen() {
    let mut demo = demo();
    demo.find_orphan();
    demo.pty.send("v");
    demo.pty.wait_for_text("kind: Secret");
    let text = demo.pty.text();
    assert!(text.contains("bytes>"), "{text}");
    demo.quit();
}

#[test]
fn many_resizes_end_in_the_last_size() {
    let mut demo = demo();
    for step in 0..60_u16 {
        demo.pty.resize(40 + step * 7 % 160, 10 + step * 5 % 50);
    }
    demo.pty.resize(29, 5);
    demo.pty.wait_for_text("Too small: 30x6 needed");
    demo.pty.resize(80, 24);
    demo.pty.wait_for("the fleet on 80 columns", |screen| {
        let first = screen.rows(0, 80).nth(2).unwrap_or_default();
        first.starts_with("━━ Clusters ━") && first.trim_end().ends_with('━')
    });
    demo.quit();
}

#[test]
fn keys_typed_before_the_fleet_is_connected_are_handled() {
    let folder = tempfile::tempdir().unwrap();
    let mut pty = crate::stage::program(&folder).start();
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}
