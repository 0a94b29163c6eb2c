//! A check's list and the detail.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::detail;
use super::paint::{Painter, PaneFocus as Keys};
use super::rows::{Row, table_look, with_margin};
use super::states;
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{ACCEPTED, CheckSheet, Model, OWN_COLUMNS_AFTER, Pane, PlannedChange, shown_name};
use crate::console::table::{Cell, Column, Cut, RowStyle, TableView, Tone};
use crate::console::theme::{Glyphs, Role};
use trueup_checks::Side;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{State, SubjectId, Verb};
use trueup_core::world::{Cluster, Link};

/// Width of a time bar.
const BAR: usize = 10;
/// How far below the window a branch is searched: the line of a longer tree ends early.
const AHEAD: usize = 64;

pub fn draw(model: &Model, check: &CheckSheet, layout: &Layout, painter: &mut Painter<'_>) {
    if layout.detail.is_none() && model.pane == Pane::Detail {
        detail::draw(model, layout.main, Keys::Keys, painter);
        return;
    }
    let held = if model.pane == Pane::List { Keys::Keys } else { Keys::Waits };
    let mut title = Line::of(check.description.title, Role::Title);
    if !check.filter_text.is_empty() {
        let role = if check.filter_problem.is_some() { Role::Error } else { Role::Filter };
        title = title.and(format!(" {} {}", painter.glyphs().separator, check.filter_text), role);
    }
    let inside = painter.pane(layout.main, &title, &counted(model, check, painter), held);
    painter.hit(layout.main, Hit::List);
    match check.order.shown() {
        0 => empty(model, check, inside, painter),
        _ => table(model, check, with_margin(inside), layout.main.right() - 1, painter),
    }
    if let Some(area) = layout.detail {
        let held = if model.pane == Pane::Detail { Keys::Keys } else { Keys::Waits };
        detail::draw(model, area, held, painter);
        if area.x > layout.main.x {
            let divider = Rect { x: area.x - 1, width: 2, ..area };
            painter.hit(divider, Hit::Divider);
        }
    }
}

/// `9 of 412 · −2 ◔1`
fn counted(model: &Model, check: &CheckSheet, painter: &Painter<'_>) -> Line {
    let mut line = Line::of(format!("{} of {}", check.order.shown(), check.order.total()), Role::Muted);
    let marks = check.list.marks().len();
    if marks > 0 {
        let all_shown = check.order.shown() == check.order.total();
        let hidden = if all_shown { 0 } else { check.list.marks_hidden(&check.order) };
        let note = if hidden > 0 { format!(" {marks} marked ({hidden} hidden)") } else { format!(" {marks} marked") };
        line = line.and(note, Role::Mark);
    }
    let counts = model.findings.counts_of(check.name);
    for state in State::ALL.into_iter().filter(|state| *state != State::Match && counts.of(*state) > 0) {
        line = line.and(format!(" {}{}", painter.glyphs().state(state), counts.of(state)), Role::from(state));
    }
    line
}

fn empty(model: &Model, check: &CheckSheet, area: Rect, painter: &mut Painter<'_>) {
    let busy = model.fleet.clusters().filter(|one| matches!(one.link, Link::Connecting | Link::Listing { .. })).count();
    let is_unread = |one: &Cluster| match one.link {
        Link::Failed { .. } | Link::AuthExpired { .. } | Link::Degraded { .. } => true,
        Link::Live { .. } => model.fleet.unread(one).is_some(),
        Link::Idle | Link::Connecting | Link::Listing { .. } | Link::Recorded => false,
    };
    let failed = model.fleet.clusters().any(is_unread);
    let key = |action: Action| model.screen_key(action);
    let (message, next) = match (check.order.total(), busy) {
        (0, 0) if failed => {
            ("No findings. Some clusters could not be read.".to_owned(), format!("{}: fleet", key(Action::GoFleet)))
        }
        (0, 0) => {
            ("No findings in the clusters that were read.".to_owned(), format!("{}: list again", key(Action::Refresh)))
        }
        (0, 1) => ("Reading 1 cluster.".to_owned(), "Rows appear as they are found.".to_owned()),
        (0, busy) => (format!("Reading {busy} clusters."), "Rows appear as they are found.".to_owned()),
        (total, _) => {
            (format!("None of {total} findings matches the filter."), format!("{}: clear filter", key(Action::Back)))
        }
    };
    states::empty(area, &message, &next, painter);
}

