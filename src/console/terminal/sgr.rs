//! Text attributes of the terminal, and the shortest sequence to change them.
//!
//! Invariants: parameters are never empty. `ESC[;m` resets everything, which removes a selection when colours are off.

#![expect(clippy::disallowed_types, reason = "writes colours as escape sequences")]

use std::io::Write as _;

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use super::color::ColorDepth;

/// Current text attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pen {
    fg: Color,
    bg: Color,
    attributes: Modifier,
}

/// Every attribute: the code that sets it, and the one that removes it.
const ATTRIBUTES: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// Attributes that show on a blank.
const VISIBLE_ON_BLANK: Modifier = Modifier::UNDERLINED
    .union(Modifier::SLOW_BLINK)
    .union(Modifier::RAPID_BLINK)
    .union(Modifier::REVERSED)
    .union(Modifier::CROSSED_OUT);

pub const RESET: &[u8] = b"\x1b[0m";

impl Pen {
    /// The attributes of a cell, in the available colours. Of bold and dim only dim is kept: where a character has one
    /// weight, as in Linux's console, the order in which they are set would decide.
    pub fn of(cell: &Cell, depth: ColorDepth) -> Self {
        let is_dim = cell.modifier.contains(Modifier::DIM);
        let attributes = if is_dim { cell.modifier - Modifier::BOLD } else { cell.modifier };
        Self { fg: depth.nearest(cell.fg), bg: depth.nearest(cell.bg), attributes }
    }

    /// Whether a blank shows nothing but its background.
    pub fn is_plain_on_blank(self) -> bool {
        !self.attributes.intersects(VISIBLE_ON_BLANK)
    }

    /// Whether a blank looks the same in both.
    pub fn blank_looks_like(self, other: Self) -> bool {
        self == other || self.bg == other.bg && self.is_plain_on_blank() && other.is_plain_on_blank()
    }

    pub fn has_default_background(self) -> bool {
        self.bg == Color::Reset
    }

    /// Writes the shorter of two sequences: only the changes, or a reset and everything.
    pub fn change(self, next: Self, out: &mut Vec<u8>) {
        if self == next {
            return;
        }
        if next == Self::default() {
            out.extend_from_slice(RESET);
            return;
        }
        let start = out.len();
        self.write_changes(next, out);
        let changes = out.len() - start;
        // A reset is `0` plus the next attributes. It is shorter only when something must be removed.
        out.extend_from_slice(b"\x1b[0");
        Self::default().write_parameters(next, true, out);
        out.push(b'm');
        let reset = out.len() - start - changes;
        if reset < changes {
            out.drain(start..start + changes);
        } else {
            out.truncate(start + changes);
        }
    }

