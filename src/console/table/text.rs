//! Text that has to fit: by columns of the screen, not by bytes or characters.
//!
//! Invariants:
//! - what comes out is never wider than asked for, and never cuts a character that is written with several;
//! - what steers a terminal, hides or reorders comes out escaped, and is measured as that.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use trueup_core::engine::text::{Charset, misleads, printable};

/// The signs a list is drawn with, each one column wide but for the ellipsis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Whether letters beyond ASCII are shown or escaped.
    pub charset: Charset,
    /// Stands for what was cut. In ASCII not a `~`: that one says drift.
    pub ellipsis: &'static str,
    pub cursor: &'static str,
    pub mark: &'static str,
    pub ascending: &'static str,
    pub descending: &'static str,
    /// The part of a scrollbar that is in sight.
    pub thumb: &'static str,
}

impl Glyphs {
    pub const UNICODE: Self = Self {
        charset: Charset::Unicode,
        ellipsis: "…",
        cursor: "▸",
        mark: "✓",
        ascending: "▲",
        descending: "▼",
        thumb: "█",
    };
    pub const ASCII: Self = Self {
        charset: Charset::Ascii,
        ellipsis: "..",
        cursor: ">",
        mark: "*",
        ascending: "^",
        descending: "v",
        thumb: "#",
    };
}

/// The text, escaped where it has to be.
pub(super) fn shown<'t>(text: &'t str, glyphs: &Glyphs) -> Cow<'t, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    // A mark that joins a letter is fine beside one; alone it would draw over whatever stands before the text.
    let alone = text.graphemes(true).any(|grapheme| grapheme.width() == 0);
    if glyphs.charset == Charset::Unicode && !alone && !text.chars().any(misleads) {
        return Cow::Borrowed(text);
    }
    let text = printable(text, glyphs.charset);
    if !alone {
        return Cow::Owned(text);
    }
    let visible = |grapheme: &str| match grapheme.width() {
        0 => printable(grapheme, Charset::Ascii),
        _ => grapheme.to_owned(),
    };
    Cow::Owned(text.graphemes(true).map(visible).collect())
}

/// How many columns a text takes once it is shown.
pub fn display_width(text: &str, glyphs: &Glyphs) -> usize {
    columns(&shown(text, glyphs))
}

/// The text, or its beginning when it is too wide.
pub fn fit<'t>(text: &'t str, width: usize, glyphs: &Glyphs) -> Cow<'t, str> {
    let text = shown(text, glyphs);
    if columns(&text) <= width {
        return text;
    }
    let Some(room) = width.checked_sub(columns(glyphs.ellipsis)) else { return no_room(width, glyphs) };
    Cow::Owned(beginning(&text, room).to_owned() + glyphs.ellipsis)
}

/// The text, or its beginning and its end when it is too wide. The end is what tells names apart, so it has more room.
pub fn cut_middle<'t>(text: &'t str, width: usize, glyphs: &Glyphs) -> Cow<'t, str> {
    let text = shown(text, glyphs);
    if columns(&text) <= width {
        return text;
    }
    let Some(room) = width.checked_sub(columns(glyphs.ellipsis)) else { return no_room(width, glyphs) };
    let tail = end(&text, room - room / 2);
    let head = beginning(&text, room - columns(tail));
    Cow::Owned([head, glyphs.ellipsis, tail].concat())
}

/// As much as there is room for of the sign that something was cut.
fn no_room(width: usize, glyphs: &Glyphs) -> Cow<'static, str> {
    Cow::Borrowed(beginning(glyphs.ellipsis, width))
}

/// The width of text that is fit to be shown.
pub(super) fn columns(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.graphemes(true).map(|grapheme| grapheme.width()).sum() }
}

/// As much of the text from its start as there is room for.
fn beginning(text: &str, width: usize) -> &str {
    if is_plain(text) {
        return &text[..width.min(text.len())];
    }
    let mut used = 0;
    let cut = text.grapheme_indices(true).find(|(_, grapheme)| {
        used += grapheme.width();
        used > width
    });
    cut.map_or(text, |(at, _)| &text[..at])
}

/// As much of the text up to its end as there is room for.
fn end(text: &str, width: usize) -> &str {
    if is_plain(text) {
        return &text[text.len() - width.min(text.len())..];
    }
    let mut used = 0;
    let cut = text.grapheme_indices(true).rev().find(|(_, grapheme)| {
        used += grapheme.width();
        used > width
    });
    cut.map_or(text, |(at, grapheme)| &text[at + grapheme.len()..])
}

/// Whether every byte is a visible ASCII character: one column each, and nothing to escape.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_too_wide_loses_its_middle_or_its_end() {
        let cases = [
            ("fits", "client", 6, "client", "client"),
            ("one too wide", "clients", 6, "cl…nts", "clien…"),
            ("a long name", "openshift-config/ext-auth-client-old", 16, "openshi…ient-old", "openshift-confi…"),
            ("two columns", "client", 2, "…t", "c…"),
            ("one column", "client", 1, "…", "…"),
            ("none", "client", 0, "", ""),
            ("wide letters", "名前名前名前", 6, "名…前", "名前…"),
            (
                "a letter of two characters",
                "e\u{301}e\u{301}e\u{301}e\u{301}",
                3,
                "e\u{301}…e\u{301}",
                "e\u{301}e\u{301}…",
            ),
            ("escapes are measured as shown", "a\u{202e}b", 20, "a\\u{202e}b", "a\\u{202e}b"),
            ("an escape sequence", "\x1b[2Jabc", 7, "\\u{…abc", "\\u{1b}…"),
        ];
        for (case, text, width, middle, end) in cases {
            assert_eq!(cut_middle(text, width, &Glyphs::UNICODE), middle, "case: {case}");
            assert_eq!(fit(text, width, &Glyphs::UNICODE), end, "case: {case}");
        }
        assert_eq!(fit("größer", 12, &Glyphs::ASCII), "gr\\u{f6}\\u..");
        assert_eq!(fit("client", 1, &Glyphs::ASCII), ".");
    }

    #[test]
    fn a_mark_without_its_letter_is_written_out() {
        assert_eq!(fit("\u{301}abc", 20, &Glyphs::UNICODE), "\\u{301}abc");
    }

    proptest! {
        #[test]
        fn nothing_is_ever_wider_than_asked_for(text in "\\PC{0,30}|[a-z名前\u{301}\u{1b}\u{202e}]{0,30}", width in 0usize..40) {
            for glyphs in [Glyphs::UNICODE, Glyphs::ASCII] {
                for cut in [fit(&text, width, &glyphs), cut_middle(&text, width, &glyphs)] {
                    prop_assert!(columns(&cut) <= width, "{cut:?} in {width}");
                    prop_assert!(!cut.chars().any(misleads), "{cut:?}");
                    prop_assert_eq!(columns(&cut), cut.graphemes(true).map(|one| one.width()).sum::<usize>());
                }
                if display_width(&text, &glyphs) <= width {
                    prop_assert_eq!(fit(&text, width, &glyphs), cut_middle(&text, width, &glyphs));
                }
            }
        }
    }
}
