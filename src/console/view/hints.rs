//! The hint line: keys that have an effect now, each with a word. A click does what the key does.
//!
//! Invariants: a key without an effect in the current state is not shown. Without space the less important keys are left
//! out first, never help and the way out.

use ratatui::layout::Rect;

use super::paint::Painter;
use super::text::Line;
use super::{approval, fleet_table, help};
use crate::console::hits::Hit;
use crate::console::keymap::{Action, Scope};
use crate::console::model::{Fits, History, Layer, Model, ObjectTab, Tour, TourStep, UndoOffer};
use crate::console::theme::Role;
use trueup_core::world::ClusterName;

/// Columns between two hints.
const GAP: usize = 2;

/// Draws the keys that have an effect now.
pub fn draw(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    // The search covers the hints.
    if model.is_searching() {
        return;
    }
    if let (Some(tour), None) = (&model.tour, &model.layer) {
        return tour_line(model, tour, area, painter);
    }
    let scope = model.scope();
    let bound = |(action, word)| {
        let key = model.keys.keys(scope, action).into_iter().next()?;
        Some((action, key, word))
    };
    let mut hints: Vec<(Action, String, &'static str)> = {
        let works = |(action, _): &(Action, &str)| !model.timeline.refuses(*action);
        hinted(model).into_iter().filter(works).filter_map(bound).collect()
    };
    let width = |(_, key, word): &(Action, String, &str)| painter.width(key) + 1 + painter.width(word) + GAP;
    let space = usize::from(area.width.saturating_sub(1)) + GAP;
    while hints.iter().map(width).sum::<usize>() > space {
        let most = hints.iter().map(|(action, ..)| rank(*action)).max().unwrap_or(0);
        let Some(place) = hints.iter().rposition(|(action, ..)| rank(*action) == most) else { break };
        hints.remove(place);
    }
    let mut x = area.x + 1;
    for (action, key, word) in hints {
        let begin = x;
        x = painter.text(x, area.y, area.right().saturating_sub(x), &key, Role::HintKey) + 1;
        x = painter.text(x, area.y, area.right().saturating_sub(x), word, Role::HintText);
        painter.hit(Rect { x: begin, width: x.saturating_sub(begin), ..area }, Hit::Hint(action));
        x += 2;
    }
}

/// `Tour 2 of 6 · press 1 to open the first check      esc: end`
fn tour_line(model: &Model, tour: &Tour, area: Rect, painter: &mut Painter<'_>) {
    let (number, all) = tour.place();
    let TourStep { action, scope, text } = tour.step();
    let key = model.keys.key_name(scope, action);
    let end = format!("{}: end ", model.screen_key(Action::Back));
    let start = painter.line_right(area.right(), area.y, area.width, &Line::of(end, Role::HintText));
    let line = Line::of(format!("Tour {number} of {all} {} press ", painter.glyphs().separator), Role::Title)
        .and(key, Role::HintKey)
        .and(format!(" {text}"), Role::Text);
    painter.line(area.x + 1, area.y, start.saturating_sub(area.x + 2), &line);
}

/// How soon a hint is left out without space: the highest first.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other action is equally important")]
fn rank(action: Action) -> u8 {
    match action {
        Action::Help | Action::Close | Action::Quit | Action::Back | Action::Discard | Action::Stop => 0,
        Action::Open | Action::Reconcile | Action::Approve | Action::Undo | Action::Yes | Action::No => 1,
        Action::Filter | Action::Sort | Action::Palette | Action::Include | Action::Mark => 2,
        Action::Down | Action::Up | Action::NextPane | Action::GoActivity | Action::GoFleet | Action::Reconnect => 4,
        _ => 3,
    }
}

/// Actions for hints, most useful first, each with its word.
fn hinted(model: &Model) -> Vec<(Action, &'static str)> {
    match &model.layer {
        Some(Layer::Approval(approval)) => {
            let mut hints = vec![(Action::Open, "apply"), (Action::Back, "back")];
            if model.unknown_users(approval).is_some() {
                hints.remove(0);
            }
            let Fits { lines, total } = approval::fits(model);
            if lines < total {
                hints.insert(0, (Action::Down, "scroll"));
            }
            if model.has_users(approval) {
                hints.insert(0, (Action::Users, "used by"));
            }
            hints
        }
        Some(Layer::Palette(picker) | Layer::Picker(picker)) if picker.found.is_empty() => {
            vec![(Action::Back, "close")]
        }
        Some(Layer::Palette(picker) | Layer::Picker(picker)) => {
            let mut hints = vec![(Action::Open, "choose"), (Action::Back, "close")];
            hints.extend((picker.cursor + 1 < picker.found.len()).then_some((Action::Down, "next")));
            hints.extend((picker.cursor > 0).then_some((Action::Up, "previous")));
            hints
        }
        Some(Layer::Plugin(_)) => vec![(Action::Yes, "run it"), (Action::No, "do not run")],
        Some(Layer::Confirm(confirm)) => {
            let (yes, no) = confirm.answers();
            vec![(Action::Yes, yes), (Action::No, no)]
        }
        // The prompt covers the hints and has its own, and the wall has none.
        Some(Layer::Prompt(_) | Layer::Wall) => Vec::new(),
        Some(Layer::Table { table, scroll, .. }) => {
            let mut hints = scrolling(*scroll, fleet_table::last(model));
            hints.push((Action::Back, "close"));
            if table.as_ref().is_some_and(|table| table.question.is_some()) {
                hints.insert(0, (Action::Question, "who"));
            }
            hints
        }
        Some(Layer::Help { scroll }) => {
            [scrolling(*scroll, help::last(model)), vec![(Action::Filter, "search"), (Action::Back, "close")]].concat()
        }
        None => on_screen(model).into_iter().map(|action| (action, word(model, action))).collect(),
    }
}

