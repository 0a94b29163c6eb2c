//! Overlays that receive the keys while they are open.

use std::collections::BTreeSet;

use tui_input::Input;

use super::approval::Approval;
use super::fleet_summary::FleetColumn;
use super::plugin::PluginDialog;
use super::sorting::CheckColumn;
use crate::console::keymap::Action;
use crate::console::task::RequestId;
use trueup_checks::FleetTable;
use trueup_core::engine::{CheckName, SubjectId};
use trueup_core::world::ClusterName;

pub enum Layer {
    Help {
        scroll: usize,
    },
    /// A check's table of the fleet; none while it is being asked for.
    Table {
        ask: RequestId,
        check: CheckName,
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
    /// Fleet status for a shared display.
    Wall,
    Confirm(Confirm),
}

/// A question that is answered with yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirm {
    /// Whether ticks and results of dry runs may be lost with the plan.
    DiscardPlan,
    SwitchWritesOn,
}

impl Confirm {
    pub fn question(self) -> &'static str {
        match self {
            Self::DiscardPlan => "Discard the plan? Its ticks and dry runs are lost.",
            Self::SwitchWritesOn => "Switch writes on? Approved plans can be applied then.",
        }
    }

    /// What yes and no do, in one or two words each.
    pub fn answers(self) -> (&'static str, &'static str) {
        match self {
            Self::DiscardPlan => ("discard", "keep"),
            Self::SwitchWritesOn => ("switch on", "stay read-only"),
        }
    }
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
    pub choice: Choice,
}

/// How an item is chosen.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Typing filters the items.
    #[default]
    Search,
    /// A typed letter chooses the item with that letter.
    Letters(Vec<char>),
    /// Like `Search`, and several items can be ticked.
    Ticks(BTreeSet<usize>),
    /// Like `Search`, and the item at the cursor is tried out. Holds the theme to return to.
    Preview(String),
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
    Sort(CheckColumn),
    SortFleet(FleetColumn),
    /// The other sort direction.
    Reverse,
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
    /// What the table of a check is asked about: a token, perhaps.
    Table(CheckName),
    /// The name of a view to save.
    SaveView,
    /// Confirmation to quit while a plan is applied.
    Quit,
}

impl Picker {
    pub fn new(title: &'static str, items: Vec<PickerItem>) -> Self {
        let found = (0..items.len()).collect();
        Self { title, input: Input::default(), items, found, cursor: 0, choice: Choice::Search }
    }

    pub fn chosen(&self) -> Option<&PickerItem> {
        self.found.get(self.cursor).map(|place| &self.items[*place])
    }

    /// Ticks or unticks the item at the cursor.
    pub fn tick(&mut self) {
        if let (Choice::Ticks(ticked), Some(place)) = (&mut self.choice, self.found.get(self.cursor))
            && !ticked.remove(place)
        {
            ticked.insert(*place);
        }
    }

    /// The ticked items, in the order of the list.
    pub fn ticked(&self) -> impl Iterator<Item = &PickerItem> {
        let ticked = match &self.choice {
            Choice::Ticks(ticked) => Some(ticked),
            Choice::Search | Choice::Letters(_) | Choice::Preview(_) => None,
        };
        ticked.into_iter().flatten().filter_map(|place| self.items.get(*place))
    }

    pub fn step(&mut self, by: isize) {
        let last = self.found.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    /// Filters the items after the text changed.
    pub fn find(&mut self, score: impl Fn(&str, &str) -> Option<u32>) {
        let typed = self.input.value().to_lowercase();
        // A label with the text itself is first, whatever the letters of the others are.
        let fit = |(place, item): (usize, &PickerItem)| {
            let score = score(&typed, &format!("{} {}", item.label, item.note))?;
            let is_other = !item.label.to_lowercase().contains(&typed);
            Some((is_other, std::cmp::Reverse(score), place))
        };
        let mut found: Vec<_> = self.items.iter().enumerate().filter_map(fit).collect();
        found.sort_unstable();
        self.found = found.into_iter().map(|(_, _, place)| place).collect();
        self.cursor = 0;
    }
}

impl Prompt {
    pub fn new(what: PromptWhat, title: impl Into<String>, typed: &str) -> Self {
        Self { what, title: title.into(), input: Input::new(typed.to_owned()), problem: None }
    }
}
