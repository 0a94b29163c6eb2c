//! The running apply, or the last one.
//!
//! Invariants: only what was verified counts as done; a run that was stopped or skipped something says so.
//! Elsewhere: the journal (`journal`).

use std::borrow::Cow;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::paint::{Painter, PaneFocus};
use super::text::{Line, wrapped};
use super::{journal, states};
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{Model, RowState, Run, RunRow, RunState, Tally, past};
use crate::console::theme::Role;
use trueup_core::engine::executor::{ActionResult, Halt};
use trueup_core::engine::journal::VerifiedState;
use trueup_core::engine::{State, Verb, short_id};
use trueup_core::world::RiskClass;

/// Width of the progress bar.
const BAR: usize = 12;
/// Width of a class with its mark.
const CLASS: usize = 6;
/// Width from which the rows have a class.
const CLASS_FROM: u16 = 100;
/// Width of a row's state: its glyph and the longest word.
const STATE: usize = 14;
/// Gaps beside the columns of a row: after state, verb, name and cluster.
const GAPS: usize = 4;
/// Limits of the width of a name.
const WHAT_MIN: usize = 16;
const WHAT_MAX: usize = 56;

pub fn draw(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    match (model.activity.opened(), &model.activity.run) {
        (Some(row), _) => journal::entry(model, row, layout.main, painter),
        (None, Some(one)) => run(model, one, layout.main, painter),
        (None, None) => nothing(model, layout.main, painter),
    }
    if let Some(area) = layout.detail {
        journal::list(model, area, painter);
    }
}

fn nothing(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let inside = painter.pane(area, &Line::of("Apply", Role::Title), &Line::blank(), PaneFocus::Waits);
    let (plan, approve) = (model.screen_key(Action::Reconcile), model.screen_key(Action::Approve));
    let next = format!("{plan}: plan a fix  {approve}: approve");
    states::empty(inside, "No applies in this session.", &next, painter);
}

fn run(model: &Model, run: &Run, area: Rect, painter: &mut Painter<'_>) {
    let right = run_right(model, run, painter);
    let space = usize::from(area.width).saturating_sub(right.plain().width() + 10);
    let title = run_title(model, run, space, painter);
    let inside = painter.pane(area, &title, &right, PaneFocus::Waits);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let width = usize::from(inside.width);
    let mut lines = summary_lines(model, run, width);
    let widths = Widths::of(run, area.width);
    let mut under_way = None;
    for row in &run.rows {
        if row.ended.is_none() {
            under_way.get_or_insert(lines.len());
        }
        lines.extend(row_lines(model, run, row, widths, width, painter));
    }
    lines.extend(last_lines(model, run, width, painter));
    // The running action stays visible, with the lines before it.
    let space = usize::from(inside.height);
    let first = under_way.unwrap_or(lines.len()).saturating_sub(space / 2);
    painter.lines(inside, &lines, first);
    painter.thumb(area.right() - 1, inside, lines.len(), first);
}

/// How the run ended, above its rows.
fn summary_lines(model: &Model, run: &Run, width: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    match &run.state {
        RunState::Failed(why) => lines.extend(wrapped(&format!("Nothing was sent: {why}"), width, 2, Role::Error)),
        RunState::Finished { halted: Some(halt @ (Halt::Gate(_) | Halt::Journal(_))), .. } => {
            lines.extend(wrapped(&format!("Ended early: {}", halt.message()), width, 2, Role::Error));
        }
        RunState::Finished { halted: Some(Halt::Stopped) | None, .. } | RunState::Running => {}
    }
    lines.extend(run.notices.iter().flat_map(|notice| wrapped(notice, width, 2, Role::Warn)));
    let left = run.findings_left().count();
    if !run.is_running() && left > 0 {
        let key = model.screen_key(Action::Reconcile);
        lines.extend(wrapped(&format!("{left} not carried out. {key}: plan the rest"), width, 2, Role::Text));
    }
    lines
}

/// What follows the rows: the scan for references.
fn last_lines(model: &Model, run: &Run, width: usize, painter: &Painter<'_>) -> Vec<Line> {
    let message = match run.unreferenced_at {
        Some(at) => format!("Checked {}: nothing refers to the deleted objects.", time(model, at)),
        None if run.is_scanning() && run.rows.iter().any(|row| row.verb == Verb::Delete) => {
            format!("Applied. Checking for references to deleted objects{}", painter.glyphs().ellipsis)
        }
        None => return Vec::new(),
    };
    let text = wrapped(&message, width, 2, Role::Muted);
    std::iter::once(Line::blank()).chain(text).collect()
}

