//! The fleet: what is wrong, where it is worst, since when; one row per cluster.
//!
//! Invariants: worst state and name are never left out, and hidden columns are counted; a cell without data is `?`.
//!
//! Elsewhere: the panes below the list (`fleet_detail`).

use std::borrow::Cow;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::fleet_detail;
use super::header::{Countdown, link_glyph, link_words, thousands};
use super::paint::{Painter, PaneFocus};
use super::rows::{Row, table_look, with_margin};
use super::states;
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::layout::Layout;
use crate::console::model::{FleetColumn, FleetSummary, Model, Pane};
use crate::console::table::{Cell, Column, Cut, Direction, RowStyle, TableView, Tone, layout as place_columns};
use crate::console::theme::Role;
use trueup_core::engine::{CheckName, LinkState, State};
use trueup_core::world::{Cluster, ClusterName, Link, RiskClass};

/// From this width there is a column per check, and one for the last hour.
const CHECKS_FROM: u16 = 160;
/// Columns left of the first cell of a list.
const GUTTER: u16 = 2;
/// From this width the title says what is hidden.
const WORDS_FROM: u16 = 80;
/// States that the worst column counts.
const WORST_MAX: usize = 3;
/// The columns of every width: a blank one, then those that sort.
const BLANK: usize = 1;

pub fn draw(model: &Model, layout: &Layout, painter: &mut Painter<'_>) {
    let held = if model.pane == Pane::List { PaneFocus::Keys } else { PaneFocus::Waits };
    let fleet = &model.fleet;
    let columns = columns(model, layout.main.width);
    let inside_width = layout.main.width.saturating_sub(1 + GUTTER);
    let shown: Vec<usize> = place_columns(&columns, inside_width).iter().map(|one| one.index).collect();
    let right = counted(model, layout.main.width, columns.len() - shown.len(), painter);
    let inside = painter.pane(layout.main, &title(model, painter), &right, held);
    painter.hit(layout.main, Hit::List);
    if fleet.order.shown() == 0 {
        let (message, next) = empty(model);
        states::empty(inside, &message, &next, painter);
    } else {
        let names_link = shown.contains(&(BLANK + FleetColumn::Link as usize));
        let names_class = shown.contains(&(BLANK + FleetColumn::Class as usize));
        let named = Named { link: names_link, class: names_class };
        table(model, &columns, named, with_margin(inside), layout.main.right() - 1, painter);
    }
    fleet_detail::draw(model, layout, painter);
}

/// What has a column of its own.
#[derive(Clone, Copy)]
struct Named {
    link: bool,
    class: bool,
}

/// `Fleet · worst first · /guest`
fn title(model: &Model, painter: &Painter<'_>) -> Line {
    let between = painter.glyphs().separator;
    let reversed = if model.fleet.order.direction() == Direction::Descending { ", reversed" } else { "" };
    let mut title =
        Line::of("Fleet", Role::Title).and(format!(" {between} {}{reversed}", model.fleet.sort().order()), Role::Muted);
    if !model.fleet.filter_text.is_empty() {
        let role = if model.fleet.filter_problem.is_some() { Role::Error } else { Role::Filter };
        title = title.and(format!(" {between} {}", model.fleet.filter_text), role);
    }
    title
}

/// `11 of 24 · 13 as expected (=: show) · +2 columns`
fn counted(model: &Model, width: u16, hidden_columns: usize, painter: &Painter<'_>) -> Line {
    let (fleet, between) = (&model.fleet, painter.glyphs().separator);
    let mut line = Line::of(format!("{} of {}", fleet.order.shown(), fleet.total()), Role::Muted);
    let marks = fleet.list.marks().len();
    if marks > 0 {
        line = line.and(format!(" {between} {marks} marked"), Role::Mark);
    }
    if fleet.expected() > 0 && fleet.filter_text.is_empty() && width >= WORDS_FROM {
        let word = if fleet.hides_expected() { "show" } else { "hide" };
        let key = model.screen_key(Action::ShowMatches);
        line = line.and(format!(" {between} {} as expected ({key}: {word})", fleet.expected()), Role::Muted);
    }
    match hidden_columns {
        0 => line,
        1 => line.and(format!(" {between} +1 column"), Role::Muted),
        count => line.and(format!(" {between} +{count} columns"), Role::Muted),
    }
}

fn empty(model: &Model) -> (String, String) {
    let (fleet, key) = (&model.fleet, |action| model.screen_key(action));
    match (fleet.total(), fleet.expected()) {
        (0, _) => ("No kubeconfig found. Try: trueup demo".to_owned(), "List what is read: trueup doctor".to_owned()),
        (_, _) if !fleet.filter_text.is_empty() => {
            (format!("No row matches \"{}\" ({}: clear)", fleet.filter_text, key(Action::Back)), String::new())
        }
        (_, expected) => {
            let clusters = if expected == 1 { "1 cluster is".to_owned() } else { format!("{expected} clusters are") };
            (format!("Nothing to fix: {clusters} as expected ({}: show)", key(Action::ShowMatches)), String::new())
        }
    }
}

