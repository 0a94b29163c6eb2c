//! What an operator says of itself: the conditions that can tell why something hasn't happened.

use serde::Deserialize;

pub use crate::kinds::Complaint;
use crate::kinds::Condition;
use trueup_core::world::{Fact, Interner, Misfit, Obj, RawObject, ResourceVersion};

/// The status of an operator's own resource, or of a ClusterOperator.
#[derive(Debug, PartialEq, Eq)]
pub struct OperatorStatus {
    pub version: ResourceVersion,
    pub complaints: Box<[Complaint]>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    conditions: Option<Vec<Obj<Condition>>>,
}

impl Fact for OperatorStatus {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self { version: ResourceVersion::parse(&raw.meta.resource_version), complaints: complaints(raw)? })
    }
}

/// The conditions of an object that complain, the gravest first.
pub(super) fn complaints(raw: &RawObject<'_>) -> Result<Box<[Complaint]>, Misfit> {
    let Obj(status): Obj<Status> = raw.field("status")?;
    let mut found: Vec<(u8, Complaint)> =
        status.conditions.unwrap_or_default().into_iter().filter_map(|Obj(condition)| complaint(condition)).collect();
    found.sort_by_key(|(gravity, _)| *gravity);
    Ok(found.into_iter().map(|(_, complaint)| complaint).collect())
}

/// Operators name conditions by their ending: what must not be true, and what must.
fn complaint(condition: Condition) -> Option<(u8, Complaint)> {
    let name = condition.name();
    let gravity = match condition.status() {
        "True" if name.ends_with("Degraded") => 0,
        "False" if name.ends_with("Available") => 1,
        "True" if name.ends_with("Progressing") => 2,
        "False" if name == "Upgradeable" => 3,
        _ => return None,
    };
    Some((gravity, condition.complaint()))
}
