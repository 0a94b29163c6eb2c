//! The terminal before and after: every way a program ends or steps aside.

use rustix::process::Signal;

use crate::pty::{Modes, Pty, keys};
use crate::stage::program;

fn started() -> Pty {
    let mut pty = program().start();
    pty.wait_for_text("ready");
    let taken = Modes {
        alternate_screen: true,
        mouse: true,
        paste: true,
        cursor_hidden: true,
        focus: true,
        titles: 1,
        ..Modes::default()
    };
    assert_eq!(pty.modes(), taken);
    assert_ne!(pty.termios(), pty.termios_before(), "the terminal is in raw mode");
    pty
}

#[test]
fn a_quit_restores_the_terminal() {
    let mut pty = started();
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn an_error_restores_the_terminal() {
    let mut pty = started();
    pty.send("f");
    assert!(!pty.expect_clean_exit().success());
    // The line breaks within the first word.
    assert!(pty.text().contains("d on purpose"), "{}", pty.picture());
}

#[test]
fn a_panic_restores_the_terminal_and_is_printed() {
    let mut pty = started();
    pty.send("p");
    assert!(!pty.expect_clean_exit().success());
    assert!(pty.text().contains("broken on purpose"), "{}", pty.picture());
}

#[test]
fn a_panic_on_another_thread_becomes_a_line_on_the_screen() {
    let mut pty = started();
    pty.send("b");
    pty.wait_for_text("broken behind (tests/terminal/stage.rs:");
    assert!(pty.modes().alternate_screen);
    assert!(!pty.text().contains("panicked"), "nothing is written over the screen\n{}", pty.picture());
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn sigterm_restores_the_terminal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut pty = started();
        pty.signal(signal);
        assert!(pty.expect_clean_exit().success(), "{signal:?}");
    }
}

#[test]
fn a_stop_releases_the_terminal_and_a_continue_acquires_it() {
    type Act = fn(&mut Pty);
    let stops: [(&str, Act); 2] = [("the key", |pty| pty.send("z")), ("the signal", |pty| pty.signal(Signal::TSTP))];
    for (case, stop) in stops {
        let mut pty = started();
        stop(&mut pty);
        pty.wait_until_stopped();
        pty.wait_for_modes("every mode to be off", |modes| *modes == Modes::default());
        assert_eq!(pty.termios(), pty.termios_before(), "case: {case}");
        pty.resize(60, 16);
        pty.signal(Signal::CONT);
        pty.wait_for_text("back");
        pty.wait_for_text("60 x 16");
        assert!(pty.modes().alternate_screen && pty.modes().mouse, "case: {case}");
        pty.send("q");
        assert!(pty.expect_clean_exit().success(), "case: {case}");
    }
}

