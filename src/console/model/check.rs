//! The list of one check: rows, order and cursor.
//!
//! Invariants:
//! - rows that match are hidden until asked for, unless the filter names states;
//! - while the filter has words, the best fit is first, until a column is chosen for sorting.
//!
//! Elsewhere: sort values (`sorting`); what the columns need (`row_shape`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use super::findings::Findings;
use super::fleet::FleetSheet;
use super::grouping::{Fold, Grouped, Grouping};
use super::row_shape::RowShape;
use super::sorting::{CheckColumn, SortKey, SortValue, ancestors, sort_value};
use crate::console::filter::{Fields, Filter, FilterProblem, Known, Misfit, Scratch};
use crate::console::table::{Direction, Highlights, ListState, Membership, Order};
use trueup_checks::CheckDescription;
use trueup_checks::causes::CauseGroup;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{CheckName, State, SubjectId};
use trueup_core::world::{ClusterName, RiskClass};

/// A check's list.
pub struct CheckSheet {
    pub name: CheckName,
    pub description: CheckDescription,
    pub order: Order<SortKey, Arc<SubjectId>, Arc<CurrentJudgement>>,
    pub list: ListState<Arc<SubjectId>, SortKey>,
    /// The sorted column.
    pub sort: CheckColumn,
    ranking: Ranking,
    pub matches: Matches,
    pub grouping: Grouping,
    grouped: Grouped,
    /// Headings among the shown rows.
    /// The headings that are shown, with the number of their findings that the filter shows.
    heads_shown: BTreeMap<Arc<SubjectId>, usize>,
    /// Rows that only a closed group hides.
    folded: usize,
    pub filter_text: String,
    filter: Filter,
    pub filter_problem: Option<FilterProblem>,
    scratch: Scratch,
    shape: RowShape,
    /// Whether rows have parents.
    pub is_tree: bool,
    /// Whether rows may be out of order because the tree changed.
    is_tangled: bool,
}

/// What sorts the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ranking {
    /// The sorted column.
    Column,
    /// How well they fit the words of the filter, then the sorted column.
    Fit,
}

/// Whether rows that match what is expected are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matches {
    Hidden,
    Shown,
}

impl CheckSheet {
    pub fn new(name: CheckName, description: CheckDescription) -> Self {
        Self {
            name,
            description,
            order: Order::default(),
            list: ListState::default(),
            sort: CheckColumn::State,
            ranking: Ranking::Column,
            matches: Matches::Hidden,
            grouping: Grouping::ByCause,
            grouped: Grouped::default(),
            heads_shown: BTreeMap::new(),
            folded: 0,
            filter_text: String::new(),
            filter: Filter::default(),
            filter_problem: None,
            scratch: Scratch::default(),
            shape: RowShape::new(description.columns.len()),
            is_tree: false,
            is_tangled: false,
        }
    }

    /// What the columns need for the shown rows.
    pub fn shape(&self) -> &RowShape {
        &self.shape
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
        let grouped = (self.grouping == Grouping::ByCause).then_some(&self.grouped);
        let value = sort_value(self.sort, (id, held), class, self.is_nested(), grouped, findings);
        let asked = Asked {
            filter: &self.filter,
            matches: self.matches,
            ranking: self.ranking,
            direction: self.order.direction(),
        };
        let (mut membership, misfit) = asked.row((id, held), class, now, &mut self.scratch);
        if self.shows_groups() && self.is_folded(id) {
            membership = Membership::Hidden;
        }
        let key = SortKey { misfit, value };
        // Its children are ordered by it and may have arrived first.
        self.is_tangled |= self.is_nested() && self.sort == CheckColumn::State && self.order.key(id) != Some(&key);
        match self.order.shown_value(id) {
            Some(before) => self.shape.hide(id, before),
            None if !self.order.contains(id) => self.shape.insert(id),
            None => {}
        }
        if membership == Membership::Shown {
            self.shape.show(id, held);
        }
        self.order.put(id, key, held.clone(), membership)
    }

    pub fn remove(&mut self, id: &Arc<SubjectId>) -> bool {
        if let Some(before) = self.order.shown_value(id) {
            self.shape.hide(id, before);
        }
        if self.order.contains(id) {
            self.shape.remove(id);
        }
        self.order.remove(id)
    }

