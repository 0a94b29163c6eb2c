//! Marks that tell controllers to leave an object alone.

use trueup_core::world::RawMeta;

/// On an object that controllers of Cluster API leave alone, whatever its value.
pub const PAUSED_ANNOTATION: &str = "cluster.x-k8s.io/paused";

/// Whether an object is paused, and by which field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    No,
    /// `spec.paused`.
    Spec,
    /// The annotation alone.
    Annotation,
}

impl Pause {
    pub fn of(meta: &RawMeta<'_>, spec_paused: Option<bool>) -> Self {
        match (spec_paused, meta.annotation(PAUSED_ANNOTATION)) {
            (Some(true), _) => Self::Spec,
            (Some(false) | None, Some(_)) => Self::Annotation,
            (Some(false) | None, None) => Self::No,
        }
    }

    pub fn is_paused(self) -> bool {
        self != Self::No
    }
}
