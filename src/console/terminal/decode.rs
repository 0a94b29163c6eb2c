//! Decodes terminal input into events.
//!
//! Invariants:
//! - late responses to terminal queries are dropped as a whole, and never read as keys;
//! - invalid bytes are skipped one by one: the following bytes are read as if they had not been sent;
//! - keys use crossterm's types.
//!
//! Pure. Own code, because crossterm's reader cannot be stopped reliably, reads late responses as keys, and loses a key that
//! arrives together with a resize (it polls edge-triggered and returns after the first).

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// Result of decoding the first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An event, and its number of bytes.
    Event(Event, usize),
    /// Bytes without a meaning.
    Skip(usize),
    /// An incomplete sequence.
    Incomplete,
}

/// Decodes an incomplete sequence after a timeout: an escape key, a letter with alt, or a paste whose end never came.
pub fn give_up(bytes: &[u8]) -> Step {
    match bytes {
        [] => Step::Incomplete,
        paste if is_paste(paste) => pasted(&paste[PASTE_START.len()..], paste.len()),
        [b'\x1b'] => key(KeyCode::Esc, KeyModifiers::NONE, 1),
        [b'\x1b', letter] => key(KeyCode::Char(char::from(*letter)), KeyModifiers::ALT, 2),
        _ => Step::Skip(bytes.len()),
    }
}

/// Whether these bytes begin a paste whose end has not arrived.
pub fn is_paste(bytes: &[u8]) -> bool {
    bytes.starts_with(PASTE_START)
}

/// Decodes the rest of a paste that was cut: everything up to its end is skipped, so that none of it is read as keys.
pub fn rest_of_paste(bytes: &[u8]) -> Step {
    match end_of_paste(bytes) {
        Some(end) => Step::Skip(end + PASTE_END.len()),
        // The end itself may arrive in two parts.
        None if bytes.len() >= PASTE_END.len() => Step::Skip(bytes.len() + 1 - PASTE_END.len()),
        None => Step::Incomplete,
    }
}

/// Limit of a sequence, except for pastes.
const SEQUENCE_BYTES_MAX: usize = 4096;
/// Limit of a paste. The rest is skipped.
const PASTE_BYTES_MAX: usize = 1 << 20;

const PASTE_START: &[u8] = b"\x1b[200~";
pub const PASTE_END: &[u8] = b"\x1b[201~";

/// Decodes the first event.
pub fn decode(bytes: &[u8]) -> Step {
    match bytes {
        [] | [b'\x1b'] => Step::Incomplete,
        [b'\x1b', b'[', rest @ ..] => sequence(bytes, rest),
        [b'\x1b', b'O', rest @ ..] => match rest.first() {
            None => Step::Incomplete,
            Some(end) => named(*end).map_or(Step::Skip(3), |code| key(code, KeyModifiers::NONE, 3)),
        },
        // Strings end with BEL or ESC \: all are responses.
        [b'\x1b', b']' | b'P' | b'_' | b'^' | b'X', rest @ ..] => string(rest),
        [b'\x1b', b'\x1b', ..] => key(KeyCode::Esc, KeyModifiers::NONE, 1),
        [b'\x1b', rest @ ..] => match decode(rest) {
            Step::Event(Event::Key(found), used) => key(found.code, found.modifiers | KeyModifiers::ALT, used + 1),
            Step::Event(..) | Step::Skip(_) => Step::Skip(1),
            Step::Incomplete => Step::Incomplete,
        },
        [first, ..] => letter(*first, bytes),
    }
}

fn letter(first: u8, bytes: &[u8]) -> Step {
    let control = |letter: u8| key(KeyCode::Char(char::from(letter)), KeyModifiers::CONTROL, 1);
    match first {
        b'\r' => key(KeyCode::Enter, KeyModifiers::NONE, 1),
        b'\t' => key(KeyCode::Tab, KeyModifiers::NONE, 1),
        b'\x7f' => key(KeyCode::Backspace, KeyModifiers::NONE, 1),
        b'\0' => control(b' '),
        b'\x01'..=b'\x1a' => control(first - 1 + b'a'),
        b'\x1b'..=b'\x1f' => control(first - 0x1c + b'4'),
        b' '..=b'~' => typed(char::from(first), 1),
        b'\x80'.. => {
            let length = match first {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return Step::Skip(1),
            };
            if bytes.len() < length {
                return Step::Incomplete;
            }
            let text = std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next());
            text.map_or(Step::Skip(1), |letter| typed(letter, length))
        }
    }
}

/// A letter; capitals have shift, as in crossterm.
fn typed(letter: char, used: usize) -> Step {
    let modifiers = if letter.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    key(KeyCode::Char(letter), modifiers, used)
}

fn key(code: KeyCode, modifiers: KeyModifiers, used: usize) -> Step {
    Step::Event(Event::Key(KeyEvent::new(code, modifiers)), used)
}

fn string(rest: &[u8]) -> Step {
    let end = rest.iter().enumerate().find_map(|(at, byte)| match byte {
        b'\x07' => Some(at + 1),
        b'\\' if at > 0 && rest[at - 1] == b'\x1b' => Some(at + 1),
        _ => None,
    });
    match end {
        Some(end) => Step::Skip(end + 2),
        None if rest.len() > SEQUENCE_BYTES_MAX => Step::Skip(rest.len() + 2),
        None => Step::Incomplete,
    }
}