    /// Restores the order of a tree after a batch of updates.
    pub fn restore_tree_order(&mut self, findings: &Findings, fleet: &FleetSheet) {
        if std::mem::take(&mut self.is_tangled) {
            self.sort_values(findings, fleet);
        }
    }

    /// Whether rows are shown below their parents.
    pub fn shows_tree(&self) -> bool {
        self.is_nested()
            && self.sort == CheckColumn::State
            && self.ranking == Ranking::Column
            && self.order.direction() == Direction::Ascending
    }

    /// Whether rows are sorted below their parents: groups of findings come before the tree.
    fn is_nested(&self) -> bool {
        self.is_tree && (self.grouping == Grouping::None || self.grouped.is_empty())
    }

    /// The column and direction that sort the rows; none while the best fit is first.
    pub fn sorted_by(&self) -> Option<(CheckColumn, Direction)> {
        (self.ranking == Ranking::Column).then(|| (self.sort, self.order.direction()))
    }

    /// Sorts by a column.
    pub fn sort_by(
        &mut self,
        column: CheckColumn,
        direction: Direction,
        (findings, fleet): (&Findings, &FleetSheet),
        now: Timestamp,
    ) {
        self.sort = if column.is_of(&self.description) { column } else { CheckColumn::State };
        self.ranking = Ranking::Column;
        self.order.set_direction(direction);
        self.sort_values(findings, fleet);
        if !self.grouped.is_empty() {
            self.select(self.ranking, |id| fleet.class_of(&id.cluster), now);
        }
    }

    /// Whether the findings are shown under their causes.
    pub fn shows_groups(&self) -> bool {
        self.grouping == Grouping::ByCause
            && !self.grouped.is_empty()
            && self.sort == CheckColumn::State
            && self.ranking == Ranking::Column
            && self.order.direction() == Direction::Ascending
    }

    pub fn grouped(&self) -> &Grouped {
        &self.grouped
    }

    /// Takes the groups of the findings.
    pub fn set_groups(&mut self, groups: &[CauseGroup], findings: &Findings, fleet: &FleetSheet, now: Timestamp) {
        let before: Vec<Arc<SubjectId>> = self.grouped.heads().map(|(head, _)| head.clone()).collect();
        if self.grouped.replace(groups) {
            before.iter().for_each(|head| {
                self.order.remove(head);
            });
            self.regroup(findings, fleet, now);
        }
    }

    /// Groups the findings by cause, or lists them one by one.
    pub fn toggle_grouping(&mut self, findings: &Findings, fleet: &FleetSheet, now: Timestamp) {
        self.grouping = match self.grouping {
            Grouping::ByCause => Grouping::None,
            Grouping::None => Grouping::ByCause,
        };
        self.regroup(findings, fleet, now);
    }

    /// Opens or closes the group of a heading.
    pub fn toggle_group(&mut self, head: &Arc<SubjectId>, fleet: &FleetSheet, now: Timestamp) {
        self.grouped.toggle(head);
        self.select(self.ranking, |id| fleet.class_of(&id.cluster), now);
    }

    fn regroup(&mut self, findings: &Findings, fleet: &FleetSheet, now: Timestamp) {
        for (head, judged) in self.grouped.heads() {
            let key = SortKey { misfit: 0, value: SortValue::Nothing };
            self.order.put(head, key, judged, Membership::Hidden);
        }
        self.sort_values(findings, fleet);
        self.select(self.ranking, |id| fleet.class_of(&id.cluster), now);
    }

    /// Number of findings that the filter shows, those of closed groups included.
    pub fn findings_shown(&self) -> usize {
        self.order.shown() - self.heads_shown.len() + self.folded
    }

    /// Number of findings.
    pub fn findings_total(&self) -> usize {
        self.order.total() - self.grouped.len()
    }

