//! A check's list and the detail.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ratatui::layout::Rect;
use ratatui::style::Style;

use super::check_cells::{class_cell, class_mark, own_cell, state_cell, verdict};
use super::check_columns::CheckColumns;
use super::detail;
use super::namesakes;
use super::paint::{Painter, PaneFocus as Keys};
use super::rows::{Row, table_look, with_margin};
use super::states;
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::keymap::Action;
use crate::console::kind::short_kind;
use crate::console::layout::Layout;
use crate::console::model::{CheckColumn, CheckSheet, Fold, Model, Pane, listed_name, listed_namespace};
use crate::console::table::{Cell, Cut, RowStyle, TableView, Tone, display_width, shorten};
use crate::console::theme::{Glyphs, Role};
use trueup_checks::causes::CauseGroup;
use trueup_core::engine::{SubjectId, Verb};
use trueup_core::world::{Cluster, Link};

/// How far below the window a branch is searched: the line of a longer tree ends early.
const AHEAD: usize = 64;
/// The rules and blanks beside the texts of a title line.
const RULES: usize = 10;
/// Columns kept for the title.
const TITLE_MIN: usize = 16;

pub fn draw(model: &Model, check: &CheckSheet, layout: &Layout, painter: &mut Painter<'_>) {
    if layout.detail.is_none() && model.pane == Pane::Detail {
        detail::draw(model, layout.main, Keys::Keys, painter);
        return;
    }
    let held = if model.pane == Pane::List { Keys::Keys } else { Keys::Waits };
    let mut title = Line::of(check.description.title, Role::Title);
    if check.shows_groups() {
        title = title.and(format!(" {} by cause", painter.glyphs().separator), Role::Muted);
    }
    if let Some(cluster) = check.only_cluster() {
        let class = model.fleet.class_of(cluster);
        let separator = painter.glyphs().separator;
        title = title.and(format!(" {separator} {cluster} "), Role::Text);
        title = title.and(painter.glyphs().class(class), Role::from(class));
    }
    if !check.filter_text.is_empty() {
        let role = if check.filter_problem.is_some() { Role::Error } else { Role::Filter };
        title = title.and(format!(" {} {}", painter.glyphs().separator, check.filter_text), role);
    }
    let columns = CheckColumns::of_pane(check, layout.main);
    let inside = painter.pane(
        layout.main,
        &title,
        &counted(model, check, &columns, (&title, usize::from(layout.main.width)), painter),
        held,
    );
    painter.hit(layout.main, Hit::List);
    match check.order.shown() {
        0 => empty(model, check, inside, painter),
        _ => table(model, check, &columns, with_margin(inside), painter),
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

/// `9 of 412 · 84 match hidden (=) · +2 columns · −2 ◔1`
///
/// Where the title needs the space, first the counts of states end, then the matches go.
fn counted(
    model: &Model,
    check: &CheckSheet,
    columns: &CheckColumns,
    (title, width): (&Line, usize),
    painter: &Painter<'_>,
) -> Line {
    let separator = painter.glyphs().separator;
    let count = format!("{} of {}", check.findings_shown(), check.findings_total());
    let mut line = Line::of("", Role::Muted);
    if columns.hidden() > 0 {
        let word = if columns.hidden() == 1 { "column" } else { "columns" };
        line = line.and(format!(" {separator} +{} {word}", columns.hidden()), Role::Muted);
    }
    if !check.list.marks().is_empty() {
        let marked = check.without_heads(check.list.marks().iter());
        let (marks, hidden) = (marked.len(), marked.iter().filter(|id| !check.is_shown(id)).count());
        let note = if hidden > 0 { format!("{marks} marked, {hidden} hidden") } else { format!("{marks} marked") };
        line = line.and(format!(" {separator} "), Role::Muted).and(note, Role::Mark);
    }
    let title_width = painter.width(&title.plain()).max(TITLE_MIN);
    let matches = match check.matches_hidden(&model.findings) {
        0 => String::new(),
        hidden => format!(" {separator} {hidden} match hidden ({})", model.screen_key(Action::ShowMatches)),
    };
    let needed = painter.width(&count) + painter.width(&matches) + painter.width(&line.plain()) + title_width + RULES;
    let count = if needed > width { count } else { format!("{count}{matches}") };
    line.0.insert(0, (count, Role::Muted));
    let counts = model.findings.counts_of(check.name);
    let mut before = format!(" {separator} ");
    // The tab has the two worst of them.
    for (state, count) in counts.worst() {
        let word = format!("{}{count}", painter.glyphs().state(state));
        let needed = title_width + painter.width(&line.plain()) + painter.width(&before) + painter.width(&word) + RULES;
        if needed > width {
            break;
        }
        line = line.and(std::mem::replace(&mut before, " ".to_owned()), Role::Muted).and(word, Role::from(state));
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
        (_, _) => {
            let hidden = check.matches_hidden(&model.findings);
            let show = format!("{hidden} match ({}: show)", key(Action::ShowMatches));
            match (check.filter_text.is_empty(), hidden) {
                (true, _) => (format!("Nothing to fix: {show}"), String::new()),
                (false, 0) => (no_row(model, check), String::new()),
                (false, _) => (no_row(model, check), format!("Hidden: {show}")),
            }
        }
    };
    states::empty(area, &message, &next, painter);
}

fn no_row(model: &Model, check: &CheckSheet) -> String {
    format!("No row matches \"{}\" ({}: clear)", check.filter_text.trim(), model.screen_key(Action::Back))
}

fn table(model: &Model, check: &CheckSheet, columns: &CheckColumns, area: Rect, painter: &mut Painter<'_>) {
    let style = table_look(painter);
    let window = check.list.window();
    let sort = check.sorted_by().and_then(|(column, direction)| {
        let place = columns.which.iter().position(|one| *one == column)?;
        Some((place, direction))
    });
    let view = TableView {
        columns: &columns.all,
        sort,
        style: &style,
        first: window.start,
        total: check.order.shown(),
        border: Some(area.right()),
    };
    let visible: Vec<&Arc<SubjectId>> = check.order.window(window.clone()).collect();
    let texts = row_texts(model, check, columns, (&visible, window), painter);
    let rows: Vec<Row<'_>> = visible
        .into_iter()
        .zip(texts)
        .filter_map(|(id, texts)| row(model, check, (id, texts), columns, painter))
        .collect();
    for (header, column) in painter.table_highlighted(&view, check.highlights(), rows, area) {
        painter.hit(header, Hit::Column(columns.which[column].number()));
    }
}

/// The texts of a row that are shortened together with those of the other rows.
struct RowTexts<'m> {
    branch: String,
    name: Cow<'m, str>,
    /// What tells the row from another of its name, where that has no column.
    beside: String,
    namespace: Cow<'m, str>,
    cluster: Cow<'m, str>,
}

/// Names, namespaces and clusters of the window, so shortened that different ones stay different.
fn row_texts<'m>(
    model: &'m Model,
    check: &CheckSheet,
    columns: &CheckColumns,
    (visible, window): (&[&'m Arc<SubjectId>], Range<usize>),
    painter: &Painter<'_>,
) -> Vec<RowTexts<'m>> {
    let glyphs = painter.appearance.table_glyphs();
    let branches = branches(model, check, window, painter.glyphs());
    // A heading has no name to be shortened.
    let is_head = |id: &SubjectId| check.grouped().is_head(id);
    let name_of = |id: &'m SubjectId| if is_head(id) { Cow::Borrowed("") } else { listed_name(id) };
    let names: Vec<Cow<'m, str>> = visible.iter().map(|id| name_of(id)).collect();
    let width = columns.width(CheckColumn::Name).unwrap_or_default();
    let beside = namesakes::distinguished(check, columns, visible);
    let asked: Vec<(&str, usize)> = names
        .iter()
        .zip(branches.iter().zip(&beside))
        .map(|(name, (branch, beside))| {
            let taken = display_width(branch, glyphs) + display_width(beside, glyphs);
            (name.as_ref(), width.saturating_sub(taken))
        })
        .collect();
    let shown: Vec<String> = shorten(&asked, glyphs).into_iter().map(Cow::into_owned).collect();
    let column = |column: CheckColumn, of: fn(&'m SubjectId) -> &'m str, reserved: usize| {
        let width = columns.width(column).unwrap_or_default().saturating_sub(reserved);
        let text = |id: &'m SubjectId| if is_head(id) { "" } else { of(id) };
        let asked: Vec<(&'m str, usize)> = visible.iter().map(|id| (text(id), width)).collect();
        shorten(&asked, glyphs)
    };
    let namespaces = column(CheckColumn::Namespace, listed_namespace, 0);
    let has_class = columns.width(CheckColumn::Class).is_some();
    let clusters = column(CheckColumn::Cluster, |id| id.cluster.as_str(), usize::from(!has_class));
    let rest = namespaces.into_iter().zip(clusters);
    branches
        .into_iter()
        .zip(shown)
        .zip(beside)
        .zip(rest)
        .map(|(((branch, name), beside), (namespace, cluster))| {
            let name = Cow::Owned(name);
            RowTexts { branch, name, beside, namespace, cluster }
        })
        .collect()
}

fn row<'m>(
    model: &'m Model,
    check: &'m CheckSheet,
    (id, texts): (&'m Arc<SubjectId>, RowTexts<'m>),
    columns: &CheckColumns,
    painter: &mut Painter<'_>,
) -> Option<Row<'m>> {
    if let Some(group) = check.grouped().of_head(id) {
        return Some(heading(model, check, (id, group), columns, painter));
    }
    let held = model.findings.get(id)?;
    let ghost = model.plan.as_ref().and_then(|plan| plan.ghost(&id.to_string()));
    let (text, muted) = (painter.style(Role::Text), painter.style(Role::Muted));
    let RowTexts { branch, name, beside, namespace, cluster } = texts;
    let mut name = Some((branch, name, beside));
    let (mut namespace, mut cluster) = (Some(namespace), Some(cluster));
    // The class is before the cluster where it has no column.
    let has_class = columns.width(CheckColumn::Class).is_some();
    let mark = if has_class { "" } else { class_mark(model, id, painter) };
    let mut cells = Vec::with_capacity(columns.which.len());
    for column in &columns.which {
        cells.push(match column {
            CheckColumn::State => state_cell(held, ghost, painter),
            CheckColumn::Name => {
                let (branch, name, beside) = name.take().unwrap_or_default();
                let pieces: Vec<(Cow<'m, str>, Style)> =
                    vec![(Cow::Owned(branch), muted), (name, text), (Cow::Owned(beside), muted)];
                Cell::pieces(pieces, Cut::End).searched()
            }
            CheckColumn::Kind => Cell::text(short_kind(id.kind), muted).searched(),
            CheckColumn::Namespace => Cell::text(namespace.take().unwrap_or_default(), text).searched(),
            CheckColumn::Cluster => {
                let class = painter.style(Role::from(model.fleet.class_of(&id.cluster)));
                let pieces = vec![(Cow::Borrowed(mark), class), (cluster.take().unwrap_or_default(), class)];
                Cell::pieces(pieces, Cut::End).searched()
            }
            CheckColumn::Class => class_cell(model, id, painter),
            CheckColumn::Verdict => {
                Cell::text(verdict(held), painter.style(Role::from(held.judgement.state))).searched()
            }
            CheckColumn::Since => match held.began.at() {
                Some(began) => Cell::text(painter.list_age(began, model.now), muted),
                None => Cell::text("-", muted),
            },
            CheckColumn::Own(own) => own_cell(held.cells.get(*own), model, painter),
        });
    }
    let tone = if ghost == Some(Verb::Delete) { Tone::Doomed } else { Tone::Plain };
    let in_marked = check.grouped().head_of(id).is_some_and(|head| check.list.is_marked(head));
    let marked = in_marked || check.list.is_marked(id);
    let style = RowStyle { cursor: check.list.cursor() == Some(id), marked, tone };
    Some(Row { cells, style })
}

/// `− ⊟ 12 orphans: HostedCluster guest-checkout edited 19:34:02 by hypershift-cli, oidcProviders 3 → 1`
fn heading<'m>(
    model: &'m Model,
    check: &CheckSheet,
    (id, group): (&Arc<SubjectId>, &CauseGroup),
    columns: &CheckColumns,
    painter: &Painter<'_>,
) -> Row<'m> {
    let glyphs = painter.glyphs();
    let is_whole = check.shown_below(id) == group.members.len();
    let sign = match check.grouped().fold(id) {
        Fold::Closed if is_whole => glyphs.group_closed,
        Fold::Open | Fold::Closed => glyphs.group_open,
    };
    let sentence = group.sentence(&model.group_words());
    let sentence = if is_whole { sentence } else { format!("{} of {sentence}", check.shown_below(id)) };
    let cells = columns.which.iter().map(|column| match column {
        CheckColumn::State => Cell::text(glyphs.state(group.state), painter.style(Role::from(group.state))),
        CheckColumn::Name => {
            let sign = (Cow::Borrowed(sign), painter.style(Role::Accent));
            let sentence = (Cow::Owned(format!(" {sentence}")), painter.style(Role::Title));
            Cell::pieces(vec![sign, sentence], Cut::End).spanning()
        }
        CheckColumn::Kind
        | CheckColumn::Namespace
        | CheckColumn::Cluster
        | CheckColumn::Class
        | CheckColumn::Verdict
        | CheckColumn::Since
        | CheckColumn::Own(_) => Cell::empty(),
    });
    let style =
        RowStyle { cursor: check.list.cursor() == Some(id), marked: check.list.is_marked(id), tone: Tone::Plain };
    Row { cells: cells.collect(), style }
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
