//! Whether a cluster is still being created, so that a kubeconfig it does not have yet is no alarm.

use jiff::{SignedDuration, Timestamp};

use super::settings::Settings;
use super::subjects::Owners;
use crate::kinds::CreationPhase;
use trueup_core::world::DeletionState;

/// How long a creation takes at most where no control plane of CAPT says otherwise: its defaults, 30 + 15 minutes.
const TIMEOUT_DEFAULT: SignedDuration = SignedDuration::from_mins(45);

/// How long CAPT, which looks every 30 seconds, may take to copy a new source.
pub const COPY_GRACE: SignedDuration = SignedDuration::from_mins(2);

/// What the objects of a cluster say of its creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It is up, has failed, is being deleted, or says nothing.
    Over,
    /// It may take until then; without a time where no object says when it was created.
    UnderWay { until: Option<Timestamp> },
    /// It takes longer than it may.
    Overdue,
}

/// Judges how far the creation of a cluster is.
pub fn find(owners: &Owners<'_>, settings: Settings, now: Timestamp) -> Creation {
    let (cluster, plane) = (owners.cluster.seen, owners.plane.seen);
    let phases = [cluster.map(|cluster| cluster.creation), plane.map(|plane| plane.creation)];
    let says = |phase: CreationPhase| phases.contains(&Some(phase));
    let deletions = [cluster.map(|cluster| cluster.deletion_state), plane.map(|plane| plane.deletion_state)];
    let is_over = says(CreationPhase::Up)
        || says(CreationPhase::Failed)
        || !says(CreationPhase::Creating)
        || deletions.contains(&Some(DeletionState::Terminating));
    if is_over {
        return Creation::Over;
    }
    let timeout = plane.map_or(TIMEOUT_DEFAULT, |plane| plane.creation_timeout);
    let timeout = settings.creation_timeout.unwrap_or(timeout);
    let times = [cluster.and_then(|cluster| cluster.created), plane.and_then(|plane| plane.created)];
    let Some(youngest) = times.into_iter().flatten().max() else { return Creation::UnderWay { until: None } };
    let limit = youngest.saturating_add(timeout).unwrap_or(Timestamp::MAX);
    if now > limit { Creation::Overdue } else { Creation::UnderWay { until: after(limit) } }
}

/// The first instant after this one.
fn after(limit: Timestamp) -> Option<Timestamp> {
    limit.checked_add(SignedDuration::from_nanos(1)).ok()
}
