//! When credentials and certificates end: one row each, on one logarithmic axis.
//!
//! Invariants: the soonest first, what is not known last, never left out; an end is shown as a bar and as words.
//!
//! Elsewhere: the order of the rows (`model::ExpirySheet`), what a check knows of an end (`trueup_checks::Expiry`).

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::paint::{Painter, PaneFocus};
use super::rows::{Row, table_look, with_margin};
use super::states;
use super::text::Line;
use crate::console::hits::Hit;
use crate::console::model::{ExpiryId, Model, Runway, shown_name};
use crate::console::table::{Cell, Column, Cut, RowStyle, TableView, Tone, age, next_change};
use crate::console::theme::Role;
use trueup_checks::End;

/// The axis: how long from now, and its label. Each step has the same width.
const TICKS: [(i64, &str); 6] =
    [(0, "now"), (3_600, "1h"), (86_400, "1d"), (7 * 86_400, "7d"), (30 * 86_400, "30d"), (365 * 86_400, "1y")];
/// Columns from one tick to the next.
const STEP: usize = 5;
/// Columns of the axis, with one for its last end.
const AXIS: usize = (TICKS.len() - 1) * STEP + 1;
/// Columns of its labels; the last label is two letters long.
const LABELS: u16 = AXIS as u16 + 1;
/// Below this many seconds an end is drawn at the first column: a logarithm needs a least value.
const LEAST: i64 = 60;

pub fn draw(model: &Model, area: Rect, painter: &mut Painter<'_>) {
    let total = model.expiry.order.shown();
    let separator = painter.glyphs().separator;
    let facts = match total {
        1 => "1 credential or certificate".to_owned(),
        _ => format!("{total} credentials and certificates"),
    };
    let title = Line::of("Expiry", Role::Title).and(format!(" {separator} {facts}"), Role::Muted);
    let inside = painter.pane(area, &title, &Line::of("soonest first", Role::Muted), PaneFocus::Keys);
    painter.hit(area, Hit::List);
    if total == 0 {
        states::empty(inside, "No credential or certificate was read yet.", "", painter);
        return;
    }
    let columns = [
        Column::new("", 1),
        Column::new("OBJECT", 24).weight(6),
        Column::new("CLUSTER", 10).weight(1),
        Column::new("CLASS", 6).priority(1),
        Column::new(labels(), LABELS).priority(2),
        Column::new("ENDS", 9).weight(2),
    ];
    let style = table_look(painter);
    let window = model.expiry.list.window();
    let view = TableView {
        columns: &columns,
        sort: None,
        style: &style,
        first: window.start,
        total,
        border: Some(area.right() - 1),
    };
    let shown = (window.start..window.end.min(total)).filter_map(|index| model.expiry.order.get(index));
    let rows: Vec<Row<'_>> = shown.filter_map(|id| row(model, id, painter)).collect();
    painter.table(&view, rows, with_margin(inside));
}

/// `now  1h   1d   7d   30d  1y`
fn labels() -> String {
    TICKS.iter().map(|(_, label)| format!("{label:<STEP$}")).collect::<String>().trim_end().to_owned()
}

fn row<'m>(model: &'m Model, id: &'m ExpiryId, painter: &mut Painter<'_>) -> Option<Row<'m>> {
    let expiry = model.expiry.expiry(id, &model.findings)?;
    let cluster = &id.subject.cluster;
    let class = model.fleet.class_of(cluster);
    let (role, glyphs) = (role(&expiry.end, model.now), painter.glyphs());
    let mark = match &expiry.end {
        End::NotKnown(_) => Cell::text(glyphs.state(trueup_core::engine::State::Unknown), painter.style(Role::Unknown)),
        End::At { .. } | End::Never(_) => Cell::empty(),
    };
    let cells = vec![
        mark,
        Cell::name(object(id, &expiry.what), painter.style(Role::Text)),
        Cell::name(cluster.as_str(), painter.style(Role::Text)),
        Cell::text(glyphs.class_in_column(class), painter.style(Role::from(class))),
        axis(&expiry.end, model.now, role, painter),
        Cell::text(ends(&expiry.end, model.now, painter), painter.style(role)),
    ];
    let style = RowStyle {
        cursor: model.expiry.list.cursor() == Some(id),
        marked: model.expiry.list.is_marked(id),
        tone: Tone::Plain,
    };
    Some(Row { cells, style })
}

