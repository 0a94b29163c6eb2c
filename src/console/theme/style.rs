//! Styles in theme files: `bold yellow on #1a1b26`.
//!
//! Invariants: unset parts are the terminal's default. An empty text is the default style.

#![expect(clippy::disallowed_types, reason = "the theme defines colours")]

use ratatui::style::{Color, Modifier, Style};

/// An invalid word of a style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadStyle {
    Word(String),
    /// `on` without a colour after it.
    NoBackground,
    /// A second colour where one is expected.
    Twice(String),
}

/// The sixteen colours of every terminal. Both spellings of grey.
const COLORS: [(&str, Color); 19] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("gray", Color::Gray),
    ("grey", Color::Gray),
    ("dark-gray", Color::DarkGray),
    ("dark-grey", Color::DarkGray),
    ("light-red", Color::LightRed),
    ("light-green", Color::LightGreen),
    ("light-yellow", Color::LightYellow),
    ("light-blue", Color::LightBlue),
    ("light-magenta", Color::LightMagenta),
    ("light-cyan", Color::LightCyan),
    ("white", Color::White),
];

const ATTRIBUTES: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed-out", Modifier::CROSSED_OUT),
];

/// Parses a style.
pub fn parse(text: &str) -> Result<Style, BadStyle> {
    let mut style = Style::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word == "on" {
            let color = color(words.next().ok_or(BadStyle::NoBackground)?)?;
            if style.bg.replace(color).is_some() {
                return Err(BadStyle::Twice("on".to_owned()));
            }
        } else if let Some((_, attribute)) = ATTRIBUTES.iter().find(|(name, _)| *name == word) {
            style = style.add_modifier(*attribute);
        } else if style.fg.replace(color(word)?).is_some() {
            return Err(BadStyle::Twice(word.to_owned()));
        }
    }
    Ok(style)
}

/// Every word of a style, besides numbers and `#rrggbb`.
pub fn words() -> Vec<&'static str> {
    let colors = COLORS.iter().map(|(name, _)| *name);
    ATTRIBUTES.iter().map(|(name, _)| *name).chain(colors).chain(["on"]).collect()
}

/// A name, a number of the 256, or `#rrggbb`.
fn color(word: &str) -> Result<Color, BadStyle> {
    let named = COLORS.iter().find(|(name, _)| *name == word).map(|(_, color)| *color);
    named
        .or_else(|| hex(word.strip_prefix('#')?))
        .or_else(|| word.parse().ok().map(Color::Indexed))
        .ok_or_else(|| BadStyle::Word(word.to_owned()))
}

fn hex(digits: &str) -> Option<Color> {
    let is_hex = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some(Color::from_u32(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_has_colours_and_attributes_in_any_order() {
        let cases = [
            ("nothing", "", Style::new()),
            ("a name", "yellow", Style::new().fg(Color::Yellow)),
            ("a number", "208", Style::new().fg(Color::Indexed(208))),
            ("exact", "#1a1b26", Style::new().fg(Color::Rgb(0x1a, 0x1b, 0x26))),
            ("a background alone", "on red", Style::new().bg(Color::Red)),
            ("an attribute alone", "reversed", Style::new().add_modifier(Modifier::REVERSED)),
            (
                "all at once",
                "bold white on 52 crossed-out",
                Style::new()
                    .fg(Color::White)
                    .bg(Color::Indexed(52))
                    .add_modifier(Modifier::BOLD | Modifier::CROSSED_OUT),
            ),
            ("the terminal's own", "default on default", Style::new().fg(Color::Reset).bg(Color::Reset)),
        ];
        for (case, text, expected) in cases {
            assert_eq!(parse(text), Ok(expected), "case: {case}");
        }
    }

    #[test]
    fn an_invalid_style_names_the_word() {
        let word = |text: &str| BadStyle::Word(text.to_owned());
        let cases = [
            ("a slip", "yelow", word("yelow")),
            ("a number past the palette", "256", word("256")),
            ("three digits", "#fff", word("#fff")),
            ("a sign for a digit", "#+12345", word("#+12345")),
            ("not ASCII", "#ffffé", word("#ffffé")),
            ("on what?", "red on", BadStyle::NoBackground),
            ("two texts", "red blue", BadStyle::Twice("blue".to_owned())),
            ("two backgrounds", "on red on blue", BadStyle::Twice("on".to_owned())),
        ];
        for (case, text, expected) in cases {
            assert_eq!(parse(text), Err(expected), "case: {case}");
        }
    }
}
