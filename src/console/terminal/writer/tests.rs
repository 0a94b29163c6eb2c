//! Frames as bytes, and as a terminal shows them.

#![expect(clippy::disallowed_types, reason = "tests name colours")]

use proptest::prelude::*;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::strict::{Ambiguous, StrictTerminal};
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
    let buffer = lines(["Fleet ", "match "]);
    let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
    assert_eq!(writer.frame(&mut buffer.clone(), &buffer, Cursor::Hidden), b"");
    let mut recolored = buffer.clone();
    recolored.cell_mut((5, 0)).unwrap().set_fg(Color::Red);
    assert_eq!(writer.frame(&mut buffer.clone(), &recolored, Cursor::Hidden), b"", "the text colour of a blank");
}

#[test]
fn only_changed_cells_are_written() {
    let cases = [
        ("a letter", lines(["abcdef"]), lines(["abXdef"]), "ESC[1;3HX"),
        ("letters beside each other", lines(["abcdef"]), lines(["aXYdef"]), "ESC[1;2HXY"),
        ("a gap", lines(["abcdefg"]), lines(["XbcdefY"]), "ESC[1;1HXESC[5CY"),
        ("a gap as long as a move", lines(["abcdef"]), lines(["XbcdeY"]), "ESC[1;1HXbcdeY"),
        ("a line below", lines(["ab", "cd"]), lines(["Xb", "Yd"]), "ESC[1;1HXESC[B\x08Y"),
        ("the same column below", lines(["abc", "abc"]), lines(["Xbc", "aXc"]), "ESC[1;1HXESC[BX"),
        ("far below", lines(["a", "b", "c"]), lines(["X", "b", "Y"]), "ESC[1;1HXESC[3;1HY"),
        ("blanks at the end", lines(["abcdefg"]), lines(["abc    "]), "ESC[1;4HESC[K"),
        ("a few blanks", lines(["abcdefg"]), lines(["abcd   "]), "ESC[1;5H   "),
        ("blanks", lines(["abcdefghijkl"]), lines(["abc        l"]), "ESC[1;4HESC[8X"),
        ("a letter after blanks", lines(["abcdefghijkl"]), lines(["         XYl"]), "ESC[1;1HESC[9XESC[9CXY"),
        ("past the last column", lines(["ab", "cd"]), lines(["aX", "Yd"]), "ESC[1;2HXESC[2;1HY"),
        ("after a wide letter", lines(["abcd"]), lines(["名Xd"]), "ESC[1;1H名X"),
    ];
    for (case, mut previous, next, expected) in cases {
        let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
        let bytes = spelled(writer.frame(&mut previous, &next, Cursor::Hidden));
        assert_eq!(bytes, format!("ESC[?2026h{expected}ESC[?2026l"), "case: {case}");
    }
}

#[test]
fn attributes_change_between_styles_and_are_reset_at_the_end() {
    let mut previous = lines(["abcdef"]);
    let mut next = lines(["abcdef"]);
    next.set_style(Rect::new(1, 0, 3, 1), Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
    let mut writer = Writer::new(ColorDepth::Ansi16, Dialect::Xterm);
    let bytes = spelled(writer.frame(&mut previous, &next, Cursor::Hidden));
    assert_eq!(bytes, "ESC[?2026hESC[1;2HESC[1;31mbcdESC[0mESC[?2026l");
}

#[test]
fn a_character_has_one_weight() {
    let mut previous = lines(["bar"]);
    let mut next = lines(["bar"]);
    previous.set_style(previous.area, Style::new().add_modifier(Modifier::BOLD));
    next.set_style(next.area, Style::new().add_modifier(Modifier::BOLD | Modifier::DIM));
    let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
    let bytes = spelled(writer.frame(&mut previous, &next, Cursor::Hidden));
    assert_eq!(bytes, "ESC[?2026hESC[1;1HESC[2mbarESC[0mESC[?2026l");
}

/// The trap of crossterm 0.29: with NO_COLOR it writes `ESC[;m` after the attribute, which takes the selection away.
#[test]
fn a_selection_is_visible_without_colours() {
    let mut previous = lines(["row"]);
    let mut next = lines(["row"]);
    next.set_style(next.area, Style::new().fg(Color::White).bg(Color::Blue).add_modifier(Modifier::REVERSED));
    let mut writer = Writer::new(ColorDepth::None, Dialect::Xterm);
    let bytes = writer.frame(&mut previous, &next, Cursor::Hidden);
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
        let parser = shown(&next, Writer::new(depth, Dialect::Xterm).repaint(&next, Cursor::Hidden));
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
        let mut previous = lines(["abc"]);
        let mut next = lines(["abc"]);
        next.cell_mut((1, 0)).unwrap().set_symbol(symbol);
        let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
        let bytes = writer.frame(&mut previous, &next, Cursor::Hidden);
        assert_eq!(spelled(bytes), "ESC[?2026hESC[1;2H\u{fffd}ESC[1;3HcESC[?2026l", "{}", symbol.escape_unicode());
    }
}