#[test]
fn another_program_gets_the_restored_terminal_and_every_key() {
    let mut pty = started();
    pty.send("e");
    pty.wait_for_text("editing");
    assert_eq!(pty.modes(), Modes::default());
    assert_eq!(pty.termios(), pty.termios_before());
    pty.send("all of this line\r");
    pty.wait_for_text("got all of this line");
    pty.send(keys::ENTER);
    pty.wait_for_text("edited: true");
    assert!(!pty.text().contains("got"), "the frame is painted whole\n{}", pty.picture());
    pty.send("x");
    pty.wait_for_text("key x");
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn ctrl_c_in_another_program_reaches_only_that_program() {
    let mut pty = started();
    pty.send("e");
    pty.wait_for_text("editing");
    pty.send(keys::CTRL_C);
    pty.wait_for_text("edited: false");
    pty.send("x");
    pty.wait_for_text("key x");
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn sigterm_while_another_program_runs_ends_both() {
    let mut pty = started();
    pty.send("e");
    pty.wait_for_text("editing");
    pty.signal(Signal::TERM);
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn a_stop_while_another_program_runs_stops_and_resumes_it() {
    let mut pty = started();
    pty.send("e");
    pty.wait_for_text("editing");
    pty.signal(Signal::TSTP);
    pty.wait_until_stopped();
    assert_eq!((pty.modes(), pty.termios().as_str()), (Modes::default(), pty.termios_before()));
    pty.signal(Signal::CONT);
    pty.send("a line\r");
    pty.wait_for_text("got a line");
    pty.send(keys::ENTER);
    pty.wait_for_text("edited: true");
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn a_missing_program_leaves_the_terminal_usable() {
    let mut pty = started();
    pty.send("n");
    pty.wait_for_text("no editor: entity not found");
    assert!(pty.modes().alternate_screen);
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn the_mouse_can_be_released_and_captured_again() {
    let mut pty = started();
    pty.send(&keys::click(4, 2));
    pty.wait_for_text("mouse at 4 2");
    pty.send("m");
    pty.wait_for_modes("the mouse to be free", |modes| !modes.mouse);
    pty.send("M");
    pty.wait_for_modes("the mouse to be taken", |modes| modes.mouse);
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn keys_pastes_focus_and_resizes_arrive() {
    let mut pty = started();
    let cases = [("x", "key x"), (keys::FOCUS_LOST, "left alone"), (keys::FOCUS_GAINED, "looked at")];
    for (sent, expected) in cases {
        pty.send(sent);
        pty.wait_for_text(expected);
    }
    pty.send(&keys::paste("q and more"));
    pty.wait_for_text("pasted q and more");
    pty.resize(100, 30);
    pty.wait_for_text("100 x 30");
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn a_paste_without_its_end_does_not_block_the_keyboard() {
    let mut pty = started();
    pty.send("\x1b[200~q without an end");
    pty.wait_for_text("pasted q without an end");
    pty.send("x");
    pty.wait_for_text("key x");
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn titles_and_copies_reach_the_terminal() {
    let mut pty = started();
    pty.send("ctx");
    pty.wait_for_text("key x");
    assert_eq!((pty.title(), pty.clipboard()), ("a title", "Y29waWVk"));
    pty.send("q");
    assert!(pty.expect_clean_exit().success());
}

#[test]
fn the_background_is_queried_and_may_be_unknown() {
    let cases = [
        ("light", Some((0xfb, 0xfa, 0xf6)), "shade Some(Light)"),
        ("dark", Some((0x12, 0x16, 0x1f)), "shade Some(Dark)"),
        ("it does not say", None, "shade None"),
    ];
    for (case, background, expected) in cases {
        let mut program = program();
        if let Some(rgb) = background {
            program = program.background(rgb);
        }
        let mut pty = program.start();
        pty.wait_for_text("ready");
        pty.send("l");
        pty.wait_for_text(expected);
        // Nothing of the answers is left to be taken for keys.
        pty.send("x");
        pty.wait_for_text("key x");
        pty.send("q");
        assert!(pty.expect_clean_exit().success(), "case: {case}");
    }
}

#[test]
fn colours_follow_the_terminal_capabilities() {
    use vt100::Color;
    type Vars = &'static [(&'static str, &'static str)];
    let cases: [(&str, Vars, Color); 4] = [
        ("none", &[("NO_COLOR", "1")], Color::Default),
        ("16", &[("TERM", "xterm")], Color::Idx(10)),
        ("256", &[("TERM", "xterm-256color")], Color::Idx(114)),
        ("true", &[("COLORTERM", "truecolor")], Color::Rgb(0x7e, 0xc6, 0x99)),
    ];
    for (case, env, expected) in cases {
        let mut pty = env.iter().fold(program(), |program, (name, value)| program.env(name, value)).start();
        pty.wait_for_text("ready");
        let cell = pty.screen().cell(0, 0).unwrap();
        assert_eq!((cell.fgcolor(), cell.bold()), (expected, true), "case: {case}");
        pty.send("q");
        assert!(pty.expect_clean_exit().success(), "case: {case}");
    }
}
