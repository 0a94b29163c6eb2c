//! Glyphs of the screen, each with an ASCII counterpart.
//!
//! Invariants: both sets have the same glyphs, and an ASCII one has the same width as its counterpart, so that layout does
//! not depend on the set. [`Glyphs::ellipsis`], [`Glyphs::arrow`], [`Glyphs::prod`] and the signs of
//! groups are texts and may differ.

use std::borrow::Cow;

use ratatui::symbols::border;

use trueup_core::engine::{LinkState, State};
use trueup_core::world::{Link, RiskClass};

/// The glyph set the terminal or the user can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum GlyphSet {
    Unicode,
    /// ASCII only: for other locales, and for screen readers, which read box drawing aloud.
    Plain,
}

/// Declares the glyphs, each as `name: Unicode | ASCII`.
macro_rules! glyphs {
    ($($(#[$doc:meta])* $name:ident: $unicode:literal | $ascii:literal,)+) => {
        /// One set of glyphs.
        #[derive(Debug, PartialEq, Eq)]
        pub struct Glyphs {
            /// In the order of [`State::ALL`].
            states: [&'static str; State::ALL.len()],
            /// From empty to full.
            sparks: [&'static str; 8],
            $($(#[$doc])* pub $name: &'static str,)+
            pub ellipsis: &'static str,
            pub arrow: &'static str,
            /// The class of prod clusters as a word with its mark.
            pub prod: &'static str,
            /// Before the heading of an open and of a closed group.
            pub group_open: &'static str,
            pub group_closed: &'static str,
            pub borders: border::Set<'static>,
            /// Corners of stacked panes: left and right.
            pub joints: (&'static str, &'static str),
        }

        static UNICODE: Glyphs = Glyphs {
            states: ["=", "+", "−", "≠", "◔", "?", "!", "⊘"],
            sparks: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
            $($name: $unicode,)+
            ellipsis: "…",
            arrow: "→",
            prod: "▌prod",
            group_open: "⊟",
            group_closed: "⊞",
            borders: border::PLAIN,
            joints: ("├", "┤"),
        };

        static PLAIN: Glyphs = Glyphs {
            states: ["=", "+", "-", "~", "o", "?", "!", "x"],
            sparks: ["_", ".", ",", ":", "-", "=", "+", "#"],
            $($name: $ascii,)+
            ellipsis: "...",
            arrow: "->",
            prod: "PROD",
            group_open: "[-]",
            group_closed: "[+]",
            borders: border::Set {
                top_left: "+",
                top_right: "+",
                bottom_left: "+",
                bottom_right: "+",
                vertical_left: "|",
                vertical_right: "|",
                horizontal_top: "-",
                horizontal_bottom: "-",
            },
            joints: ("+", "+"),
        };

        /// Every glyph of a set except the texts.
        #[cfg(test)]
        fn signs(glyphs: &Glyphs) -> Vec<&'static str> {
            let Glyphs { states, sparks, $($name,)+ ellipsis: _, arrow: _, prod: _, group_open: _, group_closed: _, borders, joints } = glyphs;
            let mut all = vec![$(*$name,)+ joints.0, joints.1];
            all.extend(states);
            all.extend(sparks);
            all.extend([borders.top_left, borders.top_right, borders.bottom_left, borders.bottom_right]);
            all.extend([borders.vertical_left, borders.vertical_right, borders.horizontal_top, borders.horizontal_bottom]);
            all
        }
    };
}

glyphs! {
    link_live: "●" | "*",
    /// Connecting, listing or retrying.
    link_busy: "↻" | "@",
    /// Live, with lists that could not be read.
    link_partial: "◑" | "%",
    link_failed: "✕" | "X",
    link_idle: "○" | ".",
    /// A snapshot folder.
    link_recorded: "■" | "#",
    cursor: "▸" | ">",
    mark: "✓" | "*",
    /// Effect of the plan on a row.
    ghost_create: "+" | "+",
    ghost_update: "~" | "~",
    ghost_delete: "−" | "-",
    /// Before a child with siblings below it.
    tree_branch: "├ " | "|-",
    /// Before the last child.
    tree_last: "└ " | "`-",
    /// Beside the children of an earlier sibling.
    tree_through: "│ " | "| ",
    /// Beside the children of the last child.
    tree_gap: "  " | "  ",
    bar_full: "█" | "#",
    bar_empty: "░" | ".",
    done: "✓" | "v",
    running: "▶" | ">",
    queued: "·" | ".",
    /// A typed character that is not shown.
    masked: "•" | "*",
    skipped: "⊘" | "x",
    failed: "✕" | "X",
    /// A reference that does not hold.
    broken: "✗" | "x",
    /// Sort order of a column.
    sort_up: "▲" | "^",
    sort_down: "▼" | "v",
    /// A column that does not apply.
    nothing: "·" | ".",
    /// Between parts of a line.
    separator: "·" | "-",
    /// The title rule of a pane.
    rule: "─" | "-",
    /// The title rule of the focused pane.
    rule_focus: "━" | "=",
    /// Before the name of a prod cluster where there is no space for its class.
    prod_mark: "▌" | "|",
    divider: "│" | "|",
    scroll_thumb: "┃" | "#",
    scroll_track: "│" | "|",
}

impl Glyphs {
    pub fn of(signs: GlyphSet) -> &'static Self {
        match signs {
            GlyphSet::Unicode => &UNICODE,
            GlyphSet::Plain => &PLAIN,
        }
    }

    /// The glyph of a state; its word is [`State::as_str`].
    pub fn state(&self, state: State) -> &'static str {
        self.states[state as usize]
    }

    /// The dot before a cluster's name.
    pub fn link(&self, link: &Link) -> &'static str {
        match link {
            Link::Idle => self.link_idle,
            Link::Connecting | Link::Listing { .. } | Link::Degraded { .. } => self.link_busy,
            Link::Live { .. } => self.link_live,
            Link::AuthExpired { .. } | Link::Failed { .. } => self.link_failed,
            Link::Recorded => self.link_recorded,
        }
    }

    /// The glyph of a link in a change record.
    pub fn link_state(&self, state: LinkState) -> &'static str {
        match state {
            LinkState::Live => self.link_live,
            LinkState::Partial => self.link_partial,
            LinkState::Connecting | LinkState::Retrying => self.link_busy,
            LinkState::Down => self.link_failed,
            LinkState::Idle => self.link_idle,
            LinkState::Recorded => self.link_recorded,
        }
    }

    /// The class of a cluster, prod with its mark.
    pub fn class(&self, class: RiskClass) -> &'static str {
        match class {
            RiskClass::Dev | RiskClass::Stage => class.as_str(),
            RiskClass::Prod => self.prod,
        }
    }

    /// The same in a column, where the words begin below each other.
    pub fn class_in_column(&self, class: RiskClass) -> Cow<'static, str> {
        match class {
            RiskClass::Prod => Cow::Borrowed(self.prod),
            RiskClass::Dev | RiskClass::Stage => Cow::Owned(format!(" {}", class.as_str())),
        }
    }

    /// A column of a sparkline: `value` of `most`. Zero is the lowest glyph, and anything else is higher.
    pub fn spark(&self, value: u64, most: u64) -> &'static str {
        let steps = self.sparks.len() as u64 - 1;
        let value = value.min(most);
        // Rounded up, so that one of a thousand is visible; 128 bits, so that no product overflows.
        let step = (u128::from(value) * u128::from(steps)).div_ceil(u128::from(most.max(1)));
        self.sparks[usize::try_from(step).expect("a value of at most `most` is one of the steps")]
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn an_ascii_glyph_is_as_wide_as_its_counterpart() {
        for (sign, plain) in signs(&UNICODE).into_iter().zip(signs(&PLAIN)) {
            assert!(plain.is_ascii(), "{plain}");
            assert_eq!(sign.width(), plain.width(), "{sign} {plain}");
        }
        assert!(PLAIN.ellipsis.is_ascii() && PLAIN.arrow.is_ascii());
    }

    #[test]
    fn states_are_distinguishable_without_colour() {
        for glyphs in [&UNICODE, &PLAIN] {
            let mut seen: Vec<&str> = State::ALL.iter().map(|state| glyphs.state(*state)).collect();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), State::ALL.len());
        }
        for state in State::ALL {
            assert_eq!(UNICODE.state(state), state.glyph().to_string(), "{}", state.as_str());
        }
    }

    #[test]
    fn a_sparkline_shows_every_nonzero_value() {
        let line =
            |values: &[u64], most| -> String { values.iter().map(|value| UNICODE.spark(*value, most)).collect() };
        assert_eq!(line(&[0, 1, 500, 1000], 1000), "▁▂▅█");
        assert_eq!(line(&[0, 1, 2, 3, 4, 5, 6, 7], 7), "▁▂▃▄▅▆▇█");
        assert_eq!(line(&[0, 5], 0), "▁▁");
        assert_eq!(UNICODE.spark(u64::MAX, u64::MAX), "█");
    }
}
