//! Frames on a recorded terminal, and on one that obeys.

use ratatui::layout::Position;
use ratatui::style::Style;

use super::super::testing::Recording;
use super::*;

fn opened(columns: u16, rows: u16) -> (Recording, Screen) {
    let recording = Recording::sized(columns, rows);
    let screen = Screen::enter(Box::new(recording.clone()), &MODES, ColorDepth::True, Dialect::Xterm).unwrap();
    recording.take_bytes();
    (recording, screen)
}

fn painting(text: &str) -> impl FnOnce(&mut Buffer) -> Cursor {
    move |buffer| {
        for (row, line) in (0..).zip(text.lines()) {
            buffer.set_string(0, row, line, Style::new());
        }
        Cursor::Hidden
    }
}

#[test]
fn a_frame_is_one_write_and_an_equal_frame_is_none() {
    let (recording, mut screen) = opened(20, 3);
    let count = screen.draw(painting("one\ntwo\nthree")).unwrap();
    let (bytes, writes) = recording.take_bytes();
    assert_eq!((bytes.len(), writes), (count, 1));
    assert_eq!(screen.draw(painting("one\ntwo\nthree")).unwrap(), 0);
    assert_eq!(recording.take_bytes(), (Vec::new(), 0));
    screen.draw(painting("one\n2\nthree")).unwrap();
    assert_eq!(recording.take(), "ESC[?2026hESC[2;1H2  ESC[?2026l");
}

#[test]
fn after_another_program_the_frame_is_painted_in_full() {
    type Disturb = fn(&mut Screen, &Recording);
    let cases: [(&str, Disturb); 4] = [
        ("a stop", |screen, _| {
            screen.suspend().unwrap();
            screen.resume().unwrap();
        }),
        ("a repaint on demand", |screen, _| screen.distrust()),
        ("a resize", |screen, _| screen.resize(21, 3)),
        ("a resize meanwhile", |screen, recording| {
            screen.suspend().unwrap();
            recording.resize(10, 2);
            screen.resume().unwrap();
            assert_eq!(screen.area(), Rect::new(0, 0, 10, 2));
        }),
    ];
    for (case, disturb) in cases {
        let (recording, mut screen) = opened(20, 3);
        screen.draw(painting("one")).unwrap();
        disturb(&mut screen, &recording);
        recording.take();
        screen.draw(painting("one")).unwrap();
        assert_eq!(recording.take(), "ESC[?2026hESC[0mESC[?25lESC[2JESC[1;1HoneESC[?2026l", "case: {case}");
        assert_eq!(screen.draw(painting("one")).unwrap(), 0, "case: {case}");
    }
}

#[test]
fn a_failed_frame_is_painted_again() {
    let (recording, mut screen) = opened(20, 3);
    screen.draw(painting("one")).unwrap();
    screen.suspend().unwrap();
    assert!(screen.draw(painting("two")).is_err());
    screen.resume().unwrap();
    recording.take();
    screen.draw(painting("two")).unwrap();
    assert!(recording.take().contains("ESC[2JESC[1;1Htwo"));
    assert_eq!(screen.shown().cell((0, 0)).unwrap().symbol(), "t");
}

#[test]
fn the_cursor_is_shown_in_text_fields() {
    let (recording, mut screen) = opened(20, 3);
    let typing = |x: u16| {
        move |buffer: &mut Buffer| {
            buffer.set_string(0, 0, "abcdef".get(..usize::from(x)).unwrap(), Style::new());
            Cursor::At(Position { x, y: 0 })
        }
    };
    screen.draw(typing(2)).unwrap();
    recording.take();
    screen.draw(typing(3)).unwrap();
    assert_eq!(recording.take(), "ESC[?2026hESC[?25lESC[1;3HcESC[1;4HESC[?25hESC[?2026l");
    screen.draw(typing(3)).unwrap();
    assert_eq!(recording.take(), "");
    screen.draw(painting("abc")).unwrap();
    assert_eq!(recording.take(), "ESC[?2026hESC[?25lESC[?2026l");
}
