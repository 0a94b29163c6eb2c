//! The fleet: every cluster, its connection, and the differences per check.

use std::borrow::Cow;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::header::{Countdown, link_glyph, link_words};
use super::news;
use super::paint::{Painter, PaneFocus};
use super::rows::{Row, table_look, with_margin};
use super::states;
use super::text::{Line, wrapped};
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{FleetRow, Hangs, Model};
use crate::console::table::{Cell, Column, Cut, RowStyle, TableView, Tone};
use crate::console::theme::Role;
use trueup_core::engine::text::{Printable, ShellCommand};
use trueup_core::engine::{CheckName, State};
use trueup_core::world::{Cluster, ClusterSource, Link};

/// Columns before the checks' own.
const BEFORE: usize = 4;
/// Entries of the news that are drawn.
const NEWS_MAX: usize = 20;

pub fn draw(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let (shown, total) = (model.fleet.rows().len(), model.fleet.total());
    let mut title = Line::of("Clusters", Role::Title);
    if !model.fleet.filter_text.is_empty() {
        title = title.and(format!(" {} {}", painter.glyphs().separator, model.fleet.filter_text), Role::Filter);
    }
    let right = Line::of(format!("{shown} of {total}"), Role::Muted);
    let inside = painter.pane(layout.main, &title, &right, PaneFocus::Keys);
    painter.hit(layout.main, Hit::List);
    if shown == 0 {
        let (message, next) = match total {
            0 => {
                ("No clusters yet.", "Clusters come from the contexts of the kubeconfig. Run: trueup doctor".to_owned())
            }
            _ => ("No cluster matches the filter.", format!("{}: clear filter", model.screen_key(Action::Back))),
        };
        states::empty(inside, message, &next, painter);
    } else {
        table(model, with_margin(inside), layout.main.right() - 1, painter);
    }
    if let Some(area) = layout.detail {
        detail(model, area, painter);
    }
}

fn table(model: &Model, area: Rect, border: u16, painter: &mut Painter<'_>) {
    let mut columns = vec![
        Column::new("CLUSTER", 16).weight(3),
        Column::new("CLASS", 5),
        Column::new("SOURCE", 17).weight(1).priority(6),
        Column::new("LINK", 15).priority(1),
    ];
    columns.extend(model.checks.iter().map(|check| {
        let width = u16::try_from(check.description.short.len()).unwrap_or(8).max(10);
        Column::new(check.description.short.to_uppercase(), width).weight(1).priority(3)
    }));
    columns.push(Column::new("DRIFT 1h", 12).priority(4));
    columns.push(Column::new("LIVE", 4).right().priority(5));
    let style = table_look(painter);
    let window = model.fleet.list.window();
    let view = TableView {
        columns: &columns,
        sort: None,
        style: &style,
        first: window.start,
        total: model.fleet.rows().len(),
        border: Some(border),
    };
    let end = window.end.min(model.fleet.rows().len());
    let visible = &model.fleet.rows()[window.start.min(end)..end];
    let rows: Vec<Row<'_>> = visible.iter().filter_map(|one| row(model, one, painter)).collect();
    painter.table(&view, rows, area);
}

fn row<'m>(model: &'m Model, row: &'m FleetRow, painter: &mut Painter<'_>) -> Option<Row<'m>> {
    let cluster = model.fleet.get(&row.name)?;
    let mut cells = vec![name(row, cluster, painter)];
    cells.push(Cell::text(painter.glyphs().class(cluster.class), painter.style(Role::from(cluster.class))));
    cells.push(Cell::text(source(cluster), painter.style(Role::Muted)));
    let (role, words) = link_words(model, cluster, Countdown::Minutes, painter);
    let dot = link_glyph(model, cluster, painter);
    cells.push(Cell::text(format!("{dot} {words}"), painter.style(role)));
    debug_assert_eq!(cells.len(), BEFORE);
    cells.extend(model.checks.iter().map(|check| counts(model, check.name, cluster, painter)));
    cells.push(sparkline(model, cluster, painter));
    cells.push(match &cluster.link {
        Link::Live { since } => Cell::text(painter.list_age(*since, model.now), painter.style(Role::Muted)),
        Link::Idle
        | Link::Connecting
        | Link::Listing { .. }
        | Link::Degraded { .. }
        | Link::AuthExpired { .. }
        | Link::Failed { .. }
        | Link::Recorded => Cell::empty(),
    });
    let style = RowStyle {
        cursor: model.fleet.list.cursor() == Some(&row.name),
        marked: model.fleet.list.is_marked(&row.name),
        tone: Tone::Plain,
    };
    Some(Row { cells, style })
}