/// The columns, each with its sort index.
fn columns(check: &CheckSheet, space: u16) -> (Vec<Column>, Vec<usize>) {
    // On a wide screen the name gets the space of the last other column.
    let object = (space / 4).clamp(19, 34);
    let mut all = vec![
        (Column::new("", 2).gap(0), 0),
        (Column::new("OBJECT", object).weight(4).gap(1), 1),
        (Column::new("CLUSTER", 14).priority(4), 2),
    ];
    for (place, column) in check.description.columns.iter().enumerate() {
        let own = Column::new(column.title, column.width).priority(column.rank).weight(u16::from(column.grows));
        let own = match column.side {
            Side::Left => own,
            Side::Right => own.right(),
        };
        all.push((own, OWN_COLUMNS_AFTER + 1 + place));
    }
    all.push((Column::new("VERDICT", check.description.verdict_width), 3));
    all.push((Column::new("SINCE", 5).right().priority(5), 4));
    all.into_iter().unzip()
}

fn table(model: &Model, check: &CheckSheet, area: Rect, border: u16, painter: &mut Painter<'_>) {
    let (columns, sorts) = columns(check, area.width);
    let sort = sorts.iter().position(|sort| *sort == check.sort);
    let style = table_look(painter);
    let window = check.list.window();
    let view = TableView {
        columns: &columns,
        sort: sort.map(|sort| (sort, check.order.direction())),
        style: &style,
        first: window.start,
        total: check.order.shown(),
        border: Some(border),
    };
    let branches = branches(model, check, window.clone(), painter.glyphs());
    let visible: Vec<(&Arc<SubjectId>, String)> = check.order.window(window).zip(branches).collect();
    let rows: Vec<Row<'_>> =
        visible.into_iter().filter_map(|(id, branch)| row(model, check, (id, branch), &sorts, painter)).collect();
    for (header, column) in painter.table(&view, rows, area) {
        painter.hit(header, Hit::Column(sorts[column]));
    }
}

fn row<'m>(
    model: &'m Model,
    check: &'m CheckSheet,
    (id, branch): (&'m Arc<SubjectId>, String),
    sorts: &[usize],
    painter: &mut Painter<'_>,
) -> Option<Row<'m>> {
    let held = model.findings.get(id)?;
    let ghost = model.plan.as_ref().and_then(|plan| plan.ghost(&id.to_string()));
    let is_own = |sort: usize| sort.checked_sub(OWN_COLUMNS_AFTER + 1);
    let mut cells = Vec::with_capacity(sorts.len());
    let mut branch = Some(branch);
    for sort in sorts {
        let cell = match (*sort, is_own(*sort)) {
            (_, Some(own)) => own_cell(held.cells.get(own), model, painter),
            (0, _) => state_cell(held, ghost, painter),
            (1, _) => object_cell(branch.take().unwrap_or_default(), id, painter),
            (2, _) => cluster_cell(model, id, painter),
            (3, _) => Cell::text(verdict(held), painter.style(Role::from(held.judgement.state))),
            (_, _) => Cell::text(painter.list_age(held.since, model.now), painter.style(Role::Muted)),
        };
        cells.push(cell);
    }
    let tone = if ghost == Some(Verb::Delete) { Tone::Doomed } else { Tone::Plain };
    let style = RowStyle { cursor: check.list.cursor() == Some(id), marked: check.list.is_marked(id), tone };
    Some(Row { cells, style })
}

/// An accepted finding shows that; its verdict is in the detail.
fn verdict(held: &CurrentJudgement) -> &'static str {
    if held.judgement.codes.contains(&ACCEPTED) { ACCEPTED } else { held.judgement.verdict }
}

/// Glyph of the state and of the planned verb.
fn state_cell<'m>(held: &CurrentJudgement, ghost: Option<Verb>, painter: &Painter<'_>) -> Cell<'m> {
    let glyphs = painter.glyphs();
    let state = held.judgement.state;
    let ghost = match ghost.map(PlannedChange::from) {
        None => " ",
        Some(PlannedChange::Create) => glyphs.ghost_create,
        Some(PlannedChange::Update) => glyphs.ghost_update,
        Some(PlannedChange::Delete) => glyphs.ghost_delete,
    };
    let pieces: Vec<(Cow<'m, str>, Style)> = vec![
        (Cow::Borrowed(glyphs.state(state)), painter.style(Role::from(state))),
        (Cow::Borrowed(ghost), painter.style(Role::Accent)),
    ];
    Cell::pieces(pieces, Cut::End)
}

