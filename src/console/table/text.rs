//! Fitting text into columns of the screen.
//!
//! Invariants:
//! - the result is never wider than requested, and never splits a grapheme;
//! - control, hidden and reordering characters are escaped and measured in their escaped form.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use trueup_core::engine::text::{Charset, misleads, printable};

/// Glyphs of a list, each one column wide except the ellipsis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Whether characters beyond ASCII are shown or escaped.
    pub charset: Charset,
    /// Marks a cut. In ASCII not `~`, which means drift.
    pub ellipsis: &'static str,
    pub cursor: &'static str,
    pub mark: &'static str,
    pub ascending: &'static str,
    pub descending: &'static str,
    /// The scrollbar's thumb.
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

/// Escapes the text where necessary.
pub(super) fn shown<'t>(text: &'t str, glyphs: &Glyphs) -> Cow<'t, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    // A combining mark is fine after a letter; at the start it would combine with the text before.
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

/// Width of a text when shown.
pub fn display_width(text: &str, glyphs: &Glyphs) -> usize {
    columns(&shown(text, glyphs))
}

/// The text, or its start when it is too wide.
pub fn fit<'t>(text: &'t str, width: usize, glyphs: &Glyphs) -> Cow<'t, str> {
    let text = shown(text, glyphs);
    if columns(&text) <= width {
        return text;
    }
    let Some(space) = width.checked_sub(columns(glyphs.ellipsis)) else { return ellipsis_only(width, glyphs) };
    Cow::Owned(beginning(&text, space).to_owned() + glyphs.ellipsis)
}

/// The text, or its start and end when it is too wide. The end distinguishes names, so it gets more space.
pub fn cut_middle<'t>(text: &'t str, width: usize, glyphs: &Glyphs) -> Cow<'t, str> {
    let text = shown(text, glyphs);
    if columns(&text) <= width {
        return text;
    }
    let Some(space) = width.checked_sub(columns(glyphs.ellipsis)) else { return ellipsis_only(width, glyphs) };
    let tail = end(&text, space - space / 2);
    let head = beginning(&text, space - columns(tail));
    Cow::Owned([head, glyphs.ellipsis, tail].concat())
}

/// As much of the ellipsis as fits.
fn ellipsis_only(width: usize, glyphs: &Glyphs) -> Cow<'static, str> {
    Cow::Borrowed(beginning(glyphs.ellipsis, width))
}

/// Width of escaped text.
pub(super) fn columns(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.graphemes(true).map(|grapheme| grapheme.width()).sum() }
}

/// The longest start of the text that fits.
pub(super) fn beginning(text: &str, width: usize) -> &str {
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

/// The longest end of the text that fits.
pub(super) fn end(text: &str, width: usize) -> &str {
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

/// Whether every byte is a visible ASCII character: one column each, nothing to escape.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_that_is_too_wide_loses_its_middle_or_its_end() {
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
    fn a_combining_mark_without_its_letter_is_escaped() {
        assert_eq!(fit("\u{301}abc", 20, &Glyphs::UNICODE), "\\u{301}abc");
    }

    proptest! {
        #[test]
        fn the_result_is_never_wider_than_requested(text in "\\PC{0,30}|[a-z名前\u{301}\u{1b}\u{202e}]{0,30}", width in 0usize..40) {
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
