//! A session as a film: an asciicast for players, and an animated SVG for pages.
//!
//! Invariants: times are those of the script, never of a clock, so that the same session gives the same bytes.

use std::fmt::Write as _;
use std::time::Duration;

use ratatui::buffer::Buffer;
use serde_json::json;
use trueup::console::capture;
use trueup::console::terminal::ColorDepth;

/// Screens that are shown for as long as this are in the SVG; the others are on the way to them.
pub const STILL: Duration = Duration::from_millis(2_500);
/// How long a key that is typed, and one that moves, is shown.
pub const TYPED: Duration = Duration::from_millis(90);

/// The screens in their order.
#[derive(Default)]
pub struct Session {
    frames: Vec<(Buffer, Duration)>,
}

impl Session {
    /// Adds a screen.
    pub fn show(&mut self, screen: Buffer, shown_for: Duration) {
        self.frames.push((screen, shown_for));
    }

    /// The session in format 2 of asciinema: of each screen the rows that changed.
    pub fn cast(&self) -> String {
        let Some((first, _)) = self.frames.first() else { return String::new() };
        let header = json!({
            "version": 2,
            "width": first.area.width,
            "height": first.area.height,
            "title": "trueup demo",
            "env": { "TERM": "xterm-256color" },
        });
        let mut cast = format!("{header}\n");
        let (mut at, mut before) = (Duration::ZERO, Vec::new());
        for (screen, shown_for) in &self.frames {
            let text = capture::ansi(screen, ColorDepth::True);
            let rows: Vec<String> = text.lines().map(str::to_owned).collect();
            let mut output = String::new();
            if before.is_empty() {
                // No cursor, and an empty screen.
                output.push_str("\u{1b}[?25l\u{1b}[2J");
            }
            for (number, row) in (1..).zip(&rows).filter(|(number, row)| before.get(number - 1) != Some(*row)) {
                write!(output, "\u{1b}[{number};1H{row}").expect("writing to a string does not fail");
            }
            if !output.is_empty() {
                cast += &format!("{}\n", json!([at.as_secs_f64(), "o", output]));
            }
            (before, at) = (rows, at + *shown_for);
        }
        // Without it a player ends before the last screen was read.
        cast + &format!("{}\n", json!([at.as_secs_f64(), "o", ""]))
    }

    /// The screens that are shown for long, one after another, on a strip that moves.
    pub fn svg(&self, palette: &capture::Palette) -> String {
        let stills = self.frames.iter().filter(|(_, shown_for)| *shown_for >= STILL);
        let screens: Vec<String> = stills.map(|(screen, _)| String::from(capture::svg(screen, palette))).collect();
        let Some(first) = screens.first() else { return String::new() };
        let (width, height) = (attribute(first, "width"), attribute(first, "height"));
        let count = screens.len();
        let (mut moves, mut strip) = (String::new(), String::new());
        for (number, screen) in screens.iter().enumerate() {
            let (from, top) = (100.0 * number as f64 / count as f64, number as u64 * height);
            write!(moves, "{from:.3}%{{transform:translateY(-{top}px)}}").expect("writing to a string does not fail");
            strip += &screen.replacen("<svg ", &format!("<svg y=\"{top}\" "), 1);
        }
        let seconds = STILL.as_secs_f64() * count as f64;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <style>@keyframes film{{{moves}}}.film{{animation:film {seconds}s step-end infinite}}\
             @media(prefers-reduced-motion:reduce){{.film{{animation:none}}}}</style>\n\
             <g class=\"film\">\n{strip}</g>\n</svg>\n"
        )
    }
}

/// A number among the attributes of the first element.
fn attribute(svg: &str, name: &str) -> u64 {
    let value = svg.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
    value.and_then(|value| value.parse().ok()).expect("a screen has a size in whole units")
}
