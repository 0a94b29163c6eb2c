//! The objects of the findings, one per line, as `kubectl -o name` spells them.

use super::vocabulary::kubectl_name;
use super::{FindingSource, Page};
use trueup_core::engine::text::Printable;

/// Passes a line per listed finding to `write`.
///
/// # Errors
/// That of `write`.
pub fn name<F: FindingSource, E>(
    page: &Page<'_, F>,
    mut write: impl FnMut(&Printable) -> Result<(), E>,
) -> Result<(), E> {
    let listed = |state| page.lists(state);
    page.plan.findings.each(
        listed,
        |finding, _| Printable::line(&kubectl_name(&finding.subject)).ended(),
        |line| write(&line),
    )
}
