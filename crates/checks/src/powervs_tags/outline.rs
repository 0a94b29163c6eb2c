//! What is kept of every finding: its sentence, and the cluster, living or gone, that it follows from.

use super::NAME;
use super::claimant::Claimant;
use super::context::CheckContext;
use super::explain::{found, seen_from};
use super::facts::Lock;
use super::messages::summary;
use super::names::POWERVS_CLUSTER;
use super::present::{owner_text, turn};
use super::ruling::Ruling;
use super::subjects::ResolvedSubject;
use super::verdict::Verdict;
use crate::outline::{Cause, CauseForm, CauseObject, Outline};
use trueup_core::engine::State;
use trueup_core::world::Key;

/// The outline of a subject.
pub fn of(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Outline {
    let cause = || cause(context, subject, ruling);
    let outline = match ruling.state {
        State::Unknown => Outline::default(),
        // What is taken down belongs together, whatever its state.
        State::Match => Outline::default().with_cause(cause().filter(|_| ruling.verdict == Verdict::Owned)),
        State::Missing | State::Extra | State::Drift | State::Stale | State::Error | State::Blocked => {
            Outline::of(&summary(context, subject, ruling)).with_cause(cause())
        }
    };
    outline.with_step(turn(context, subject, ruling).map(|turn| turn.place()))
}

fn cause(context: &CheckContext<'_>, subject: &ResolvedSubject, ruling: &Ruling) -> Option<Cause> {
    let (ResolvedSubject::Resource { account, .. } | ResolvedSubject::Missing { account, .. }) = subject else {
        return None;
    };
    let going = seen_from(context, subject).filter(|one| one.fact.is_going());
    if let (Some(one), ResolvedSubject::Resource { account, seen_from: Some(claimant), .. }) = (going, subject) {
        let effect = teardown_effect(context, *account, *claimant);
        return Some(Cause {
            form: CauseForm::Sequence,
            ..of_cluster(one, effect, format!("{} (deleting)", one.name()))
        });
    }
    let living = |effect, reason: &str| Some(of_cluster(seen_from(context, subject)?, effect, reason.to_owned()));
    match ruling.verdict {
        Verdict::StaleOwner => living("resources carry an older cluster's tags", "the cluster was created again"),
        Verdict::Untagged | Verdict::HalfTagged => living("resources lack ownership tags", "they were never tagged"),
        Verdict::Adopted => living("resources were adopted", "the cluster found them by name"),
        Verdict::NameTaken => living("resources have a name of the cluster", "they belong to others"),
        Verdict::Gone => living("resources are gone", "the status still holds their ids"),
        Verdict::Orphan => {
            let (cluster, owner) = (context.accounts[*account].member.name.clone(), ruling.owner.as_deref()?);
            let object = CauseObject { check: NAME, cluster, kind: "leaked set", key: Key::new(None, owner) };
            let name = found(context, subject).map(|resource| owner_text(context, resource)).unwrap_or_default();
            let name = if name.is_empty() { owner } else { name.as_str() };
            let reason = format!("{name}: leaked set, no cluster has its uid").into();
            Some(Cause { object, effect: "resources, none ticked", reason, written: None, form: CauseForm::Sequence })
        }
        Verdict::Unknown
        | Verdict::Reclaiming
        | Verdict::Deleting
        | Verdict::TwoOwners
        | Verdict::Reference
        | Verdict::Owned
        | Verdict::Locked
        | Verdict::InUse
        | Verdict::OtherOwner
        | Verdict::Foreign
        | Verdict::TagInvalid
        | Verdict::FinalizerOnly => None,
    }
}

fn of_cluster(one: &Claimant<'_>, effect: &'static str, reason: String) -> Cause {
    let cluster = one.site.name.clone();
    let object = CauseObject { check: NAME, cluster, kind: POWERVS_CLUSTER.kind, key: one.key.clone() };
    Cause { object, effect, reason: reason.into(), written: None, form: CauseForm::Effect }
}

/// What becomes of the resources of a cluster that is being deleted.
fn teardown_effect(context: &CheckContext<'_>, account: usize, claimant: usize) -> &'static str {
    if !context.claimants[claimant].is_torn_down() {
        return "resources stay: the provider deletes nothing";
    }
    let is_locked = |item: usize| context.resource(account, item).lock == Lock::Locked;
    if context.accounts[account].claimed_by(claimant).any(is_locked) {
        return "resources in this order; a lock blocks it";
    }
    "resources in this order, then the finalizer is removed"
}
