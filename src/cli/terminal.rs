//! Properties of stdout and stderr, detected once.
//!
//! Invariants: a file or pipe is never coloured or cut unless `--color always` asks for colour.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::args::ColorWhen;
use super::error::CliError;
use trueup_core::engine::text::{Charset, Printable};
use trueup_core::world::ClusterName;

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    pub charset: Charset,
    pub color: Color,
    /// The width lines are cut to. Pipes and files have none.
    pub width: Option<usize>,
    pub stderr: Stderr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    On,
    Off,
}

/// What stderr is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr {
    Person,
    /// A file or pipe, which gets no progress.
    Machine,
}

/// Width of a terminal of unknown size.
const WIDTH_DEFAULT: usize = 80;
/// The progress line is overwritten, so it must not wrap.
const PROGRESS_COLUMNS: usize = 78;
/// Narrower terminals wrap the lines.
const WIDTH_MIN: usize = 40;

impl Terminal {
    /// Detects stdout, stderr and the environment.
    pub fn detect(when: ColorWhen, env: &impl Fn(&str) -> Option<OsString>) -> Self {
        let width = std::io::stdout().is_terminal().then(|| {
            let width = terminal_size::terminal_size().map_or(WIDTH_DEFAULT, |(width, _)| usize::from(width.0));
            width.max(WIDTH_MIN)
        });
        let stderr = if std::io::stderr().is_terminal() { Stderr::Person } else { Stderr::Machine };
        Self { charset: charset(env), color: color(when, width.is_some(), env), width, stderr }
    }

    /// The text, or its ASCII form where the terminal needs it.
    pub fn pick<'t>(&self, unicode: &'t str, ascii: &'t str) -> &'t str {
        match self.charset {
            Charset::Unicode => unicode,
            Charset::Ascii => ascii,
        }
    }

    /// Text from clusters or files, escaped for this terminal.
    pub fn safe(&self, text: &str) -> String {
        trueup_core::engine::text::printable(text, self.charset)
    }

    /// Text in a style, if colours are on.
    pub fn paint(&self, text: &str, style: Style) -> String {
        match self.color {
            Color::On => format!("\x1b[{}m{text}\x1b[0m", style.code()),
            Color::Off => text.to_owned(),
        }
    }
}

/// The meaning of a text, shown in a colour of the terminal's palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Title,
    Ok,
    Missing,
    Extra,
    Drift,
    Warn,
    Danger,
    Muted,
}

impl Style {
    /// The SGR code, from the 16 configurable colours.
    fn code(self) -> &'static str {
        match self {
            Self::Title => "1",
            Self::Ok => "32",
            Self::Missing => "36",
            Self::Extra => "35",
            Self::Drift | Self::Warn => "33",
            Self::Danger => "1;31",
            Self::Muted => "2",
        }
    }
}

/// The charset of the locale; the first variable that is set decides.
fn charset(env: &impl Fn(&str) -> Option<OsString>) -> Charset {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env(name).filter(|value| !value.is_empty()));
    let locale = locale.map(|value| value.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if locale.contains("utf-8") || locale.contains("utf8") { Charset::Unicode } else { Charset::Ascii }
}

fn color(when: ColorWhen, terminal: bool, env: &impl Fn(&str) -> Option<OsString>) -> Color {
    let set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let dumb = env("TERM").is_none_or(|term| term == "dumb");
    match when {
        ColorWhen::Always => Color::On,
        ColorWhen::Never => Color::Off,
        ColorWhen::Auto if terminal && !set("NO_COLOR") && !dumb => Color::On,
        ColorWhen::Auto => Color::Off,
    }
}

/// Whether stdout is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    Open,
    /// The reader of the pipe closed it, which is not an error.
    Closed,
}

/// Writes a command's result to stdout.
///
/// # Errors
/// Stdout cannot be written, for example on a full disk.
pub fn print(text: &Printable) -> Result<Reader, CliError> {
    print_exact(text)
}

