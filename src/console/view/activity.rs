//! The running apply and the journal.

use std::time::Duration;

use jiff::Timestamp;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Painter, PaneFocus};
use super::states;
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{History, Model, Run, RunRow, RunState};
use crate::console::theme::Role;
use trueup_core::engine::executor::{ActionResult, Skip};
use trueup_core::engine::journal::{ActionStanding, Entry};
use trueup_core::engine::short_id;

/// Width of the progress bar.
const BAR: usize = 24;
const BAR_NARROW: usize = 10;
const NARROW: u16 = 80;
/// Indent of a reason below its row.
const WHY_INDENT: usize = 13;

pub fn draw(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    run(model, layout.main, painter);
    if let Some(area) = layout.detail {
        journal(model, area, painter);
    }
}

fn run(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let Some(run) = &model.activity.run else {
        let inside = painter.pane(area, &Line::of("Apply", Role::Title), &Line::blank(), PaneFocus::Waits);
        let next = format!(
            "{}: plan a fix  {}: approve",
            model.screen_key(Action::Reconcile),
            model.screen_key(Action::Approve)
        );
        states::empty(inside, "No applies in this session.", &next, painter);
        return;
    };
    let inside = painter.pane(area, &run_title(run, area.width, painter), &run_right(model, run), PaneFocus::Waits);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let width = usize::from(inside.width);
    let mut lines: Vec<Line> = Vec::new();
    if let RunState::Failed(why) = &run.state {
        lines.extend(wrapped(&format!("Nothing was sent: {why}"), width, 2, Role::Error));
    }
    if let RunState::Finished { halted: Some(why) } = &run.state {
        lines.extend(wrapped(&format!("Ended early: {why}"), width, 2, Role::Error));
    }
    for notice in &run.notices {
        lines.extend(wrapped(notice, width, 2, Role::Warn));
    }
    let widths = Widths::of(run);
    let mut under_way = None;
    for row in &run.rows {
        if row.ended.is_none() {
            under_way.get_or_insert(lines.len());
        }
        lines.extend(row_lines(model, run, row, widths, width, painter));
    }
    if run.is_running() && run.done() == run.rows.len() {
        lines.push(Line::blank());
        let message = format!("Applied. Checking for references to deleted objects{}", painter.glyphs().ellipsis);
        lines.extend(wrapped(&message, width, 2, Role::Muted));
    }
    // The running action stays visible, with the lines before it.
    let space = usize::from(inside.height);
    let first = under_way.unwrap_or(lines.len()).saturating_sub(space / 2);
    painter.lines(inside, &lines, first);
    painter.thumb(area.right() - 1, inside, lines.len(), first);
}

/// Column widths of a run.
#[derive(Clone, Copy)]
struct Widths {
    what: usize,
    cluster: usize,
}

impl Widths {
    fn of(run: &Run) -> Self {
        let widest = |text: fn(&RunRow) -> &str, most: usize| {
            run.rows.iter().map(|row| text(row).width().min(most)).max().unwrap_or(0)
        };
        Self { what: widest(|row| &row.what, 44), cluster: widest(|row| &row.cluster, 24) }
    }
}

fn run_title(run: &Run, width: u16, painter: &Painter<'_>) -> Line {
    let (done, all) = (run.done(), run.rows.len());
    let bar = if width < NARROW { BAR_NARROW } else { BAR };
    let full = done * bar / all.max(1);
    let glyphs = painter.glyphs();
    Line::of(format!("Apply {} ", short_id(&run.plan)), Role::Title)
        .and(glyphs.bar_full.repeat(full), Role::BarFull)
        .and(glyphs.bar_empty.repeat(bar - full), Role::BarEmpty)
        .and(format!(" {done} of {all}"), Role::Text)
}

fn run_right(model: &Model, run: &Run) -> Line {
    let bad = run
        .rows
        .iter()
        .filter(|row| matches!(&row.ended, Some((_, ActionResult::Failed { .. } | ActionResult::Unknown { .. }))))
        .count();
    let failed = Line::of(format!("{bad} failed"), if bad > 0 { Role::Error } else { Role::Muted });
    match (&run.state, run.stopping) {
        (RunState::Running, true) => failed.and("  stopping after this action", Role::Warn),
        (RunState::Running, false) => failed.and(format!("  {}: stop", model.screen_key(Action::Stop)), Role::HintText),
        (RunState::Finished { .. }, _) => failed.and("  finished", Role::Muted),
        (RunState::Failed(_), _) => Line::of("not started", Role::Error),
    }
}

