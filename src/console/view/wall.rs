//! The wall: fleet status for a shared display. Totals, the worst clusters, the running apply, the next to expire, and
//! the news.
//!
//! Invariants: no cursor; drawn only when something on it changes, and nothing here visits the fleet.

use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Rect;

use super::expiry::object;
use super::header::{clusters_in_short, time};
use super::news;
use super::paint::{Painter, PaneFocus};
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::model::{ExpiryPlace, FLEET_DRIFT, Model, Run, StateCounts, WORST_FIRST};
use crate::console::table::age;
use crate::console::theme::Role;
use trueup_checks::End;
use trueup_core::engine::{LinkState, State, short_id};
use trueup_core::world::ClusterName;

/// From this height five clusters and five expiries are shown.
const HIGH_FROM: u16 = 30;
/// From this width all states and the last hour are shown.
const HOUR_FROM: u16 = 100;
const BAR: usize = 12;
const HOUR: i64 = 3600;

pub fn draw(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    painter.clear(area);
    painter.hit(area, Hit::Layer);
    totals(model, Rect { height: 1.min(area.height), ..area }, painter);
    let (worst, ends) = if area.height >= HIGH_FROM { (5, 5) } else { (3, 1) };
    let mut y = area.y + 1;
    let leave = Line::of(format!("{}: leave", model.key(Action::Back)), Role::Muted);
    let parts = [
        ("Worst", PaneFocus::Keys, worst_lines(model, worst, painter)),
        ("Applies", PaneFocus::Waits, vec![apply_line(model, painter)]),
        ("Next to expire", PaneFocus::Waits, end_lines(model, ends, painter)),
    ];
    let within = |inside: Rect| Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    for (title, held, lines) in parts {
        let left = area.bottom().saturating_sub(y);
        let height = u16::try_from(lines.len() + 1).unwrap_or(left).min(left);
        let right = if held == PaneFocus::Keys { leave.clone() } else { Line::blank() };
        let inside = painter.pane(Rect { y, height, ..area }, &Line::of(title, Role::Title), &right, held);
        painter.lines(within(inside), &lines, 0);
        y += height;
    }
    let below = Rect { y, height: area.bottom().saturating_sub(y), ..area };
    let inside = painter.pane(below, &Line::of("News", Role::Title), &Line::blank(), PaneFocus::Waits);
    news::draw(model, within(inside), 0, painter);
}

/// `24 clusters: 22 live ↻1 ◑1     ! 14   ≠ 17   + 12     last 1h ▂▂▂▃     19:34 UTC`
fn totals(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let glyphs = painter.glyphs();
    let clock = Line::of(time(model, painter), Role::Muted);
    let right = painter.line_right(area.right().saturating_sub(1), area.y, area.width, &clock);
    let mut line = clusters_in_short(model, painter);
    if let Some(words) = cut_off(model) {
        line = line.and(format!("  {words}"), Role::Error);
    }
    line = line.and("  ", Role::Text);
    let mut counts = StateCounts::default();
    model.checks.iter().for_each(|check| counts.add(&model.findings.counts_of(check.name)));
    for state in WORST_FIRST.into_iter().filter(|state| *state != State::Match) {
        let count = counts.of(state);
        let role = if count == 0 { Role::Muted } else { Role::from(state) };
        line = match (area.width >= HOUR_FROM, count) {
            (true, _) => line.and(format!("  {} {count}", glyphs.state(state)), role),
            (false, 0) => line,
            (false, _) => line.and(format!(" {}{count}", glyphs.state(state)), role),
        };
    }
    if area.width >= HOUR_FROM {
        let hour = model.feed.hour(&ClusterName::new(FLEET_DRIFT), model.now);
        let most = u64::from(hour.iter().copied().max().unwrap_or_default());
        let spark: String = hour.iter().map(|count| glyphs.spark(u64::from(*count), most)).collect();
        line = line.and(format!("    last 1h {spark}"), Role::Muted);
    }
    painter.line(area.x + 1, area.y, right.saturating_sub(area.x + 2), &line);
}

/// `No data for 4m`: no cluster is connected.
fn cut_off(model: &Model) -> Option<String> {
    let links = model.fleet.links();
    let connected = [LinkState::Live, LinkState::Partial, LinkState::Recorded, LinkState::Connecting];
    if links.total() == 0 || connected.iter().any(|kind| links.count(*kind) > 0) {
        return None;
    }
    let since = links.named().filter_map(|(_, name)| links.since(name)).max()?;
    Some(format!("No data for {}", age(since, model.now)))
}