/// `Secret workloads/eks-games-kubeconfig`, or the part of the subject that ends.
pub fn object(id: &ExpiryId, what: &str) -> String {
    if !what.is_empty() {
        return what.to_owned();
    }
    let place = id.subject.namespace.as_deref().map_or(String::new(), |namespace| format!("{namespace}/"));
    format!("{} {place}{}", id.subject.kind, shown_name(&id.subject))
}

fn role(end: &End, now: Timestamp) -> Role {
    match end {
        End::At { until, warn_from } => match Runway::at(now, *until, *warn_from) {
            Runway::Ended => Role::Error,
            Runway::EndsSoon => Role::Warn,
            Runway::Valid => Role::Muted,
        },
        End::Never(_) => Role::Muted,
        End::NotKnown(_) => Role::Unknown,
    }
}

fn axis<'m>(end: &End, now: Timestamp, role: Role, painter: &Painter<'_>) -> Cell<'m> {
    let (style, glyphs): (Style, _) = (painter.style(role), painter.glyphs());
    match end {
        End::At { until, .. } => {
            let left = until.duration_since(now).as_secs();
            if left <= 0 {
                return Cell::text(glyphs.link_failed, style);
            }
            let bar = format!("{}{}", glyphs.rule_focus.repeat(column(left)), glyphs.link_live);
            Cell::pieces(vec![(Cow::Owned(bar), style)], Cut::End)
        }
        End::Never(_) => Cell::text(glyphs.rule_focus.repeat(AXIS), style),
        End::NotKnown(_) => Cell::empty(),
    }
}

/// The column of an end so many seconds from now: linear between ticks by the logarithm.
fn column(left: i64) -> usize {
    let left = left.clamp(LEAST, TICKS[TICKS.len() - 1].0);
    let step = TICKS.windows(2).position(|pair| left <= pair[1].0).unwrap_or(TICKS.len() - 2);
    let (from, to) = (TICKS[step].0.max(LEAST) as f64, TICKS[step + 1].0 as f64);
    let share = (left as f64 / from).ln() / (to / from).ln();
    step * STEP + (share * STEP as f64).floor() as usize
}

/// `in 14d`, `5m ago`, `never: renewed by its plugin`, or why it is not known.
fn ends(end: &End, now: Timestamp, painter: &mut Painter<'_>) -> String {
    match end {
        End::At { until, .. } if now >= *until => format!("{} ago", painter.list_age(*until, now)),
        End::At { until, .. } => {
            // The remaining time is rendered like an age.
            let step = next_change(now, *until).map_or(1, |next| next.duration_since(*until).as_secs().max(1));
            painter.changes(now.checked_add(SignedDuration::from_secs(step)).ok());
            format!("in {}", age(now, *until))
        }
        End::Never(why) => format!("never: {why}"),
        End::NotKnown(why) => why.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_is_logarithmic_between_its_ticks() {
        let cases = [
            ("a second", 1, 0),
            ("a minute", 60, 0),
            ("ten minutes", 600, 2),
            ("an hour", 3_600, 5),
            ("five hours", 5 * 3_600, 7),
            ("a day", 86_400, 10),
            ("a week", 7 * 86_400, 15),
            ("a month", 30 * 86_400, 20),
            ("a year", 365 * 86_400, 25),
            ("ten years", 3_650 * 86_400, 25),
        ];
        for (case, left, expected) in cases {
            assert_eq!(column(left), expected, "case: {case}");
        }
        assert_eq!(labels(), "now  1h   1d   7d   30d  1y");
    }
}
