//! Renders a buffer as SVG with searchable text.
//!
//! Invariants:
//! - characters keep their columns: each run of one style is as long as its cells, whatever the font;
//! - the ground is the theme's, and a background is drawn only where a cell has one of its own;
//! - cell text is escaped, never markup.

#![expect(clippy::disallowed_types, reason = "writes the colours of a drawn screen")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell, CellWidth as _};
use ratatui::style::{Color, Modifier};

use crate::console::terminal::{rgb_of_256, shown};
use crate::console::theme::{Role, Theme};
use trueup_core::engine::text::Printable;

/// Colours of the SVG for a terminal's palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    pub text: [u8; 3],
    pub background: [u8; 3],
    /// The sixteen ANSI colours, in order.
    pub named: [[u8; 3]; 16],
}

impl Palette {
    /// Dark, with distinguishable colours.
    pub const DARK: Self = Self {
        text: [0xd5, 0xda, 0xe3],
        background: [0x14, 0x18, 0x20],
        named: [
            [0x1f, 0x25, 0x30],
            [0xf0, 0x6c, 0x6c],
            [0x7f, 0xc9, 0x7f],
            [0xe3, 0xbf, 0x62],
            [0x6c, 0xa6, 0xf0],
            [0xce, 0x8c, 0xe6],
            [0x5c, 0xc4, 0xd0],
            [0xd5, 0xda, 0xe3],
            [0x6b, 0x75, 0x87],
            [0xff, 0x8f, 0x8f],
            [0x9d, 0xe0, 0x9d],
            [0xf5, 0xd6, 0x80],
            [0x8f, 0xc0, 0xff],
            [0xe0, 0xa8, 0xf5],
            [0x80, 0xdc, 0xe6],
            [0xff, 0xff, 0xff],
        ],
    };

    /// Light, for pages on white.
    pub const LIGHT: Self = Self {
        text: [0x24, 0x29, 0x2f],
        background: [0xff, 0xff, 0xff],
        named: [
            [0x24, 0x29, 0x2f],
            [0xb3, 0x15, 0x1f],
            [0x11, 0x6b, 0x34],
            [0x7a, 0x53, 0x00],
            [0x05, 0x50, 0xae],
            [0x7a, 0x2f, 0xa8],
            [0x0b, 0x6a, 0x78],
            [0x6e, 0x77, 0x81],
            [0x57, 0x60, 0x6a],
            [0xcf, 0x22, 0x2e],
            [0x1a, 0x7f, 0x37],
            [0x95, 0x66, 0x00],
            [0x09, 0x69, 0xda],
            [0x82, 0x50, 0xdf],
            [0x1b, 0x7c, 0x83],
            [0x8c, 0x95, 0x9f],
        ],
    };
}

impl Palette {
    /// The palette of a theme's screen: its own ground and text where it has exact ones, else those of a dark terminal.
    pub fn of(theme: &Theme) -> Self {
        let exact = |color: Option<Color>| {
            let Some(Color::Rgb(red, green, blue)) = color else { return None };
            Some([red, green, blue])
        };
        let style = theme.style(Role::Text);
        let (Some(text), Some(background)) = (exact(style.fg), exact(style.bg)) else { return Self::DARK };
        let light = |[red, green, blue]: [u8; 3]| u16::from(red) + u16::from(green) + u16::from(blue);
        let named = if light(background) > light(text) { Self::LIGHT.named } else { Self::DARK.named };
        Self { text, background, named }
    }
}

/// Cell width in SVG units: common fonts are 0.6 times as wide as high.
const CELL_WIDTH: f64 = 8.4;
/// A little less than the fonts' line height, so that vertical lines meet.
const CELL_HEIGHT: f64 = 17.0;
const FONT_SIZE: f64 = 14.0;
/// Distance from a row's top to its baseline.
const BASELINE: f64 = 13.0;
/// Margin around the screen.
const MARGIN: f64 = 12.0;

