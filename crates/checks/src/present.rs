//! How a check is shown, as data: the console draws these shapes and knows no check by name.
//!
//! Invariants: text here may come from clusters. The renderer escapes it.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use trueup_core::engine::State;
use trueup_core::engine::text::Printable;
use trueup_core::words::{self, Word};
use trueup_core::world::{ClusterName, RiskClass};

/// A column of a check's list, beside those every list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Column {
    #[serde(deserialize_with = "words::read")]
    pub title: Word,
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
    pub const fn fixed(title: Word, width: u16, rank: u8) -> Self {
        Self { title, side: Side::Left, width, grows: false, rank }
    }
}

/// Where a column's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Side {
    Left,
    Right,
}

/// What stands in one column of one row.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Panel {
    Lines {
        #[serde(deserialize_with = "words::read")]
        title: Word,
        lines: Vec<String>,
    },
    /// Things of one sort side by side, each in its state: nodes of a rollout.
    Strip {
        #[serde(deserialize_with = "words::read")]
        title: Word,
        steps: Vec<Step>,
    },
    /// Things that need each other, in order; the first that is not right breaks the chain.
    Chain {
        #[serde(deserialize_with = "words::read")]
        title: Word,
        links: Vec<Step>,
    },
    /// A command for a shell, to be copied ([`trueup_core::engine::text::ShellCommand`]).
    Command {
        #[serde(deserialize_with = "words::read")]
        title: Word,
        command: Printable,
    },
    /// So much of so much.
    Bar {
        #[serde(deserialize_with = "words::read")]
        title: Word,
        done: u64,
        of: u64,
    },
}

/// One part of a strip or a chain.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Step {
    pub label: String,
    /// Nothing where it was not judged.
    pub state: Option<State>,
    /// What it is, beside its state: `13 → 14`, `not set`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    pub note: String,
}

impl Step {
    pub fn judged(label: impl Into<String>, state: State, note: impl Into<String>) -> Self {
        Self { label: label.into(), state: Some(state), value: String::new(), note: note.into() }
    }

    pub fn not_judged(label: impl Into<String>) -> Self {
        Self { label: label.into(), state: None, value: String::new(), note: String::new() }
    }

    #[must_use]
    pub fn with_value(self, value: impl Into<String>) -> Self {
        Self { value: value.into(), ..self }
    }
}

/// A table of the fleet, one row per cluster, whose odd values are marked.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FleetTable {
    #[serde(deserialize_with = "words::read")]
    pub title: Word,
    /// Beside cluster and class.
    #[serde(deserialize_with = "words::read_all")]
    pub columns: Vec<Word>,
    pub rows: Vec<FleetRow>,
    /// What to type for an answer in each row: only its length is shown. Nothing where it takes no question.
    #[serde(skip)]
    pub question: Option<Word>,
    /// Why what was typed has no answer.
    #[serde(default)]
    pub note: String,
}

/// One cluster. A row without cells has a note in their place.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FleetRow {
    pub cluster: ClusterName,
    pub class: RiskClass,
    pub cells: Vec<FleetCell>,
    pub note: String,
    pub knowledge: RowKnowledge,
}

/// Whether a cluster could be read for its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum RowKnowledge {
    Known,
    NotKnown,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FleetCell {
    Usual(String),
    /// Differs from most, or ends soon.
    Odd(String),
}

impl FleetCell {
    pub fn text(&self) -> &str {
        match self {
            Self::Usual(text) | Self::Odd(text) => text,
        }
    }

    pub fn is_odd(&self) -> bool {
        matches!(self, Self::Odd(_))
    }
}

impl FleetRow {
    pub fn is_odd(&self) -> bool {
        self.cells.iter().any(FleetCell::is_odd)
    }
}

impl FleetTable {
    /// Header and rows as aligned text, each with whether it is odd. `odd` is written before what is.
    pub fn lines(&self, odd: &str, printable: impl Fn(&str) -> String) -> Vec<(bool, String)> {
        let mark = |cell: &FleetCell| match cell {
            FleetCell::Usual(text) => printable(text),
            FleetCell::Odd(text) => format!("{odd} {}", printable(text)),
        };
        let columns = self.columns.iter().map(|name| (*name).to_owned());
        let header: Vec<String> = ["CLUSTER", "CLASS"].map(str::to_owned).into_iter().chain(columns).collect();
        let cells = |row: &FleetRow| -> Vec<String> {
            let first = [printable(row.cluster.as_str()), row.class.as_str().to_owned()];
            first.into_iter().chain(row.cells.iter().map(mark)).collect()
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        let width = |column: usize| {
            let texts = rows.iter().chain([&header]).filter_map(|row| row.get(column));
            texts.map(|text| text.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..header.len()).map(width).collect();
        let aligned = |cells: &[String]| -> String {
            let pad = |(text, width): (&String, &usize)| {
                format!("{text}{}  ", " ".repeat(width.saturating_sub(text.chars().count())))
            };
            cells.iter().zip(&widths).map(pad).collect()
        };
        let sign = |is_odd: bool| if is_odd { odd.to_owned() } else { " ".repeat(odd.chars().count()) };
        let line = |is_odd: bool, text: String| (is_odd, format!("{} {text}", sign(is_odd)).trim_end().to_owned());
        let first = line(false, aligned(&header));
        let rest = self
            .rows
            .iter()
            .zip(&rows)
            .map(|(row, cells)| line(row.is_odd(), format!("{}{}", aligned(cells), printable(&row.note))));
        std::iter::once(first).chain(rest).collect()
    }
}

/// A question a person may ask about a subject, with the field the answer needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Form {
    #[serde(deserialize_with = "words::read")]
    pub name: Word,
    /// The question itself.
    #[serde(deserialize_with = "words::read")]
    pub title: Word,
    /// What to type.
    #[serde(deserialize_with = "words::read")]
    pub prompt: Word,
    pub input: FormInput,
}

/// Whether what is typed may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FormInput {
    Plain,
    /// A token, perhaps: only its length is shown.
    Secret,
}

/// A check as the console introduces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CheckDescription {
    /// On its tab.
    #[serde(deserialize_with = "words::read")]
    pub title: Word,
    /// Over its column in the fleet's list.
    #[serde(deserialize_with = "words::read")]
    pub short: Word,
    /// What it judges, several of them: `copies`.
    #[serde(deserialize_with = "words::read")]
    pub plural: Word,
    /// What it checks, in one line.
    #[serde(deserialize_with = "words::read")]
    pub message: Word,
    #[serde(deserialize_with = "constant")]
    pub columns: &'static [Column],
    /// Of its longest verdict, in the column all checks have.
    pub verdict_width: u16,
    #[serde(deserialize_with = "constant")]
    pub forms: &'static [Form],
}

/// Reads a list that is a constant in the program. A session recording has one introduction of each check.
fn constant<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<&'static [T], D::Error> {
    Vec::deserialize(deserializer).map(|list| &*Vec::leak(list))
}

impl CheckDescription {
    /// A check that says nothing of itself but its name.
    pub const fn named(name: &'static str) -> Self {
        Self { title: name, short: name, plural: "findings", message: "", columns: &[], verdict_width: 16, forms: &[] }
    }
}