/// Writes a text of this program, or a document for a file or pipe, byte for byte.
///
/// # Errors
/// As [`print`].
pub fn print_exact(text: &str) -> Result<Reader, CliError> {
    let mut stdout = std::io::stdout().lock();
    reader_after(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Bytes of a document that are passed on together: a pipe takes as many.
const PART_BYTES: usize = 64 * 1024;

/// Writes a document that is made in parts.
///
/// # Errors
/// As [`print`].
pub fn print_parts(
    parts: impl FnOnce(&mut dyn FnMut(&Printable) -> std::io::Result<()>) -> std::io::Result<()>,
) -> Result<Reader, CliError> {
    let mut stdout = std::io::BufWriter::with_capacity(PART_BYTES, std::io::stdout().lock());
    let written = parts(&mut |part| stdout.write_all(part.as_bytes()));
    reader_after(written.and_then(|()| stdout.flush()))
}

fn reader_after(written: std::io::Result<()>) -> Result<Reader, CliError> {
    match written {
        Ok(()) => Ok(Reader::Open),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Reader::Closed),
        Err(error) => Err(CliError::failed("writing to stdout", error.to_string(), "free some space")),
    }
}

/// Writes over the line the cursor is on, on a terminal.
fn rewrite_stderr(line: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r{line}\r").and_then(|()| stderr.flush());
}

/// The line on stderr that shows which clusters are being read.
#[derive(Default)]
pub struct ProgressLine {
    /// Current length in characters.
    length: AtomicUsize,
}

impl ProgressLine {
    /// Shows the clusters with the objects listed so far; none clears the line. Files and pipes get nothing.
    pub fn show(&self, terminal: &Terminal, clusters: &[(ClusterName, Option<u64>)]) {
        if terminal.stderr == Stderr::Machine {
            return;
        }
        let cluster = |(name, objects): &(ClusterName, Option<u64>)| match objects {
            Some(objects) => format!("{name} ({objects} objects)"),
            None => format!("{name} (connecting)"),
        };
        let names: Vec<String> = clusters.iter().map(cluster).collect();
        let line = if names.is_empty() { String::new() } else { format!("reading {}", names.join(", ")) };
        let line: String = terminal.safe(&line).chars().take(PROGRESS_COLUMNS).collect();
        let length = line.chars().count();
        let before = self.length.swap(length, Ordering::Relaxed);
        rewrite_stderr(&format!("{line}{}", " ".repeat(before.saturating_sub(length))));
    }
}

/// Writes a line to stderr, escaped. A failure is ignored: it could not be reported.
pub fn write_stderr(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", Printable::line(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vars<'v> = &'v [(&'v str, &'v str)];

    fn env<'v>(vars: Vars<'v>) -> impl Fn(&str) -> Option<OsString> + 'v {
        |name| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn the_locale_decides_between_signs_and_letters() {
        let cases: [(&str, Vars<'_>, Charset); 6] = [
            ("nothing set", &[], Charset::Ascii),
            ("LANG", &[("LANG", "de_DE.UTF-8")], Charset::Unicode),
            ("other spelling", &[("LC_CTYPE", "C.utf8")], Charset::Unicode),
            ("LC_ALL wins", &[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")], Charset::Ascii),
            ("empty is not set", &[("LC_ALL", ""), ("LANG", "en_US.UTF-8")], Charset::Unicode),
            ("another charset", &[("LANG", "de_DE.ISO-8859-1")], Charset::Ascii),
        ];
        for (case, vars, expected) in cases {
            assert_eq!(charset(&env(vars)), expected, "case: {case}");
        }
    }

    #[test]
    fn colour_is_for_terminals_that_want_it() {
        let term = ("TERM", "xterm");
        let cases: [(&str, ColorWhen, bool, Vars<'_>, Color); 8] = [
            ("terminal", ColorWhen::Auto, true, &[term], Color::On),
            ("pipe", ColorWhen::Auto, false, &[term], Color::Off),
            ("NO_COLOR", ColorWhen::Auto, true, &[term, ("NO_COLOR", "1")], Color::Off),
            ("NO_COLOR empty", ColorWhen::Auto, true, &[term, ("NO_COLOR", "")], Color::On),
            ("dumb", ColorWhen::Auto, true, &[("TERM", "dumb")], Color::Off),
            ("no TERM", ColorWhen::Auto, true, &[], Color::Off),
            ("forced into a pipe", ColorWhen::Always, false, &[("NO_COLOR", "1")], Color::On),
            ("forbidden", ColorWhen::Never, true, &[term], Color::Off),
        ];
        for (case, when, terminal, vars, expected) in cases {
            assert_eq!(color(when, terminal, &env(vars)), expected, "case: {case}");
        }
    }
}
