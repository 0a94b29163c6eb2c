//! Parts of every screen: header, tabs, hints and messages.

use ratatui::layout::Rect;

use super::paint::Painter;
use super::text::{Line, wrap};
use crate::console::effect::MouseHold;
use crate::console::hits::{Hit, Tab};
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{Model, ScreenId, ToastKind, Zone};
use crate::console::theme::Role;
use trueup_core::engine::short_id;
use trueup_core::world::{Cluster, ClusterSource, Link};

/// Start of the header after the program's name.
const AFTER_NAME: u16 = 20;
/// Text for clusters that are not named, without its number.
const MORE: &str = "and  more";

/// The program, the clusters with their connections, and the plan.
pub fn header(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let right = header_right(model, painter.glyphs().ellipsis);
    let begin = painter.line_right(area.right() - 1, area.y, area.width.saturating_sub(AFTER_NAME), &right);
    let mut x = painter.text(area.x + 1, area.y, 7, "trueup", Role::Title) + 2;
    // Local kubeconfig files are not a cluster.
    let is_root = |cluster: &&Cluster| cluster.hosted_by.is_none() && cluster.source != ClusterSource::Local;
    let mut roots: Vec<&Cluster> = model.fleet.clusters().filter(is_root).collect();
    roots.sort_by_key(|member| member.source.is_account());
    let (count, mut left) = (roots.len(), roots.len());
    let retries = roots.iter().filter(|cluster| matches!(cluster.link, Link::Degraded { .. })).count();
    let countdown = if retries > 1 { Countdown::Minutes } else { Countdown::Seconds };
    for cluster in roots {
        let chip = chip(model, cluster, countdown, painter);
        let needed: usize = chip.0.iter().map(|(text, _)| painter.width(text)).sum();
        let space = usize::from(begin.saturating_sub(x));
        // Space for the number of clusters that are not named.
        let rest = if left > 1 { MORE.len() + 4 } else { 0 };
        if needed + rest + 2 > space {
            break;
        }
        x = painter.line(x, area.y, begin - x, &chip) + 3;
        left -= 1;
    }
    let words = match (left, count) {
        (0, _) => return,
        (1, 1) => "1 cluster".to_owned(),
        (left, count) if left == count => format!("{left} clusters"),
        (left, _) => format!("and {left} more"),
    };
    if painter.width(&words) + 2 <= usize::from(begin.saturating_sub(x)) {
        painter.text(x, area.y, begin - x, &words, Role::Muted);
    }
}

fn chip(model: &Model, cluster: &Cluster, countdown: Countdown, painter: &mut Painter<'_>) -> Line {
    let (role, note) = link_words(model, cluster, countdown, painter);
    let line = Line::of(format!("{} ", link_glyph(model, cluster, painter)), role)
        .and(cluster.name.to_string(), Role::Text)
        .and(format!(" {}", painter.glyphs().class(cluster.class)), Role::from(cluster.class));
    if note.is_empty() { line } else { line.and(format!(" {note}"), role) }
}

/// The dot before a cluster's name.
pub fn link_glyph(model: &Model, cluster: &Cluster, painter: &Painter<'_>) -> &'static str {
    match model.fleet.unread(cluster) {
        Some(_) => painter.glyphs().link_partial,
        None => painter.glyphs().link(&cluster.link),
    }
}

/// Precision of the time until the next attempt to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Countdown {
    /// For a single one: it changes every second.
    Seconds,
    /// For several below or beside each other.
    Minutes,
}

/// State of a connection in a word or two; empty where the dot is enough.
pub fn link_words(model: &Model, cluster: &Cluster, countdown: Countdown, painter: &mut Painter<'_>) -> (Role, String) {
    match &cluster.link {
        Link::Idle => (Role::Muted, "idle".to_owned()),
        Link::Connecting => (Role::Warn, "connecting".to_owned()),
        Link::Listing { objects: 0 } => (Role::Warn, "listing".to_owned()),
        Link::Listing { objects } => (Role::Warn, format!("listing {objects}")),
        Link::Live { .. } => match model.fleet.unread(cluster) {
            Some(lists) => (Role::Warn, format!("{} of {} lists", lists.read(), lists.of)),
            None => (Role::Ok, String::new()),
        },
        Link::Degraded { gap: _, retry_at } => {
            let wait = match countdown {
                Countdown::Seconds => painter.seconds_until(*retry_at, model.now),
                Countdown::Minutes => painter.minutes_until(*retry_at, model.now),
            };
            (Role::Warn, format!("retry in {wait}"))
        }
        Link::AuthExpired { .. } => (Role::Error, "login expired".to_owned()),
        Link::Failed { .. } => (Role::Error, "unreachable".to_owned()),
        Link::Recorded => (Role::Muted, "recorded".to_owned()),
    }
}

