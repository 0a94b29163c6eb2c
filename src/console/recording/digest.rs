//! Digest of a drawn frame: every cell with its style, and the cursor.
//!
//! Invariants: frames with the same cells have the same digest on every machine. It tells frames apart, and proves nothing
//! against someone who wants two frames to look the same.

use std::fmt::{self, Write as _};

use ratatui::buffer::{Buffer, Cell};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::console::terminal::Cursor;

/// FNV-1a, 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Digest {
    pub fn of(buffer: &Buffer, cursor: Cursor) -> Self {
        let mut digest = Self(OFFSET);
        digest.note(format_args!("{}x{} {cursor:?}", buffer.area.width, buffer.area.height));
        let mut before: Option<&Cell> = None;
        for cell in &buffer.content {
            // Most neighbours share their style, which is slow to write.
            if before.is_none_or(|before| before.style() != cell.style()) {
                digest.note(format_args!("{:?}", cell.style()));
            }
            digest.add(cell.symbol().as_bytes());
            digest.add(&[0]);
            before = Some(cell);
        }
        digest
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }

    fn note(&mut self, text: fmt::Arguments<'_>) {
        self.write_fmt(text).expect("a digest takes every text");
    }
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::{Position, Rect};
    use ratatui::style::{Modifier, Style};

    use super::*;

    #[test]
    fn a_digest_tells_text_style_size_and_cursor_apart() {
        let buffer = |text: &str, style: Style, width: u16| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, 2));
            buffer.set_string(0, 0, text, style);
            buffer
        };
        let plain = Digest::of(&buffer("ab", Style::new(), 4), Cursor::Hidden);
        assert_eq!(Digest::of(&buffer("ab", Style::new(), 4), Cursor::Hidden), plain);
        for (case, other, cursor) in [
            ("text", buffer("ac", Style::new(), 4), Cursor::Hidden),
            ("style", buffer("ab", Style::new().add_modifier(Modifier::BOLD), 4), Cursor::Hidden),
            ("size", buffer("ab", Style::new(), 5), Cursor::Hidden),
            ("cursor", buffer("ab", Style::new(), 4), Cursor::At(Position { x: 1, y: 0 })),
        ] {
            assert_ne!(Digest::of(&other, cursor), plain, "case: {case}");
        }
    }
}
