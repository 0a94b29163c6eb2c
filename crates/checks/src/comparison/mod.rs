//! Expected and actual of a finding, field by field.
//!
//! Invariants: every leaf of both trees is in one row; a value is one short line ([`value`]) and never a secret. Fields that
//! only the object has are not compared, unless the finding is that the object, or the list, should be empty.

mod flatten;
mod text;
mod value;

use serde_json::Value;

pub use text::tree_lines;

use flatten::{Leaf, flatten};
use trueup_core::engine::{Explanation, State};

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldComparison {
    /// `annotations.team`, `auth-config.json: jwt[0].issuer.url`
    pub path: String,
    pub relation: Relation,
    /// Nothing where it is absent.
    pub expected: Option<String>,
    pub actual: Option<String>,
}

/// How a field's actual value relates to the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Same,
    Differs,
    Missing,
    Extra,
    /// Nothing is expected of it.
    NotCompared,
}

impl Relation {
    pub fn is_difference(self) -> bool {
        match self {
            Self::Differs | Self::Missing | Self::Extra => true,
            Self::Same | Self::NotCompared => false,
        }
    }
}

/// The row of the object itself, where it should exist and does not, or the other way round.
const OBJECT: &str = "object";
/// The field of a tree that says whether the object exists.
const EXISTS: &str = "exists";
/// Lists that may hold more than is expected: other people tag resources, too.
const OPEN_LISTS: [&str; 1] = ["tags"];

/// Compares both sides of an explanation, the differences first.
pub fn compare(state: State, explanation: &Explanation) -> Vec<FieldComparison> {
    compare_trees(state, &explanation.expected, &explanation.actual)
}

/// The same for two trees. The state says what an empty expected side means: that nothing should exist, or nothing.
pub fn compare_trees(state: State, expected: &Value, actual: &Value) -> Vec<FieldComparison> {
    let is_unwanted = matches!(state, State::Extra | State::Drift) && is_empty(expected);
    let mut rows: Vec<FieldComparison> = existence(state, expected, actual).into_iter().collect();
    let (wanted, held) = (leaves(expected), leaves(actual));
    let mut paths: Vec<&str> = Vec::new();
    for leaf in wanted.iter().chain(&held) {
        if !paths.contains(&leaf.path.as_str()) {
            paths.push(&leaf.path);
        }
    }
    let empty_lists: Vec<&str> =
        wanted.iter().filter(|leaf| leaf.is_empty_list()).map(|leaf| leaf.path.as_str()).collect();
    let must_be_empty = |path: &str| empty_lists.iter().any(|list| is_within(path, list));
    for path in paths {
        let of = |side: &[Leaf]| -> Vec<Leaf> { side.iter().filter(|leaf| leaf.path == path).cloned().collect() };
        let beyond = if is_unwanted || must_be_empty(path) { Relation::Extra } else { Relation::NotCompared };
        rows.extend(field(path, &of(&wanted), &of(&held), beyond));
    }
    rows.sort_by_key(|row| !row.relation.is_difference());
    rows
}

fn is_empty(tree: &Value) -> bool {
    tree.is_null() || tree.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Whether a path is a list or a part of it.
fn is_within(path: &str, list: &str) -> bool {
    path.strip_prefix(list).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

fn leaves(tree: &Value) -> Vec<Leaf> {
    let mut leaves = flatten(tree);
    leaves.retain(|leaf| leaf.path != EXISTS);
    leaves
}

/// The row of the object, where its existence is the difference.
fn existence(state: State, expected: &Value, actual: &Value) -> Option<FieldComparison> {
    let said = |tree: &Value| tree.get(EXISTS).and_then(Value::as_bool);
    let wanted = said(expected).or((state == State::Extra && is_empty(expected)).then_some(false));
    let wanted = wanted.or((state == State::Missing && !is_empty(expected)).then_some(true))?;
    let held = said(actual).unwrap_or(!is_empty(actual));
    let relation = match (wanted, held) {
        (true, false) => Relation::Missing,
        (false, true) => Relation::Extra,
        (true, true) | (false, false) => return None,
    };
    let word = |exists: bool| Some(if exists { "present" } else { "absent" }.to_owned());
    Some(FieldComparison { path: OBJECT.to_owned(), relation, expected: word(wanted), actual: word(held) })
}

/// The rows of one path: one, or one for each element of a list.
fn field(path: &str, wanted: &[Leaf], held: &[Leaf], beyond: Relation) -> Vec<FieldComparison> {
    let row = |relation, expected: Option<&Leaf>, actual: Option<&Leaf>| FieldComparison {
        path: path.to_owned(),
        relation,
        expected: expected.and_then(Leaf::text),
        actual: actual.and_then(Leaf::text),
    };
    if let ([one], [other]) = (wanted, held) {
        return match (one.is_none(), other.is_none()) {
            (true, true) => Vec::new(),
            (true, false) => vec![row(Relation::Extra, None, Some(other))],
            (false, true) => vec![row(Relation::Missing, Some(one), None)],
            (false, false) if one.value == other.value => vec![row(Relation::Same, Some(one), Some(other))],
            (false, false) => vec![row(Relation::Differs, Some(one), Some(other))],
        };
    }
    let is_open =
        wanted.is_empty() || OPEN_LISTS.iter().any(|name| path == *name || path.ends_with(&format!(".{name}")));
    let beyond = if is_open { beyond } else { Relation::Extra };
    let of_wanted = wanted.iter().filter(|leaf| !leaf.is_none()).map(|one| match held.contains(one) {
        true => row(Relation::Same, Some(one), Some(one)),
        false => row(Relation::Missing, Some(one), None),
    });
    let others = held.iter().filter(|leaf| !leaf.is_none() && !wanted.contains(leaf));
    of_wanted.chain(others.map(|other| row(beyond, None, Some(other)))).collect()
}

#[cfg(test)]
mod tests;
