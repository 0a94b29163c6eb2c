//! How a check is shown, as data: the console draws these shapes and knows no check by name.
//!
//! Invariants: text here may come from clusters. The renderer escapes it.

use jiff::Timestamp;

use trueup_core::engine::State;
use trueup_core::engine::text::Printable;

/// A column of a check's list, beside those every list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    pub title: &'static str,
    pub side: Side,
    /// The least it needs to be read; it is left out below that.
    pub width: u16,
    /// Whether it takes the remaining width.
    pub grows: bool,
    /// What is dropped first when the screen is narrow: the highest.
    pub rank: u8,
}

impl Column {
    /// A column of fixed width.
    pub const fn fixed(title: &'static str, width: u16, rank: u8) -> Self {
        Self { title, side: Side::Left, width, grows: false, rank }
    }
}

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// What stands in one column of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    Nothing,
    Text(Box<str>),
    Number(i64),
    /// How long ago.
    Age(Timestamp),
    /// What is left of a span of time, as a bar and a countdown.
    Left {
        from: Timestamp,
        until: Timestamp,
    },
    /// One value when they agree, both when they don't.
    Pair {
        expected: Box<str>,
        actual: Box<str>,
    },
}

impl Cell {
    /// A text; an empty one is nothing.
    pub fn text(text: &str) -> Self {
        if text.is_empty() { Self::Nothing } else { Self::Text(text.into()) }
    }
}

/// More about a subject than expected, actual and evidence, under a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Panel {
    Lines {
        title: &'static str,
        lines: Vec<String>,
    },
    /// Things of one sort side by side, each in its state: nodes of a rollout.
    Strip {
        title: &'static str,
        steps: Vec<Step>,
    },
    /// Things that need each other, in order; the first that is not right breaks the chain.
    Chain {
        title: &'static str,
        links: Vec<Step>,
    },
    /// A command for a shell, to be copied ([`trueup_core::engine::text::ShellCommand`]).
    Command {
        title: &'static str,
        command: Printable,
    },
    /// So much of so much.
    Bar {
        title: &'static str,
        done: u64,
        of: u64,
    },
}

/// One part of a strip or a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub label: String,
    /// Nothing where it was not judged.
    pub state: Option<State>,
    pub note: String,
}

impl Step {
    pub fn judged(label: impl Into<String>, state: State, note: impl Into<String>) -> Self {
        Self { label: label.into(), state: Some(state), note: note.into() }
    }

    pub fn not_judged(label: impl Into<String>) -> Self {
        Self { label: label.into(), state: None, note: String::new() }
    }
}

/// A question a person may ask about a subject, with the field the answer needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    pub name: &'static str,
    /// The question itself.
    pub title: &'static str,
    /// What to type.
    pub prompt: &'static str,
}

/// A check as the console introduces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckDescription {
    /// On its tab.
    pub title: &'static str,
    /// Over its column in the fleet's list.
    pub short: &'static str,
    /// What it checks, in one line.
    pub message: &'static str,
    pub columns: &'static [Column],
    /// Of its longest verdict, in the column all checks have.
    pub verdict_width: u16,
    pub forms: &'static [Form],
}

impl CheckDescription {
    /// A check that says nothing of itself but its name.
    pub const fn named(name: &'static str) -> Self {
        Self { title: name, short: name, message: "", columns: &[], verdict_width: 16, forms: &[] }
    }
}
