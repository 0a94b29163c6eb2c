//! What an operator says of itself: the conditions that can tell why something hasn't happened.

use serde::Deserialize;

use crate::kinds::Complaint;
use crate::kinds::Condition;
use trueup_core::world::{Fact, Interner, Meta, Misfit, Obj, RawObject};

/// The status of an operator's own resource.
#[derive(Debug, PartialEq)]
pub struct OperatorStatus {
    pub meta: Meta,
    pub complaints: Box<[OperatorComplaint]>,
}

/// A condition of an operator that is not as it should be, or under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorComplaint {
    pub grade: Grade,
    pub complaint: Complaint,
}

/// How bad a condition is, by the ending of its type: the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// `…Degraded` is True.
    Degraded,
    /// `…Available` is False.
    Unavailable,
    /// `…Progressing` is True: under way, and no cause.
    UnderWay,
}

impl OperatorComplaint {
    pub fn is_bad(&self) -> bool {
        match self.grade {
            Grade::Degraded | Grade::Unavailable => true,
            Grade::UnderWay => false,
        }
    }

    /// The type without its ending.
    pub fn stem(&self) -> &str {
        let ending = match self.grade {
            Grade::Degraded => "Degraded",
            Grade::Unavailable => "Available",
            Grade::UnderWay => "Progressing",
        };
        self.complaint.condition.strip_suffix(ending).unwrap_or(&self.complaint.condition)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    conditions: Option<Vec<Obj<Condition>>>,
}

impl Fact for OperatorStatus {
    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self { meta: Meta::project(&raw.meta, pool), complaints: complaints(raw)? })
    }
}

/// The conditions of an object that complain, the gravest first.
pub(super) fn complaints(raw: &RawObject<'_>) -> Result<Box<[OperatorComplaint]>, Misfit> {
    let Obj(status): Obj<Status> = raw.field("status")?;
    let conditions = status.conditions.unwrap_or_default();
    let mut found: Vec<OperatorComplaint> =
        conditions.into_iter().filter_map(|Obj(condition)| complaint(&condition)).collect();
    found.sort_by_key(|complaint| complaint.grade);
    Ok(found.into())
}

/// Operators name conditions by their ending: what must not be true, and what must.
fn complaint(condition: &Condition) -> Option<OperatorComplaint> {
    let name = condition.name();
    let grade = match condition.status() {
        "True" if name.ends_with("Degraded") => Grade::Degraded,
        "False" if name.ends_with("Available") => Grade::Unavailable,
        "True" if name.ends_with("Progressing") => Grade::UnderWay,
        _ => return None,
    };
    Some(OperatorComplaint { grade, complaint: condition.complaint() })
}