fn columns(model: &Model, width: u16) -> Vec<Column> {
    let mut columns = vec![
        Column::new("", 1).gap(0),
        Column::new(FleetColumn::Worst.title(), 11).gap(0),
        Column::new(FleetColumn::Cluster.title(), 15).weight(1),
        Column::new(FleetColumn::Class.title(), 6).priority(5),
        Column::new(FleetColumn::Link.title(), 16).priority(4),
        Column::new(FleetColumn::Since.title(), 5).right().priority(3),
        Column::new(FleetColumn::What.title(), 24).weight(5).priority(2),
    ];
    if width >= CHECKS_FROM {
        columns.extend(model.checks.iter().map(|check| {
            let title = check.description.short.to_uppercase();
            let width = u16::try_from(title.len()).unwrap_or(8).max(8);
            Column::new(title, width).priority(7)
        }));
        columns.push(Column::new("LAST 1h", 12).priority(6));
    }
    columns
}

fn table(model: &Model, columns: &[Column], named: Named, area: Rect, border: u16, painter: &mut Painter<'_>) {
    let style = table_look(painter);
    let order = &model.fleet.order;
    let window = model.fleet.list.window();
    let view = TableView {
        columns,
        sort: Some((BLANK + model.fleet.sort() as usize, order.direction())),
        style: &style,
        first: window.start,
        total: order.shown(),
        border: Some(border),
    };
    let names: Vec<&ClusterName> = order.window(window.clone()).collect();
    let after = order.get(window.end);
    let below = |place: usize| names.get(place + 1).copied().or(after);
    let rows: Vec<Row<'_>> =
        names.iter().enumerate().filter_map(|(place, name)| row(model, name, below(place), named, painter)).collect();
    for (header, column) in painter.table(&view, rows, area) {
        if let Some(column) = column.checked_sub(BLANK).filter(|column| *column < FleetColumn::ALL.len()) {
            painter.hit(header, Hit::Column(column));
        }
    }
}

fn row<'m>(
    model: &'m Model,
    name: &'m ClusterName,
    below: Option<&ClusterName>,
    named: Named,
    painter: &mut Painter<'_>,
) -> Option<Row<'m>> {
    let (cluster, summary) = (model.fleet.get(name)?, model.fleet.summary(name)?);
    let (role, words) = link_words(model, cluster, Countdown::Minutes, painter);
    let link = format!("{} {words}", link_glyph(model, cluster, painter));
    let since = summary.since.map_or_else(|| "-".to_owned(), |since| painter.list_age(since, model.now));
    let (what, what_role) = what(model, cluster, summary, named, painter);
    let mut cells = vec![
        Cell::empty(),
        worst(model, cluster, summary, painter),
        name_cell(model, cluster, below, named, painter),
        Cell::text(painter.glyphs().class_in_column(cluster.class), painter.style(Role::from(cluster.class))),
        Cell::text(link, painter.style(role)),
        Cell::text(since, painter.style(Role::Muted)),
        Cell::text(what, painter.style(what_role)),
    ];
    cells.extend(model.checks.iter().map(|check| counts(model, check.name, cluster, painter)));
    cells.push(sparkline(model, cluster, painter));
    let style = RowStyle {
        cursor: model.fleet.list.cursor() == Some(name),
        marked: model.fleet.list.is_marked(name),
        tone: Tone::Plain,
    };
    Some(Row { cells, style })
}

/// `!10 ≠2 +1 …`
fn worst<'m>(model: &Model, cluster: &Cluster, summary: &FleetSummary, painter: &Painter<'_>) -> Cell<'m> {
    let glyphs = painter.glyphs();
    let mut pieces: Vec<(Cow<'m, str>, Style)> = Vec::new();
    let mut counts = summary.counts.worst();
    for (state, count) in counts.by_ref().take(WORST_MAX) {
        let gap = if pieces.is_empty() { "" } else { " " };
        pieces.push((Cow::Owned(format!("{gap}{}{count}", glyphs.state(state))), painter.style(Role::from(state))));
    }
    if counts.next().is_some() {
        pieces.push((Cow::Owned(format!(" {}", glyphs.ellipsis)), painter.style(Role::Muted)));
    }
    if pieces.is_empty() {
        let (text, role) = match (model.fleet.unread(cluster), summary.link) {
            (Some(lists), _) => (format!("{}{}", glyphs.state(State::Unknown), lists.unread), Role::Unknown),
            (None, LinkState::Connecting) => (glyphs.ellipsis.to_owned(), Role::Muted),
            (None, LinkState::Live | LinkState::Recorded) => {
                let matches = summary.counts.of(State::Match);
                let count = if matches > 0 { matches.to_string() } else { String::new() };
                (format!("{}{count}", glyphs.state(State::Match)), Role::Match)
            }
            (None, LinkState::Down | LinkState::Retrying | LinkState::Partial | LinkState::Idle) => {
                (glyphs.state(State::Unknown).to_owned(), Role::Unknown)
            }
        };
        pieces.push((Cow::Owned(text), painter.style(role)));
    }
    Cell::pieces(pieces, Cut::End)
}