    /// Replaces headings by their findings.
    pub fn without_heads<'a>(&'a self, ids: impl Iterator<Item = &'a Arc<SubjectId>>) -> BTreeSet<Arc<SubjectId>> {
        let mut findings = BTreeSet::new();
        for id in ids {
            match self.grouped.of_head(id) {
                Some(group) => findings.extend(group.members.iter().cloned()),
                None => {
                    findings.insert(id.clone());
                }
            }
        }
        findings
    }

    /// Number of findings of a heading that the filter shows.
    pub fn shown_below(&self, head: &SubjectId) -> usize {
        self.heads_shown.get(head).copied().unwrap_or_default()
    }

    /// Whether a finding is hidden in a closed group. A group that the filter shows in part is open, so that a finding
    /// of a closed one is never hidden by the filter.
    fn is_folded(&self, id: &SubjectId) -> bool {
        self.grouped.is_folded(id) && self.grouped.is_whole(id, &self.heads_shown)
    }

    /// Whether a finding is shown, or would be if its group were open.
    pub fn is_shown(&self, id: &Arc<SubjectId>) -> bool {
        let is_open = self.order.position(id).is_some();
        let head = self.grouped.head_of(id).filter(|_| self.shows_groups() && self.is_folded(id));
        is_open || head.is_some_and(|head| self.order.position(head).is_some())
    }

    /// Sorts again by the sorted column. The fit of the rows stays.
    fn sort_values(&mut self, findings: &Findings, fleet: &FleetSheet) {
        let (sort, is_nested, ranking) = (self.sort, self.is_nested(), self.ranking);
        let grouped = (self.grouping == Grouping::ByCause).then_some(&self.grouped);
        self.order.rekey_by(|id, held, key| {
            if ranking == Ranking::Column {
                key.misfit = 0;
            }
            key.value = sort_value(sort, (id, held), fleet.class_of(&id.cluster), is_nested, grouped, findings);
        });
    }

    /// Filters the rows. An invalid filter leaves the rows unchanged and sets the problem.
    pub fn filter_by(&mut self, text: &str, class_of: impl Fn(&SubjectId) -> RiskClass, now: Timestamp) {
        self.filter_text = text.to_owned();
        match Filter::parse(text) {
            Ok(filter) => {
                self.filter_problem = None;
                self.filter = filter;
                let was = self.ranking;
                self.ranking = if self.filter.has_words() { Ranking::Fit } else { Ranking::Column };
                if self.ranking == Ranking::Fit {
                    self.list.return_to_first();
                }
                self.select(was, class_of, now);
            }
            Err(problem) => self.filter_problem = Some(problem),
        }
    }

    /// Shows or hides the rows that match.
    pub fn show_matches(&mut self, matches: Matches, class_of: impl Fn(&SubjectId) -> RiskClass, now: Timestamp) {
        self.matches = matches;
        self.select(self.ranking, class_of, now);
    }

    /// Number of rows that are hidden because they match.
    pub fn matches_hidden(&self, findings: &Findings) -> u32 {
        match self.matches {
            Matches::Hidden if !self.filter.names_states() => {
                findings.counts_of(self.name).of(State::Match).saturating_sub(self.grouped.steps_that_match())
            }
            Matches::Hidden | Matches::Shown => 0,
        }
    }

    /// Asks every row again whether it is shown; sorts only where the fit of the rows changed.
    fn select(&mut self, was: Ranking, class_of: impl Fn(&SubjectId) -> RiskClass, now: Timestamp) {
        let (ranking, direction) = (self.ranking, self.order.direction());
        let asked = Asked { filter: &self.filter, matches: self.matches, ranking, direction };
        let shows_groups = self.shows_groups();
        let scratch = &mut self.scratch;
        let folds = Folds::of(&self.grouped, shows_groups, |id| {
            let held = self.order.value(id);
            held.is_some_and(|held| asked.row((id, held), class_of(id), now, scratch).0 == Membership::Shown)
        });
        let grouped = &self.grouped;
        let decide = |id: &Arc<SubjectId>, found: Membership| {
            let is_hidden = match grouped.is_head(id) {
                true if folds.heads.contains_key(id) => return Membership::Shown,
                true => true,
                false => grouped.is_folded(id) && grouped.is_whole(id, &folds.heads),
            };
            if is_hidden { Membership::Hidden } else { found }
        };
        if was == Ranking::Column && ranking == Ranking::Column {
            self.order.refilter_by(|id, held| decide(id, asked.row((id, held), class_of(id), now, scratch).0));
        } else {
            self.order.rearrange_by(|id, held, key| {
                let (membership, misfit) = asked.row((id, held), class_of(id), now, scratch);
                key.misfit = misfit;
                decide(id, membership)
            });
        }
        (self.heads_shown, self.folded) = (folds.heads, folds.folded);
        self.shape.show_only(self.order.shown_values().filter(|(id, _)| !grouped.is_head(id)));
    }

    /// The filter, to underline what it matched.
    pub fn highlights(&self) -> Option<&dyn Highlights> {
        self.filter.has_words().then_some(&self.filter as &dyn Highlights)
    }

    /// Depth of a row in the tree, where it is shown.
    pub fn depth(&self, id: &SubjectId, findings: &Findings) -> usize {
        // A hidden parent has no branches.
        let is_shown = |above: &Arc<SubjectId>| self.order.position(above).is_some();
        if self.shows_tree() { ancestors(id, findings).into_iter().filter(is_shown).count() } else { 0 }
    }

    /// The only cluster of all rows, which needs no column.
    pub fn only_cluster(&self) -> Option<&ClusterName> {
        self.shape.clusters.only()
    }

    /// What a filter can be completed with, from the rows of the list.
    pub fn known(&self) -> Known<'_> {
        let mut known = Known {
            domains: vec![self.name.0],
            clusters: self.shape.clusters.values().map(ClusterName::as_str).collect(),
            kinds: self.shape.kinds.values().copied().collect(),
            namespaces: self.shape.namespaces.values().map(AsRef::as_ref).collect(),
            ..Known::default()
        };
        let mut verdicts: BTreeSet<&str> = BTreeSet::new();
        let mut codes: BTreeSet<&str> = BTreeSet::new();
        for (_, held) in self.order.shown_values() {
            verdicts.insert(held.judgement.verdict);
            codes.extend(held.judgement.codes.iter().copied());
        }
        known.verdicts.extend(verdicts);
        known.codes.extend(codes);
        known
    }
}