/// Column widths of a run.
#[derive(Clone, Copy)]
struct Widths {
    verb: usize,
    what: usize,
    cluster: usize,
    class: usize,
}

impl Widths {
    fn of(run: &Run, area: u16) -> Self {
        let widest = |text: fn(&RunRow) -> &str, most: usize| {
            run.rows.iter().map(|row| text(row).width().min(most)).max().unwrap_or(0)
        };
        let class = if area >= CLASS_FROM { CLASS } else { 0 };
        let (verb, cluster) = (widest(|row| row.verb.as_str(), 10), widest(|row| &row.cluster, 24) + 1);
        let class_space = if class > 0 { class + 2 } else { 0 };
        let beside = STATE + verb + cluster + class_space + 2 * GAPS;
        let what = widest(|row| &row.what, WHAT_MAX).min(usize::from(area).saturating_sub(beside)).max(WHAT_MIN);
        Self { verb, what, cluster, class }
    }
}

fn run_title(model: &Model, run: &Run, space: usize, painter: &Painter<'_>) -> Line {
    let tally = run.tally();
    let stopped = match (&run.state, run.stop_requested) {
        (RunState::Finished { halted: Some(Halt::Stopped), .. }, Some(at)) => {
            Some(format!("STOPPED by you {}", time(model, at)))
        }
        (RunState::Finished { halted: Some(Halt::Stopped), .. }, None) => Some("STOPPED".to_owned()),
        (RunState::Finished { .. } | RunState::Running | RunState::Failed(_), _) => None,
    };
    let glyphs = painter.glyphs();
    let full = tally.done * BAR / tally.all.max(1);
    let with = |bar: usize| {
        let name = Line::of(format!("Apply {} ", short_id(&run.plan)), Role::Title);
        let mut line = match bar {
            0 => name,
            bar => name
                .and(glyphs.bar_full.repeat(full), Role::BarFull)
                .and(glyphs.bar_empty.repeat(bar - full), Role::BarEmpty)
                .and(" ", Role::Text),
        };
        if let Some(stopped) = &stopped {
            line = line.and(stopped.as_str(), Role::Warn).and(format!(" {} ", glyphs.separator), Role::Muted);
        }
        line.and(tally.parts().join(&format!(" {} ", glyphs.separator)), tally_role(tally))
    };
    let whole = with(BAR);
    if painter.width(&whole.plain()) <= space { whole } else { with(0) }
}

fn tally_role(tally: Tally) -> Role {
    let Tally { all, done, already_gone, unchanged, failed, unknown, open, .. } = tally;
    match (failed + unknown, done + already_gone + unchanged + open == all) {
        (0, true) => Role::Text,
        (0, false) => Role::Warn,
        (_, _) => Role::Error,
    }
}

fn run_right(model: &Model, run: &Run, painter: &mut Painter<'_>) -> Line {
    let separator = painter.glyphs().separator;
    match (&run.state, run.stop_requested) {
        (RunState::Running, requested) => {
            painter.changes(model.now.checked_add(SignedDuration::from_secs(1)).ok());
            let so_far = Duration::try_from(model.now.duration_since(run.started)).unwrap_or_default();
            let line = Line::of(format!("{} {separator} ", short(so_far)), Role::Muted);
            match requested {
                Some(_) => line.and("stopping after this action", Role::Warn),
                None => line.and(format!("{}: stop", model.screen_key(Action::Stop)), Role::HintText),
            }
        }
        (RunState::Finished { at, .. }, _) => {
            let took = Duration::try_from(at.duration_since(run.started)).unwrap_or_default();
            Line::of(format!("finished {}, {}", time(model, *at), short(took)), Role::Muted)
        }
        (RunState::Failed(_), _) => Line::of("not started", Role::Error),
    }
}

/// The cluster, with the mark of its class where there is no column for the word.
fn cluster_text(row: &RunRow, widths: Widths, painter: &Painter<'_>) -> String {
    match (widths.class, row.class) {
        (0, RiskClass::Prod) => format!("{}{}", painter.glyphs().prod_mark, row.cluster),
        (0, RiskClass::Stage | RiskClass::Dev) => format!(" {}", row.cluster),
        (_, _) => row.cluster.clone(),
    }
}