#[test]
fn an_emoji_of_ambiguous_width_moves_no_other_cell() {
    let mut previous = lines(["xxxxxxx"]);
    previous.set_style(previous.area, Style::new().bg(Color::Blue));
    let next = lines(["⌨️ab 👍"]);
    let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
    let mut both = writer.repaint(&previous, Cursor::Hidden).to_vec();
    let bytes = writer.frame(&mut previous, &next, Cursor::Hidden);
    // Both columns are blanked first, and after the sign the cursor is placed explicitly, whatever the width.
    assert_eq!(spelled(bytes), "ESC[?2026hESC[1;1H  ESC[1;1H⌨️ESC[1;3Hab   ESC[1;6H👍ESC[?2026l");
    both.extend_from_slice(bytes);
    let parser = shown(&next, &both);
    let letters: Vec<&str> = [2, 3, 5].map(|column| parser.screen().cell(0, column).unwrap().contents()).into();
    assert_eq!(letters, ["a", "b", "👍"]);
}

#[test]
fn a_frame_of_another_size_is_painted_in_full() {
    let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
    let bytes = spelled(writer.frame(&mut lines(["ab"]), &lines(["ab", "cd"]), Cursor::Hidden));
    assert_eq!(bytes, "ESC[?2026hESC[0mESC[?25lESC[2JESC[1;1HabESC[2;1HcdESC[?2026l");
}

#[test]
fn an_unknown_terminal_gets_moves_and_text_only() {
    let mut previous = lines(["abcdefghijkl", "1", "2", "3", "4", "5"]);
    let next = lines(["abc        l", "2", "3", "4", "5", "6"]);
    let mut writer = Writer::new(ColorDepth::True, Dialect::Basic);
    let bytes = spelled(writer.frame(&mut previous, &next, Cursor::Hidden));
    let text = "ESC[1;4H        ESC[2;1H2ESC[B\x083ESC[B\x084ESC[B\x085ESC[B\x086";
    assert_eq!(bytes, format!("ESC[?2026h{text}ESC[?2026l"));
}

#[test]
fn coloured_blanks_are_erased_only_where_the_terminal_fills_them() {
    let cases = [(Dialect::Xterm, "ESC[K"), (Dialect::Vt, "        "), (Dialect::Basic, "        ")];
    for (dialect, expected) in cases {
        let mut previous = lines(["abcdefgh"]);
        let mut next = lines(["        "]);
        next.set_style(next.area, Style::new().bg(Color::Blue));
        let mut writer = Writer::new(ColorDepth::Ansi16, dialect);
        let bytes = spelled(writer.frame(&mut previous, &next, Cursor::Hidden));
        assert_eq!(bytes, format!("ESC[?2026hESC[1;1HESC[44m{expected}ESC[0mESC[?2026l"), "{dialect:?}");
    }
}

#[test]
fn a_wide_character_in_the_last_column_is_a_blank() {
    let mut previous = lines(["ab"]);
    let mut next = lines(["ab"]);
    next[(1, 0)].set_symbol("名");
    let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
    assert_eq!(spelled(writer.frame(&mut previous, &next, Cursor::Hidden)), "ESC[?2026hESC[1;2H ESC[?2026l");
}

#[test]
fn a_list_that_scrolls_moves_its_lines() {
    let mut previous = lines(["title", "row 1", "row 2", "row 3", "row 4", "row 5"]);
    let next = lines(["title", "row 2", "row 3", "row 4", "row 5", "row 6"]);
    let mut writer = Writer::new(ColorDepth::True, Dialect::Xterm);
    let bytes = spelled(writer.frame(&mut previous, &next, Cursor::Hidden));
    assert_eq!(bytes, "ESC[?2026hESC[2;6rESC[2HESC[1MESC[rESC[6;1Hrow 6ESC[?2026l");
}

/// Every cell as it looks: one that was never written looks like a space, and a space shows only its background.
fn cells(parser: &vt100::Parser) -> Vec<String> {
    let place = |index: u16| (index / WIDTH, index % WIDTH);
    let look = |index: u16| {
        let (row, column) = place(index);
        let cell = parser.screen().cell(row, column).unwrap();
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        if text == " " && !cell.inverse() && !cell.underline() {
            return format!("blank on {:?}", cell.bgcolor());
        }
        let weight = (cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse());
        format!("{text} {:?} {:?} {weight:?} {}", cell.fgcolor(), cell.bgcolor(), cell.is_wide())
    };
    (0..WIDTH * HEIGHT).map(look).collect()
}

const WIDTH: u16 = 24;
const HEIGHT: u16 = 8;

const TEXTS: &str = "([a-c ─名x]|👍|⌨\u{fe0f}|e\u{301}){0,20}| {10,24}";
/// The replacement character too, which vt100 does not draw.
const ALL_TEXTS: &str = "([a-c ─名x]|👍|⌨\u{fe0f}|e\u{301}|\u{fffd}){0,20}| {10,24}";

