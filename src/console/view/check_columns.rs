//! The columns of a check's list, and which of them there is space for.
//!
//! Invariants:
//! - state and name are never dropped; the others go by their rank, and the number of dropped ones is shown;
//! - a column is as wide as its contents, so that a name is cut only where no other column has space to spare;
//! - what all rows share needs no column.

use ratatui::layout::Rect;

use crate::console::model::{CheckColumn, CheckSheet, Widths};
use crate::console::table::{Column, GUTTER, Placed, layout};
use trueup_checks::Side;

/// The least that a name is cut to while other columns can be dropped instead.
const NAME_MIN: u16 = 20;
/// Space for the branches of a tree.
const BRANCHES: u16 = 6;
/// Width of an age with its sort arrow.
const SINCE: u16 = 5;
/// Width of a class with its mark.
const CLASS: u16 = 6;

/// Drop order of the common columns, the highest first. The columns of a check are between [`CLASS_RANK`] and
/// [`NAMESPACE_RANK`], by their own rank; the first of them stays longer.
const SINCE_RANK: u8 = 250;
const KIND_RANK: u8 = 240;
const CLASS_RANK: u8 = 230;
const OWN_RANK: u8 = 20;
const NAMESPACE_RANK: u8 = 6;
const FIRST_OWN_RANK: u8 = 5;
const CLUSTER_RANK: u8 = 4;
const VERDICT_RANK: u8 = 3;

/// The columns of a list and where they are.
pub struct CheckColumns {
    pub all: Vec<Column>,
    pub which: Vec<CheckColumn>,
    placed: Vec<Placed>,
}

impl CheckColumns {
    /// For the list in a pane, which keeps its last column for the scrollbar.
    pub fn of_pane(check: &CheckSheet, pane: Rect) -> Self {
        Self::of(check, pane.width.saturating_sub(1))
    }

    /// For a list of this width.
    fn of(check: &CheckSheet, width: u16) -> Self {
        let space = width.saturating_sub(GUTTER);
        let (mut all, which): (Vec<Column>, Vec<CheckColumn>) = columns(check, space).into_iter().unzip();
        let mut placed = layout(&all, space);
        let has_class = placed.iter().any(|placed| which[placed.index] == CheckColumn::Class);
        if let Some(place) = which.iter().position(|column| *column == CheckColumn::Cluster).filter(|_| !has_class) {
            // The mark of the class is before the cluster then.
            all[place].width_min += 1;
            placed = layout(&all, space);
        }
        Self { all, which, placed }
    }

    /// Number of columns there is no space for.
    pub fn hidden(&self) -> usize {
        self.all.len() - self.placed.len()
    }

    /// The shown columns, from left to right.
    pub fn shown(&self) -> impl Iterator<Item = CheckColumn> {
        self.placed.iter().map(|placed| self.which[placed.index])
    }

    /// The width of a column, if it is shown.
    pub fn width(&self, column: CheckColumn) -> Option<usize> {
        let placed = self.placed.iter().find(|placed| self.which[placed.index] == column)?;
        Some(usize::from(placed.width))
    }
}

fn columns(check: &CheckSheet, space: u16) -> Vec<(Column, CheckColumn)> {
    let shape = check.shape();
    let titled = |column: CheckColumn, width: u16, rank: u8| {
        let title = column.title(&check.description);
        let width = width.max(u16::try_from(title.len()).unwrap_or(width));
        (Column::new(title, width).priority(rank), column)
    };
    let branches = if check.shows_tree() { BRANCHES } else { 0 };
    let (name, which) = titled(CheckColumn::Name, shape.name.max() + branches, 0);
    let wanted = name.width_min;
    let name = Column { width_min: wanted.min(NAME_MIN.max(space * 2 / 5)), ..name }.content(wanted).gap(1);
    let mut all = vec![(Column::new("", 2).gap(0), CheckColumn::State), (name, which)];
    if shape.kinds.only().is_none() {
        all.push(titled(CheckColumn::Kind, shape.kind.max(), KIND_RANK));
    }
    if shape.namespaces.only().is_none() {
        all.push(titled(CheckColumn::Namespace, shape.namespace.max(), NAMESPACE_RANK));
    }
    if check.only_cluster().is_none() {
        all.push(titled(CheckColumn::Cluster, shape.cluster.max(), CLUSTER_RANK));
        all.push(titled(CheckColumn::Class, CLASS, CLASS_RANK));
    }
    for (place, column) in check.description.columns.iter().enumerate() {
        let rank = if place == 0 { FIRST_OWN_RANK } else { OWN_RANK.saturating_add(column.rank) };
        let content = shape.own.get(place).map_or(0, Widths::max);
        let (own, which) = titled(CheckColumn::Own(place), content.min(column.width + 2), rank);
        let own = own.content(content);
        all.push(match column.side {
            Side::Left => (own, which),
            Side::Right => (own.right(), which),
        });
    }
    all.push(titled(CheckColumn::Verdict, shape.verdict.max(), VERDICT_RANK));
    let (since, which) = titled(CheckColumn::Since, SINCE, SINCE_RANK);
    all.push((since.right(), which));
    all
}
