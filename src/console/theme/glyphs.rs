//! Glyphs of the screen, each with an ASCII counterpart.
//!
//! Invariants: both sets have the same glyphs, and an ASCII one has the same width as its counterpart, so that layout does
//! not depend on the set. [`Glyphs::ellipsis`] and [`Glyphs::arrow`] are texts and may differ.

use ratatui::symbols::border;

use trueup_core::engine::State;
use trueup_core::world::Link;

/// The glyph set the terminal or the user can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    Unicode,
    /// ASCII only: for other locales, and for screen readers, which read box drawing aloud.
    Plain,
}

/// One set of glyphs.
#[derive(Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// In the order of [`State::ALL`].
    states: [&'static str; 8],
    pub link_live: &'static str,
    /// Connecting or listing.
    pub link_busy: &'static str,
    pub link_stale: &'static str,
    pub link_failed: &'static str,
    pub link_idle: &'static str,
    /// A snapshot folder.
    pub link_recorded: &'static str,
    pub cursor: &'static str,
    pub mark: &'static str,
    /// Effect of the plan on a row.
    pub ghost_create: &'static str,
    pub ghost_update: &'static str,
    pub ghost_delete: &'static str,
    /// Before a child with siblings below it.
    pub tree_branch: &'static str,
    /// Before the last child.
    pub tree_last: &'static str,
    /// Beside the children of an earlier sibling.
    pub tree_through: &'static str,
    /// Beside the children of the last child.
    pub tree_gap: &'static str,
    pub bar_full: &'static str,
    pub bar_empty: &'static str,
    /// From empty to full.
    sparks: [&'static str; 8],
    pub done: &'static str,
    pub running: &'static str,
    pub queued: &'static str,
    pub skipped: &'static str,
    pub failed: &'static str,
    /// Sort order of a column.
    pub sort_up: &'static str,
    pub sort_down: &'static str,
    /// A column that does not apply.
    pub nothing: &'static str,
    /// Between parts of a line.
    pub separator: &'static str,
    pub rule: &'static str,
    pub divider: &'static str,
    pub scroll_thumb: &'static str,
    pub scroll_track: &'static str,
    /// Beside the title of the focused pane.
    pub focus: &'static str,
    pub ellipsis: &'static str,
    pub arrow: &'static str,
    pub borders: border::Set<'static>,
    /// Corners of stacked panes: left and right.
    pub joints: (&'static str, &'static str),
}

impl Glyphs {
    pub fn of(signs: Signs) -> &'static Self {
        match signs {
            Signs::Unicode => &UNICODE,
            Signs::Plain => &PLAIN,
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
            Link::Connecting | Link::Listing { .. } => self.link_busy,
            Link::Live { .. } => self.link_live,
            Link::Degraded { .. } => self.link_stale,
            Link::AuthExpired { .. } | Link::Failed { .. } => self.link_failed,
            Link::Recorded => self.link_recorded,
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

static UNICODE: Glyphs = Glyphs {
    states: ["=", "+", "−", "≠", "◔", "?", "!", "⊘"],
    link_live: "●",
    link_busy: "◐",
    link_stale: "◔",
    link_failed: "✕",
    link_idle: "○",
    link_recorded: "■",
    cursor: "▸",
    mark: "✓",
    ghost_create: "+",
    ghost_update: "~",
    ghost_delete: "−",
    tree_branch: "├ ",
    tree_last: "└ ",
    tree_through: "│ ",
    tree_gap: "  ",
    bar_full: "█",
    bar_empty: "░",
    sparks: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    done: "✓",
    running: "▶",
    queued: "·",
    skipped: "⊘",
    failed: "✕",
    sort_up: "▲",
    sort_down: "▼",
    nothing: "·",
    separator: "·",
    rule: "─",
    divider: "│",
    scroll_thumb: "┃",
    scroll_track: "│",
    focus: "●",
    ellipsis: "…",
    arrow: "→",
    borders: border::PLAIN,
    joints: ("├", "┤"),
};

static PLAIN: Glyphs = Glyphs {
    states: ["=", "+", "-", "~", "o", "?", "!", "x"],
    link_live: "*",
    link_busy: ":",
    link_stale: "o",
    link_failed: "x",
    link_idle: ".",
    link_recorded: "#",
    cursor: ">",
    mark: "*",
    ghost_create: "+",
    ghost_update: "~",
    ghost_delete: "-",
    tree_branch: "|-",
    tree_last: "`-",
    tree_through: "| ",
    tree_gap: "  ",
    bar_full: "#",
    bar_empty: ".",
    sparks: ["_", ".", ",", ":", "-", "=", "+", "#"],
    done: "v",
    running: ">",
    queued: ".",
    skipped: "x",
    failed: "!",
    sort_up: "^",
    sort_down: "v",
    nothing: ".",
    separator: "-",
    rule: "-",
    divider: "|",
    scroll_thumb: "#",
    scroll_track: "|",
    focus: "*",
    ellipsis: "...",
    arrow: "->",
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

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    /// Every glyph of a set except the two texts.
    fn signs(glyphs: &Glyphs) -> Vec<&'static str> {
        let Glyphs {
            states,
            link_live,
            link_busy,
            link_stale,
            link_failed,
            link_idle,
            link_recorded,
            cursor,
            mark,
            ghost_create,
            ghost_update,
            ghost_delete,
            tree_branch,
            tree_last,
            tree_through,
            tree_gap,
            bar_full,
            bar_empty,
            sparks,
            done,
            running,
            queued,
            skipped,
            failed,
            sort_up,
            sort_down,
            nothing,
            separator,
            rule,
            divider,
            scroll_thumb,
            scroll_track,
            focus,
            ellipsis: _,
            arrow: _,
            borders,
            joints,
        } = glyphs;
        let mut all = vec![
            *link_live,
            link_busy,
            link_stale,
            link_failed,
            link_idle,
            link_recorded,
            cursor,
            mark,
            ghost_create,
            ghost_update,
            ghost_delete,
            tree_branch,
            tree_last,
            tree_through,
            tree_gap,
            bar_full,
            bar_empty,
            done,
            running,
            queued,
            skipped,
            failed,
            sort_up,
            sort_down,
            nothing,
            separator,
            rule,
            divider,
            scroll_thumb,
            scroll_track,
            focus,
            joints.0,
            joints.1,
        ];
        all.extend(states);
        all.extend(sparks);
        all.extend([borders.top_left, borders.top_right, borders.bottom_left, borders.bottom_right]);
        all.extend([borders.vertical_left, borders.vertical_right, borders.horizontal_top, borders.horizontal_bottom]);
        all
    }

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
