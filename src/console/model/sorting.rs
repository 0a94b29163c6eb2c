//! Columns of a check's list and the values that sort it.

use std::sync::Arc;

use jiff::Timestamp;

use super::findings::{Findings, listed_name};
use super::grouping::{GroupPlace, Grouped};
use crate::console::filter::Misfit;
use crate::console::kind::short_kind;
use trueup_checks::judgements::CurrentJudgement;
use trueup_checks::{Cell, CheckDescription};
use trueup_core::engine::{SeenFrom, State, SubjectId};
use trueup_core::world::RiskClass;

/// A column of a check's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckColumn {
    State,
    Name,
    Kind,
    Namespace,
    Cluster,
    Class,
    Verdict,
    Since,
    /// A column of the check, by index.
    Own(usize),
}

/// Position of a row; equal ones sort by id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortKey {
    /// How badly the row fits the filter; 0 where the fit does not sort.
    pub misfit: Misfit,
    pub value: SortValue,
}

/// The value of the sorted column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortValue {
    /// Severity, and among equals the earliest expiry. The findings of a group follow its heading, which has the severity
    /// of the worst.
    Rank {
        block: u8,
        /// Index of the group; rows without one come after those with one.
        group: u32,
        row: GroupRow,
        /// The place in the order of the group, where it has one.
        step: u32,
        own: u8,
        until: Timestamp,
    },
    Number(i64),
    Time(Timestamp),
    Text(Box<str>),
    /// Below its parents, from the root down; rows without a parent first.
    Path {
        seen_from: Option<SeenFrom>,
        path: Vec<Arc<SubjectId>>,
    },
    /// Rows without a value come last.
    Nothing,
}

/// What a row is in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupRow {
    Heading,
    Finding,
}

impl CheckColumn {
    /// The columns that every check has.
    const COMMON: [Self; 8] =
        [Self::State, Self::Name, Self::Cluster, Self::Verdict, Self::Since, Self::Kind, Self::Namespace, Self::Class];

    /// Its number in hit areas and stored settings.
    pub fn number(self) -> usize {
        let common = || Self::COMMON.iter().position(|column| *column == self).unwrap_or(0);
        self.own().map_or_else(common, |own| Self::COMMON.len() + own)
    }

    pub fn numbered(number: usize) -> Self {
        match Self::COMMON.get(number) {
            Some(column) => *column,
            None => Self::Own(number - Self::COMMON.len()),
        }
    }

    /// Whether a check has this column.
    pub fn is_of(self, check: &CheckDescription) -> bool {
        self.own().is_none_or(|own| own < check.columns.len())
    }

    /// Its index among the columns that only its check has.
    fn own(self) -> Option<usize> {
        match self {
            Self::Own(own) => Some(own),
            Self::State
            | Self::Name
            | Self::Kind
            | Self::Namespace
            | Self::Cluster
            | Self::Class
            | Self::Verdict
            | Self::Since => None,
        }
    }

    /// Its title above the list; the state has none there.
    pub fn title(self, check: &CheckDescription) -> &'static str {
        match self {
            Self::State => "",
            Self::Name => "NAME",
            Self::Kind => "KIND",
            Self::Namespace => "NAMESPACE",
            Self::Cluster => "CLUSTER",
            Self::Class => "CLASS",
            Self::Verdict => "VERDICT",
            Self::Since => "SINCE",
            Self::Own(own) => check.columns.get(own).map_or("", |column| column.title),
        }
    }
}

/// Sort rank of a state, most severe first.
pub fn rank(state: State) -> u8 {
    match state {
        State::Error => 0,
        State::Extra => 1,
        State::Missing => 2,
        State::Drift => 3,
        State::Stale => 4,
        State::Blocked => 5,
        State::Unknown => 6,
        State::Match => 7,
    }
}