/// The word of an action on a screen: what closes the fleet is the end of the console, and a text is searched.
fn word(model: &Model, action: Action) -> &'static str {
    let is_text = matches!(model.screen_scope(), Scope::Detail | Scope::Object | Scope::Logs);
    if is_text && action == Action::Filter {
        return "search";
    }
    if action == Action::Close { "quit" } else { action.short() }
}

fn on_screen(model: &Model) -> Vec<Action> {
    match model.screen_scope() {
        Scope::Fleet => fleet(model),
        Scope::List => list(model),
        Scope::Detail => detail(model),
        Scope::Plan => plan(model),
        Scope::Activity => activity(model),
        Scope::Object => object(model),
        Scope::Timeline => timeline(model),
        Scope::Logs if model.log.is_empty() => vec![Action::Back, Action::Help],
        Scope::Logs => {
            [scrolling_text(model, model.scroll), searching(model), vec![Action::OpenPager, Action::Back]].concat()
        }
        Scope::Expiry if model.expiry.order.shown() == 0 => vec![Action::Back, Action::Help],
        Scope::Expiry => vec![Action::Open, Action::Copy, Action::Back, Action::Help],
        Scope::Approval
        | Scope::Palette
        | Scope::Picker
        | Scope::Filter
        | Scope::Plugin
        | Scope::Confirm
        | Scope::Help
        | Scope::Table
        | Scope::Wall
        | Scope::Global => Vec::new(),
    }
}

/// The keys that scroll from a line, as far as there are more.
fn scrolling(line: usize, last: usize) -> Vec<(Action, &'static str)> {
    let down = (line < last).then_some((Action::Down, "down"));
    // A text that fits is shown from its first line.
    down.into_iter().chain((line.min(last) > 0).then_some((Action::Up, "up"))).collect()
}

/// The same for the text of the screen.
fn scrolling_text(model: &Model, line: usize) -> Vec<Action> {
    let page = model.layout().map_or(1, |layout| layout.detail_lines());
    let last = super::text_length(model).saturating_sub(page);
    scrolling(line, last).into_iter().map(|(action, _)| action).collect()
}

fn timeline(model: &Model) -> Vec<Action> {
    let mut actions = Vec::new();
    if !model.timeline.is_empty() {
        actions.extend([Action::StepBack, Action::StepForward, Action::Compare]);
    }
    actions.extend([Action::Back, Action::GoFleet, Action::Help]);
    actions
}

fn object(model: &Model) -> Vec<Action> {
    let about_finding = model.object.as_ref().is_some_and(|view| view.subject.is_some());
    let mut actions = match model.object.as_ref().map(|view| (view.tab, &view.sheet)) {
        Some((ObjectTab::References, _)) => vec![Action::Open, Action::ViewObject, Action::OperatorLog],
        Some((ObjectTab::OperatorLog, _)) => vec![Action::References, Action::OpenPager, Action::Copy],
        Some((ObjectTab::Yaml, Some(Ok(_)))) => vec![Action::Events, Action::OpenPager, Action::Copy],
        Some((ObjectTab::Events, Some(Ok(_)))) => vec![Action::ViewObject, Action::OpenPager, Action::Copy],
        Some((_, Some(Err(_)) | None)) | None => Vec::new(),
    };
    if model.object.as_ref().is_some_and(|view| view.has_credentials()) {
        actions.push(Action::Reveal);
    }
    actions.extend([Action::CopyCommand, Action::Refresh]);
    if about_finding || matches!(model.object.as_ref().map(|view| &view.sheet), Some(Some(Ok(_)))) {
        actions.extend(searching(model));
    }
    actions.extend([Action::Back, Action::Help]);
    actions
}

