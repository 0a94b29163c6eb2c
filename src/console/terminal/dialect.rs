//! Editing sequences of the terminal.
//!
//! Invariants: a sequence is used only where `TERM` names a terminal that has it. Cursor moves and erasing to the end of
//! a line are assumed everywhere.
//!
//! Pure: the environment is a function parameter.

use std::ffi::OsString;

/// Editing sequences that may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// An unknown terminal: no line is moved, and no characters within a line are erased.
    Basic,
    /// Scroll regions, inserted and deleted lines, erased characters. Erased cells get the default background.
    Vt,
    /// The same, and erased cells get the current background (`bce` in terminfo).
    Xterm,
}

/// Prefixes of `TERM` with `bce`, inserted and deleted lines, and `ech` in terminfo.
const XTERM_TERMS: [&str; 16] = [
    "xterm",
    "tmux",
    "alacritty",
    "contour",
    "foot",
    "ghostty",
    "iterm",
    "kitty",
    "konsole",
    "linux",
    "putty",
    "rio",
    "rxvt",
    "st-",
    "vte",
    "wezterm",
];

impl Dialect {
    /// Detects the dialect from the environment.
    pub fn detect(env: &impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name: &str| env(name).unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let term = value("TERM");
        let is_xterm = XTERM_TERMS.iter().any(|prefix| term.starts_with(prefix));
        if !is_xterm && !term.starts_with("screen") {
            Self::Basic
        } else if !value("STY").is_empty() {
            // GNU screen, whatever `TERM` says: it fills in colour only with `defbce on`.
            Self::Vt
        } else if is_xterm || !value("TMUX").is_empty() {
            // tmux uses the name `screen` too, and has `bce` since 2.2.
            Self::Xterm
        } else {
            Self::Vt
        }
    }

    /// Whether lines can be moved and characters erased.
    pub fn edits_lines(self) -> bool {
        match self {
            Self::Basic => false,
            Self::Vt | Self::Xterm => true,
        }
    }

    /// Whether erased cells get the current background.
    pub fn erases_in_color(self) -> bool {
        match self {
            Self::Basic | Self::Vt => false,
            Self::Xterm => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_terminal_gets_no_editing_sequences() {
        let cases = [
            ("none", "", "", Dialect::Basic),
            ("dumb", "dumb", "", Dialect::Basic),
            ("unknown", "vt52", "", Dialect::Basic),
            ("unknown, in GNU screen", "vt52", "STY", Dialect::Basic),
            ("xterm", "xterm-256color", "", Dialect::Xterm),
            ("tmux", "tmux-256color", "TMUX", Dialect::Xterm),
            ("tmux as screen", "screen-256color", "TMUX", Dialect::Xterm),
            ("GNU screen", "screen.xterm-256color", "STY", Dialect::Vt),
            ("GNU screen over ssh", "screen.xterm-256color", "", Dialect::Vt),
            ("GNU screen as xterm", "xterm-256color", "STY", Dialect::Vt),
        ];
        for (case, term, set, expected) in cases {
            let env = |name: &str| match name {
                "TERM" => Some(OsString::from(term)),
                name if name == set => Some(OsString::from("set")),
                _ => None,
            };
            assert_eq!(Dialect::detect(&env), expected, "case: {case}");
        }
    }
}