/// The name, in the tree of guests where the list is sorted by it; with a mark where the class has no column.
fn name_cell<'m>(
    model: &Model,
    cluster: &'m Cluster,
    below: Option<&ClusterName>,
    named: Named,
    painter: &Painter<'_>,
) -> Cell<'m> {
    let glyphs = painter.glyphs();
    let host = |name: &ClusterName| model.fleet.summary(name).and_then(|summary| summary.host.as_ref());
    let branch = match host(&cluster.name).filter(|_| model.fleet.shows_tree()) {
        None => "",
        Some(by) if below.and_then(host) == Some(by) => glyphs.tree_branch,
        Some(_) => glyphs.tree_last,
    };
    let mark = match (named.class, cluster.class) {
        (true, _) => "",
        (false, RiskClass::Prod) => glyphs.prod_mark,
        (false, RiskClass::Dev | RiskClass::Stage) => " ",
    };
    let pieces: Vec<(Cow<'m, str>, Style)> = vec![
        (Cow::Borrowed(mark), painter.style(Role::ClassProd)),
        (Cow::Borrowed(branch), painter.style(Role::Muted)),
        (Cow::Borrowed(cluster.name.as_str()), painter.style(Role::Text)),
    ];
    Cell::pieces(pieces, Cut::Middle)
}

/// What is wrong in a cluster, in one sentence that names a bad link.
pub fn sentence(model: &Model, cluster: &Cluster, summary: &FleetSummary, painter: &mut Painter<'_>) -> (String, Role) {
    what(model, cluster, summary, Named { link: false, class: false }, painter)
}

/// Why the cluster is where it is: its link, else its largest cause.
fn what(
    model: &Model,
    cluster: &Cluster,
    summary: &FleetSummary,
    named: Named,
    painter: &mut Painter<'_>,
) -> (String, Role) {
    let text = match &cluster.link {
        Link::Failed { gap } => gap.message.to_string(),
        Link::AuthExpired { gap: _, hint } => format!("login expired; {hint}"),
        Link::Degraded { gap, retry_at } => {
            let wait = if named.link {
                String::new()
            } else {
                format!("retry in {}: ", painter.minutes_until(*retry_at, model.now))
            };
            let age = summary.since.filter(|_| summary.counts.total() > 0);
            let age = age.map(|since| format!("; counts are {} old", painter.list_age(since, model.now)));
            format!("{wait}{}{}", gap.message, age.unwrap_or_default())
        }
        Link::Listing { objects: 0 } => "listing".to_owned(),
        Link::Listing { objects } => format!("listing: {} objects so far", thousands(*objects)),
        Link::Connecting => link_words(model, cluster, Countdown::Minutes, painter).1,
        Link::Idle if summary.counts.total() == 0 => "disconnected: live_max reached".to_owned(),
        Link::Idle => {
            let read = model.fleet.links().since(&cluster.name).map(|since| painter.list_age(since, model.now));
            let age = read.map(|age| format!("counts are {age} old")).unwrap_or_default();
            let parts = [&*summary.what, &*age].into_iter().filter(|part| !part.is_empty());
            return (parts.collect::<Vec<_>>().join("; "), Role::Text);
        }
        Link::Live { .. } | Link::Recorded => match model.fleet.unread(cluster) {
            Some(lists) => format!("{} of {} lists not read (first: {})", lists.unread, lists.of, lists.first),
            None => return (summary.what.to_string(), Role::Text),
        },
    };
    // A bad link without a column of its own is named here.
    let text = if named.link { text } else { format!("{} {text}", link_glyph(model, cluster, painter)) };
    (text, Role::Text)
}

/// `−3 =41`: each kind of difference of a check, then the matches.
pub fn counts<'m>(model: &Model, check: CheckName, cluster: &Cluster, painter: &Painter<'_>) -> Cell<'m> {
    let pieces = count_pieces(model, check, cluster, painter).0.into_iter();
    Cell::pieces(pieces.map(|(text, role)| (Cow::Owned(text), painter.style(role))).collect(), Cut::End)
}

/// The counts of a check in a cluster, as pieces of a line.
pub fn count_pieces(model: &Model, check: CheckName, cluster: &Cluster, painter: &Painter<'_>) -> Line {
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
        return Line::of(sign, role);
    };
    let matches = (State::Match, counts.of(State::Match));
    let all = counts.worst().chain([matches].into_iter().filter(|(_, count)| *count > 0));
    let mut line = Line::blank();
    for (place, (state, count)) in all.enumerate() {
        let gap = if place == 0 { "" } else { " " };
        line = line.and(format!("{gap}{}{count}", glyphs.state(state)), Role::from(state));
    }
    line
}

fn sparkline<'m>(model: &Model, cluster: &Cluster, painter: &Painter<'_>) -> Cell<'m> {
    let hour = model.feed.hour(&cluster.name, model.now);
    let most = hour.iter().copied().max().unwrap_or_default();
    let line: String = hour.iter().map(|count| painter.glyphs().spark(u64::from(*count), u64::from(most))).collect();
    Cell::text(line, painter.style(Role::Muted))
}