impl Highlights for Filter {
    fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        self.matched(text)
    }
}

/// Which headings are shown, and how many rows they hide.
struct Folds {
    /// With the number of their findings that are shown.
    heads: BTreeMap<Arc<SubjectId>, usize>,
    folded: usize,
}

impl Folds {
    /// Asks each finding of a group whether the filter shows it.
    fn of(grouped: &Grouped, are_shown: bool, mut shows: impl FnMut(&Arc<SubjectId>) -> bool) -> Self {
        let (mut heads, mut folded) = (BTreeMap::new(), 0);
        for (head, _) in grouped.heads().filter(|_| are_shown) {
            let members = grouped.of_head(head).map_or(&[][..], |group| &group.members);
            let shown = members.iter().filter(|id| shows(id)).count();
            // One finding needs no heading.
            if shown < 2 {
                continue;
            }
            heads.insert(head.clone(), shown);
            if grouped.fold(head) == Fold::Closed && shown == members.len() {
                folded += shown;
            }
        }
        Self { heads, folded }
    }
}

/// What decides whether and where a row is shown.
#[derive(Clone, Copy)]
struct Asked<'a> {
    filter: &'a Filter,
    matches: Matches,
    ranking: Ranking,
    direction: Direction,
}

impl Asked<'_> {
    /// Whether the row is shown, and how badly it fits in the direction of the list: the best fit is first in both.
    fn row(
        &self,
        (id, held): (&SubjectId, &CurrentJudgement),
        class: RiskClass,
        now: Timestamp,
        scratch: &mut Scratch,
    ) -> (Membership, Misfit) {
        // A step is to be taken, whatever its state.
        let is_step = held.outline.as_ref().is_some_and(|outline| outline.is_step());
        let is_hidden_match = self.matches == Matches::Hidden && held.judgement.state == State::Match && !is_step;
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
            since: held.began.at(),
        };
        let misfit = self.filter.misfit(&fields, now, scratch);
        let misfit = misfit.filter(|_| !is_hidden_match || self.filter.names_states());
        match (misfit, self.ranking, self.direction) {
            // A row that is shown later, or as a heading, is where its column puts it.
            (None, Ranking::Column, _) => (Membership::Hidden, 0),
            (None, Ranking::Fit, _) => (Membership::Hidden, Misfit::MAX),
            (Some(_), Ranking::Column, _) => (Membership::Shown, 0),
            (Some(misfit), Ranking::Fit, Direction::Ascending) => (Membership::Shown, misfit),
            (Some(misfit), Ranking::Fit, Direction::Descending) => (Membership::Shown, Misfit::MAX - misfit),
        }
    }
}
