//! Below the list of clusters: the selected cluster, and the news of all.
//!
//! Invariants: a cluster that could not be read says why and what to do, before its counts.

use jiff::SignedDuration;
use ratatui::layout::Rect;

use super::fleet::count_pieces;
use super::header::{Countdown, link_glyph, link_words};
use super::news;
use super::paint::{Painter, PaneFocus};
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{Model, Pane};
use crate::console::theme::Role;
use trueup_core::engine::text::{Printable, ShellCommand};
use trueup_core::world::{Cluster, ClusterSource, Link};

/// Width of a check's title before its counts.
const TITLE_WIDTH: usize = 16;
/// From this width a check has a line of its own.
const LINES_FROM: usize = 98;
/// How late the number of entries per minute may be.
const RATE_AGAIN: SignedDuration = SignedDuration::from_secs(10);
/// Lines of a message about a link.
const MESSAGE_MAX: usize = 2;

pub fn draw(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let news_held = if model.pane == Pane::Detail { PaneFocus::Keys } else { PaneFocus::Waits };
    match (layout.detail, layout.news) {
        (None, _) => {}
        // Without space for both, the news are in place of the cluster while they have the focus.
        (Some(area), None) if model.pane == Pane::Detail => news(model, area, news_held, painter),
        (Some(area), below) => {
            cluster(model, area, painter);
            if let Some(area) = below {
                news(model, area, news_held, painter);
            }
        }
    }
}

fn cluster(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let Some(cluster) = model.fleet.cursor() else {
        painter.pane(area, &Line::of("No cluster selected", Role::Muted), &Line::blank(), PaneFocus::Waits);
        return;
    };
    let between = painter.glyphs().separator;
    let title = Line::of(cluster.name.to_string(), Role::Title)
        .and(format!(" {between} "), Role::Muted)
        .and(painter.glyphs().class(cluster.class), Role::from(cluster.class))
        .and(format!(" {between} {}", source(cluster)), Role::Muted);
    // The text below counts the seconds until the next attempt.
    let is_waiting = matches!(cluster.link, Link::Degraded { .. });
    let countdown = if is_waiting { Countdown::Minutes } else { Countdown::Seconds };
    let (role, words) = link_words(model, cluster, countdown, painter);
    let mut right = Line::of(format!("{} {words}", link_glyph(model, cluster, painter)), role);
    if let Link::Live { since } = &cluster.link {
        right = right.and(format!(" {}", painter.list_age(*since, model.now)), Role::Muted);
    }
    let inside = painter.pane(area, &title, &right, PaneFocus::Waits);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let lines = cluster_lines(model, cluster, usize::from(inside.width), painter);
    painter.lines(inside, &lines, 0);
}

fn source(cluster: &Cluster) -> String {
    match &cluster.source {
        ClusterSource::Kubeconfig { context } => format!("kubeconfig context {context}"),
        ClusterSource::Hosted { by } => format!("hosted by {by}"),
        ClusterSource::Snapshot => "snapshot".to_owned(),
        ClusterSource::Cloud { account, .. } => format!("account {account}"),
        ClusterSource::Local => "local kubeconfig files".to_owned(),
    }
}

fn cluster_lines(model: &Model, cluster: &Cluster, width: usize, painter: &mut Painter<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some((message, next)) = trouble(model, cluster, painter) {
        lines.extend(wrapped(&message, width, 2, Role::Error).into_iter().take(MESSAGE_MAX));
        lines.push(Line::of(next, Role::Muted));
    } else if let Some(summary) = model.fleet.summary(&cluster.name).filter(|summary| !summary.what.is_empty()) {
        lines.extend(wrapped(&summary.what, width, 2, Role::Text).into_iter().take(MESSAGE_MAX));
    }
    let mut all = Line::blank();
    for check in &model.checks {
        let counts = count_pieces(model, check.name, cluster, painter);
        let is_known = model.findings.counts(&cluster.name, check.name).is_some_and(|counts| counts.total() > 0);
        if !is_known {
            continue;
        }
        let title = check.description.title;
        if width >= LINES_FROM {
            let mut line = Line::of(format!("{title:<TITLE_WIDTH$}"), Role::Muted);
            line.0.extend(counts.0);
            lines.push(line);
        } else {
            let gap = if all.0.is_empty() { "" } else { "   " };
            all = all.and(format!("{gap}{title} "), Role::Muted);
            all.0.extend(counts.0);
        }
    }
    if !all.0.is_empty() {
        lines.push(all);
    }
    if lines.is_empty() {
        lines.push(Line::of("No check has findings here.", Role::Muted));
    }
    lines
}

/// Why a cluster could not be read, and what to do.
fn trouble(model: &Model, cluster: &Cluster, painter: &mut Painter<'_>) -> Option<(String, String)> {
    let key = |action: Action| model.screen_key(action);
    match &cluster.link {
        Link::Degraded { gap, retry_at } => {
            let wait = painter.seconds_until(*retry_at, model.now);
            Some((gap.message.to_string(), format!("Retrying in {wait}. {}: retry now", key(Action::Reconnect))))
        }
        Link::AuthExpired { gap, hint } => {
            Some((format!("{}; {hint}", gap.message), format!("{}: log in on this terminal", key(Action::RunPlugin))))
        }
        Link::Failed { gap } => Some((gap.message.to_string(), format!("{}: retry now", key(Action::Reconnect)))),
        Link::Idle => Some(("Disconnected: live_max reached.".to_owned(), format!("{}: connect", key(Action::Open)))),
        Link::Live { .. } => model.fleet.unread(cluster).map(|lists| {
            let message = format!("{} of {} lists could not be read; first: {}", lists.unread, lists.of, lists.first);
            (message, format!("Retrying. Run: {}", doctor(cluster)))
        }),
        Link::Connecting | Link::Listing { .. } | Link::Recorded => None,
    }
}

/// The command that names every list that could not be read.
fn doctor(cluster: &Cluster) -> Printable {
    let command = ShellCommand::new("trueup doctor");
    match &cluster.source {
        ClusterSource::Kubeconfig { context } => command.option("--context", context).line(),
        ClusterSource::Hosted { .. } | ClusterSource::Snapshot | ClusterSource::Cloud { .. } | ClusterSource::Local => {
            command.line()
        }
    }
}

fn news(model: &Model, area: Rect, held: PaneFocus, painter: &mut Painter<'_>) {
    let between = painter.glyphs().separator;
    let rate = model.feed.per_minute(model.now);
    let title = Line::of("News", Role::Title).and(format!(" {between} all clusters"), Role::Muted);
    if rate > 0 {
        painter.changes(model.now.checked_add(RATE_AGAIN).ok());
    }
    let title = if rate > 0 { title.and(format!(" {between} {rate} per minute"), Role::Muted) } else { title };
    let right = match held {
        PaneFocus::Keys => Line::blank(),
        PaneFocus::Waits => Line::of(format!("{} scrolls", model.screen_key(Action::NextPane)), Role::Muted),
    };
    let inside = painter.pane(area, &title, &right, held);
    painter.hit(area, Hit::Detail);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    news::draw(model, inside, model.scroll, painter);
    painter.thumb(area.right() - 1, inside, model.feed.lines().count(), model.scroll);
}