fn fleet(model: &Model) -> Vec<Action> {
    let mut actions = Vec::new();
    if model.fleet.order.shown() > 0 {
        actions.push(Action::Open);
        let has_findings = |cluster: &ClusterName| model.findings.counts_in(cluster).total() > 0;
        let marks = model.fleet.list.marks();
        let is_plannable = match marks.is_empty() {
            true => model.fleet.list.cursor().is_some_and(has_findings),
            false => marks.iter().any(has_findings),
        };
        if is_plannable {
            actions.push(Action::Reconcile);
        }
    }
    if !model.fleet.filter_text.is_empty() {
        actions.push(Action::Back);
    }
    if model.fleet.total() > 0 {
        actions.extend([Action::Filter, Action::Sort, Action::Clusters, Action::Wall]);
    }
    if model.fleet.order.shown() > 0 {
        actions.push(Action::Reconnect);
    }
    actions.extend([Action::GoActivity, Action::Palette, Action::ReadOnly, Action::Help, Action::Close]);
    actions
}

fn list(model: &Model) -> Vec<Action> {
    let Some(check) = model.check() else { return Vec::new() };
    match (check.order.shown(), check.order.total()) {
        (0, 0) => vec![Action::GoFleet, Action::Refresh, Action::Palette, Action::Back, Action::Help],
        (0, _) => vec![Action::Back, Action::Filter, Action::GoFleet, Action::Help],
        (_, _) => {
            let mut actions = vec![Action::Reconcile, Action::Mark];
            actions.extend(inspection(model));
            actions.extend(question(model));
            let rest = [
                Action::Filter,
                Action::Sort,
                Action::NextPane,
                Action::Accept,
                Action::Copy,
                Action::Back,
                Action::Help,
            ];
            actions.extend(rest);
            actions
        }
    }
}

/// Actions that inspect the selected object, if any.
fn inspection(model: &Model) -> Vec<Action> {
    let is_object = model.subject().is_some_and(|subject| subject.name != "*" && subject.cloud.is_none());
    let objects: &[Action] = if is_object { &[Action::ViewObject, Action::Events] } else { &[] };
    let references: &[Action] = if model.subject().is_some() { &[Action::References] } else { &[] };
    [objects, references].concat()
}

fn detail(model: &Model) -> Vec<Action> {
    let mut actions = scrolling_text(model, model.detail.scroll);
    // Without details there is no difference to switch.
    actions.extend(model.detail.content.as_ref().map(|_| Action::ToggleDiff));
    actions.extend(inspection(model));
    if model.subject().is_some() {
        actions.push(Action::Reconcile);
    }
    actions.extend(question(model));
    actions.extend(searching(model));
    actions.push(Action::Back);
    actions
}

/// Stepping through the matches of a search, or starting one.
fn searching(model: &Model) -> Vec<Action> {
    match &model.finder {
        Some(_) => vec![Action::SearchNext, Action::SearchPrevious],
        None => vec![Action::Filter],
    }
}

fn question(model: &Model) -> Option<Action> {
    let check = model.check()?;
    (!check.description.forms.is_empty()).then_some(Action::Question)
}

fn plan(model: &Model) -> Vec<Action> {
    let mut actions = Vec::new();
    let Some(sheet) = &model.plan else { return actions };
    let is_ticked = sheet.totals().sent() > 0;
    let is_current = sheet.moved.is_empty() && model.now < sheet.plan.expires_at;
    match (model.activity.is_running(), model.read_only()) {
        (true, _) => actions.push(Action::GoActivity),
        (false, Some(_)) => {}
        (false, None) if is_ticked && is_current => actions.push(Action::Approve),
        (false, None) => {}
    }
    actions.extend([Action::Include, Action::ToggleDiff]);
    if is_ticked && model.read_only().is_none() && !model.activity.is_running() {
        actions.push(Action::DryRun);
    }
    actions.push(Action::WritePlan);
    // An undo has no findings to plan for again.
    if !sheet.plan.findings.is_empty() {
        actions.push(Action::Refresh);
    }
    actions.extend([Action::NextPane, Action::Discard, Action::Back, Action::Help]);
    actions
}

/// The keys that move between entries of the journal.
fn moving_in_journal(model: &Model) -> Vec<Action> {
    let History::Read(rows) = &model.activity.history else { return Vec::new() };
    let here = rows.iter().position(|row| Some(&row.entry.plan) == model.activity.list.cursor()).unwrap_or(0);
    scrolling(here, rows.len().saturating_sub(1)).into_iter().map(|(action, _)| action).collect()
}

fn activity(model: &Model) -> Vec<Action> {
    if model.activity.is_running() {
        return [vec![Action::Stop], moving_in_journal(model), vec![Action::GoFleet]].concat();
    }
    let rest = model.activity.run.as_ref().is_some_and(|run| run.findings_left().next().is_some());
    let mut actions: Vec<Action> = if rest { vec![Action::Reconcile] } else { Vec::new() };
    match model.activity.cursor() {
        Some(row) => {
            if row.undo == UndoOffer::Possible {
                actions.push(Action::Undo);
            }
            if model.activity.opened().is_none() {
                actions.push(Action::Open);
            }
            actions.extend(moving_in_journal(model));
            actions.extend([Action::CopyCommand, Action::Back, Action::GoFleet]);
        }
        None => actions.extend([Action::Back, Action::GoFleet, Action::Help]),
    }
    actions
}
