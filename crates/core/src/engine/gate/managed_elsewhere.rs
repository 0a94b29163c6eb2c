//! The gate for objects that another tool manages: it would bring back what is deleted, and write over what is changed.
//!
//! Invariants: the mark blocks deletes, and writes to fields that the tool's field manager owns; it never allows anything.

use super::{Blocked, Candidate, GateInputs, GateName, blocked};

/// What happens to deletes and writes of objects that another tool manages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ManagedElsewhere {
    #[default]
    Block,
    /// They are only shown.
    Warn,
}

pub fn managed_elsewhere(candidate: &Candidate<'_>, around: &GateInputs<'_>) -> Option<Blocked> {
    let managed_by = candidate.draft.managed_by.as_ref()?;
    match around.conditions.managed_elsewhere {
        ManagedElsewhere::Warn => return None,
        ManagedElsewhere::Block => {}
    }
    let (tool, described) = (managed_by.tool.name(), managed_by.describe());
    let remedy = "or set [safety] managed_elsewhere = \"warn\"";
    if candidate.is_delete() {
        let why = format!("{described} manages it and would create it again; remove it there, {remedy}");
        return Some(blocked(GateName::ManagedElsewhere, why));
    }
    let written = candidate.draft.change.written_fields();
    let field = managed_by.owned_among(&written)?.join(".");
    let why = format!("{described} manages it, and its field manager owns {field}; change it in {tool}, {remedy}");
    Some(blocked(GateName::ManagedElsewhere, why))
}
