//! Frames as bytes, and as a terminal shows them.

#![expect(clippy::disallowed_types, reason = "tests name colours")]

use proptest::prelude::*;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::*;

fn lines<const N: usize>(lines: [&str; N]) -> Buffer {
    Buffer::with_lines(lines)
}

fn spelled(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap().replace('\x1b', "ESC")
}

/// A terminal of the buffer's size after the bytes.
fn shown(buffer: &Buffer, bytes: &[u8]) -> vt100::Parser {
    let mut parser = terminal(buffer.area);
    parser.process(bytes);
    parser
}

fn terminal(area: Rect) -> vt100::Parser {
    let size = |number: u16| number.try_into().unwrap();
    vt100::Parser::new(size(area.height), size(area.width), 0)
}

#[test]
fn equal_frames_are_no_bytes() {
    let buffer = lines(["Fleet", "= match"]);
    let mut writer = Writer::new(ColorDepth::True);
    assert_eq!(writer.frame(&buffer, &buffer.clone(), Cursor::Hidden), b"");
}

#[test]
fn only_changed_cells_are_written() {
    let cases = [
        ("a letter", lines(["abcdef"]), lines(["abXdef"]), "ESC[1;3HX"),
        ("letters beside each other", lines(["abcdef"]), lines(["aXYdef"]), "ESC[1;2HXY"),
        ("a gap", lines(["abcdef"]), lines(["XbcdeY"]), "ESC[1;1HXESC[4CY"),
        ("a gap of one", lines(["abcdef"]), lines(["XbYdef"]), "ESC[1;1HXESC[CY"),
        ("two rows", lines(["ab", "cd"]), lines(["Xb", "Yd"]), "ESC[1;1HXESC[2;1HY"),
        ("past the last column", lines(["ab", "cd"]), lines(["aX", "Yd"]), "ESC[1;2HXESC[2;1HY"),
        ("after a wide letter", lines(["abcd"]), lines(["名Xd"]), "ESC[1;1H名X"),
    ];
    for (case, previous, next, expected) in cases {
        let mut writer = Writer::new(ColorDepth::True);
        let bytes = spelled(writer.frame(&previous, &next, Cursor::Hidden));
        assert_eq!(bytes, format!("ESC[?2026h{expected}ESC[?2026l"), "case: {case}");
    }
}