/// Renders the buffer.
pub fn svg(buffer: &Buffer, palette: &Palette) -> Printable {
    let (columns, rows) = (f64::from(buffer.area.width), f64::from(buffer.area.height));
    let (width, height) = (columns * CELL_WIDTH + 2.0 * MARGIN, rows * CELL_HEIGHT + 2.0 * MARGIN);
    let rows: Vec<Vec<Run>> =
        buffer.area.rows().map(|row| runs((row.left()..row.right()).map(|x| &buffer[(x, row.y)]), palette)).collect();
    let mut out = String::new();
    let fonts = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
    line(
        &mut out,
        format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.1} {height:.1}" font-family="{fonts}" font-size="{FONT_SIZE}" xml:space="preserve">"#
        ),
    );
    // Browsers do not inherit `xml:space` from the root; other renderers read only that.
    line(&mut out, format_args!("<style>text{{white-space:pre}}{}</style>", rules(rows.iter().flatten())));
    line(&mut out, format_args!(r#"<rect width="100%" height="100%" rx="8" fill="{}"/>"#, hex(palette.background)));
    for (index, runs) in rows.iter().enumerate() {
        let top = MARGIN + index as f64 * CELL_HEIGHT;
        draw_backgrounds(runs, top, palette, &mut out);
        for run in runs {
            run.draw_text(top, &mut out);
        }
    }
    line(&mut out, format_args!("</svg>"));
    Printable::lines(&out)
}

/// The rules of the styles of the screen: many runs share few.
fn rules<'r>(runs: impl Iterator<Item = &'r Run>) -> String {
    let styles: BTreeMap<String, String> =
        runs.filter(|run| run.is_visible()).map(|run| (run.style.class(), run.style.rule())).collect();
    styles.iter().map(|(class, rule)| format!(".{class}{{{rule}}}")).collect()
}

/// The backgrounds that differ from the ground, adjacent ones of one colour as one.
fn draw_backgrounds(runs: &[Run], top: f64, palette: &Palette, out: &mut String) {
    let own = |run: &Run| run.style.background.filter(|color| *color != palette.background);
    for same in runs.chunk_by(|one, other| own(one) == own(other)) {
        let (Some(first), Some(color)) = (same.first(), same.first().and_then(own)) else { continue };
        let columns: u16 = same.iter().map(|run| run.columns).sum();
        let (left, width) = (left_of(first.start), f64::from(columns) * CELL_WIDTH);
        line(
            out,
            format_args!(
                r#"<rect x="{left:.1}" y="{top}" width="{width:.1}" height="{CELL_HEIGHT}" fill="{}"/>"#,
                hex(color)
            ),
        );
    }
}

/// Adjacent cells of one style.
struct Run {
    style: CellStyle,
    start: u16,
    columns: u16,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CellStyle {
    text: [u8; 3],
    /// Set where the cell has its own background.
    background: Option<[u8; 3]>,
    attributes: Modifier,
}

fn runs<'c>(cells: impl Iterator<Item = &'c Cell>, palette: &Palette) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut covered = 0;
    for (here, cell) in (0..).zip(cells) {
        if here < covered {
            continue;
        }
        let columns = cell.cell_width().max(1);
        covered = here + columns;
        let style = CellStyle::of(cell, palette);
        match runs.last_mut() {
            Some(run) if run.style == style => {
                run.columns += columns;
                run.text.push_str(shown(cell.symbol()));
            }
            Some(_) | None => runs.push(Run { style, start: here, columns, text: shown(cell.symbol()).to_owned() }),
        }
    }
    runs
}

impl CellStyle {
    fn of(cell: &Cell, palette: &Palette) -> Self {
        let text = palette.resolve(cell.fg).unwrap_or(palette.text);
        let background = palette.resolve(cell.bg);
        let (text, background) = if cell.modifier.contains(Modifier::REVERSED) {
            (background.unwrap_or(palette.background), Some(text))
        } else {
            (text, background)
        };
        Self { text, background, attributes: cell.modifier - Modifier::REVERSED }
    }

    /// A name for the style of its text: the same in every file, so that several can be shown in one page.
    fn class(&self) -> String {
        let attributes = [
            (Modifier::BOLD, 'b'),
            (Modifier::DIM, 'd'),
            (Modifier::ITALIC, 'i'),
            (Modifier::UNDERLINED, 'u'),
            (Modifier::CROSSED_OUT, 's'),
        ];
        let letters = attributes.into_iter().filter(|(attribute, _)| self.attributes.contains(*attribute));
        let letters: String = letters.map(|(_, letter)| letter).collect();
        format!("t{}{letters}", &hex(self.text)[1..])
    }

    /// The style of its text.
    fn rule(&self) -> String {
        let mut written = format!("fill:{}", hex(self.text));
        if self.attributes.contains(Modifier::BOLD) {
            written.push_str(";font-weight:bold");
        }
        if self.attributes.contains(Modifier::DIM) {
            written.push_str(";opacity:0.6");
        }
        if self.attributes.contains(Modifier::ITALIC) {
            written.push_str(";font-style:italic");
        }
        let lines: Vec<&str> = [(Modifier::UNDERLINED, "underline"), (Modifier::CROSSED_OUT, "line-through")]
            .into_iter()
            .filter(|(attribute, _)| self.attributes.contains(*attribute))
            .map(|(_, name)| name)
            .collect();
        if !lines.is_empty() {
            write!(written, ";text-decoration:{}", lines.join(" ")).expect("writing to a string does not fail");
        }
        written
    }