fn name<'m>(row: &FleetRow, cluster: &'m Cluster, painter: &Painter<'_>) -> Cell<'m> {
    let glyphs = painter.glyphs();
    let branch = match row.hangs {
        Hangs::Root => "",
        Hangs::Between => glyphs.tree_branch,
        Hangs::Last => glyphs.tree_last,
    };
    let pieces: Vec<(Cow<'m, str>, Style)> = vec![
        (Cow::Borrowed(branch), painter.style(Role::Muted)),
        (Cow::Borrowed(cluster.name.as_str()), painter.style(Role::Text)),
    ];
    Cell::pieces(pieces, Cut::Middle)
}

fn source(cluster: &Cluster) -> String {
    match &cluster.source {
        ClusterSource::Kubeconfig { .. } => "kubeconfig".to_owned(),
        ClusterSource::Hosted { by } => format!("hosted by {by}"),
        ClusterSource::Snapshot => "snapshot".to_owned(),
        ClusterSource::Cloud { account, .. } => format!("account {account}"),
        ClusterSource::Local => "local kubeconfig files".to_owned(),
    }
}

/// `−3 =41`: each kind of difference, then the matches.
fn counts<'m>(model: &Model, check: CheckName, cluster: &Cluster, painter: &Painter<'_>) -> Cell<'m> {
    let glyphs = painter.glyphs();
    let counts = model.findings.counts(&cluster.name, check);
    let Some(counts) = counts.filter(|counts| counts.total() > 0) else {
        let (sign, role) = match &cluster.link {
            Link::Connecting | Link::Listing { .. } => (glyphs.ellipsis, Role::Muted),
            Link::Live { .. } if model.fleet.unread(cluster).is_none() => (glyphs.nothing, Role::Muted),
            Link::Recorded => (glyphs.nothing, Role::Muted),
            // "Not applicable" is not known of what was not read.
            Link::Live { .. } | Link::Idle | Link::Degraded { .. } | Link::AuthExpired { .. } | Link::Failed { .. } => {
                (glyphs.state(State::Unknown), Role::from(State::Unknown))
            }
        };
        return Cell::text(sign, painter.style(role));
    };
    let order = [
        State::Error,
        State::Extra,
        State::Missing,
        State::Drift,
        State::Stale,
        State::Blocked,
        State::Unknown,
        State::Match,
    ];
    let mut pieces: Vec<(Cow<'m, str>, Style)> = Vec::new();
    for state in order.into_iter().filter(|state| counts.of(*state) > 0) {
        let gap = if pieces.is_empty() { "" } else { " " };
        let text = format!("{gap}{}{}", glyphs.state(state), counts.of(state));
        pieces.push((Cow::Owned(text), painter.style(Role::from(state))));
    }
    Cell::pieces(pieces, Cut::End)
}

fn sparkline<'m>(model: &Model, cluster: &Cluster, painter: &Painter<'_>) -> Cell<'m> {
    let hour = model.feed.hour(&cluster.name, model.now);
    let most = hour.iter().copied().max().unwrap_or_default();
    let line: String = hour.iter().map(|count| painter.glyphs().spark(u64::from(*count), u64::from(most))).collect();
    let role = if most == 0 { Role::Muted } else { Role::Drift };
    Cell::text(line, painter.style(role))
}

/// Details of the selected cluster, and the latest news.
fn detail(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let cursor = model.fleet.cursor();
    let title = cursor.map_or("News".to_owned(), |cluster| cluster.name.to_string());
    let right = cursor
        .map_or_else(Line::blank, |cluster| Line::of(painter.glyphs().class(cluster.class), Role::from(cluster.class)));
    let inside = painter.pane(area, &Line::of(title, Role::Title), &right, PaneFocus::Waits);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let width = usize::from(inside.width);
    let mut lines = cursor.map(|cluster| cluster_lines(model, cluster, width, painter)).unwrap_or_default();
    lines.extend(news::lines(model, width, painter).into_iter().take(NEWS_MAX));
    if lines.is_empty() {
        lines.push(Line::of("No changes since the console was opened.", Role::Muted));
    }
    painter.lines(inside, &lines, 0);
}

fn cluster_lines(model: &Model, cluster: &Cluster, width: usize, painter: &mut Painter<'_>) -> Vec<Line> {
    let key = |action: Action| model.screen_key(action);
    let trouble = match &cluster.link {
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
    };
    let mut lines = Vec::new();
    if let Some((message, next)) = trouble {
        lines.extend(wrapped(&message, width, 2, Role::Error));
        lines.push(Line::of(next, Role::Muted));
    }
    for check in &model.checks {
        let Some(counts) = model.findings.counts(&cluster.name, check.name) else { continue };
        let words: Vec<String> = State::ALL
            .into_iter()
            .filter(|state| counts.of(*state) > 0)
            .map(|state| format!("{} {}", counts.of(state), state.as_str()))
            .collect();
        let line = Line::of(format!("{}: ", check.description.title), Role::Muted).and(words.join(", "), Role::Text);
        lines.push(line);
    }
    lines
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
