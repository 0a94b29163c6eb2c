//! Colour depth of the terminal, and conversion of colours to it.
//!
//! Invariants:
//! - `NO_COLOR` and `--color never` keep attributes: bold and reversed stay;
//! - the sixteen named colours are never converted, except without colours: the user chose their palette.
//!
//! Pure: the environment is a function parameter.

#![expect(clippy::disallowed_types, reason = "reduces colours to what the terminal has")]

use std::ffi::OsString;

use ratatui::style::Color;

/// Number of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColorDepth {
    None,
    Ansi16,
    Ansi256,
    True,
}

/// The value of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// Terminals with true colour that announce it only by their name.
const TRUE_COLOR_TERMS: [&str; 8] =
    ["alacritty", "contour", "foot", "xterm-ghostty", "xterm-kitty", "kitty", "rio", "wezterm"];

/// Returns the colour depth from the user's choice and the environment.
pub fn color_depth(choice: ColorChoice, env: &impl Fn(&str) -> Option<OsString>) -> ColorDepth {
    let value = |name: &str| env(name).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match choice {
        ColorChoice::Never => ColorDepth::None,
        ColorChoice::Auto if !value("NO_COLOR").is_empty() => ColorDepth::None,
        ColorChoice::Auto => claimed(&value("TERM"), &value("COLORTERM"), &value("TMUX")),
        ColorChoice::Always => claimed(&value("TERM"), &value("COLORTERM"), &value("TMUX")).max(ColorDepth::Ansi16),
    }
}

fn claimed(term: &str, colorterm: &str, tmux: &str) -> ColorDepth {
    if term.is_empty() || term == "dumb" {
        return ColorDepth::None;
    }
    // GNU screen passes COLORTERM through and shows at most 256 colours; tmux passes it through and converts.
    let is_screen = term.starts_with("screen") && tmux.is_empty();
    let exact = matches!(colorterm, "truecolor" | "24bit") && !is_screen;
    let named = TRUE_COLOR_TERMS.iter().any(|name| term == *name || term.starts_with(&format!("{name}-")));
    if exact || named || term.ends_with("-direct") {
        ColorDepth::True
    } else if term.contains("256") {
        ColorDepth::Ansi256
    } else {
        ColorDepth::Ansi16
    }
}

impl ColorDepth {
    /// Returns the nearest available colour.
    pub fn nearest(self, color: Color) -> Color {
        match (self, color) {
            (Self::None, _) => Color::Reset,
            (Self::True, color) => color,
            (Self::Ansi256, Color::Rgb(red, green, blue)) => Color::Indexed(nearest_256([red, green, blue])),
            (Self::Ansi16, Color::Rgb(red, green, blue)) => nearest_16([red, green, blue]),
            (Self::Ansi16, Color::Indexed(index @ 16..)) => nearest_16(rgb_of_256(index)),
            (
                Self::Ansi16 | Self::Ansi256,
                Color::Reset
                | Color::Black
                | Color::Red
                | Color::Green
                | Color::Yellow
                | Color::Blue
                | Color::Magenta
                | Color::Cyan
                | Color::Gray
                | Color::DarkGray
                | Color::LightRed
                | Color::LightGreen
                | Color::LightYellow
                | Color::LightBlue
                | Color::LightMagenta
                | Color::LightCyan
                | Color::White
                | Color::Indexed(_),
            ) => color,
        }
    }
}

/// The levels of a channel in the 6×6×6 cube of the 256 colours.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];
/// Where the cube begins: after the sixteen names.
const CUBE_START: u8 = 16;
/// Where the 24 greys begin: 16 + 6 × 6 × 6.
const GREYS_START: u8 = 232;

/// xterm's values of the sixteen. A user's palette may differ; the hue is still right.
const NAMED: [(Color, [u8; 3]); 16] = [
    (Color::Black, [0, 0, 0]),
    (Color::Red, [205, 0, 0]),
    (Color::Green, [0, 205, 0]),
    (Color::Yellow, [205, 205, 0]),
    (Color::Blue, [0, 0, 238]),
    (Color::Magenta, [205, 0, 205]),
    (Color::Cyan, [0, 205, 205]),
    (Color::Gray, [229, 229, 229]),
    (Color::DarkGray, [127, 127, 127]),
    (Color::LightRed, [255, 0, 0]),
    (Color::LightGreen, [0, 255, 0]),
    (Color::LightYellow, [255, 255, 0]),
    (Color::LightBlue, [92, 92, 255]),
    (Color::LightMagenta, [255, 0, 255]),
    (Color::LightCyan, [0, 255, 255]),
    (Color::White, [255, 255, 255]),
];