/// Tree branches of each row of a window; empty without a tree.
fn branches(model: &Model, check: &CheckSheet, window: Range<usize>, glyphs: &Glyphs) -> Vec<String> {
    if !check.shows_tree() {
        return vec![String::new(); window.len()];
    }
    let ahead = window.start..window.end.saturating_add(AHEAD);
    let depths: Vec<usize> = check.order.window(ahead).map(|id| check.depth(id, &model.findings)).collect();
    let continues = |place: usize, level: usize| {
        let below = depths[place + 1..].iter().find(|depth| **depth <= level);
        below.is_some_and(|depth| *depth == level)
    };
    let branch = |(place, depth): (usize, &usize)| {
        let level = |level: usize| match (level == *depth, continues(place, level)) {
            (true, true) => glyphs.tree_branch,
            (true, false) => glyphs.tree_last,
            (false, true) => glyphs.tree_through,
            (false, false) => glyphs.tree_gap,
        };
        (1..=*depth).map(level).collect()
    };
    depths.iter().enumerate().take(window.len()).map(branch).collect()
}

fn object_cell<'m>(branch: String, id: &'m SubjectId, painter: &Painter<'_>) -> Cell<'m> {
    let name = Cow::Borrowed(shown_name(id));
    let pieces: Vec<(Cow<'m, str>, Style)> = vec![
        (Cow::Owned(branch), painter.style(Role::Muted)),
        (Cow::Owned(format!("{} ", id.kind)), painter.style(Role::Muted)),
        (name, painter.style(Role::Text)),
    ];
    Cell::pieces(pieces, Cut::Middle)
}

fn cluster_cell<'m>(model: &Model, id: &'m SubjectId, painter: &Painter<'_>) -> Cell<'m> {
    let class = model.fleet.class_of(&id.cluster);
    Cell::name(id.cluster.as_str(), painter.style(Role::from(class)))
}

fn own_cell<'m>(cell: Option<&'m trueup_checks::Cell>, model: &Model, painter: &mut Painter<'_>) -> Cell<'m> {
    let text = painter.style(Role::Text);
    match cell {
        None | Some(trueup_checks::Cell::Nothing) => Cell::text(painter.glyphs().nothing, painter.style(Role::Muted)),
        Some(trueup_checks::Cell::Text(words)) => Cell::name(&**words, text),
        Some(trueup_checks::Cell::Number(number)) => Cell::text(number.to_string(), text),
        Some(trueup_checks::Cell::Age(at)) => Cell::text(painter.list_age(*at, model.now), painter.style(Role::Muted)),
        Some(trueup_checks::Cell::Left { from, until }) => left_cell(*from, *until, model, painter),
        Some(trueup_checks::Cell::Pair { expected, actual }) if expected == actual => Cell::name(&**actual, text),
        Some(trueup_checks::Cell::Pair { expected, actual }) => {
            let arrow = painter.glyphs().arrow;
            Cell::name(format!("{actual}{arrow}{expected}"), painter.style(Role::Drift))
        }
    }
}

/// A bar that changes only with its text.
fn left_cell<'m>(from: jiff::Timestamp, until: jiff::Timestamp, model: &Model, painter: &mut Painter<'_>) -> Cell<'m> {
    if model.now >= until {
        let ago = painter.list_age(until, model.now);
        return Cell::text(format!("expired {ago} ago"), painter.style(Role::Error));
    }
    let whole = until.duration_since(from).as_secs().max(1);
    let left = until.duration_since(model.now).as_secs().clamp(0, whole);
    // The remaining time is rendered like an age.
    let words = crate::console::table::age(model.now, until);
    let unit = crate::console::table::next_change(model.now, until);
    let step = unit.map_or(1, |next| next.duration_since(until).as_secs().max(1));
    painter.changes(model.now.checked_add(jiff::SignedDuration::from_secs(step)).ok());
    let full = usize::try_from(left * i64::try_from(BAR).unwrap_or(10) / whole).unwrap_or(0);
    let glyphs = painter.glyphs();
    let pieces: Vec<(Cow<'m, str>, Style)> = vec![
        (Cow::Owned(glyphs.bar_full.repeat(full)), painter.style(Role::BarFull)),
        (Cow::Owned(glyphs.bar_empty.repeat(BAR - full)), painter.style(Role::BarEmpty)),
        (Cow::Owned(format!("  {words}")), painter.style(Role::Text)),
    ];
    Cell::pieces(pieces, Cut::End)
}
