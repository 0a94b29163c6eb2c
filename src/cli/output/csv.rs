//! The findings as CSV: one row each.

use std::collections::BTreeMap;

use super::Page;
use super::vocabulary::would_run;
use crate::render::csv::table;
use trueup_core::engine::text::Printable;

const HEADER: [&str; 11] =
    ["id", "domain", "cluster", "kind", "namespace", "name", "state", "verdict", "codes", "summary", "actions"];

/// Renders the rows under their header.
pub fn csv(page: &Page<'_>) -> Printable {
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    for action in &page.plan.actions {
        let note = if would_run(action) { "" } else { " (not selected or blocked)" };
        lines.insert(&action.id, format!("{} {}{note}", action.id, action.verb().as_str()));
    }
    let rows = page.plan.findings.iter().map(|finding| {
        let actions: Vec<String> = finding.actions.iter().filter_map(|id| lines.remove(id.as_str())).collect();
        [
            finding.id.clone(),
            finding.domain.clone(),
            finding.cluster.clone(),
            finding.subject.kind.clone(),
            finding.subject.namespace.clone().unwrap_or_default(),
            finding.subject.name.clone(),
            finding.state.as_str().to_owned(),
            finding.verdict.clone(),
            finding.codes.join(" "),
            finding.summary.clone(),
            actions.join("; "),
        ]
    });
    table(HEADER, rows)
}