fn nearest_256(rgb: [u8; 3]) -> u8 {
    let level = |channel: u8| (0..6u8).min_by_key(|step| channel.abs_diff(CUBE[usize::from(*step)])).unwrap_or(0);
    let [red, green, blue] = rgb.map(level);
    let cube = CUBE_START + 36 * red + 6 * green + blue;
    let average = rgb.iter().map(|channel| u16::from(*channel)).sum::<u16>() / 3;
    // The greys are 8, 18, … 238.
    let step = u8::try_from(average.saturating_sub(3) / 10).unwrap_or(23).min(23);
    let grey = GREYS_START + step;
    if distance(rgb, rgb_of_256(grey)) < distance(rgb, rgb_of_256(cube)) { grey } else { cube }
}

/// By hue first: a pale green is nearer to green than to grey, whatever the distance.
fn nearest_16(rgb: [u8; 3]) -> Color {
    let [red, green, blue] = rgb.map(i32::from);
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let chroma = most - least;
    let light = (most + least) / 2;
    // Below an eighth of full saturation, or nearly black: a grey.
    if chroma < 32 || most < 48 {
        return match light {
            0..=48 => Color::Black,
            49..=150 => Color::DarkGray,
            151..=228 => Color::Gray,
            _ => Color::White,
        };
    }
    // Sixths of the hue circle, shifted by half a sixth, so that each name is in the middle.
    let sixths = if most == red {
        60 * (green - blue) / chroma
    } else if most == green {
        120 + 60 * (blue - red) / chroma
    } else {
        240 + 60 * (red - green) / chroma
    };
    // Orange is seen as yellow and violet as magenta: their borders are closer to red and blue.
    let plain = match sixths.rem_euclid(360) {
        0..20 | 335..360 => Color::Red,
        20..75 => Color::Yellow,
        75..165 => Color::Green,
        165..195 => Color::Cyan,
        195..255 => Color::Blue,
        _ => Color::Magenta,
    };
    if light > 160 { bright(plain) } else { plain }
}

fn bright(color: Color) -> Color {
    let index = NAMED.iter().position(|(name, _)| *name == color).unwrap_or(0);
    NAMED[(index + 8).min(15)].0
}

