//! Sequences outside frames: clipboard, titles and alerts.
//!
//! Invariants: a text cannot end its own sequence: it is [`Printable`] and has no line breaks in titles and alerts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::console::effect::Alert;
use trueup_core::engine::text::Printable;

/// Too long for the terminals' clipboards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot copy {bytes} bytes through the terminal (limit {max})")]
pub struct CopyTooLong {
    pub bytes: usize,
    pub max: usize,
}

/// Several terminals drop sequences of 100,000 bytes and more: 74,991 bytes of text are 99,988 of base64, and 8 around.
const COPY_BYTES_MAX: usize = 74_991;

/// Length of a title that fits a tab; terminals differ beyond.
const TITLE_CHARS_MAX: usize = 120;

/// Bytes that copy a text to the clipboard of the terminal's machine (OSC 52), through tmux if needed.
///
/// In tmux the sequence is sent twice: plain for a tmux with its own clipboard, wrapped for one with passthrough. Copying
/// twice does no harm.
///
/// # Errors
/// The text exceeds the limit of terminals.
pub fn copy(text: &Printable, tmux: bool) -> Result<Vec<u8>, CopyTooLong> {
    if text.len() > COPY_BYTES_MAX {
        return Err(CopyTooLong { bytes: text.len(), max: COPY_BYTES_MAX });
    }
    let plain = format!("\x1b]52;c;{}\x07", STANDARD.encode(text.as_bytes()));
    let wrapped = if tmux { through_tmux(&plain) } else { String::new() };
    Ok(format!("{plain}{wrapped}").into_bytes())
}

/// Bytes of an alert.
pub fn alert(alert: Alert, text: &Printable, tmux: bool) -> Vec<u8> {
    match alert {
        Alert::Off => Vec::new(),
        Alert::Bell => b"\x07".to_vec(),
        Alert::Message => {
            let plain = format!("\x1b]9;{}\x07", text.cut(TITLE_CHARS_MAX));
            if tmux { through_tmux(&plain) } else { plain }.into_bytes()
        }
    }
}

/// Wraps a sequence for tmux passthrough.
fn through_tmux(plain: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b"))
}

/// Bytes that set the window's title.
pub fn title(text: &Printable) -> Vec<u8> {
    format!("\x1b]2;{}\x07", text.cut(TITLE_CHARS_MAX)).into_bytes()
}

/// Bytes that show progress in the title, visible from other windows.
pub fn progress_title(what: &str, done: usize, of: usize) -> Vec<u8> {
    title(&Printable::line(&format!("{done}/{of} {what}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap().replace('\x1b', "ESC").replace('\x07', "BEL")
    }

    #[test]
    fn a_copy_is_base64_and_wrapped_for_tmux() {
        assert_eq!(spelled(&copy(&Printable::line("größe\x1b"), false).unwrap()), "ESC]52;c;Z3LDtsOfZVx1ezFifQ==BEL");
        assert_eq!(
            spelled(&copy(&Printable::line("a"), true).unwrap()),
            "ESC]52;c;YQ==BELESCPtmux;ESCESC]52;c;YQ==BELESC\\"
        );
    }

    #[test]
    fn an_alert_is_a_bell_or_a_message_that_cannot_end_its_sequence() {
        let cases = [
            (Alert::Off, false, ""),
            (Alert::Bell, true, "BEL"),
            (Alert::Message, false, "ESC]9;a\\u{7}\\u{1b}]52;cBEL"),
            (Alert::Message, true, "ESCPtmux;ESCESC]9;a\\u{7}\\u{1b}]52;cBELESC\\"),
        ];
        for (kind, tmux, bytes) in cases {
            assert_eq!(
                spelled(&alert(kind, &Printable::line("a\x07\x1b]52;c"), tmux)),
                bytes,
                "{kind:?}, tmux: {tmux}"
            );
        }
    }

    #[test]
    fn a_copy_above_the_limit_is_an_error() {
        let bytes = copy(&Printable::line(&"x".repeat(COPY_BYTES_MAX)), false).unwrap();
        assert!(bytes.len() < 100_000);
        let refused = copy(&Printable::line(&"x".repeat(COPY_BYTES_MAX + 1)), false);
        assert_eq!(refused, Err(CopyTooLong { bytes: COPY_BYTES_MAX + 1, max: COPY_BYTES_MAX }));
    }

    #[test]
    fn a_title_cannot_end_its_sequence() {
        assert_eq!(
            spelled(&title(&Printable::line("mgmt\x07\x1b]52;c;x\u{9c} – prod"))),
            "ESC]2;mgmt\\u{7}\\u{1b}]52;c;x\\u{9c} – prodBEL"
        );
        assert_eq!(spelled(&progress_title("trueup 5f21c9aa", 9, 13)), "ESC]2;9/13 trueup 5f21c9aaBEL");
        assert_eq!(title(&Printable::line(&"x".repeat(500))).len(), TITLE_CHARS_MAX + 5);
    }
}