/// `ESC [ parameters final`.
fn sequence(bytes: &[u8], rest: &[u8]) -> Step {
    let Some(at) = rest.iter().position(|byte| !matches!(byte, b' '..=b'?')) else {
        return if rest.len() > SEQUENCE_BYTES_MAX { Step::Skip(bytes.len()) } else { Step::Incomplete };
    };
    let (used, end) = (at + 3, rest[at]);
    let Ok(parameters) = std::str::from_utf8(&rest[..at]) else { return Step::Skip(used) };
    let event = match (parameters, end) {
        ("", b'I') => Some(Event::FocusGained),
        ("", b'O') => Some(Event::FocusLost),
        ("", b'Z') => return key(KeyCode::BackTab, KeyModifiers::SHIFT, used),
        ("200", b'~') => return paste(bytes, used),
        (_, b'~') => numbered(parameters),
        (_, b'u') => kitty_key(parameters),
        (_, b'M' | b'm') => parameters.strip_prefix('<').and_then(|mouse| clicked(mouse, end)),
        // A cursor position report has a row before the column; a key has 1 or nothing.
        ("" | "1", _) => named(end).map(|code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE))),
        (_, _) => {
            let modified = parameters.strip_prefix("1;").and_then(modifiers);
            let named = modified.and_then(|modified| Some((named(end)?, modified)));
            named.map(|(code, (modifiers, kind))| Event::Key(KeyEvent::new_with_kind(code, modifiers, kind)))
        }
    };
    event.map_or(Step::Skip(used), |event| Step::Event(event, used))
}

fn paste(bytes: &[u8], start: usize) -> Step {
    let rest = &bytes[start..];
    match end_of_paste(rest) {
        Some(end) => pasted(&rest[..end], start + end + PASTE_END.len()),
        None if rest.len() > PASTE_BYTES_MAX => pasted(rest, bytes.len()),
        None => Step::Incomplete,
    }
}

fn pasted(text: &[u8], used: usize) -> Step {
    let kept = &text[..text.len().min(PASTE_BYTES_MAX)];
    Step::Event(Event::Paste(String::from_utf8_lossy(kept).into_owned()), used)
}

fn end_of_paste(bytes: &[u8]) -> Option<usize> {
    bytes.windows(PASTE_END.len()).position(|window| window == PASTE_END)
}

/// `ESC [ 5 ; 2 ~`
fn numbered(parameters: &str) -> Option<Event> {
    let (number, modified) = parameters.split_once(';').unwrap_or((parameters, "1"));
    let code = match number.parse::<u8>().ok()? {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        number @ 11..=15 => KeyCode::F(number - 10),
        number @ 17..=21 => KeyCode::F(number - 11),
        number @ 23..=24 => KeyCode::F(number - 12),
        _ => return None,
    };
    let (modifiers, kind) = modifiers(modified)?;
    Some(Event::Key(KeyEvent::new_with_kind(code, modifiers, kind)))
}

/// `ESC [ 97 ; 5 : 1 u`: the kitty keyboard protocol.
fn kitty_key(parameters: &str) -> Option<Event> {
    let (number, modified) = parameters.split_once(';').unwrap_or((parameters, "1"));
    let (modifiers, kind) = modifiers(modified.split(';').next()?)?;
    let letter = char::from_u32(number.split(':').next()?.parse().ok()?)?;
    let code = match letter {
        '\r' => KeyCode::Enter,
        '\x1b' => KeyCode::Esc,
        '\t' if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        '\t' => KeyCode::Tab,
        '\x7f' => KeyCode::Backspace,
        // Other functional keys have no use here.
        '\u{e000}'..='\u{f8ff}' => return None,
        letter => KeyCode::Char(letter),
    };
    Some(Event::Key(KeyEvent::new_with_kind(code, modifiers, kind)))
}

/// One more than the sum of the modifiers, and the event type: `5:3`.
fn modifiers(text: &str) -> Option<(KeyModifiers, KeyEventKind)> {
    let (mask, kind) = text.split_once(':').unwrap_or((text, "1"));
    let mask = mask.parse::<u8>().ok()?.checked_sub(1)?;
    let held = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    let held = held.into_iter().filter(|(bit, _)| mask & bit != 0).map(|(_, modifier)| modifier).collect();
    let kind = match kind {
        "2" => KeyEventKind::Repeat,
        "3" => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    Some((held, kind))
}

/// Keys with a letter as final byte.
fn named(end: u8) -> Option<KeyCode> {
    Some(match end {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'M' => KeyCode::Enter,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'R' => KeyCode::F(3),
        b'S' => KeyCode::F(4),
        _ => return None,
    })
}

/// `0;12;3` and `M` for press or `m` for release; columns and rows from 1.
fn clicked(parameters: &str, end: u8) -> Option<Event> {
    let mut numbers = parameters.split(';').map(|number| number.parse::<u16>().ok());
    let (what, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let button = match what & 0b11 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let (wheel, moved) = (what & 64 != 0, what & 32 != 0);
    let kind = match (wheel, moved, button) {
        (true, _, Some(MouseButton::Left)) => MouseEventKind::ScrollUp,
        (true, _, Some(MouseButton::Middle)) => MouseEventKind::ScrollDown,
        (true, _, Some(MouseButton::Right)) => MouseEventKind::ScrollLeft,
        (true, _, None) => MouseEventKind::ScrollRight,
        (false, true, Some(button)) => MouseEventKind::Drag(button),
        (false, true, None) => MouseEventKind::Moved,
        (false, false, Some(button)) if end == b'M' => MouseEventKind::Down(button),
        (false, false, Some(button)) => MouseEventKind::Up(button),
        (false, false, None) => return None,
    };
    let held = [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)];
    let modifiers = held.into_iter().filter(|(bit, _)| what & bit != 0).map(|(_, modifier)| modifier).collect();
    let (column, row) = (column.checked_sub(1)?, row.checked_sub(1)?);
    Some(Event::Mouse(MouseEvent { kind, column, row, modifiers }))
}

#[cfg(test)]
mod tests;
