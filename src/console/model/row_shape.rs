//! What the columns of a list need: the widths of the shown rows, and what all rows have in common.
//!
//! Invariants: kept up to date row by row, so that drawing never reads all rows; the widths are of shown rows, what rows
//! have in common is of all rows of the check, so that columns do not come and go while a filter is typed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::findings::{listed_name, listed_namespace};
use crate::console::kind::short_kind;
use crate::console::table::{Glyphs, display_width};
use trueup_checks::Cell;
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::SubjectId;
use trueup_core::world::ClusterName;

/// Width of an arrow between two values, with its spaces.
const ARROW: usize = 4;
/// Width of a time bar with its label.
const LEFT: usize = 16;
/// Width of an age.
const AGE: usize = 4;

#[derive(Debug)]
pub struct RowShape {
    pub kinds: Counted<&'static str>,
    pub namespaces: Counted<Box<str>>,
    pub clusters: Counted<ClusterName>,
    pub name: Widths,
    pub kind: Widths,
    pub namespace: Widths,
    pub cluster: Widths,
    pub verdict: Widths,
    /// Of each column of the check.
    pub own: Vec<Widths>,
}

/// How many rows have each value.
#[derive(Debug)]
pub struct Counted<T>(BTreeMap<T, u32>);

/// How many rows have each width.
#[derive(Debug, Default)]
pub struct Widths(Vec<u32>);

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Ord> Counted<T> {
    /// The value of all rows, if they share one.
    pub fn only(&self) -> Option<&T> {
        self.0.keys().next().filter(|_| self.0.len() == 1)
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.keys()
    }

    fn add(&mut self, value: T) {
        *self.0.entry(value).or_default() += 1;
    }

    fn remove<Q: Ord + ?Sized>(&mut self, value: &Q)
    where
        T: std::borrow::Borrow<Q>,
    {
        if let Some(count) = self.0.get_mut(value) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.0.remove(value);
            }
        }
    }
}

impl Widths {
    /// Wider texts are counted as this wide: no screen shows them whole.
    const MAX: usize = 253;

    pub fn max(&self) -> u16 {
        let widest = self.0.iter().rposition(|count| *count > 0).unwrap_or(0);
        u16::try_from(widest).unwrap_or(u16::MAX)
    }

    fn add(&mut self, width: usize) {
        let width = width.min(Self::MAX);
        if self.0.len() <= width {
            self.0.resize(width + 1, 0);
        }
        self.0[width] += 1;
    }

    fn remove(&mut self, width: usize) {
        if let Some(count) = self.0.get_mut(width.min(Self::MAX)) {
            *count = count.saturating_sub(1);
        }
    }
}

impl RowShape {
    /// With so many columns of the check.
    pub fn new(own: usize) -> Self {
        Self {
            kinds: Counted::default(),
            namespaces: Counted::default(),
            clusters: Counted::default(),
            name: Widths::default(),
            kind: Widths::default(),
            namespace: Widths::default(),
            cluster: Widths::default(),
            verdict: Widths::default(),
            own: std::iter::repeat_with(Widths::default).take(own).collect(),
        }
    }

    /// Counts a new row.
    pub fn insert(&mut self, id: &SubjectId) {
        self.kinds.add(listed_kind(id));
        self.namespaces.add(listed_namespace(id).into());
        self.clusters.add(id.cluster.clone());
    }

    /// Discounts a removed row.
    pub fn remove(&mut self, id: &SubjectId) {
        self.kinds.remove(listed_kind(id));
        self.namespaces.remove(listed_namespace(id));
        self.clusters.remove(&id.cluster);
    }

    /// Counts the widths of a row that is shown.
    pub fn show(&mut self, id: &SubjectId, held: &CurrentJudgement) {
        self.each(id, held, Widths::add);
    }

    /// Discounts the widths of a row that was shown.
    pub fn hide(&mut self, id: &SubjectId, held: &CurrentJudgement) {
        self.each(id, held, Widths::remove);
    }

    /// Counts these rows and no others.
    pub fn show_only<'a>(&mut self, rows: impl Iterator<Item = (&'a Arc<SubjectId>, &'a Arc<CurrentJudgement>)>) {
        let Self { kinds: _, namespaces: _, clusters: _, name, kind, namespace, cluster, verdict, own } = self;
        for widths in [name, kind, namespace, cluster, verdict].into_iter().chain(own) {
            widths.0.clear();
        }
        for (id, held) in rows {
            self.show(id, held);
        }
    }

    fn each(&mut self, id: &SubjectId, held: &CurrentJudgement, change: fn(&mut Widths, usize)) {
        let width = |text: &str| display_width(text, &Glyphs::UNICODE);
        change(&mut self.name, width(&listed_name(id)));
        change(&mut self.kind, width(&short_kind(listed_kind(id))));
        change(&mut self.namespace, width(listed_namespace(id)));
        change(&mut self.cluster, width(id.cluster.as_str()));
        change(&mut self.verdict, width(held.judgement.verdict));
        for (widths, cell) in self.own.iter_mut().zip(&held.cells) {
            change(widths, cell_width(cell));
        }
    }
}

/// The kind of a cloud resource is a part of its name.
fn listed_kind(id: &SubjectId) -> &'static str {
    if id.cloud.is_some() { "" } else { id.kind }
}

fn cell_width(cell: &Cell) -> usize {
    let width = |text: &str| display_width(text, &Glyphs::UNICODE);
    match cell {
        Cell::Nothing => 1,
        Cell::Text(text) => width(text),
        Cell::Number(number) => number.to_string().len(),
        Cell::Age(_) => AGE,
        Cell::Left { .. } => LEFT,
        Cell::Pair { expected, actual } if expected == actual => width(actual),
        Cell::Pair { expected, actual } => width(actual) + ARROW + width(expected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_the_rows() {
        let mut widths = Widths::default();
        assert_eq!(widths.max(), 0);
        widths.add(7);
        widths.add(12);
        widths.add(12);
        widths.remove(12);
        assert_eq!(widths.max(), 12);
        widths.remove(12);
        assert_eq!(widths.max(), 7);
        widths.add(100_000);
        assert_eq!(widths.max(), 253);
    }

    #[test]
    fn what_all_rows_share_is_known_until_one_differs() {
        let mut kinds: Counted<&str> = Counted::default();
        assert_eq!(kinds.only(), None);
        kinds.add("Secret");
        kinds.add("Secret");
        assert_eq!(kinds.only(), Some(&"Secret"));
        kinds.add("ConfigMap");
        assert_eq!(kinds.only(), None);
        kinds.remove("ConfigMap");
        assert_eq!(kinds.only(), Some(&"Secret"));
    }
}