fn header_right(model: &Model, ellipsis: &str) -> Line {
    let mut line = Line::blank();
    if let Some(paused) = &model.paused {
        let time = paused.since.to_zoned(model.time_zone()).strftime("%H:%M:%S").to_string();
        let waiting = paused.waiting.findings.len() + paused.waiting.clusters.len();
        line = line.and(format!("PAUSED {time}, {waiting} waiting"), Role::Warn).and("  ", Role::Text);
    }
    if let Some(words) = clock_words(model) {
        line = line.and(words, Role::Error).and("  ", Role::Text);
    }
    if model.read_only().is_some() {
        line = line.and("read-only", Role::ReadOnly).and("  ", Role::Text);
    }
    if model.mouse == MouseHold::Released {
        line = line.and("mouse released", Role::Muted).and("  ", Role::Text);
    }
    if model.zone == Zone::Utc {
        line = line.and("UTC", Role::Muted).and("  ", Role::Text);
    }
    let plan = match (&model.plan, model.planning) {
        (_, Some(_)) => (format!("planning{ellipsis}"), Role::Warn),
        (Some(sheet), None) => (format!("plan {}", short_id(&sheet.plan.id)), Role::Accent),
        (None, None) => ("no plan".to_owned(), Role::Muted),
    };
    line.and(plan.0, plan.1)
}

/// `clock -9 d`, or `clock +3 min of mgmt` where not all clusters are off by the same.
fn clock_words(model: &Model) -> Option<String> {
    let clocks = model.fleet.clocks();
    let (name, skew) = clocks.first_key_value()?;
    let others = clocks.len() - 1;
    let is_same = clocks.values().all(|other| other.short() == skew.short());
    Some(match (is_same, others) {
        (true, _) => format!("clock {}", skew.short()),
        (false, others) => format!("clock {} of {name}, {others} more", skew.short()),
    })
}

/// The tabs of all screens.
pub fn tabs(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let mut tabs: Vec<(Tab, String, bool, u32)> =
        vec![(Tab::Fleet, tab_title(model, Action::GoFleet, "Fleet"), model.screen() == ScreenId::Fleet, 0)];
    for (place, check) in model.checks.iter().enumerate() {
        let differences = model.findings.counts_of(check.name).differences();
        let title = match Action::go_check(place) {
            Some(action) => tab_title(model, action, check.description.title),
            None => check.description.title.to_owned(),
        };
        tabs.push((Tab::Check(place), title, model.screen() == ScreenId::Check(place), differences));
    }
    if model.plan.is_some() {
        tabs.push((Tab::Plan, "Plan".to_owned(), model.screen() == ScreenId::Plan, 0));
    }
    let running = u32::from(model.activity.is_running());
    tabs.push((Tab::Activity, "Activity".to_owned(), model.screen() == ScreenId::Activity, running));
    let help = Line::of(model.screen_key(Action::Help), Role::HintKey).and(" help ", Role::HintText);
    let start = painter.line_right(area.right(), area.y, area.width, &help);
    painter.hit(Rect { x: start, width: area.right() - start, ..area }, Hit::Tab(Tab::Help));
    // The tab of the current screen is always visible.
    let needed = |tab: &(Tab, String, bool, u32)| painter.width(&tab.1) + 3 + count_text(tab.3).len();
    let space = usize::from(start.saturating_sub(area.x + 1));
    while tabs.iter().map(needed).sum::<usize>() > space {
        let Some(place) = tabs.iter().rposition(|(_, _, is_here, _)| !is_here) else { break };
        tabs.remove(place);
    }
    let mut x = area.x + 1;
    for (tab, title, is_here, count) in tabs {
        let role = if is_here { Role::Title } else { Role::Muted };
        let (open, close) = if is_here { ("[", "]") } else { (" ", " ") };
        let line = Line::of(format!("{open}{title}"), role).and(count_text(count), Role::Drift).and(close, role);
        let begin = x;
        x = painter.line(x, area.y, start.saturating_sub(x), &line);
        painter.hit(Rect { x: begin, width: x - begin, ..area }, Hit::Tab(tab));
        x += 1;
    }
}