/// The value of a row in a column.
pub(super) fn sort_value(
    column: CheckColumn,
    (id, held): (&Arc<SubjectId>, &CurrentJudgement),
    class: RiskClass,
    is_nested: bool,
    grouped: Option<&Grouped>,
    findings: &Findings,
) -> SortValue {
    match column {
        CheckColumn::State if is_nested => {
            let mut path = ancestors(id, findings);
            path.reverse();
            path.push(id.clone());
            SortValue::Path { seen_from: id.cloud.as_ref().and_then(|place| place.seen_from.clone()), path }
        }
        CheckColumn::State => {
            let own = rank(held.judgement.state);
            let place = grouped.and_then(|grouped| grouped.place(id));
            let (block, group) = match place {
                Some(GroupPlace { state, index }) => (rank(state), u32::try_from(index).unwrap_or(u32::MAX - 1)),
                None => (own, u32::MAX),
            };
            let is_head = grouped.is_some_and(|grouped| grouped.is_head(id));
            let row = if is_head { GroupRow::Heading } else { GroupRow::Finding };
            let step = held.outline.as_ref().and_then(|outline| outline.step).filter(|_| place.is_some());
            let step = step.unwrap_or(u32::MAX);
            SortValue::Rank { block, group, row, step, own, until: soonest_end(&held.cells) }
        }
        CheckColumn::Name => SortValue::Text(listed_name(id).into()),
        CheckColumn::Kind => SortValue::Text(short_kind(id.kind).into()),
        CheckColumn::Namespace => SortValue::Text(id.home_namespace().unwrap_or_default().into()),
        CheckColumn::Cluster => SortValue::Text(id.cluster.as_str().into()),
        // Prod first, as everywhere.
        CheckColumn::Class => SortValue::Number(match class {
            RiskClass::Prod => 0,
            RiskClass::Stage => 1,
            RiskClass::Dev => 2,
        }),
        CheckColumn::Verdict => SortValue::Text(held.judgement.verdict.into()),
        CheckColumn::Since => held.began.at().map_or(SortValue::Nothing, SortValue::Time),
        CheckColumn::Own(own) => held.cells.get(own).map_or(SortValue::Nothing, cell_value),
    }
}

/// Earliest expiry of a row; rows without one come last.
fn soonest_end(cells: &[Cell]) -> Timestamp {
    let ends = cells.iter().filter_map(|cell| match cell {
        Cell::Left { until, .. } => Some(*until),
        Cell::Nothing | Cell::Text(_) | Cell::Number(_) | Cell::Age(_) | Cell::Pair { .. } => None,
    });
    ends.min().unwrap_or(Timestamp::MAX)
}

fn cell_value(cell: &Cell) -> SortValue {
    match cell {
        Cell::Nothing => SortValue::Nothing,
        Cell::Text(text) => SortValue::Text(text.clone()),
        Cell::Number(number) => SortValue::Number(*number),
        Cell::Age(at) => SortValue::Time(*at),
        Cell::Left { from: _, until } => SortValue::Time(*until),
        Cell::Pair { expected, actual } => SortValue::Text(format!("{actual} {expected}").into()),
    }
}

/// The ancestors of a row, nearest first. A cycle ends the list.
pub(super) fn ancestors(id: &SubjectId, findings: &Findings) -> Vec<Arc<SubjectId>> {
    /// Deeper trees are a bug of their check.
    const DEPTH_MAX: usize = 8;
    let mut line: Vec<Arc<SubjectId>> = Vec::new();
    let mut parent = findings.get(id).and_then(|held| held.parent.clone());
    while let Some(above) = parent.take_if(|_| line.len() < DEPTH_MAX) {
        parent = findings.get(&above).and_then(|held| held.parent.clone());
        line.push(above);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_its_number() {
        let columns = CheckColumn::COMMON.into_iter().chain([CheckColumn::Own(0), CheckColumn::Own(3)]);
        for column in columns {
            assert_eq!(CheckColumn::numbered(column.number()), column);
        }
        assert_eq!(CheckColumn::numbered(2), CheckColumn::Cluster, "stored settings stay valid");
    }
}