/// RGB value of a colour of the 256.
pub fn rgb_of_256(index: u8) -> [u8; 3] {
    match index {
        0..CUBE_START => NAMED[usize::from(index)].1,
        CUBE_START..GREYS_START => {
            let place = index - CUBE_START;
            [place / 36, place / 6 % 6, place % 6].map(|step| CUBE[usize::from(step)])
        }
        GREYS_START.. => [8 + 10 * (index - GREYS_START); 3],
    }
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    one.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vars<'v> = &'v [(&'v str, &'v str)];

    fn env<'v>(vars: Vars<'v>) -> impl Fn(&str) -> Option<OsString> + 'v {
        |name| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn the_depth_follows_the_option_and_the_environment() {
        let xterm = ("TERM", "xterm-256color");
        let exact = ("COLORTERM", "truecolor");
        let cases: [(&str, ColorChoice, Vars<'_>, ColorDepth); 16] = [
            ("nothing known", ColorChoice::Auto, &[], ColorDepth::None),
            ("dumb", ColorChoice::Auto, &[("TERM", "dumb"), exact], ColorDepth::None),
            ("plain xterm", ColorChoice::Auto, &[("TERM", "xterm")], ColorDepth::Ansi16),
            ("the console", ColorChoice::Auto, &[("TERM", "linux")], ColorDepth::Ansi16),
            ("256", ColorChoice::Auto, &[xterm], ColorDepth::Ansi256),
            ("it says so", ColorChoice::Auto, &[xterm, exact], ColorDepth::True),
            ("24bit", ColorChoice::Auto, &[xterm, ("COLORTERM", "24bit")], ColorDepth::True),
            ("by its name", ColorChoice::Auto, &[("TERM", "xterm-kitty")], ColorDepth::True),
            ("a variant of a name", ColorChoice::Auto, &[("TERM", "foot-extra")], ColorDepth::True),
            ("direct", ColorChoice::Auto, &[("TERM", "xterm-direct")], ColorDepth::True),
            ("screen overstates", ColorChoice::Auto, &[("TERM", "screen-256color"), exact], ColorDepth::Ansi256),
            (
                "tmux does not",
                ColorChoice::Auto,
                &[("TERM", "screen-256color"), exact, ("TMUX", "/tmp/x")],
                ColorDepth::True,
            ),
            ("NO_COLOR", ColorChoice::Auto, &[xterm, exact, ("NO_COLOR", "1")], ColorDepth::None),
            ("NO_COLOR empty", ColorChoice::Auto, &[xterm, ("NO_COLOR", "")], ColorDepth::Ansi256),
            ("always, against all", ColorChoice::Always, &[("NO_COLOR", "1")], ColorDepth::Ansi16),
            ("never", ColorChoice::Never, &[xterm, exact], ColorDepth::None),
        ];
        for (case, choice, vars, expected) in cases {
            assert_eq!(color_depth(choice, &env(vars)), expected, "case: {case}");
        }
    }

    #[test]
    fn a_palette_colour_is_its_own_nearest() {
        for index in CUBE_START..=255 {
            let [red, green, blue] = rgb_of_256(index);
            let Color::Indexed(nearest) = ColorDepth::Ansi256.nearest(Color::Rgb(red, green, blue)) else {
                panic!("{index} is not a colour of the 256");
            };
            assert_eq!(rgb_of_256(nearest), rgb_of_256(index));
        }
        assert_eq!(ColorDepth::Ansi256.nearest(Color::Rgb(0x12, 0x16, 0x1f)), Color::Indexed(234));
    }

    #[test]
    fn sixteen_colours_keep_the_hue() {
        let cases = [
            ("pale green", Color::Rgb(0x7e, 0xc6, 0x99), Color::LightGreen),
            ("deep green", Color::Rgb(0x11, 0x6b, 0x34), Color::Green),
            ("coral", Color::Rgb(0xff, 0x7b, 0x72), Color::LightRed),
            ("dark red", Color::Rgb(0xa3, 0x21, 0x2b), Color::Red),
            ("orange", Color::Rgb(0xf2, 0xa6, 0x5a), Color::LightYellow),
            ("ochre", Color::Rgb(0x7a, 0x53, 0x00), Color::Yellow),
            ("sky", Color::Rgb(0x6c, 0xb6, 0xff), Color::LightBlue),
            ("teal", Color::Rgb(0x0b, 0x6a, 0x78), Color::Cyan),
            ("lilac", Color::Rgb(0xd7, 0x9b, 0xf0), Color::LightMagenta),
            ("black", Color::Rgb(0x12, 0x16, 0x1f), Color::Black),
            ("grey", Color::Rgb(0x7f, 0x8a, 0x93), Color::DarkGray),
            ("light grey", Color::Rgb(0xc8, 0xd0, 0xd8), Color::Gray),
            ("paper", Color::Rgb(0xfb, 0xfa, 0xf6), Color::White),
            ("a colour of the 256", Color::Indexed(208), Color::Yellow),
            ("a name stays", Color::LightCyan, Color::LightCyan),
            ("a number that is a name stays", Color::Indexed(9), Color::Indexed(9)),
        ];
        for (case, color, expected) in cases {
            assert_eq!(ColorDepth::Ansi16.nearest(color), expected, "case: {case}");
        }
    }

    #[test]
    fn without_colours_every_colour_is_the_default() {
        for color in [Color::Red, Color::Indexed(9), Color::Rgb(1, 2, 3), Color::Reset] {
            assert_eq!(ColorDepth::None.nearest(color), Color::Reset);
        }
        assert_eq!(ColorDepth::True.nearest(Color::Rgb(1, 2, 3)), Color::Rgb(1, 2, 3));
    }
}