/// Texts in styles at random places; wide characters may be cut by others, and by the edge.
fn any_screen(text: &'static str) -> impl Strategy<Value = Buffer> {
    // What vt100 knows: bold, dim, italic, underlined, reversed.
    let attributes = prop_oneof![Just(0u16), prop::bits::u16::masked(0b0_0100_1111)];
    let style = (0..4u8, 0..4u8, attributes).prop_map(|(fg, bg, attributes)| {
        let color = |number| [Color::Reset, Color::Red, Color::Indexed(208), Color::Rgb(9, 8, 7)][usize::from(number)];
        Style::new().fg(color(fg)).bg(color(bg)).add_modifier(Modifier::from_bits_truncate(attributes))
    });
    let ground = prop_oneof![Just(Color::Reset), Just(Color::Rgb(1, 2, 3))];
    (ground, prop::collection::vec((0..WIDTH, 0..HEIGHT, text, style), 0..14)).prop_map(|(ground, pieces)| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT));
        buffer.set_style(buffer.area, Style::new().bg(ground));
        for (x, y, text, style) in pieces {
            buffer.set_string(x, y, text, style);
            // Widgets do not write past the edge; a wide character there must not wrap all the same.
            if x == WIDTH - 1 {
                buffer[(x, y)].set_symbol("名");
            }
        }
        buffer
    })
}

/// A frame, or the previous one with some lines moved: a list that scrolls.
#[derive(Debug, Clone)]
enum NextFrame {
    Other(Buffer),
    Moved { top: u16, bottom: u16, by: i16, row: Buffer },
}

fn any_next(text: &'static str) -> impl Strategy<Value = NextFrame> {
    let moved = (0..HEIGHT, 0..HEIGHT, -4i16..=4, any_screen(text))
        .prop_map(|(one, other, by, row)| NextFrame::Moved { top: one.min(other), bottom: one.max(other), by, row });
    prop_oneof![any_screen(text).prop_map(NextFrame::Other), moved]
}

fn applied(previous: &Buffer, next: &NextFrame) -> Buffer {
    match next {
        NextFrame::Other(buffer) => buffer.clone(),
        NextFrame::Moved { top, bottom, by, row } => {
            let mut buffer = previous.clone();
            for y in *top..=*bottom {
                let from = y.checked_add_signed(*by).filter(|from| (*top..=*bottom).contains(from));
                for x in 0..WIDTH {
                    buffer[(x, y)] = from.map_or(&row[(x, y)], |from| &previous[(x, from)]).clone();
                }
            }
            buffer
        }
    }
}

fn any_dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Basic), Just(Dialect::Vt), Just(Dialect::Xterm)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn incremental_frames_equal_full_frames(
        first in any_screen(TEXTS),
        others in prop::collection::vec(any_next(TEXTS), 1..6),
        dialect in any_dialect(),
    ) {
        let mut writer = Writer::new(ColorDepth::True, dialect);
        let mut parser = terminal(first.area);
        parser.process(writer.repaint(&first, Cursor::Hidden));
        let mut previous = first;
        for other in &others {
            let next = applied(&previous, other);
            parser.process(writer.frame(&mut previous, &next, Cursor::Hidden));
            let full = shown(&next, Writer::new(ColorDepth::True, Dialect::Basic).repaint(&next, Cursor::Hidden));
            prop_assert_eq!(cells(&parser), cells(&full));
            prop_assert_eq!(parser.screen().attributes_formatted(), full.screen().attributes_formatted());
            previous = next;
        }
    }

    #[test]
    fn incremental_frames_equal_full_frames_on_a_terminal_with_nothing_else(
        first in any_screen(ALL_TEXTS),
        others in prop::collection::vec(any_next(ALL_TEXTS), 1..6),
        dialect in any_dialect(),
        depth in prop_oneof![Just(ColorDepth::None), Just(ColorDepth::Ansi16), Just(ColorDepth::True)],
        ambiguous in prop_oneof![Just(Ambiguous::Narrow), Just(Ambiguous::Wide)],
    ) {
        let mut writer = Writer::new(depth, dialect);
        let mut terminal = StrictTerminal::new(dialect, ambiguous, WIDTH, HEIGHT);
        terminal.process(writer.repaint(&first, Cursor::Hidden));
        let mut previous = first;
        for other in &others {
            let next = applied(&previous, other);
            terminal.process(writer.frame(&mut previous, &next, Cursor::Hidden));
            let mut full = StrictTerminal::new(Dialect::Basic, ambiguous, WIDTH, HEIGHT);
            full.process(Writer::new(depth, Dialect::Basic).repaint(&next, Cursor::Hidden));
            prop_assert_eq!(terminal.cells(), full.cells());
            previous = next;
        }
    }
}