    /// Whether the style is visible on spaces.
    fn shows_on_blank(&self) -> bool {
        self.attributes.intersects(Modifier::UNDERLINED | Modifier::CROSSED_OUT)
    }
}

impl Run {
    fn is_visible(&self) -> bool {
        let is_blank = self.text.bytes().all(|byte| byte == b' ') && !self.style.shows_on_blank();
        !self.style.attributes.contains(Modifier::HIDDEN) && !is_blank
    }

    fn draw_text(&self, top: f64, out: &mut String) {
        if !self.is_visible() {
            return;
        }
        let (left, width) = (left_of(self.start), f64::from(self.columns) * CELL_WIDTH);
        // Lines and bars are drawn by glyphs, which must meet; letters keep their form.
        let adjust = if self.text.is_ascii() { "" } else { r#" lengthAdjust="spacingAndGlyphs""# };
        line(
            out,
            format_args!(
                r#"<text class="{}" x="{left:.1}" y="{}" textLength="{width:.1}"{adjust}>{}</text>"#,
                self.style.class(),
                top + BASELINE,
                escaped(&self.text),
            ),
        );
    }
}

impl Palette {
    /// The RGB value of a colour; none for the terminal's default.
    fn resolve(&self, color: Color) -> Option<[u8; 3]> {
        let index = match color {
            Color::Reset => return None,
            Color::Rgb(red, green, blue) => return Some([red, green, blue]),
            Color::Indexed(index @ 16..) => return Some(rgb_of_256(index)),
            Color::Indexed(index) => usize::from(index),
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 8,
            Color::LightRed => 9,
            Color::LightGreen => 10,
            Color::LightYellow => 11,
            Color::LightBlue => 12,
            Color::LightMagenta => 13,
            Color::LightCyan => 14,
            Color::White => 15,
        };
        Some(self.named[index])
    }
}

fn left_of(column: u16) -> f64 {
    MARGIN + f64::from(column) * CELL_WIDTH
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn line(out: &mut String, element: std::fmt::Arguments<'_>) {
    out.write_fmt(element).expect("writing to a string does not fail");
    out.push('\n');
}

/// Text without markup and without the two characters that XML does not allow.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::console::theme::Themes;

    #[test]
    fn a_screen_becomes_runs_of_text_over_its_backgrounds() {
        let mut buffer = Buffer::with_lines(["▸ 名前 <a&b>", "= ok      x "]);
        buffer.set_style(Rect::new(0, 0, 12, 1), Style::new().add_modifier(Modifier::REVERSED));
        buffer.set_style(Rect::new(2, 1, 2, 1), Style::new().fg(Color::Green).add_modifier(Modifier::BOLD));
        buffer.set_style(
            Rect::new(10, 1, 1, 1),
            Style::new()
                .fg(Color::Indexed(208))
                .bg(Color::Rgb(1, 2, 3))
                .add_modifier(Modifier::CROSSED_OUT | Modifier::UNDERLINED | Modifier::ITALIC | Modifier::DIM),
        );
        insta::assert_snapshot!(svg(&buffer, &Palette::DARK));
    }

    #[test]
    fn a_screen_is_exported_on_the_ground_of_its_theme() {
        let cases = [("paper", "#fbfaf6"), ("night", "#12161f"), ("high-contrast", "#000000"), ("terminal", "#141820")];
        for (name, ground) in cases {
            let palette = Palette::of(&Themes::built_in().resolve(name).unwrap());
            let drawn = svg(&Buffer::with_lines(["abc"]), &palette);
            assert!(drawn.contains(&format!(r#"rx="8" fill="{ground}""#)), "{name}: {drawn}");
        }
    }

    #[test]
    fn the_same_screen_gives_the_same_file() {
        let buffer = Buffer::with_lines(["abc"]);
        assert_eq!(svg(&buffer, &Palette::LIGHT), svg(&buffer.clone(), &Palette::LIGHT));
        assert_ne!(svg(&buffer, &Palette::LIGHT), svg(&buffer, &Palette::DARK));
    }

    #[test]
    fn cell_text_is_never_markup() {
        let mut buffer = Buffer::with_lines(["abc"]);
        buffer.cell_mut((0, 0)).unwrap().set_symbol("</text><script>");
        buffer.cell_mut((1, 0)).unwrap().set_symbol("\u{1b}[m");
        let drawn = svg(&buffer, &Palette::DARK);
        assert!(drawn.contains("&lt;/text&gt;&lt;script&gt;"), "{drawn}");
        assert!(!drawn.contains("<script") && !drawn.contains('\u{1b}'), "{drawn}");
    }
}