#[test]
fn attributes_change_between_styles_and_are_reset_at_the_end() {
    let previous = lines(["abcdef"]);
    let mut next = lines(["abcdef"]);
    next.set_style(Rect::new(1, 0, 3, 1), Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
    let mut writer = Writer::new(ColorDepth::Ansi16);
    let bytes = spelled(writer.frame(&previous, &next, Cursor::Hidden));
    assert_eq!(bytes, "ESC[?2026hESC[1;2HESC[1;31mbcdESC[0mESC[?2026l");
}

/// The trap of crossterm 0.29: with NO_COLOR it writes `ESC[;m` after the attribute, which takes the selection away.
#[test]
fn a_selection_is_visible_without_colours() {
    let previous = lines(["row"]);
    let mut next = lines(["row"]);
    next.set_style(next.area, Style::new().fg(Color::White).bg(Color::Blue).add_modifier(Modifier::REVERSED));
    let mut writer = Writer::new(ColorDepth::None);
    let bytes = writer.frame(&previous, &next, Cursor::Hidden);
    assert_eq!(spelled(bytes), "ESC[?2026hESC[1;1HESC[7mrowESC[0mESC[?2026l");
    let parser = shown(&next, bytes);
    let cell = parser.screen().cell(0, 0).unwrap();
    assert!(cell.inverse());
    assert_eq!((cell.fgcolor(), cell.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
}

#[test]
fn colours_are_converted_to_the_depth() {
    let exact = Style::new().fg(Color::Rgb(0x7e, 0xc6, 0x99)).bg(Color::Rgb(0x12, 0x16, 0x1f));
    let named = Style::new().fg(Color::Yellow).bg(Color::Indexed(208));
    use vt100::Color::{Default, Idx, Rgb};
    let cases = [
        ("none", ColorDepth::None, (Default, Default), (Default, Default)),
        ("16", ColorDepth::Ansi16, (Idx(10), Idx(0)), (Idx(3), Idx(3))),
        ("256", ColorDepth::Ansi256, (Idx(114), Idx(234)), (Idx(3), Idx(208))),
        ("true", ColorDepth::True, (Rgb(0x7e, 0xc6, 0x99), Rgb(0x12, 0x16, 0x1f)), (Idx(3), Idx(208))),
    ];
    for (case, depth, exactly, by_name) in cases {
        let mut next = lines(["ab"]);
        next.set_style(Rect::new(0, 0, 1, 1), exact);
        next.set_style(Rect::new(1, 0, 1, 1), named);
        let parser = shown(&next, Writer::new(depth).repaint(&next, Cursor::Hidden));
        let seen = |column| {
            let cell = parser.screen().cell(0, column).unwrap();
            (cell.fgcolor(), cell.bgcolor())
        };
        assert_eq!((seen(0), seen(1)), (exactly, by_name), "case: {case}");
    }
}

#[test]
fn control_characters_in_cells_are_replaced() {
    let hostile = ["\x1b[2J", "\x1b]52;c;eA==\x07", "\u{9b}31m", "a\u{202e}", "\u{2066}", "\r\n", "\u{200b}"];
    for symbol in hostile {
        let previous = lines(["abc"]);
        let mut next = lines(["abc"]);
        next.cell_mut((1, 0)).unwrap().set_symbol(symbol);
        let mut writer = Writer::new(ColorDepth::True);
        let bytes = writer.frame(&previous, &next, Cursor::Hidden);
        assert_eq!(spelled(bytes), "ESC[?2026hESC[1;2H\u{fffd}ESC[?2026l", "{}", symbol.escape_unicode());
    }
}

#[test]
fn an_emoji_of_ambiguous_width_moves_no_other_cell() {
    let mut previous = lines(["xxxxxxx"]);
    previous.set_style(previous.area, Style::new().bg(Color::Blue));
    let next = lines(["⌨️ab 👍"]);
    let mut writer = Writer::new(ColorDepth::True);
    let mut both = writer.repaint(&previous, Cursor::Hidden).to_vec();
    let bytes = writer.frame(&previous, &next, Cursor::Hidden);
    // Both columns are blanked first, and after the sign the cursor is placed explicitly, whatever the width.
    assert_eq!(spelled(bytes), "ESC[?2026hESC[1;1H  ESC[1;1H⌨️ESC[1;3Hab   ESC[1;6H👍ESC[?2026l");
    both.extend_from_slice(bytes);
    let parser = shown(&next, &both);
    let letters: Vec<&str> = [2, 3, 5].map(|column| parser.screen().cell(0, column).unwrap().contents()).into();
    assert_eq!(letters, ["a", "b", "👍"]);
}

#[test]
fn a_frame_of_another_size_is_painted_in_full() {
    let mut writer = Writer::new(ColorDepth::True);
    let bytes = spelled(writer.frame(&lines(["ab"]), &lines(["ab", "cd"]), Cursor::Hidden));
    assert_eq!(bytes, "ESC[?2026hESC[0mESC[?25lESC[2JESC[1;1HabESC[2;1HcdESC[?2026l");
}

/// Every cell as it looks: one that was never written looks like a space.
fn cells(parser: &vt100::Parser) -> Vec<String> {
    let place = |index: u16| (index / WIDTH, index % WIDTH);
    let look = |index: u16| {
        let (row, column) = place(index);
        let cell = parser.screen().cell(row, column).unwrap();
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        let weight = (cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse());
        format!("{text} {:?} {:?} {weight:?}", cell.fgcolor(), cell.bgcolor())
    };
    (0..WIDTH * HEIGHT).map(look).collect()
}

const WIDTH: u16 = 12;
const HEIGHT: u16 = 4;

fn any_screen() -> impl Strategy<Value = Buffer> {
    let text = "[a-c ─名x]{0,10}";
    // What the tests' terminal knows: italic, underlined, reversed, and one weight.
    let attributes = prop::bits::u16::masked(0b0_0100_1101);
    let style = (0..4u8, 0..3u8, attributes).prop_map(|(fg, bg, attributes)| {
        let color = |number| [Color::Reset, Color::Red, Color::Indexed(208), Color::Rgb(9, 8, 7)][usize::from(number)];
        Style::new().fg(color(fg)).bg(color(bg)).add_modifier(Modifier::from_bits_truncate(attributes))
    });
    prop::collection::vec((0..WIDTH, 0..HEIGHT, text, style), 0..6).prop_map(|pieces| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT));
        for (x, y, text, style) in pieces {
            buffer.set_string(x, y, text, style);
        }
        buffer
    })
}

proptest! {
    #[test]
    fn incremental_frames_equal_full_frames(screens in prop::collection::vec(any_screen(), 1..5)) {
        let mut writer = Writer::new(ColorDepth::True);
        let mut parser = terminal(screens[0].area);
        parser.process(CURSOR_HIDE);
        let mut previous = Buffer::empty(screens[0].area);
        for next in &screens {
            parser.process(writer.frame(&previous, next, Cursor::Hidden));
            let full = shown(next, Writer::new(ColorDepth::True).repaint(next, Cursor::Hidden));
            prop_assert_eq!(cells(&parser), cells(&full));
            previous = next.clone();
        }
    }
}