fn row_lines(model: &Model, run: &Run, row: &RunRow, widths: Widths, width: usize, painter: &Painter<'_>) -> Vec<Line> {
    let (sign, word, role) = state_words(run, row, painter);
    let sign_and_word = format!("{sign} {word}");
    let mut line = Line::of(padded(&sign_and_word, STATE), role)
        .and(padded(row.verb.as_str(), widths.verb), Role::Muted)
        .and(padded(&painter.shortened_name(&row.what, widths.what), widths.what), Role::Text)
        .and(padded(&cluster_text(row, widths, painter), widths.cluster), Role::Muted);
    if widths.class > 0 {
        line = line.and(padded(&painter.glyphs().class_in_column(row.class), widths.class), Role::from(row.class));
    }
    let times = times(model, row);
    // A partial time is not shown.
    let fits = line.plain().width() + times.width() <= width;
    let mut lines = vec![if fits { line.and(times, Role::Muted) } else { line }];
    if let Some(why) = reason(run, row) {
        let text = format!("{}{why}", " ".repeat(STATE + 2));
        lines.extend(wrapped(&text, width, STATE + 2, role));
    }
    lines
}

/// Glyph, word and role of a row's state.
fn state_words(run: &Run, row: &RunRow, painter: &Painter<'_>) -> (&'static str, Cow<'static, str>, Role) {
    let glyphs = painter.glyphs();
    let waited = || row.waiting.as_ref().map_or_else(String::new, |(so_far, _)| format!(" {}", short(*so_far)));
    match run.row_state(row) {
        RowState::Queued => (glyphs.queued, "queued".into(), Role::Muted),
        RowState::NotSent => (glyphs.queued, "not sent".into(), Role::Warn),
        RowState::Sending => (glyphs.running, "sending".into(), Role::Accent),
        RowState::Verifying => (glyphs.running, "verifying".into(), Role::Accent),
        RowState::Waiting => (glyphs.running, format!("waiting{}", waited()).into(), Role::Accent),
        RowState::Terminating => (glyphs.state(State::Stale), format!("terminating{}", waited()).into(), Role::Warn),
        RowState::Verified => (glyphs.done, verified(row).into(), Role::Ok),
        RowState::Already if row.verb == Verb::Delete => (glyphs.done, "already gone".into(), Role::Muted),
        RowState::Already => (glyphs.done, "unchanged".into(), Role::Muted),
        RowState::Restored => (glyphs.done, "restored".into(), Role::Warn),
        RowState::Skipped => (glyphs.skipped, "skipped".into(), Role::Warn),
        RowState::Failed => (glyphs.failed, "failed".into(), Role::Error),
        RowState::Unknown => (glyphs.failed, "unknown".into(), Role::Error),
    }
}

/// What was done to an object that was read back as wanted.
fn verified(row: &RunRow) -> &'static str {
    match &row.ended {
        Some((_, ActionResult::Done(VerifiedState::Restored))) => "restored",
        Some(_) | None => past(row.verb),
    }
}

/// Why a row is in its state: what it waits for, or how it ended.
fn reason(run: &Run, row: &RunRow) -> Option<String> {
    if let Some((_, why)) = &row.waiting {
        return Some(why.clone());
    }
    match &row.ended {
        // The words of these states say all.
        Some(_) if matches!(run.row_state(row), RowState::NotSent | RowState::Already) && row.verb == Verb::Delete => {
            None
        }
        Some((_, end)) => Some(end.why_of(row.verb).to_owned()).filter(|why| !why.is_empty()),
        None => waits_for(run, row),
    }
}

/// `waits for LoadBalancer demo-lb`
fn waits_for(run: &Run, row: &RunRow) -> Option<String> {
    let is_open = |id: &&String| run.rows.iter().any(|other| other.id == **id && other.ended.is_none());
    let first = row.depends_on.iter().find(is_open)?;
    let what = run.rows.iter().find(|other| other.id == *first)?.what.as_str();
    run.is_running().then(|| format!("waits for {what}"))
}

/// `45s`, `12m`.
pub fn short(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds => format!("{}m", seconds / 60),
    }
}

/// Pads a text to the width of its column, plus two.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}  ", " ".repeat(width.saturating_sub(text.width())))
}

/// `19:44:02`
pub fn time(model: &Model, at: Timestamp) -> String {
    at.to_zoned(model.time_zone()).strftime("%H:%M:%S").to_string()
}

/// `19:44:02  1.1s`: when it was sent, and how long it took.
fn times(model: &Model, row: &RunRow) -> String {
    let Some(intended) = row.intended else { return String::new() };
    match &row.ended {
        Some((at, _)) => {
            let took = at.duration_since(intended).as_millis().max(0);
            format!("{}  {}.{}s", time(model, intended), took / 1000, took % 1000 / 100)
        }
        None => time(model, intended),
    }
}
