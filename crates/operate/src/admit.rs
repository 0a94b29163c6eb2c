//! Admission of a plan: what of it may still be approved, by the live world and the current configuration.
//!
//! Invariants: nothing is approved that was not judged again here; a plan without a valid mark is foreign, and its
//! verdicts must hold over two observations `settle` apart.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

use crate::apply::live_names;
use crate::error::OperateError;
use crate::fleet::Fleet;
use crate::fresh::FreshWorld;
use crate::history::history_entries;
use crate::recheck::Rechecker;
use crate::session::Session;
use trueup_core::engine::journal::Entry;
use trueup_core::engine::{
    Action, Admission, ApplyRequest, Chosen, ForeignPlan, Plan, Provenance, TargetRecord, admit as admit_plan,
    check_whole,
};
use trueup_core::world::ClusterName;

/// Checks a plan without the live world, and returns where it was made.
///
/// # Errors
/// The plan is refused, or the state folder cannot be used.
pub fn check_plan(session: &Session, plan: &Plan, foreign: ForeignPlan) -> Result<Provenance, OperateError> {
    let provenance = plan.provenance(&*session.mark_key()?);
    let limits = session.settings.safety.plans;
    check_whole(plan, provenance, foreign, limits, Timestamp::now()).map_err(OperateError::Refused)?;
    Ok(provenance)
}

/// Judges the chosen actions of a plan again and says which of them may be approved.
///
/// # Errors
/// The plan is refused as a whole, or a cluster is not the one the plan was made for.
pub async fn admit(fleet: &Fleet, plan: Plan, chosen: Chosen, foreign: ForeignPlan) -> Result<Admission, OperateError> {
    let session = fleet.session();
    let provenance = check_plan(session, &plan, foreign)?;
    let targets: Vec<TargetRecord> = reached(&plan, &chosen).into_iter().cloned().collect();
    let names: BTreeMap<String, ClusterName> = fleet.ask(move |live| live_names(live, &targets)).await??;
    let sent_earlier = sent_earlier(&history_entries(session)?, &plan.id);
    let limits = session.settings.safety.plans;
    let request = ApplyRequest { chosen, provenance, foreign, limits, sent_earlier };
    admit_in(fleet.clone(), names, plan, &request, &Timestamp::now).await
}

/// The same in any world whose collections can be listed again. `names`: the live cluster behind each name of the plan.
///
/// # Errors
/// As [`admit`].
pub async fn admit_in<W: FreshWorld>(
    mut world: W,
    names: BTreeMap<String, ClusterName>,
    plan: Plan,
    request: &ApplyRequest,
    clock: &(dyn Fn() -> Timestamp + Sync),
) -> Result<Admission, OperateError> {
    let actions: Vec<Action> = request.chosen.actions(&plan).cloned().collect();
    let actions: Vec<&Action> = actions.iter().collect();
    let mut settled = Duration::ZERO;
    if request.provenance == Provenance::Foreign {
        // How long a verdict has held is known between two lists of everything in its clusters.
        settled = world.session().settings.settle();
        tokio::time::sleep(settled).await;
        world.resync().await?;
    }
    let mut recheck = Rechecker::new(world, names, plan).settling(settled);
    let now = recheck.now(&actions).await.map_err(OperateError::Start)?;
    let plan = recheck.plan().clone();
    admit_plan(plan, request, recheck.current(&now), clock()).map_err(OperateError::Refused)
}

/// The targets that the chosen actions write to or copy from.
fn reached<'p>(plan: &'p Plan, chosen: &Chosen) -> Vec<&'p TargetRecord> {
    let mut named = BTreeSet::new();
    for action in chosen.actions(plan) {
        named.insert(action.cluster.clone());
        named.extend(action.change.copying().and_then(|copying| copying.source.cluster.clone()));
    }
    plan.targets.iter().filter(|target| named.contains(&target.cluster)).collect()
}

/// The actions of a plan that an interrupted run has sent.
pub fn sent_earlier(entries: &[Entry], plan: &str) -> BTreeSet<String> {
    let actions = entries.iter().filter(|entry| entry.plan == plan).flat_map(|entry| &entry.actions);
    actions.filter(|action| action.sent.is_some()).map(|action| action.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::Verb;
    use trueup_core::engine::journal::{Record, entries};
    use trueup_core::engine::testing::{finding, given, intent, now};

    #[test]
    fn only_what_the_same_plan_has_sent_counts_as_sent_earlier() {
        let target = given().finding(finding("a").deletes()).plan().actions.remove(0).target;
        let sent = |plan: &str, action: &str| intent(plan, action, Verb::Delete, target.clone(), now());
        let (file, digest) = ("b1".to_owned(), "d1".to_owned());
        let only_sealed = Record::Backup { plan: "sha256:a".to_owned(), action: "a2".to_owned(), file, digest };
        let journal = entries(&[sent("sha256:a", "a1"), only_sealed, sent("sha256:b", "a3")]);
        assert_eq!(sent_earlier(&journal, "sha256:a"), ["a1".to_owned()].into());
        assert_eq!(sent_earlier(&journal, "sha256:c"), BTreeSet::new());
    }
}
