//! The findings as CSV: one row each.

use std::collections::BTreeMap;

use super::vocabulary::would_run;
use super::{FindingSource, Page};
use crate::render::csv::{header, row};
use trueup_core::engine::text::Printable;
use trueup_core::engine::{Action, Finding};

const HEADER: [&str; 11] =
    ["id", "domain", "cluster", "kind", "namespace", "name", "state", "verdict", "codes", "summary", "actions"];

/// Passes the header and the rows to `write`.
///
/// # Errors
/// That of `write`.
pub fn csv<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    let line = |action: &Action| {
        let note = if would_run(action) { "" } else { " (not selected or blocked)" };
        format!("{} {}{note}", action.id, action.verb().as_str())
    };
    let lines: BTreeMap<&str, String> =
        page.plan.actions.iter().map(|action| (action.id.as_str(), line(action))).collect();
    let cells = |finding: Finding, _| {
        let actions: Vec<&str> =
            finding.actions.iter().filter_map(|id| Some(lines.get(id.as_str())?.as_str())).collect();
        row(&[
            &finding.id,
            &finding.domain,
            &finding.cluster,
            &finding.subject.kind,
            finding.subject.namespace.as_deref().unwrap_or_default(),
            &finding.subject.name,
            finding.state.as_str(),
            &finding.verdict,
            &finding.codes.join(" "),
            &finding.summary,
            &actions.join("; "),
        ])
    };
    write(&header(&HEADER))?;
    page.plan.findings.each(|_| true, cells, |row| write(&row))
}
