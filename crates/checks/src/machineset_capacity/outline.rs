//! What is kept of every finding: its sentence, and the login that keeps machine sets from scaling.

use super::NAME;
use super::messages::summary;
use super::ruling::Ruling;
use super::verdict::Verdict;
use crate::outline::{Cause, CauseForm, CauseObject, Outline};
use trueup_core::engine::State;
use trueup_core::world::{ClusterName, Key};

/// The outline of a machine set.
pub fn of(cluster: &ClusterName, ruling: &Ruling<'_>) -> Outline {
    if matches!(ruling.verdict.state(), State::Match | State::Unknown) {
        return Outline::default();
    }
    Outline::of(&summary(ruling)).with_cause(cause(cluster, ruling))
}

/// The way to AWS is one for all machine sets of a cluster: where it is broken, that is one thing to repair.
fn cause(cluster: &ClusterName, ruling: &Ruling<'_>) -> Option<Cause> {
    match ruling.verdict {
        Verdict::CredentialsPartial
        | Verdict::CredentialsNone
        | Verdict::SecretMissing
        | Verdict::SecretInvalid
        | Verdict::TokenUnreadable
        | Verdict::Denied => {}
        Verdict::Skipped
        | Verdict::NotAws
        | Verdict::InvalidSpec
        | Verdict::InstanceTypeEmpty
        | Verdict::RegionInvalid
        | Verdict::Transient
        | Verdict::InstanceTypeUnknown
        | Verdict::Missing
        | Verdict::KeysDisagree
        | Verdict::Drift
        | Verdict::Match
        | Verdict::Unknown => return None,
    }
    let key = Key::new(None, cluster.as_str());
    let object = CauseObject { check: NAME, cluster: cluster.clone(), kind: "AWS login", key };
    let (effect, reason) = ("machine sets cannot scale from zero", "AWS login fails".into());
    Some(Cause { object, effect, reason, written: None, form: CauseForm::Effect })
}
