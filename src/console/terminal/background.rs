//! Detects a light or dark terminal background.
//!
//! Invariants:
//! - the query ends with one that every terminal answers (`ESC[c`), so that a terminal without OSC 11 costs a round trip and
//!   not the whole timeout;
//! - no wait exceeds its timeout.
//!
//! Elsewhere: choosing a theme by it (`run`).

#![expect(clippy::disallowed_methods, reason = "bounds the wait for the terminal's reply")]

use std::io;
use std::time::{Duration, Instant};

use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

/// Brightness of the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shade {
    Light,
    Dark,
}

/// Response so far. A terminal may answer the second query and not the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackgroundAnswer {
    /// More bytes follow: if reading stops now, they arrive as keys.
    Pending(Option<Shade>),
    Complete(Option<Shade>),
}

/// Queries the background (OSC 11), then the device attributes (DA1).
pub const BACKGROUND_QUERY: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";

/// Parses the response from all bytes received so far, keys included.
///
/// `ESC ] 11 ; rgb:RRRR/GGGG/BBBB` and BEL or `ESC \`, with one to four digits a colour; then `ESC [ ? 6 2 ; … c`.
pub fn parse_background(bytes: &[u8]) -> BackgroundAnswer {
    let colors = between(bytes, b"\x1b]11;rgb:", |byte| byte.is_ascii_hexdigit() || *byte == b'/');
    let shade = colors.filter(|(_, end)| matches!(end, b'\x07' | b'\x1b')).and_then(|(colors, _)| shade(colors));
    let kind = between(bytes, b"\x1b[?", |byte| byte.is_ascii_digit() || *byte == b';');
    match kind {
        Some((_, b'c')) => BackgroundAnswer::Complete(shade),
        Some(_) | None => BackgroundAnswer::Pending(shade),
    }
}

/// Waits for the response to [`BACKGROUND_QUERY`]. `None` on timeout.
///
/// The terminal must be in raw mode without another reader: the key decoder would read the response as keys. Keys typed
/// meanwhile are lost.
///
/// # Errors
/// stdin is not a terminal, or cannot be read.
pub fn read_background(wait: Duration) -> io::Result<Option<Shade>> {
    let stdin = rustix::stdio::stdin();
    let before = tcgetattr(stdin)?;
    // Let a read return without a byte after a tenth of a second: no second thread, no polling of descriptors, which macOS
    // terminals do not support.
    let mut patient = before.clone();
    patient.special_codes[SpecialCodeIndex::VMIN] = 0;
    patient.special_codes[SpecialCodeIndex::VTIME] = 1;
    tcsetattr(stdin, OptionalActions::Now, &patient)?;
    let read = read_until(Instant::now() + wait);
    tcsetattr(stdin, OptionalActions::Now, &before)?;
    read
}

fn read_until(deadline: Instant) -> io::Result<Option<Shade>> {
    let mut answer = Vec::new();
    let mut shade = None;
    let mut space = [0; 256];
    while Instant::now() < deadline && answer.len() < ANSWER_BYTES_MAX {
        let count = rustix::io::read(rustix::stdio::stdin(), &mut space)?;
        answer.extend_from_slice(&space[..count]);
        match parse_background(&answer) {
            BackgroundAnswer::Pending(so_far) => shade = so_far,
            BackgroundAnswer::Complete(shade) => return Ok(shade),
        }
    }
    Ok(shade)
}

/// Both responses have less than a hundred bytes; more is typing or a paste.
const ANSWER_BYTES_MAX: usize = 4096;

/// Light when its relative luminance is above one half.
fn shade(colors: &[u8]) -> Option<Shade> {
    let text = std::str::from_utf8(colors).ok()?;
    let mut channels = text.split('/').map(|digits| {
        let most = 16u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        (digits.len() <= 4).then(|| f64::from(value) / f64::from(most))
    });
    let mut channel = || channels.next().flatten();
    let (red, green, blue) = (channel()?, channel()?, channel()?);
    // Rec. 709 luminance weights.
    let light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    Some(if light > 0.5 { Shade::Light } else { Shade::Dark })
}

/// The bytes between a start and the first byte that does not belong to it, and that byte.
fn between<'b>(bytes: &'b [u8], start: &[u8], belongs: impl Fn(&u8) -> bool) -> Option<(&'b [u8], u8)> {
    let at = bytes.windows(start.len()).position(|window| window == start)?;
    let rest = &bytes[at + start.len()..];
    let end = rest.iter().position(|byte| !belongs(byte))?;
    Some((&rest[..end], rest[end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_is_found_among_other_bytes() {
        use BackgroundAnswer::{Complete, Pending};
        let (light, dark) = (Some(Shade::Light), Some(Shade::Dark));
        let cases: [(&str, &[u8], BackgroundAnswer); 12] = [
            ("nothing yet", b"", Pending(None)),
            ("four digits, BEL", b"\x1b]11;rgb:fbfb/fafa/f6f6\x07", Pending(light)),
            ("four digits, ST", b"\x1b]11;rgb:1212/1616/1f1f\x1b\\\x1b[?62;4c", Complete(dark)),
            ("two digits", b"\x1b]11;rgb:ff/ff/ff\x07\x1b[?6c", Complete(light)),
            ("one digit", b"\x1b]11;rgb:0/0/0\x07", Pending(dark)),
            ("cut in the middle", b"\x1b]11;rgb:1212/16", Pending(None)),
            ("keys before and between", b"jj\x1b]11;rgb:0000/0000/0000\x1b\\k\x1b[?62;4c", Complete(dark)),
            ("only its kind", b"\x1b[?62;4c", Complete(None)),
            ("its kind, cut", b"\x1b[?62;", Pending(None)),
            ("blue is dark", b"\x1b]11;rgb:0000/0000/ffff\x07", Pending(dark)),
            ("two colours", b"\x1b]11;rgb:ffff/ffff\x07\x1b[?6c", Complete(None)),
            ("too many digits", b"\x1b]11;rgb:fffffffff/0/0\x07\x1b[?6c", Complete(None)),
        ];
        for (case, bytes, expected) in cases {
            assert_eq!(parse_background(bytes), expected, "case: {case}");
        }
    }
}
