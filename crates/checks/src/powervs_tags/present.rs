//! How a resource stands in its list: what it is called, who sees it, whose tags it carries; and a teardown, step by step.

use super::claimant::Claimant;
use super::context::CheckContext;
use super::facts::CloudResource;
use super::kind::Stage;
use super::messages::state_text;
use super::order::{self, Turn};
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::tags::Mark;
use super::{explain::seen_from, facts::Course, tag_form};
use crate::{Cell, CheckDescription, Column, Panel, Side};

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "PowerVS tags",
    short: "PowerVS",
    plural: "resources",
    message: "who owns what in the IBM Cloud accounts, and what a deleted cluster leaves behind",
    columns: &[
        Column::fixed("STEP", 15, 1),
        Column::fixed("OWNER TAG", 12, 2),
        Column::fixed("STATE", 10, 3),
        Column::fixed("SEEN FROM", 14, 4),
        Column { side: Side::Right, ..Column::fixed("AGE", 5, 5) },
        Column { grows: true, ..Column::fixed("ID", 14, 6) },
    ],
    verdict_width: 12,
    forms: &[tag_form::FORM],
};

/// One row, in the order of the columns.
pub fn cells(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Vec<Cell> {
    let whose = seen_from(context, subject).map_or_else(String::new, |claimant| viewer(context, claimant));
    let ResolvedSubject::Resource { account, item, .. } = subject else {
        return vec![Cell::Nothing, Cell::Nothing, Cell::Nothing, Cell::text(&whose), Cell::Nothing, Cell::Nothing];
    };
    let resource = context.resource(*account, *item);
    vec![
        Cell::text(&turn(context, subject, ruling).map_or_else(String::new, |turn| turn.message())),
        Cell::text(&owner_text(context, resource)),
        Cell::text(&state_text(&resource.state, resource.course())),
        Cell::text(if whose.is_empty() { "-" } else { &whose }),
        resource.created.map_or(Cell::Nothing, Cell::Age),
        Cell::text(&resource.id),
    ]
}

/// Where a resource is in the order of a teardown.
pub fn turn(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Option<Turn> {
    let ResolvedSubject::Resource { account, item, seen_from } = *subject else { return None };
    let leaked = order::turn_of_leaked(context, account, item, ruling);
    leaked.or_else(|| order::turn(context, account, item, seen_from))
}

/// The shortest unique name of a cluster: its name, with the namespace where two have it.
fn viewer(context: &CheckContext<'_>, claimant: &Claimant<'_>) -> String {
    let is_alone = context.namesakes.get(claimant.name()).is_none_or(|count| *count == 1);
    let name = if is_alone { claimant.name().to_owned() } else { claimant.key.to_string() };
    if claimant.fact.is_going() { format!("{name} going") } else { name }
}

/// The names of the clusters whose tags it carries.
pub fn owner_text(context: &CheckContext<'_>, resource: &CloudResource) -> String {
    let owner = |mark: Mark<'_>| match mark {
        Mark::Owner(name) => Some(name.to_owned()),
        Mark::Uuid(_) | Mark::Connection { .. } | Mark::Other => None,
    };
    context.scheme().marks(&resource.tags).filter_map(owner).collect::<Vec<_>>().join(" ")
}

/// The tags, and for a cluster that is being deleted the order in which everything of it goes.
pub fn panels(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Vec<Panel> {
    let mut panels = Vec::new();
    let ResolvedSubject::Resource { account, item, seen_from } = subject else { return panels };
    let tags: Vec<String> = context.resource(*account, *item).tags.iter().map(str::to_owned).collect();
    if !tags.is_empty() {
        panels.push(Panel::Lines { title: "TAGS", lines: tags });
    }
    let lines = seen_from.map(|claimant| teardown_lines(context, *account, *item, claimant)).unwrap_or_default();
    if !lines.is_empty() {
        panels.push(Panel::Lines { title: "TEARDOWN", lines });
    }
    panels
}

/// Every step in order, what blocks it, and what is already deleting.
fn teardown_lines(context: &CheckContext<'_>, account: usize, item: usize, claimant: usize) -> Vec<String> {
    let teardown = context.teardown(account, claimant);
    let mut lines = Vec::new();
    for stage in Stage::ALL {
        for (place, step) in teardown.steps.iter().filter(|(_, step)| step.stage == stage) {
            let here = if *place == item { ">" } else { " " };
            let what = context.described(account, *place);
            let kept = match step.holds[..] {
                [] => String::new(),
                [..] => format!(", stays while it holds {}", step.holds.join(", ")),
            };
            lines.push(format!("{here} {} {what}{kept}", lines.len() + 1));
        }
    }
    if context.claimants[claimant].is_torn_down() {
        let leaving = context.accounts[account].claimed_by(claimant).filter(|place| {
            let course = context.resource(account, *place).course();
            course != Course::Stays
        });
        lines.extend(leaving.map(|place| {
            format!("  - {}: {}", context.described(account, place), context.resource(account, place).state)
        }));
    }
    lines
}
