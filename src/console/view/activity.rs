//! What is being applied as it happens, and the journal of what was.

use jiff::Timestamp;
use ratatui::layout::Rect;

use super::paint::{Held, Painter};
use super::states;
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{History, Model, Run, RunRow, RunState};
use crate::console::theme::Role;
use crate::engine::executor::{End, Skip};
use crate::engine::journal::{ActionStanding, Entry};
use crate::engine::short_id;

const BAR: usize = 24;

pub fn draw(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    run(model, layout.main, painter);
    if let Some(area) = layout.detail {
        journal(model, area, painter);
    }
}

fn run(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let Some(run) = &model.activity.run else {
        let inside = painter.boxed(area, &Line::of("Apply", Role::Title), &Line::blank(), Held::Waits);
        let says = "Nothing was applied in this session.";
        states::empty(inside, says, "r on a finding makes a plan; a approves it.", painter);
        return;
    };
    let inside = painter.boxed(area, &run_title(run, painter), &run_right(model, run), Held::Waits);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let mut lines: Vec<Line> = Vec::new();
    if let RunState::Failed(why) = &run.state {
        lines.extend(wrapped(why, usize::from(inside.width), 2, Role::Error));
    }
    if let RunState::Finished { halted: Some(why) } = &run.state {
        lines.extend(wrapped(&format!("It ended early: {why}"), usize::from(inside.width), 2, Role::Error));
    }
    for notice in &run.notices {
        lines.extend(wrapped(notice, usize::from(inside.width), 2, Role::Warn));
    }
    let room = usize::from(inside.height).saturating_sub(lines.len());
    let first = first_shown(run, room);
    lines.extend(run.rows.iter().skip(first).take(room).map(|row| row_line(model, run, row, painter)));
    painter.lines(inside, &lines, 0);
}

/// The rows around the first one that has not ended.
fn first_shown(run: &Run, room: usize) -> usize {
    let at = run.rows.iter().position(|row| row.ended.is_none()).unwrap_or(run.rows.len());
    at.saturating_sub(room / 2).min(run.rows.len().saturating_sub(room))
}

fn run_title(run: &Run, painter: &Painter<'_>) -> Line {
    let (done, all) = (run.done(), run.rows.len());
    let full = done * BAR / all.max(1);
    let glyphs = painter.glyphs();
    Line::of(format!("Apply {} ", short_id(&run.plan)), Role::Title)
        .and(glyphs.bar_full.repeat(full), Role::BarFull)
        .and(glyphs.bar_empty.repeat(BAR - full), Role::BarEmpty)
        .and(format!(" {done} of {all}"), Role::Text)
}

fn run_right(model: &Model, run: &Run) -> Line {
    let bad =
        run.rows.iter().filter(|row| matches!(&row.ended, Some((_, End::Failed { .. } | End::Unknown { .. })))).count();
    let failed = Line::of(format!("{bad} failed"), if bad > 0 { Role::Error } else { Role::Muted });
    match (&run.state, run.stopping) {
        (RunState::Running, true) => failed.and("  stopping after this one", Role::Warn),
        (RunState::Running, false) => {
            failed.and(format!("  {} stops", super::key_of(model, Action::Stop)), Role::HintText)
        }
        (RunState::Finished { .. }, _) => failed.and("  finished", Role::Muted),
        (RunState::Failed(_), _) => Line::of("not begun", Role::Error),
    }
}

