//! The list of one check: rows, order and cursor.

use std::sync::Arc;

use jiff::Timestamp;

use super::findings::Findings;
use crate::console::filter::{Fields, Filter, FilterProblem, Scratch};
use crate::console::table::{Direction, ListState, Membership, Order};
use trueup_checks::judgements::CurrentJudgement;
use trueup_checks::{Cell, CheckDescription};
use trueup_core::engine::{CheckName, SeenFrom, State, SubjectId};
use trueup_core::world::RiskClass;

/// Sort value of a row; equal ones sort by id.
pub type SortKey = SortValue;

/// The value of the sorted column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortValue {
    /// Severity, and among equals the earliest expiry.
    Rank(u8, Timestamp),
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

/// The columns of every list, before the check's own.
pub const OWN_COLUMNS_AFTER: usize = 4;

/// A check's list.
pub struct CheckSheet {
    pub name: CheckName,
    pub description: CheckDescription,
    pub order: Order<SortKey, Arc<SubjectId>, Arc<CurrentJudgement>>,
    pub list: ListState<Arc<SubjectId>, SortKey>,
    /// The sorted column: state, object, cluster, verdict, since, then the check's own.
    pub sort: usize,
    pub filter_text: String,
    filter: Filter,
    pub filter_problem: Option<FilterProblem>,
    scratch: Scratch,
    /// Whether rows have parents.
    pub is_tree: bool,
    /// Whether rows may be out of order because the tree changed.
    is_tangled: bool,
}

impl CheckSheet {
    pub fn new(name: CheckName, description: CheckDescription) -> Self {
        Self {
            name,
            description,
            order: Order::default(),
            list: ListState::default(),
            sort: 0,
            filter_text: String::new(),
            filter: Filter::default(),
            filter_problem: None,
            scratch: Scratch::default(),
            is_tree: false,
            is_tangled: false,
        }
    }

    /// Number of sortable columns.
    pub fn column_count(&self) -> usize {
        OWN_COLUMNS_AFTER + 1 + self.description.columns.len()
    }

    /// Inserts or updates a row; returns whether the shown rows may differ.
    pub fn put(
        &mut self,
        id: &Arc<SubjectId>,
        held: &Arc<CurrentJudgement>,
        class: RiskClass,
        findings: &Findings,
        now: Timestamp,
    ) -> bool {
        self.is_tree |= held.parent.is_some();
        let key = sort_value(self.sort, id, held, self.is_tree, findings);
        // Its children are ordered by it and may have arrived first.
        self.is_tangled |= self.is_tree && self.sort == 0 && self.order.key(id) != Some(&key);
        let membership = membership(&self.filter, id, held, class, now, &mut self.scratch);
        self.order.put(id, key, held.clone(), membership)
    }

    pub fn remove(&mut self, id: &Arc<SubjectId>) -> bool {
        self.order.remove(id)
    }

    /// Restores the order of a tree after a batch of updates.
    pub fn restore_tree_order(&mut self, findings: &Findings) {
        if std::mem::take(&mut self.is_tangled) {
            self.sort_by(self.sort, self.order.direction(), findings);
        }
    }

    /// Whether rows are shown below their parents.
    pub fn shows_tree(&self) -> bool {
        self.is_tree && self.sort == 0 && self.order.direction() == Direction::Ascending
    }

    /// Sorts by another column.
    pub fn sort_by(&mut self, column: usize, direction: Direction, findings: &Findings) {
        self.sort = column.min(self.column_count() - 1);
        let (sort, is_tree) = (self.sort, self.is_tree);
        self.order.set_direction(direction);
        self.order.resort_by(|id, held| sort_value(sort, id, held, is_tree, findings));
    }

    /// Filters the rows. An invalid filter leaves the rows unchanged and sets the problem.
    pub fn filter_by(&mut self, text: &str, class_of: impl Fn(&SubjectId) -> RiskClass, now: Timestamp) {
        self.filter_text = text.to_owned();
        match Filter::parse(text) {
            Ok(filter) => {
                self.filter_problem = None;
                self.filter = filter;
                let (filter, scratch) = (&self.filter, &mut self.scratch);
                self.order.refilter_by(|id, held| membership(filter, id, held, class_of(id), now, scratch));
            }
            Err(problem) => self.filter_problem = Some(problem),
        }
    }

    /// Depth of a row in the tree, where it is shown.
    pub fn depth(&self, id: &SubjectId, findings: &Findings) -> usize {
        if self.shows_tree() { ancestors(id, findings).len() } else { 0 }
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

fn sort_value(
    column: usize,
    id: &Arc<SubjectId>,
    held: &CurrentJudgement,
    is_tree: bool,
    findings: &Findings,
) -> SortValue {
    match column {
        0 if is_tree => {
            let mut path = ancestors(id, findings);
            path.reverse();
            path.push(id.clone());
            SortValue::Path { seen_from: id.cloud.as_ref().and_then(|place| place.seen_from.clone()), path }
        }
        0 => SortValue::Rank(rank(held.judgement.state), soonest_end(&held.cells)),
        1 => SortValue::Text(format!("{} {}", id.kind, id.called()).into()),
        2 => SortValue::Text(id.cluster.as_str().into()),
        3 => SortValue::Text(held.judgement.verdict.into()),
        4 => SortValue::Time(held.since),
        own => held.cells.get(own - OWN_COLUMNS_AFTER - 1).map_or(SortValue::Nothing, cell_value),
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
fn ancestors(id: &SubjectId, findings: &Findings) -> Vec<Arc<SubjectId>> {
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

fn membership(
    filter: &Filter,
    id: &SubjectId,
    held: &CurrentJudgement,
    class: RiskClass,
    now: Timestamp,
    scratch: &mut Scratch,
) -> Membership {
    let fields = Fields {
        state: Some(held.judgement.state),
        also: &[],
        domain: id.domain.0,
        cluster: id.cluster.as_str(),
        class: class.as_str(),
        verdict: held.judgement.verdict,
        codes: &held.judgement.codes,
        kind: id.kind,
        namespace: id.home_namespace().unwrap_or_default(),
        name: id.called(),
        since: Some(held.since),
    };
    if filter.shows(&fields, now, scratch) { Membership::Shown } else { Membership::Hidden }
}
