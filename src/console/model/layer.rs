//! Overlays that receive the keys while they are open.

use tui_input::Input;

use super::approval::Approval;
use super::plugin::PluginDialog;
use crate::console::keymap::Action;
use crate::console::task::RequestId;
use trueup_checks::FleetTable;
use trueup_core::engine::SubjectId;
use trueup_core::world::ClusterName;

pub enum Layer {
    Help {
        scroll: usize,
    },
    /// A check's table of the fleet; none while it is being asked for.
    Table {
        ask: RequestId,
        table: Option<FleetTable>,
        scroll: usize,
    },
    /// Every screen, cluster and action, by name.
    Palette(Picker),
    Picker(Picker),
    /// A text prompt.
    Prompt(Prompt),
    Approval(Approval),
    /// Whether a credential plugin may run.
    Plugin(PluginDialog),
    /// The fleet on a screen that nobody types at.
    Wall,
}

/// A list filtered by typing.
#[derive(Debug, Default)]
pub struct Picker {
    pub title: &'static str,
    pub input: Input,
    pub items: Vec<PickerItem>,
    /// Matching items, best first.
    pub found: Vec<usize>,
    pub cursor: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickerItem {
    pub label: String,
    /// Text beside the label: a key, or the kind of item.
    pub note: String,
    pub what: PickerWhat,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerWhat {
    Act(Action),
    Cluster(ClusterName),
    Theme(String),
    /// A saved view, by index.
    View(usize),
    Export(ExportForm),
    Form(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportForm {
    Markdown,
    Csv,
}

/// A text prompt and its purpose.
#[derive(Debug)]
pub struct Prompt {
    pub what: PromptWhat,
    pub title: String,
    pub input: Input,
    /// The current problem of the text.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptWhat {
    Filter,
    /// Reason of an acceptance; the end date follows.
    AcceptReason(SubjectId),
    AcceptUntil {
        subject: SubjectId,
        reason: String,
    },
    /// A check's query, by index.
    Form {
        subject: SubjectId,
        form: usize,
    },
    /// Confirmation to quit while a plan is applied.
    Quit,
}

impl Picker {
    pub fn new(title: &'static str, items: Vec<PickerItem>) -> Self {
        let found = (0..items.len()).collect();
        Self { title, input: Input::default(), items, found, cursor: 0 }
    }

    pub fn chosen(&self) -> Option<&PickerItem> {
        self.found.get(self.cursor).map(|place| &self.items[*place])
    }

    pub fn step(&mut self, by: isize) {
        let last = self.found.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    /// Filters the items after the text changed.
    pub fn find(&mut self, score: impl Fn(&str, &str) -> Option<u32>) {
        let mut found: Vec<(u32, usize)> = self
            .items
            .iter()
            .enumerate()
            .filter_map(|(place, item)| {
                Some((score(self.input.value(), &format!("{} {}", item.label, item.note))?, place))
            })
            .collect();
        found.sort_by_key(|(score, place)| (std::cmp::Reverse(*score), *place));
        self.found = found.into_iter().map(|(_, place)| place).collect();
        self.cursor = 0;
    }
}

impl Prompt {
    pub fn new(what: PromptWhat, title: impl Into<String>, typed: &str) -> Self {
        Self { what, title: title.into(), input: Input::new(typed.to_owned()), problem: None }
    }
}
