//! Bytes in, events out.

use proptest::prelude::*;

use super::*;

fn pressed(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

fn mouse(kind: MouseEventKind, column: u16, row: u16) -> Event {
    Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
}

#[test]
fn sequences_are_decoded() {
    const NONE: KeyModifiers = KeyModifiers::NONE;
    const CTRL: KeyModifiers = KeyModifiers::CONTROL;
    const ALT: KeyModifiers = KeyModifiers::ALT;
    const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
    let cases: [(&[u8], Event); 34] = [
        (b"a", pressed(KeyCode::Char('a'), NONE)),
        (b"A", pressed(KeyCode::Char('A'), SHIFT)),
        ("ö".as_bytes(), pressed(KeyCode::Char('ö'), NONE)),
        ("名".as_bytes(), pressed(KeyCode::Char('名'), NONE)),
        (b"\r", pressed(KeyCode::Enter, NONE)),
        (b"\n", pressed(KeyCode::Char('j'), CTRL)),
        (b"\t", pressed(KeyCode::Tab, NONE)),
        (b"\x7f", pressed(KeyCode::Backspace, NONE)),
        (b"\x03", pressed(KeyCode::Char('c'), CTRL)),
        (b"\0", pressed(KeyCode::Char(' '), CTRL)),
        (b"\x1f", pressed(KeyCode::Char('7'), CTRL)),
        (b"\x1bx", pressed(KeyCode::Char('x'), ALT)),
        (b"\x1b\x7f", pressed(KeyCode::Backspace, ALT)),
        (b"\x1b[A", pressed(KeyCode::Up, NONE)),
        (b"\x1bOA", pressed(KeyCode::Up, NONE)),
        (b"\x1b[1;5C", pressed(KeyCode::Right, CTRL)),
        (b"\x1b[1;4D", pressed(KeyCode::Left, SHIFT | ALT)),
        (b"\x1b[Z", pressed(KeyCode::BackTab, SHIFT)),
        (b"\x1b[H", pressed(KeyCode::Home, NONE)),
        (b"\x1b[4~", pressed(KeyCode::End, NONE)),
        (b"\x1b[5;5~", pressed(KeyCode::PageUp, CTRL)),
        (b"\x1bOP", pressed(KeyCode::F(1), NONE)),
        (b"\x1b[15~", pressed(KeyCode::F(5), NONE)),
        (b"\x1b[24~", pressed(KeyCode::F(12), NONE)),
        (b"\x1b[27u", pressed(KeyCode::Esc, NONE)),
        (b"\x1b[105;5u", pressed(KeyCode::Char('i'), CTRL)),
        (b"\x1b[I", Event::FocusGained),
        (b"\x1b[O", Event::FocusLost),
        (b"\x1b[200~a\r\x1b[Ab\x1b[201~", Event::Paste("a\r\x1b[Ab".to_owned())),
        (b"\x1b[<0;5;3M", mouse(MouseEventKind::Down(MouseButton::Left), 4, 2)),
        (b"\x1b[<2;1;1m", mouse(MouseEventKind::Up(MouseButton::Right), 0, 0)),
        (b"\x1b[<32;10;7M", mouse(MouseEventKind::Drag(MouseButton::Left), 9, 6)),
        (b"\x1b[<64;300;7M", mouse(MouseEventKind::ScrollUp, 299, 6)),
        (b"\x1b[<65;1;7M", mouse(MouseEventKind::ScrollDown, 0, 6)),
    ];
    for (bytes, expected) in cases {
        let case = bytes.escape_ascii().to_string();
        assert_eq!(decode(bytes), Step::Event(expected, bytes.len()), "{case}");
        for cut in 1..bytes.len() {
            let step = decode(&bytes[..cut]);
            assert_eq!(step, Step::Incomplete, "{case} cut at {cut}");
        }
    }
}

#[test]
fn a_released_key_is_not_a_pressed_key() {
    let Step::Event(Event::Key(key), _) = decode(b"\x1b[97;1:3u") else { panic!("a key") };
    assert_eq!((key.code, key.kind), (KeyCode::Char('a'), KeyEventKind::Release));
}

#[test]
fn late_responses_are_dropped() {
    let answers: [(&str, &[u8]); 6] = [
        ("the background", b"\x1b]11;rgb:1212/1616/1f1f\x1b\\"),
        ("the background, with a bell", b"\x1b]11;rgb:1212/1616/1f1f\x07"),
        ("the kind of terminal", b"\x1b[?62;22c"),
        ("where the cursor is", b"\x1b[12;40R"),
        ("its name", b"\x1bP>|kitty(0.35)\x1b\\"),
        ("a mode", b"\x1b[?2026;2$y"),
    ];
    for (case, answer) in answers {
        assert_eq!(decode(answer), Step::Skip(answer.len()), "case: {case}");
    }
}

#[test]
fn an_incomplete_sequence_is_its_first_key() {
    assert_eq!(give_up(b"\x1b"), Step::Event(pressed(KeyCode::Esc, KeyModifiers::NONE), 1));
    assert_eq!(give_up(b"\x1b["), Step::Event(pressed(KeyCode::Char('['), KeyModifiers::ALT), 2));
    assert_eq!(give_up(b"\x1b]"), Step::Event(pressed(KeyCode::Char(']'), KeyModifiers::ALT), 2));
    assert_eq!(give_up(b"\x1b[1;"), Step::Skip(4));
    let cut = Step::Event(Event::Paste("rm -r".to_owned()), 11);
    assert_eq!(give_up(b"\x1b[200~rm -r"), cut, "a paste without its end is one paste and no key");
    assert_eq!(decode(b"\x1b\x1b[A"), Step::Event(pressed(KeyCode::Esc, KeyModifiers::NONE), 1));
}

proptest! {
    #[test]
    fn decoding_always_ends(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let step = match decode(rest) {
                Step::Incomplete => give_up(rest),
                step @ (Step::Event(..) | Step::Skip(_)) => step,
            };
            let used = match step {
                Step::Event(_, used) | Step::Skip(used) => used,
                // The one thing that is waited for.
                Step::Incomplete => {
                    prop_assert!(rest.starts_with(PASTE_START));
                    break;
                }
            };
            prop_assert!(used > 0 && used <= rest.len());
            rest = &rest[used..];
        }
    }
}

#[test]
fn a_paste_over_its_limit_ends_and_its_rest_is_skipped() {
    let mut bytes = b"\x1b[200~".to_vec();
    bytes.resize(bytes.len() + PASTE_BYTES_MAX, b'x');
    assert_eq!(decode(&bytes), Step::Incomplete, "exactly the limit");
    bytes.push(b'q');
    let Step::Event(Event::Paste(text), used) = decode(&bytes) else { panic!("the paste ends") };
    assert_eq!((text.len(), used), (PASTE_BYTES_MAX, bytes.len()));
    let cases = [
        ("more text", &b"qqqqqq"[..], Step::Skip(1)),
        ("half of the end", b"\x1b[20", Step::Incomplete),
        ("the end", b"q\x1b[201~", Step::Skip(7)),
        ("the end and a key", b"q\x1b[201~j", Step::Skip(7)),
    ];
    for (case, bytes, expected) in cases {
        assert_eq!(rest_of_paste(bytes), expected, "case: {case}");
    }
}
