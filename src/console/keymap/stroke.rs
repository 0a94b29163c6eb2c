//! One key press, as in the key file and as reported by the terminal.
//!
//! Invariants:
//! - a key has one printed form, which parses to the same key;
//! - shift is part of a letter: `K` is its own key, whether or not the terminal reports shift.

#![expect(clippy::wildcard_enum_match_arm, reason = "KeyCode is crossterm's enum; most keys are treated alike")]

use std::fmt;

use crokey::KeyCombination;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use toml::Spanned;

use trueup_checks::SettingsProblem;

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stroke {
    code: KeyCode,
    /// Without shift when the code is a character: shift is part of the character.
    held: KeyModifiers,
}

/// Text that is not a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid key `{text}`")]
pub struct BadStroke {
    pub text: String,
}

/// Named keys as printed, with their codes.
const NAMED: [(&str, KeyCode); 15] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
];

/// Modifiers that terminals report. Others (caps lock, left or right) do not make another key.
const HELD: [(&str, KeyModifiers); 4] = [
    ("ctrl-", KeyModifiers::CONTROL),
    ("alt-", KeyModifiers::ALT),
    ("cmd-", KeyModifiers::SUPER),
    ("shift-", KeyModifiers::SHIFT),
];

impl Stroke {
    /// Parses `K`, `?`, `ctrl-r`, `shift-tab`, `pagedown`, `f5`.
    ///
    /// # Errors
    /// The text is not a key, or several keys.
    pub fn parse(text: &str) -> Result<Self, BadStroke> {
        let mut letters = text.chars();
        // A single character is itself. Checked here because crokey reads `K` as `k` and only knows ASCII.
        if let (Some(letter), None) = (letters.next(), letters.next())
            && !letter.is_control()
            && letter != ' '
        {
            return Ok(Self::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
        let bad = || BadStroke { text: text.to_owned() };
        let combination: KeyCombination = crokey::parse(text).map_err(|_| bad())?;
        if !combination.is_ansi_compatible() || text.chars().any(|letter| letter.is_control() || letter == ' ') {
            return Err(bad());
        }
        Ok(Self::new(*combination.codes.first(), combination.modifiers))
    }

    /// Parses a sequence of keys: `g g`.
    ///
    /// # Errors
    /// One of them is not a key, or there is none.
    pub fn parse_sequence(text: &str) -> Result<Vec<Self>, BadStroke> {
        let strokes = text.split_whitespace().map(Self::parse).collect::<Result<Vec<_>, _>>()?;
        if strokes.is_empty() { Err(BadStroke { text: text.to_owned() }) } else { Ok(strokes) }
    }

    /// Renders a sequence of keys.
    pub fn sequence_text(strokes: &[Self]) -> String {
        strokes.iter().map(Self::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Whether the key types a character in a text field.
    pub fn types(&self) -> bool {
        let bare = (self.held - KeyModifiers::SHIFT).is_empty();
        bare && matches!(self.code, KeyCode::Char(_))
    }

    fn new(code: KeyCode, held: KeyModifiers) -> Self {
        let known = HELD.iter().fold(KeyModifiers::NONE, |all, (_, one)| all | *one);
        let held = held & known;
        let shift = held.contains(KeyModifiers::SHIFT);
        match code {
            KeyCode::Char('\r' | '\n') => Self { code: KeyCode::Enter, held },
            KeyCode::Char(' ') => Self { code, held },
            KeyCode::Char(letter) if shift => {
                Self { code: KeyCode::Char(letter.to_ascii_uppercase()), held: held - KeyModifiers::SHIFT }
            }
            // Terminals report shift-tab as its own key, with or without shift.
            KeyCode::BackTab => Self { code: KeyCode::Tab, held: held | KeyModifiers::SHIFT },
            code => Self { code, held },
        }
    }
}

impl From<KeyEvent> for Stroke {
    fn from(event: KeyEvent) -> Self {
        Self::new(event.code, event.modifiers)
    }
}

impl fmt::Display for Stroke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut held = self.held;
        // With a modifier, a capital is read as its small letter plus shift.
        let capital = match self.code {
            KeyCode::Char(letter) if letter.is_ascii_uppercase() && !held.is_empty() => Some(letter),
            _ => None,
        };
        if capital.is_some() {
            held |= KeyModifiers::SHIFT;
        }
        for (name, modifier) in HELD {
            if held.contains(modifier) {
                f.write_str(name)?;
            }
        }
        if let Some(letter) = capital {
            return write!(f, "{}", letter.to_ascii_lowercase());
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char('-') if !held.is_empty() => f.write_str("minus"),
            KeyCode::Char(letter) => write!(f, "{letter}"),
            KeyCode::F(number) => write!(f, "f{number}"),
            // Media and lock keys: reported by few terminals; named by crossterm.
            other => write!(f, "{other}"),
        }
    }
}

impl BadStroke {
    /// The problem for a key file, with the most likely intended key.
    pub(super) fn as_problem(&self, at: std::ops::Range<usize>) -> SettingsProblem {
        let (held, name) = match self.text.rsplit_once('-') {
            Some((held, name)) if !name.is_empty() => (format!("{held}-"), name),
            _ => (String::new(), self.text.as_str()),
        };
        let known: Vec<String> = NAMED.iter().map(|(known, _)| format!("{held}{known}")).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let meant = format!("{held}{name}");
        SettingsProblem::unknown(&Spanned::new(at, meant.as_str()), "key", &known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_keys_equal_keys_of_the_file() {
        let cases = [
            ("a letter", "k", KeyCode::Char('k'), KeyModifiers::NONE),
            ("a capital with shift", "K", KeyCode::Char('K'), KeyModifiers::SHIFT),
            ("a capital without shift", "K", KeyCode::Char('K'), KeyModifiers::NONE),
            ("a small letter with shift", "K", KeyCode::Char('k'), KeyModifiers::SHIFT),
            ("a sign that needs shift", "?", KeyCode::Char('?'), KeyModifiers::SHIFT),
            ("beyond ASCII", "ö", KeyCode::Char('ö'), KeyModifiers::NONE),
            ("held", "ctrl-r", KeyCode::Char('r'), KeyModifiers::CONTROL),
            ("back tab", "shift-tab", KeyCode::BackTab, KeyModifiers::SHIFT),
            ("back tab by its other name", "backtab", KeyCode::BackTab, KeyModifiers::NONE),
            ("space", "space", KeyCode::Char(' '), KeyModifiers::NONE),
            ("a line end", "enter", KeyCode::Char('\r'), KeyModifiers::NONE),
            ("minus", "-", KeyCode::Char('-'), KeyModifiers::NONE),
            ("function key", "f5", KeyCode::F(5), KeyModifiers::NONE),
        ];
        for (case, text, code, held) in cases {
            assert_eq!(Stroke::parse(text), Ok(Stroke::from(KeyEvent::new(code, held))), "case: {case}");
        }
    }

    #[test]
    fn printed_keys_parse_to_the_same_key() {
        for text in ["k", "K", "?", "ö", "-", "ctrl-r", "alt-shift-k", "ctrl-minus", "shift-tab", "space", "pagedown"]
        {
            assert_eq!(Stroke::parse(text).unwrap().to_string(), text);
        }
        for (_, code) in NAMED {
            let stroke = Stroke::from(KeyEvent::new(code, KeyModifiers::ALT));
            assert_eq!(Stroke::parse(&stroke.to_string()), Ok(stroke));
        }
    }

    #[test]
    fn invalid_keys_are_rejected() {
        for text in ["", " ", "entr", "a-b", "ctrl-", "\u{1b}", "ctrl-foo", "a b"] {
            assert!(Stroke::parse(text).is_err(), "{text:?} was read as a key");
        }
        let message = BadStroke { text: "ctrl-pagdown".to_owned() }.as_problem(0..0).message;
        assert_eq!(message, "unknown key `ctrl-pagdown`; did you mean `ctrl-pagedown`?");
    }

    #[test]
    fn a_letter_types_and_a_letter_with_ctrl_does_not() {
        let types = |text: &str| Stroke::parse(text).unwrap().types();
        assert!(types("a") && types("A") && types("space") && types("?"));
        assert!(!types("ctrl-a") && !types("alt-a") && !types("enter") && !types("f1"));
    }
}