fn row_lines(model: &Model, run: &Run, row: &RunRow, widths: Widths, width: usize, painter: &Painter<'_>) -> Vec<Line> {
    let glyphs = painter.glyphs();
    let waited = row.waiting.as_ref().map(|(so_far, _)| format!("waits {}", short(*so_far)));
    let (sign, word, role) = match &row.ended {
        Some(_) | None if waited.is_some() => (glyphs.running, waited.as_deref().unwrap_or_default(), Role::Accent),
        Some((_, ActionResult::Done(_))) => (glyphs.done, "verified", Role::Ok),
        Some((_, ActionResult::Already)) => (glyphs.done, "already", Role::Ok),
        Some((_, ActionResult::Restored { .. })) => (glyphs.done, "restored", Role::Warn),
        Some((_, ActionResult::Skipped { class: Skip::Stale, .. })) => (glyphs.skipped, "stale", Role::Warn),
        Some((_, ActionResult::Skipped { .. })) => (glyphs.skipped, "skipped", Role::Muted),
        Some((_, ActionResult::Failed { .. })) => (glyphs.failed, "failed", Role::Error),
        Some((_, ActionResult::Unknown { .. })) => (glyphs.failed, "unknown", Role::Error),
        None if row.intended.is_some() && !run.is_running() => (glyphs.failed, "unknown", Role::Error),
        None if row.answered.is_some() => (glyphs.running, "verifying", Role::Accent),
        None if row.sent.is_some() => (glyphs.running, "sending", Role::Accent),
        None if row.intended.is_some() => (glyphs.running, "intended", Role::Accent),
        None if run.is_running() => (glyphs.queued, "queued", Role::Muted),
        None => (glyphs.skipped, "not sent", Role::Muted),
    };
    let line = Line::of(format!("{sign} {word:<11}"), role)
        .and(format!("{:<9}", row.verb.as_str()), Role::Text)
        .and(padded(&row.what, widths.what), Role::Text)
        .and(padded(&row.cluster, widths.cluster), Role::Muted);
    let times = times(model, row);
    // A partial time is not shown.
    let fits = line.plain().width() + times.width() <= width;
    let mut lines = vec![if fits { line.and(times, Role::Muted) } else { line }];
    let waits_for = row.waiting.as_ref().map(|(_, why)| why.as_str());
    let why = waits_for.or(row.ended.as_ref().map(|(_, end)| end.why_of(row.verb))).filter(|why| !why.is_empty());
    if let Some(why) = why {
        let text = format!("{}{why}", " ".repeat(WHY_INDENT));
        lines.extend(wrapped(&text, width, WHY_INDENT, role));
    }
    lines
}

/// `45s`, `12m`.
fn short(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds => format!("{}m", seconds / 60),
    }
}

/// Pads a text to the width of its column, plus two.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}  ", " ".repeat(width.saturating_sub(text.width())))
}

/// `intent 14:02:11.204  sent .211  gone .260`
fn times(model: &Model, row: &RunRow) -> String {
    let zone = model.time_zone();
    let whole = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%H:%M:%S%.3f").to_string();
    let part = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%S%.3f").to_string();
    let Some(intended) = row.intended else { return String::new() };
    let mut text = format!("intent {}", whole(intended));
    if let Some(at) = row.sent {
        text.push_str(&format!("  sent {}", part(at)));
    }
    if let Some((at, end)) = &row.ended {
        text.push_str(&format!("  {} {}", end.as_str(), part(*at)));
    }
    text
}

fn journal(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let inside = painter.pane(area, &Line::of("Journal", Role::Title), &Line::blank(), PaneFocus::Keys);
    painter.hit(area, Hit::List);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let entries = match &model.activity.history {
        History::NotRead => {
            states::empty(inside, "Reading the journal.", "", painter);
            return;
        }
        History::Failed(why) => {
            states::empty(inside, why, "Run: trueup history verify", painter);
            return;
        }
        History::Read(entries) if entries.is_empty() => {
            states::empty(
                inside,
                if model.activity.run.as_ref().is_some_and(Run::is_running) {
                    "The journal is empty. The running apply appears here when it ends."
                } else {
                    "The journal is empty: no applies yet."
                },
                "Applied plans can be undone here.",
                painter,
            );
            return;
        }
        History::Read(entries) => entries,
    };
    let first = model.activity.list.window().start;
    for (place, (y, entry)) in (inside.y..inside.bottom()).zip(entries.iter().skip(first)).enumerate() {
        let line = Rect { y, height: 1, ..inside };
        let is_here = model.activity.list.cursor() == Some(&entry.plan);
        let cursor = if is_here { painter.glyphs().cursor } else { " " };
        let text = entry_line(model, entry);
        let mut shown = Line::of(format!("{cursor} "), Role::Accent);
        shown.0.extend(text.0);
        painter.line(line.x, y, line.width, &shown);
        if is_here {
            painter.select(Rect { x: area.x, width: area.width.saturating_sub(1), ..line });
        }
        painter.hit(line, Hit::Row(first + place));
    }
}

fn entry_line(model: &Model, entry: &Entry) -> Line {
    let approval = entry.approvals.last();
    let time = approval
        .map_or(String::new(), |approval| approval.at.to_zoned(model.time_zone()).strftime("%b %d %H:%M").to_string());
    let who = approval.map(|approval| approval.who.as_str()).unwrap_or_default();
    let clusters: Vec<&str> =
        approval.map(|approval| approval.clusters.iter().map(|one| one.name.as_str()).collect()).unwrap_or_default();
    let count = entry.actions.len();
    let things = if count == 1 { "1 action".to_owned() } else { format!("{count} actions") };
    let line = Line::of(format!("{time}  "), Role::Muted)
        .and(format!("{}  ", short_id(&entry.plan)), Role::Accent)
        .and(format!("{things:<11} "), Role::Text);
    let (came, role) = match (entry.open_count(), entry.finished) {
        (1, _) => ("1 open: outcome unknown".to_owned(), Role::Error),
        (open @ 2.., _) => (format!("{open} open: outcomes unknown"), Role::Error),
        (0, Some(_)) => (outcome(entry), Role::Ok),
        (0, None) => ("running or interrupted".to_owned(), Role::Warn),
    };
    line.and(came, role).and(format!("  by {who} in {}", clusters.join(", ")), Role::Muted)
}

/// `2 gone, 1 skipped`
fn outcome(entry: &Entry) -> String {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for action in &entry.actions {
        let word = match &action.standing {
            ActionStanding::Prepared => "not sent",
            ActionStanding::Skipped { .. } => "skipped",
            ActionStanding::Open => "open",
            ActionStanding::Answered(_) => "answered",
            ActionStanding::Verified { state, .. } => state.as_str(),
            ActionStanding::Resolved(found) => found.as_str(),
        };
        *counts.entry(word).or_insert(0) += 1;
    }
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}