    fn write_changes(self, next: Self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\x1b[");
        self.write_parameters(next, false, out);
        out.push(b'm');
    }

    fn write_parameters(self, next: Self, mut separated: bool, out: &mut Vec<u8>) {
        let mut parameter = |code: &[u8]| {
            if separated {
                out.push(b';');
            }
            separated = true;
            out.extend_from_slice(code);
        };
        // Bold and dim, and the two blinks, are removed together: the remaining one must be set again.
        let mut kept = self.attributes;
        for (attribute, _, off) in ATTRIBUTES {
            if kept.contains(attribute) && !next.attributes.contains(attribute) {
                parameter(decimal(off, &mut [0; 3]));
                for (together, _, _) in ATTRIBUTES.iter().filter(|(_, _, other)| *other == off) {
                    kept.remove(*together);
                }
            }
        }
        for (attribute, on, _) in ATTRIBUTES {
            if next.attributes.contains(attribute) && !kept.contains(attribute) {
                parameter(decimal(on, &mut [0; 3]));
            }
        }
        if self.fg != next.fg {
            parameter(color_code(next.fg, Layer::Text, &mut [0; 16]));
        }
        if self.bg != next.bg {
            parameter(color_code(next.bg, Layer::Background, &mut [0; 16]));
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Layer {
    Text,
    Background,
}

/// Parameters of a colour: `39`, `31`, `91`, `38;5;208`, `38;2;1;2;3`, and ten more for backgrounds.
fn color_code(color: Color, layer: Layer, space: &mut [u8; 16]) -> &[u8] {
    let base = match layer {
        Layer::Text => 30,
        Layer::Background => 40,
    };
    let named = |index: u8| if index < 8 { base + index } else { base + 60 + index - 8 };
    let (code, rest) = match color {
        Color::Reset => (base + 9, Rest::None),
        Color::Black => (named(0), Rest::None),
        Color::Red => (named(1), Rest::None),
        Color::Green => (named(2), Rest::None),
        Color::Yellow => (named(3), Rest::None),
        Color::Blue => (named(4), Rest::None),
        Color::Magenta => (named(5), Rest::None),
        Color::Cyan => (named(6), Rest::None),
        Color::Gray => (named(7), Rest::None),
        Color::DarkGray => (named(8), Rest::None),
        Color::LightRed => (named(9), Rest::None),
        Color::LightGreen => (named(10), Rest::None),
        Color::LightYellow => (named(11), Rest::None),
        Color::LightBlue => (named(12), Rest::None),
        Color::LightMagenta => (named(13), Rest::None),
        Color::LightCyan => (named(14), Rest::None),
        Color::White => (named(15), Rest::None),
        Color::Indexed(index @ 0..16) => (named(index), Rest::None),
        Color::Indexed(index) => (base + 8, Rest::Index(index)),
        Color::Rgb(red, green, blue) => (base + 8, Rest::Exact(red, green, blue)),
    };
    let mut left = &mut space[..];
    match rest {
        Rest::None => write!(left, "{code}"),
        Rest::Index(index) => write!(left, "{code};5;{index}"),
        Rest::Exact(red, green, blue) => write!(left, "{code};2;{red};{green};{blue}"),
    }
    .expect("the longest, 48;2;255;255;255, has 16 bytes");
    let unused = left.len();
    &space[..16 - unused]
}

enum Rest {
    None,
    Index(u8),
    Exact(u8, u8, u8),
}

fn decimal(number: u8, space: &mut [u8; 3]) -> &[u8] {
    let mut left = &mut space[..];
    write!(left, "{number}").expect("a byte has at most three digits");
    let unused = left.len();
    &space[..3 - unused]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pen(fg: Color, bg: Color, attributes: Modifier) -> Pen {
        Pen { fg, bg, attributes }
    }

    fn changed(from: Pen, to: Pen) -> String {
        let mut out = Vec::new();
        from.change(to, &mut out);
        String::from_utf8(out).unwrap().replace('\x1b', "ESC")
    }

    #[test]
    fn only_changes_are_written() {
        let plain = Pen::default();
        let red = pen(Color::Red, Color::Reset, Modifier::empty());
        let bold_red = pen(Color::Red, Color::Reset, Modifier::BOLD);
        let cases = [
            ("nothing", red, red, ""),
            ("a colour", plain, red, "ESC[31m"),
            ("an attribute more", red, bold_red, "ESC[1m"),
            ("an attribute less", bold_red, red, "ESC[22m"),
            ("back to nothing", bold_red, plain, "ESC[0m"),
            ("a background", red, pen(Color::Red, Color::LightBlue, Modifier::empty()), "ESC[104m"),
            ("a number", plain, pen(Color::Indexed(208), Color::Indexed(3), Modifier::empty()), "ESC[38;5;208;43m"),
            ("exact", plain, pen(Color::Reset, Color::Rgb(255, 255, 255), Modifier::empty()), "ESC[48;2;255;255;255m"),
            (
                "bold goes, dim stays",
                pen(Color::Reset, Color::Reset, Modifier::BOLD | Modifier::DIM),
                pen(Color::Reset, Color::Reset, Modifier::DIM),
                "ESC[0;2m",
            ),
            (
                "much to take away",
                pen(Color::Red, Color::Blue, Modifier::BOLD | Modifier::ITALIC | Modifier::REVERSED),
                pen(Color::Green, Color::Reset, Modifier::empty()),
                "ESC[0;32m",
            ),
        ];
        for (case, from, to, expected) in cases {
            assert_eq!(changed(from, to), expected, "case: {case}");
        }
    }

    fn any_color() -> impl Strategy<Value = Color> {
        prop_oneof![
            Just(Color::Reset),
            Just(Color::Red),
            Just(Color::White),
            any::<u8>().prop_map(Color::Indexed),
            any::<(u8, u8, u8)>().prop_map(|(red, green, blue)| Color::Rgb(red, green, blue)),
        ]
    }

    /// The attributes of the test terminal. It has one weight: bold or dim, not both.
    fn any_attributes() -> impl Strategy<Value = Modifier> {
        prop::bits::u16::masked(0b0_0100_1111).prop_map(|bits| {
            let attributes = Modifier::from_bits_truncate(bits);
            if attributes.contains(Modifier::BOLD) { attributes - Modifier::DIM } else { attributes }
        })
    }

    fn any_pen() -> impl Strategy<Value = Pen> {
        (any_color(), any_color(), any_attributes()).prop_map(|(fg, bg, attributes)| Pen { fg, bg, attributes })
    }

    proptest! {
        #[test]
        fn a_terminal_that_applies_the_changes_has_the_same_attributes(one in any_pen(), other in any_pen()) {
            let mut bytes = Vec::new();
            Pen::default().change(one, &mut bytes);
            one.change(other, &mut bytes);
            let mut reset = Vec::new();
            Pen::default().change(other, &mut reset);
            prop_assert!(!bytes.windows(2).any(|pair| pair == b"[;" || pair == b";;" || pair == b";m" || pair == b"[m"));
            let shown = |bytes: &[u8]| {
                let mut parser = vt100::Parser::default();
                parser.process(bytes);
                parser.screen().attributes_formatted()
            };
            prop_assert_eq!(shown(&bytes), shown(&reset));
        }
    }
}