/// A tab's title after its key, if it has one.
fn tab_title(model: &Model, action: Action, title: &str) -> String {
    let keys = model.keys.keys(model.screen_scope(), action);
    keys.first().map_or_else(|| title.to_owned(), |key| format!("{key} {title}"))
}

fn count_text(count: u32) -> String {
    if count > 0 { format!(" {count}") } else { String::new() }
}

/// Messages above the hints, newest lowest.
pub fn toasts(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let width = usize::from(layout.hints.width.saturating_sub(4)).min(100);
    let mut y = layout.hints.y;
    let toasts: Vec<_> = model.toasts.iter().collect();
    for toast in toasts.into_iter().rev() {
        let role = match toast.kind {
            ToastKind::Info => Role::Toast,
            ToastKind::Error => Role::ToastError,
        };
        let lines = wrap(&toast.message, width, 2);
        let height = u16::try_from(lines.len()).unwrap_or(1);
        if y < layout.main.y + height {
            break;
        }
        y -= height;
        let widest = lines.iter().map(|line| painter.width(line)).max().unwrap_or(0);
        for (place, text) in lines.iter().enumerate() {
            let shown = format!(" {text}{} ", " ".repeat(widest - painter.width(text)));
            let x = layout.hints.right().saturating_sub(u16::try_from(painter.width(&shown)).unwrap_or(0) + 1);
            let line_y = y + u16::try_from(place).unwrap_or(0);
            let space = layout.hints.right() - x;
            painter.text(x, line_y, space, &shown, role);
        }
    }
    painter.changes(model.toasts.next_end());
}

/// Possible next keys of a sequence.
pub fn which_key(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let height = u16::try_from(model.follow.len()).unwrap_or(1) + 2;
    let width = 30;
    let bottom = layout.hints.y;
    let area =
        Rect { x: layout.hints.right().saturating_sub(width + 1), y: bottom.saturating_sub(height), width, height };
    painter.dialog(area);
    let title = model.pressed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let inside = painter.boxed(area, &Line::of(title, Role::Title), &Line::blank());
    for (y, (key, word)) in (inside.y..inside.bottom()).zip(&model.follow) {
        let line = Line::of(format!(" {key:<6}"), Role::HintKey).and(*word, Role::HintText);
        painter.line(inside.x, y, inside.width, &line);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::console::testing::{TestConsole, now};
    use trueup_core::world::{ClockSkew, ClusterName, Gap, GapCause};
    use trueup_fleet::live::{UnreadLists, Update};

    #[test]
    fn a_cluster_with_unread_lists_is_not_shown_as_live_until_all_are_read() {
        let name = ClusterName::new("mgmt-eu");
        let mut stage = TestConsole::full();
        let mut shown = |unread: usize| {
            let first = Gap::new(GapCause::Forbidden, "listing v1/secrets: forbidden (403)");
            let lists = (unread > 0).then_some(UnreadLists { unread, of: 11, first });
            stage.data(Update { lists: [(name.clone(), lists)].into(), ..Update::default() });
            stage.draw(120, 40).lines().next().unwrap_or_default().to_owned()
        };
        assert!(shown(0).contains("● mgmt-eu ▌prod "));
        let header = shown(8);
        assert!(header.contains("◑ mgmt-eu ▌prod 3 of 11 lists") && !header.contains('●'), "{header}");
        assert!(!shown(0).contains("lists"));
    }

    #[test]
    fn the_header_shows_clocks_that_differ_until_they_agree() {
        let skew =
            |seconds: i64| ClockSkew::measure(now() + jiff::SignedDuration::from_secs(seconds), now(), Duration::ZERO);
        let mut stage = TestConsole::full();
        let mut header = |clocks: &[(&str, Option<i64>)]| {
            let clocks = clocks.iter().map(|(name, seconds)| (ClusterName::new(*name), seconds.map(skew))).collect();
            stage.data(Update { clocks, ..Update::default() });
            stage.draw(120, 40).lines().next().unwrap_or_default().to_owned()
        };
        assert!(!header(&[]).contains("clock"));
        assert!(header(&[("a", Some(9 * 86_400)), ("b", Some(9 * 86_400))]).contains("clock +9 d "));
        assert!(header(&[("b", Some(-185))]).contains("clock +9 d of a, 1 more"));
        assert!(!header(&[("a", None), ("b", None)]).contains("clock"));
    }
}
