//! How a resource stands in its list: what it is called, who sees it, whose tags it carries; and a teardown, step by step.

use super::context::{CheckContext, Claimant};
use super::facts::CloudResource;
use super::kind::Stage;
use super::messages::state_text;
use super::names::OWNER_TAG;
use super::subjects::ResolvedSubject;
use super::{explain::seen_from, facts::Course, tag_form};
use crate::{Cell, CheckDescription, Column, Panel, Side};

pub const DESCRIPTION: CheckDescription = CheckDescription {
    title: "PowerVS tags",
    short: "POWERVS",
    says: "who owns what in the IBM Cloud accounts, and what a deleted cluster leaves behind",
    columns: &[
        Column { title: "SEEN FROM", side: Side::Left, width: 14, grows: false, rank: 1 },
        Column { title: "OWNER TAG", side: Side::Left, width: 12, grows: false, rank: 3 },
        Column { title: "STATE", side: Side::Left, width: 10, grows: false, rank: 4 },
        Column { title: "AGE", side: Side::Right, width: 5, grows: false, rank: 5 },
        Column { title: "ID", side: Side::Left, width: 14, grows: true, rank: 6 },
    ],
    verdict_width: 12,
    forms: &[tag_form::FORM],
};

/// One row, in the order of the columns.
pub fn cells(context: &CheckContext<'_>, subject: &ResolvedSubject) -> Vec<Cell> {
    let text = |text: &str| if text.is_empty() { Cell::Nothing } else { Cell::Text(text.into()) };
    let whose = seen_from(context, subject).map_or_else(String::new, |claimant| viewer(context, claimant));
    let ResolvedSubject::Resource { account, item, .. } = subject else {
        return vec![text(&whose), Cell::Nothing, Cell::Nothing, Cell::Nothing, Cell::Nothing];
    };
    let resource = context.resource(*account, *item);
    vec![
        text(if whose.is_empty() { "-" } else { &whose }),
        text(&owner_text(resource)),
        text(&state_text(&resource.state, resource.course())),
        resource.created.map_or(Cell::Nothing, Cell::Age),
        text(&resource.id),
    ]
}

/// The shortest unique name of a cluster: its name, with the namespace where two have it.
fn viewer(context: &CheckContext<'_>, claimant: &Claimant<'_>) -> String {
    let is_alone = context.namesakes.get(claimant.name()).is_none_or(|count| *count == 1);
    let name = if is_alone { claimant.name().to_owned() } else { claimant.key.to_string() };
    if claimant.fact.is_going() { format!("{name} going") } else { name }
}

fn owner_text(resource: &CloudResource) -> String {
    let owners = resource.tags.iter().filter_map(|tag| tag.strip_prefix(OWNER_TAG));
    owners.collect::<Vec<_>>().join(" ")
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

/// Every step in its order, what keeps it, and what is on its way out already.
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
        let claims = context.accounts[account].claims.iter().filter(|(_, by)| by.contains_key(&claimant));
        let leaving = claims.map(|(place, _)| *place).filter(|place| {
            let course = context.resource(account, *place).course();
            course != Course::Stays
        });
        lines.extend(leaving.map(|place| {
            format!("  - {}: {}", context.described(account, place), context.resource(account, place).state)
        }));
    }
    lines
}