fn worst_lines(model: &Model, most: usize, painter: &mut Painter<'_>) -> Vec<Line> {
    let glyphs = painter.glyphs();
    let mut lines = Vec::new();
    for name in model.fleet.worst().take(most) {
        let (Some(cluster), Some(summary)) = (model.fleet.get(name), model.fleet.summary(name)) else { continue };
        let (state, count) = summary.counts.worst().next().unwrap_or((State::Unknown, 0));
        let count = if count == 0 { String::new() } else { count.to_string() };
        let since = summary.since.map_or_else(|| "-".to_owned(), |since| painter.list_age(since, model.now));
        let (what, _) = super::fleet::sentence(model, cluster, summary, painter);
        lines.push(
            Line::of(format!("{:<6}", format!("{}{count}", glyphs.state(state))), Role::from(state))
                .and(format!("{:<24} ", painter.shortened_name(name.as_str(), 24)), Role::Text)
                .and(format!("{:<5} ", glyphs.class(cluster.class)), Role::from(cluster.class))
                .and(format!("{since:>4}  "), Role::Muted)
                .and(what, Role::Text),
        );
    }
    if lines.is_empty() {
        lines.push(Line::of("Nothing to fix.", Role::Muted));
    }
    lines
}

fn apply_line(model: &Model, painter: &Painter<'_>) -> Line {
    let Some(run) = model.activity.run.as_ref().filter(|run| run.is_running()) else {
        return Line::of("No apply is running.", Role::Muted);
    };
    let (done, all) = (ended(run), run.rows.len());
    let full = done * BAR / all.max(1);
    let glyphs = painter.glyphs();
    let mut clusters: Vec<&str> = run.rows.iter().map(|row| row.cluster.as_str()).collect();
    clusters.dedup();
    let stopping = if run.stop_requested.is_some() { "  stopping" } else { "" };
    Line::of(format!("{}  ", short_id(&run.plan)), Role::Accent)
        .and(format!("{}  ", clusters.join(", ")), Role::Text)
        .and(glyphs.bar_full.repeat(full), Role::BarFull)
        .and(glyphs.bar_empty.repeat(BAR - full), Role::BarEmpty)
        .and(format!(" {done} of {all}{stopping}"), Role::Text)
        .and(format!("  {}: stop", model.key(Action::Stop)), Role::Muted)
}

fn ended(run: &Run) -> usize {
    run.rows.iter().filter(|row| row.ended.is_some() && row.waiting.is_none()).count()
}

/// The time until an end, in minutes in the last hour.
fn left(until: Timestamp, now: Timestamp, painter: &mut Painter<'_>) -> String {
    let seconds = until.duration_since(now).as_secs();
    if seconds < HOUR {
        return painter.minutes_until(until, now);
    }
    painter.changes(now.checked_add(SignedDuration::from_secs(seconds % HOUR + 1)).ok());
    age(now, until)
}

/// The credentials and certificates that end next.
fn end_lines(model: &Model, most: usize, painter: &mut Painter<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let order = &model.expiry.order;
    // What has ended comes before.
    let start = order.get(0).map_or(0, |first| order.lower_bound(&ExpiryPlace::Ends(model.now), first));
    for id in (start..order.shown()).filter_map(|index| order.get(index)) {
        let Some(expiry) = model.expiry.expiry(id, &model.findings) else { continue };
        // The soonest come first, and what has no end last.
        let End::At { until, .. } = expiry.end else { break };
        if until <= model.now {
            continue;
        }
        let left = left(until, model.now, painter);
        let class = model.fleet.class_of(&id.subject.cluster);
        lines.push(
            Line::of(format!("in {left:<5} "), Role::Warn)
                .and(format!("{}  ", object(id, &expiry.what)), Role::Text)
                .and(format!("{}  ", id.subject.cluster), Role::Text)
                .and(painter.glyphs().class(class), Role::from(class)),
        );
        if lines.len() == most {
            break;
        }
    }
    if lines.is_empty() {
        lines.push(Line::of("No expiry is known.", Role::Muted));
    }
    lines
}
