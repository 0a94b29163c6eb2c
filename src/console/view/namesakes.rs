//! Rows of one name: what tells them apart where the columns that would have no space.
//!
//! Invariants: two rows of a window that are different objects never look alike.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::check_columns::CheckColumns;
use crate::console::kind::short_kind;
use crate::console::model::{CheckColumn, CheckSheet, listed_name, listed_namespace};
use trueup_core::engine::SubjectId;

/// What rows of one name and cluster differ in.
#[derive(Default)]
struct Differences<'a> {
    kinds: BTreeSet<&'a str>,
    namespaces: BTreeSet<&'a str>,
}

/// The text beside the name of each row: its kind or namespace, where another row of the window has its name and cluster,
/// and the difference has no column. Empty for others.
pub fn distinguished(check: &CheckSheet, columns: &CheckColumns, visible: &[&Arc<SubjectId>]) -> Vec<String> {
    let is_hidden = |column: CheckColumn| columns.width(column).is_none();
    let (no_kind, no_namespace) = (is_hidden(CheckColumn::Kind), is_hidden(CheckColumn::Namespace));
    if !no_kind && !no_namespace {
        return vec![String::new(); visible.len()];
    }
    let names: Vec<_> = visible.iter().map(|id| (listed_name(id), id.cluster.as_str())).collect();
    let mut alike: BTreeMap<(&str, &str), Differences<'_>> = BTreeMap::new();
    let rows = || names.iter().zip(visible).filter(|(_, id)| !check.grouped().is_head(id));
    for ((name, cluster), id) in rows() {
        let differences = alike.entry((name, cluster)).or_default();
        differences.kinds.insert(id.kind);
        differences.namespaces.insert(listed_namespace(id));
    }
    let beside = |((name, cluster), id): (&(std::borrow::Cow<'_, str>, &str), &&Arc<SubjectId>)| {
        let Some(Differences { kinds, namespaces }) =
            alike.get(&(&**name, *cluster)).filter(|_| !check.grouped().is_head(id))
        else {
            return String::new();
        };
        let kind = (no_kind && kinds.len() > 1).then(|| short_kind(id.kind));
        let namespace = (no_namespace && namespaces.len() > 1).then(|| listed_namespace(id));
        let parts: Vec<&str> = kind.as_deref().into_iter().chain(namespace).collect();
        if parts.is_empty() { String::new() } else { format!("  {}", parts.join(" ")) }
    };
    names.iter().zip(visible).map(beside).collect()
}
