//! The first line: the clusters and their connections, the time, whether writes are on, and the plan.
//!
//! Invariants: every cluster is counted, guests included, and only those that are not live are named. Nothing here visits
//! the fleet: the connections are counted as they change.

use jiff::SignedDuration;
use ratatui::layout::Rect;

use super::paint::Painter;
use super::text::Line;
use crate::console::effect::MouseHold;
use crate::console::model::{Model, Zone};
use crate::console::theme::Role;
use trueup_core::engine::{LinkState, short_id};
use trueup_core::world::{Cluster, Link};
use trueup_net::CONNECT_TIMEOUT;

/// From this width the time is shown.
const CLOCK_FROM: u16 = 100;
/// More clusters are counted instead of named.
const NAMED_MAX: usize = 6;
/// Seconds from which a wait is said in minutes.
const MINUTE: i64 = 60;
/// Least space between both halves.
const GAP: usize = 2;

pub fn draw(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let right = right(model, area.width, painter);
    let begin = painter.line_right(area.right().saturating_sub(1), area.y, area.width.saturating_sub(9), &right);
    let x = painter.text(area.x + 1, area.y, 7, "trueup", Role::Title) + 3;
    let space = usize::from(begin.saturating_sub(x)).saturating_sub(GAP);
    let mut line = Line::blank();
    let most = model.fleet.links().named().len().min(NAMED_MAX);
    let names = (1..=most).rev().map(Detail::Names);
    for detail in names.chain([Detail::Words, Detail::Counts, Detail::Total]) {
        let before = painter.changes_at;
        line = clusters(model, detail, painter);
        if painter.width(&line.plain()) <= space {
            break;
        }
        // What is not drawn does not change.
        painter.changes_at = before;
    }
    painter.line(x, area.y, u16::try_from(space).unwrap_or(area.width), &line);
}

/// How much is said of the connections, the most first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// So many clusters are named, and the others counted.
    Names(usize),
    Words,
    Counts,
    Total,
}

/// `24 clusters: 22 live · ↻ guest-old 16s · ◑ lab 3 of 11 lists`
fn clusters(model: &Model, detail: Detail, painter: &mut Painter<'_>) -> Line {
    let links = model.fleet.links();
    let total = links.total();
    let noun = if total == 1 { "cluster" } else { "clusters" };
    let mut line = match total {
        0 => return Line::blank(),
        total => Line::of(format!("{total} {noun}"), Role::Text),
    };
    if detail == Detail::Total {
        return line;
    }
    let (glyphs, live) = (painter.glyphs(), links.count(LinkState::Live));
    let between = format!(" {} ", glyphs.separator);
    let (names, is_short) = match detail {
        Detail::Names(names) => (names, true),
        Detail::Words => (0, false),
        Detail::Counts | Detail::Total => (0, true),
    };
    let mut separator = ": ".to_owned();
    if live > 0 {
        line = line.and(format!(": {live} live"), Role::Text);
        separator = format!(" {} ", glyphs.separator);
    }
    let countdown = if links.count(LinkState::Retrying) > 1 { Countdown::Minutes } else { Countdown::Seconds };
    let mut named = [0; LinkState::ALL.len()];
    for (kind, name) in links.named().take(names) {
        named[*kind as usize] += 1;
        if let Some(cluster) = model.fleet.get(name) {
            let (role, note) = link_words(model, cluster, countdown, painter);
            let glyph = link_glyph(model, cluster, painter);
            line = line
                .and(separator.as_str(), Role::Muted)
                .and(format!("{glyph} "), role)
                .and(name.to_string(), Role::Text);
            line = line.and(format!(" {note}"), role);
            separator.clone_from(&between);
        }
    }
    let left = |kind: LinkState| links.count(kind) - named[kind as usize];
    for kind in LinkState::ALL.into_iter().filter(|kind| *kind != LinkState::Live) {
        let count = match (is_short, kind) {
            // The same glyph is not shown twice.
            (true, LinkState::Retrying) => left(kind) + left(LinkState::Connecting),
            (true, LinkState::Connecting) => 0,
            (_, kind) => left(kind),
        };
        if count > 0 {
            let (glyph, (word, role)) = (glyphs.link_state(kind), state_words(kind));
            let text = if is_short { format!("{glyph}{count}") } else { format!("{glyph} {count} {word}") };
            line = line.and(separator.as_str(), Role::Muted).and(text, role);
            separator = if is_short { " ".to_owned() } else { between.clone() };
        }
    }
    line
}