fn row_line(model: &Model, run: &Run, row: &RunRow, painter: &Painter<'_>) -> Line {
    let glyphs = painter.glyphs();
    let (sign, word, role) = match &row.ended {
        Some((_, End::Done(_))) => (glyphs.done, "verified", Role::Ok),
        Some((_, End::TakenBack { .. })) => (glyphs.done, "taken back", Role::Warn),
        Some((_, End::Skipped { class: Skip::Stale, .. })) => (glyphs.skipped, "stale", Role::Warn),
        Some((_, End::Skipped { .. })) => (glyphs.skipped, "skipped", Role::Muted),
        Some((_, End::Failed { .. })) => (glyphs.failed, "failed", Role::Error),
        Some((_, End::Unknown { .. })) => (glyphs.failed, "unknown", Role::Error),
        None if row.answered.is_some() => (glyphs.running, "verifying", Role::Accent),
        None if row.sent.is_some() => (glyphs.running, "sending", Role::Accent),
        None if row.intended.is_some() => (glyphs.running, "intended", Role::Accent),
        None if run.is_running() => (glyphs.queued, "queued", Role::Muted),
        None => (glyphs.skipped, "not sent", Role::Muted),
    };
    let line = Line::of(format!("{sign} {word:<11}"), role)
        .and(format!("{:<7}", row.verb), Role::Text)
        .and(format!("{}  ", row.what), Role::Text)
        .and(format!("{}  ", row.cluster), Role::Muted);
    let why = row.ended.as_ref().map(|(_, end)| end.why()).filter(|why| !why.is_empty());
    match why {
        Some(why) => line.and(why, role),
        None => line.and(times(model, row), Role::Muted),
    }
}

/// `intent 14:02:11.204  sent .211  gone .260`
fn times(model: &Model, row: &RunRow) -> String {
    let zone = model.time_zone();
    let whole = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%H:%M:%S%.3f").to_string();
    let part = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%S%.3f").to_string();
    let mut text = String::new();
    if let Some(at) = row.intended {
        text.push_str(&format!("intent {}", whole(at)));
    }
    if let Some(at) = row.sent {
        text.push_str(&format!("  sent {}", part(at)));
    }
    if let Some((at, end)) = &row.ended {
        text.push_str(&format!("  {} {}", end.word(), part(*at)));
    }
    text
}

fn journal(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let inside = painter.boxed(area, &Line::of("Journal", Role::Title), &Line::blank(), Held::Keys);
    painter.hit(area, Hit::List);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let entries = match &model.activity.history {
        History::NotRead => return,
        History::Failed(why) => {
            states::empty(inside, why, "trueup history verify says more.", painter);
            return;
        }
        History::Read(entries) if entries.is_empty() => {
            states::empty(inside, "The journal is empty: nothing was ever applied from here.", "", painter);
            return;
        }
        History::Read(entries) => entries,
    };
    let first = model.activity.list.window().start;
    for (place, (y, entry)) in (inside.y..inside.bottom()).zip(entries.iter().skip(first)).enumerate() {
        let line = Rect { y, height: 1, ..inside };
        let is_here = model.activity.list.cursor() == Some(&entry.plan);
        if is_here {
            painter.fill(line, Role::Selection);
        }
        let cursor = if is_here { painter.glyphs().cursor } else { " " };
        let text = entry_line(model, entry);
        let mut shown = Line::of(format!("{cursor} "), Role::Accent);
        shown.0.extend(text.0);
        painter.line(line.x, y, line.width, &shown);
        painter.hit(line, Hit::Row(first + place));
    }
}

fn entry_line(model: &Model, entry: &Entry) -> Line {
    let approval = entry.approvals.last();
    let time = approval.map_or(String::new(), |approval| {
        approval.at.to_zoned(model.time_zone()).strftime("%Y-%m-%d %H:%M").to_string()
    });
    let who = approval.map(|approval| approval.who.as_str()).unwrap_or_default();
    let clusters: Vec<&str> =
        approval.map(|approval| approval.clusters.iter().map(|one| one.name.as_str()).collect()).unwrap_or_default();
    let count = entry.actions.len();
    let things = if count == 1 { "1 action".to_owned() } else { format!("{count} actions") };
    let line = Line::of(format!("{time}  "), Role::Muted)
        .and(format!("{}  ", short_id(&entry.plan)), Role::Accent)
        .and(format!("{things} by {who} in {}  ", clusters.join(", ")), Role::Text);
    let open = entry.open_count();
    if open > 0 {
        return line.and(format!("{open} open: what came of them is not known yet"), Role::Error);
    }
    match entry.finished {
        Some(_) => line.and(outcome(entry), Role::Ok),
        None => line.and("running, or broken off", Role::Warn),
    }
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
            ActionStanding::Verified { state, .. } => state.word(),
            ActionStanding::Resolved(found) => found.word(),
        };
        *counts.entry(word).or_insert(0) += 1;
    }
    counts.iter().map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}