/// The clusters with their connections, in few words.
pub fn clusters_in_short(model: &Model, painter: &mut Painter<'_>) -> Line {
    clusters(model, Detail::Counts, painter)
}

fn state_words(state: LinkState) -> (&'static str, Role) {
    match state {
        LinkState::Down => ("down", Role::Error),
        LinkState::Retrying => ("retrying", Role::Warn),
        LinkState::Partial => ("partly read", Role::Warn),
        LinkState::Connecting => ("connecting", Role::Warn),
        LinkState::Idle => ("idle", Role::Muted),
        LinkState::Recorded => ("recorded", Role::Muted),
        LinkState::Live => ("live", Role::Text),
    }
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

/// State of a connection in a word or two.
pub fn link_words(model: &Model, cluster: &Cluster, countdown: Countdown, painter: &mut Painter<'_>) -> (Role, String) {
    match &cluster.link {
        Link::Idle => (Role::Muted, "idle".to_owned()),
        Link::Connecting => (Role::Warn, connecting(model, cluster, countdown, painter)),
        Link::Listing { objects: 0 } => (Role::Warn, "listing".to_owned()),
        Link::Listing { objects } => (Role::Warn, format!("listing: {}", thousands(*objects))),
        Link::Live { .. } => match model.fleet.unread(cluster) {
            Some(lists) => (Role::Warn, format!("{} of {} lists", lists.read(), lists.of)),
            None => (Role::Text, "live".to_owned()),
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

/// `connecting 8s of 10s`: a connection that takes longer waits for the first answer.
fn connecting(model: &Model, cluster: &Cluster, countdown: Countdown, painter: &mut Painter<'_>) -> String {
    let since = model.fleet.links().since(&cluster.name).unwrap_or(model.now);
    let elapsed = model.now.duration_since(since).as_secs().max(0);
    let most = i64::try_from(CONNECT_TIMEOUT.as_secs()).unwrap_or(i64::MAX);
    match countdown {
        Countdown::Seconds if elapsed < MINUTE => {
            painter.changes(model.now.checked_add(SignedDuration::from_secs(1)).ok());
            match elapsed <= most {
                true => format!("connecting {elapsed}s of {most}s"),
                false => format!("waiting {elapsed}s"),
            }
        }
        // Many attempts beside each other do not change every second.
        Countdown::Minutes if elapsed <= most => {
            painter.changes(since.checked_add(SignedDuration::from_secs(most + 1)).ok());
            "connecting".to_owned()
        }
        Countdown::Seconds | Countdown::Minutes => format!("waiting {}", painter.list_age(since, model.now)),
    }
}

/// `1,204`
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn right(model: &Model, width: u16, painter: &mut Painter<'_>) -> Line {
    let glyphs = painter.glyphs();
    let mut parts: Vec<(String, Role)> = Vec::new();
    if let Some(paused) = &model.paused {
        let time = paused.since.to_zoned(model.time_zone()).strftime("%H:%M:%S").to_string();
        let waiting = paused.waiting.findings.len() + paused.waiting.clusters.len();
        parts.push((format!("PAUSED {time}, {waiting} waiting"), Role::Warn));
    }
    parts.extend(clock_words(model).map(|words| (words, Role::Error)));
    if model.mouse == MouseHold::Released {
        parts.push(("mouse released".to_owned(), Role::Muted));
    }
    if width >= CLOCK_FROM {
        parts.push((time(model, painter), Role::Muted));
    } else if model.zone == Zone::Utc {
        parts.push(("UTC".to_owned(), Role::Muted));
    }
    parts.push(match model.read_only() {
        Some(_) => ("read-only".to_owned(), Role::ReadOnly),
        None if model.timeline.past.is_some() => ("writes off".to_owned(), Role::ReadOnly),
        None => ("writes on".to_owned(), Role::Muted),
    });
    parts.push(match (&model.plan, model.planning) {
        (_, Some(_)) => (format!("planning{}", glyphs.ellipsis), Role::Warn),
        (Some(sheet), None) => (format!("plan {}", short_id(&sheet.plan.id)), Role::Accent),
        (None, None) => ("no plan".to_owned(), Role::Muted),
    });
    let mut line = Line::blank();
    for (place, (text, role)) in parts.into_iter().enumerate() {
        if place > 0 {
            line = line.and(format!(" {} ", glyphs.separator), Role::Muted);
        }
        line = line.and(text, role);
    }
    line
}

/// The time to the minute.
pub fn time(model: &Model, painter: &mut Painter<'_>) -> String {
    let left = 60 - model.now.as_second().rem_euclid(60);
    painter.changes(model.now.checked_add(SignedDuration::from_secs(left)).ok());
    let format = if model.zone == Zone::Utc { "%H:%M UTC" } else { "%H:%M" };
    model.now.to_zoned(model.time_zone()).strftime(format).to_string()
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::thousands;
    use crate::console::testing::{TestConsole, now};
    use trueup_core::world::{ClockSkew, ClusterName, Gap, GapCause, Link, RiskClass};
    use trueup_fleet::live::{UnreadLists, Update};

    use crate::console::tests::fixtures;

    fn header(stage: &mut TestConsole, width: u16) -> String {
        stage.draw(width, 40).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn all_clusters_are_counted_and_those_that_are_not_live_are_named() {
        let mut stage = TestConsole::full();
        let cases = [
            (200, "9 clusters: 2 live · ✕ guest-old login expired · ✕ lab unreachable · ↻ mgmt-us retry in 8s · "),
            (120, "9 clusters: 2 live · ✕ guest-old login expired · ✕1 ↻3 ○1 ■1 "),
            (80, "9 clusters: 2 live · ✕2 ↻3 ○1 ■1 "),
        ];
        for (width, expected) in cases {
            let header = header(&mut stage, width);
            assert!(header.contains(expected), "{width}: {header}");
        }
    }

    #[test]
    fn a_cluster_with_unread_lists_is_not_counted_as_live_until_all_are_read() {
        let name = ClusterName::new("mgmt-eu");
        let mut stage = TestConsole::started();
        let cluster = fixtures::cluster("mgmt-eu", RiskClass::Prod, Link::Live { since: now() });
        stage.data(Update { clusters: [(name.clone(), Some(cluster))].into(), ..Update::default() });
        let mut shown = |unread: usize| {
            let first = Gap::new(GapCause::Forbidden, "listing v1/secrets: forbidden (403)");
            let lists = (unread > 0).then_some(UnreadLists { unread, of: 11, first });
            stage.data(Update { lists: [(name.clone(), lists)].into(), ..Update::default() });
            header(&mut stage, 120)
        };
        assert!(shown(0).contains(" 1 cluster: 1 live "));
        let header = shown(8);
        assert!(header.contains(" 1 cluster: ◑ mgmt-eu 3 of 11 lists ") && !header.contains("live"), "{header}");
        assert!(!shown(0).contains("lists"));
    }

    #[test]
    fn an_attempt_to_connect_shows_its_elapsed_time() {
        let mut stage = TestConsole::started();
        let cluster = fixtures::cluster("lab", RiskClass::Dev, Link::Connecting);
        stage.data(Update { clusters: [(cluster.name.clone(), Some(cluster))].into(), ..Update::default() });
        for (seconds, expected) in [(0, "connecting 0s of 10s"), (8, "connecting 8s of 10s"), (7, "waiting 15s")] {
            stage.later(Duration::from_secs(seconds));
            let header = header(&mut stage, 120);
            assert!(header.contains(&format!("1 cluster: ↻ lab {expected} ")), "{header}");
        }
    }

    #[test]
    fn the_header_shows_clocks_that_differ_until_they_agree() {
        let skew =
            |seconds: i64| ClockSkew::measure(now() + jiff::SignedDuration::from_secs(seconds), now(), Duration::ZERO);
        let mut stage = TestConsole::full();
        let mut header = |clocks: &[(&str, Option<i64>)]| {
            let clocks = clocks.iter().map(|(name, seconds)| (ClusterName::new(*name), seconds.map(skew))).collect();
            stage.data(Update { clocks, ..Update::default() });
            header(&mut stage, 120)
        };
        assert!(!header(&[]).contains("clock"));
        assert!(header(&[("a", Some(9 * 86_400)), ("b", Some(9 * 86_400))]).contains("clock +9 d "));
        assert!(header(&[("b", Some(-185))]).contains("clock +9 d of a, 1 more"));
        assert!(!header(&[("a", None), ("b", None)]).contains("clock"));
    }

    #[test]
    fn numbers_have_separators_between_thousands() {
        let cases = [(0, "0"), (999, "999"), (1_204, "1,204"), (1_000_000, "1,000,000")];
        for (number, expected) in cases {
            assert_eq!(thousands(number), expected);
        }
    }
}
