//! Judging an action of a plan again by the plan that would be built now. Pure.
//!
//! Invariants:
//! - an action is the same only when a plan built now offers it, with every gate open, for the same target, preconditions and
//!   change, and a delete only with the same verdict; what the file says about gates and tiers is compared, never believed;
//! - which comparison applies follows from the typed [`Origin`], from no other field;
//! - an undo is derived again from this machine's journal and equal field by field.
//!
//! Elsewhere: reading the world again (`operate`), refusing before approval (`admission`), refusing before a wave (`executor`).

mod difference;
mod fresh;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use difference::{Difference, RecheckResult};
pub use fresh::{FreshPlan, build_fresh};

use super::executor::ReferenceScan;
use super::finding::State;
use super::origin::Origin;
use super::plan::{Action, Finding, Plan};
use super::reference::ObjectRef;
use super::rests_on::CollectionRef;
use super::undo::UndoPlan;
use crate::world::ClusterName;

/// What this machine would plan now.
#[derive(Clone, Copy)]
pub struct Current<'c> {
    /// The live cluster behind each cluster name of the plan file.
    pub names: &'c BTreeMap<String, ClusterName>,
    /// The plan built now for the same subjects, with the current configuration.
    pub fresh: &'c FreshPlan,
    /// The undo plans derived now from the journal, gated by the current configuration.
    pub undo: &'c [UndoPlan],
}

/// Judges one action of a plan file again.
///
/// # Guarantees
/// [`RecheckResult::Same`] is never returned for an action that a plan built now would not offer unblocked.
pub fn recheck(plan: &Plan, action: &Action, current: Current<'_>) -> RecheckResult {
    match &action.origin {
        Origin::Finding(_) | Origin::Restore { .. } => by_fresh(plan, action, current),
        Origin::Undo { .. } => by_journal(action, current.undo),
    }
}

/// Whether something refers to what an action deleted, by the plan that would be built now.
pub fn scan_reference(action: &Action, current: Current<'_>) -> ReferenceScan {
    let Some(cluster) = current.names.get(&action.cluster) else {
        return ReferenceScan::Unknown(format!("{} is not connected", action.cluster));
    };
    let unread = current.fresh.unread_list(action, cluster);
    // Whatever a check says of an object that is gone or going: where a list is missing, a reference may be in it.
    let nothing = || match current.fresh.gap_among(&rests_on_today(action, current.names)) {
        Some(why) => ReferenceScan::Unknown(why),
        None => ReferenceScan::Nothing,
    };
    match (finding_of(action, cluster, current.fresh), unread) {
        (None, None) => nothing(),
        (None, Some(finding)) => ReferenceScan::Unknown(finding.summary.clone()),
        (Some(finding), _) => match finding.state {
            State::Match | State::Extra => nothing(),
            State::Unknown => ReferenceScan::Unknown(finding.summary.clone()),
            State::Missing | State::Drift | State::Stale | State::Error | State::Blocked => {
                ReferenceScan::Referenced(finding.summary.clone())
            }
        },
    }
}

fn by_fresh(plan: &Plan, action: &Action, current: Current<'_>) -> RecheckResult {
    let differs = |difference: Difference| RecheckResult::Differs(difference);
    let Some(cluster) = current.names.get(&action.cluster) else {
        return differs(Difference::NotConnected { cluster: action.cluster.clone() });
    };
    let finding = finding_of(action, cluster, current.fresh);
    // A change may rest on a verdict that only became worse with time: for those the action itself has to be the same.
    if action.is_delete()
        && let Some(difference) = verdict_difference(plan, action, finding)
    {
        return differs(difference);
    }
    let Some(now) = current.fresh.offered(action, cluster) else {
        let summary = finding.map(|finding| finding.summary.clone());
        return differs(Difference::NotOffered { summary });
    };
    if !now.blocked_by.is_empty() {
        return RecheckResult::Blocked(now.blocked_by.clone());
    }
    if now.tier > action.tier {
        return RecheckResult::Stricter { planned: action.tier, now: now.tier };
    }
    action_difference(plan, action, now, current).map_or(RecheckResult::Same, RecheckResult::Differs)
}

fn verdict_difference(plan: &Plan, action: &Action, now: Option<&Finding>) -> Option<Difference> {
    // Kinds of one name in two API groups share the id of their findings.
    let is_claimed = |finding: &&Finding| {
        Some(finding.id.as_str()) == action.finding()
            && group(&finding.subject.api_version) == group(&action.target.api_version)
    };
    let claimed = plan.findings.iter().find(is_claimed);
    let (Some(claimed), Some(now)) = (claimed, now) else { return Some(Difference::FindingGone) };
    let changed = || Difference::VerdictChanged {
        before: claimed.verdict.clone(),
        now: now.verdict.clone(),
        summary: now.summary.clone(),
    };
    (claimed.verdict != now.verdict).then(changed)
}

fn action_difference(plan: &Plan, action: &Action, now: &Action, current: Current<'_>) -> Option<Difference> {
    if now.target != action.target {
        return Some(Difference::Target);
    }
    if now.preconditions.source != action.preconditions.source {
        return Some(Difference::Source);
    }
    // The index that lists tags lags behind this run's own changes; the executor reads tags from the tagging service and
    // compares them with the plan before it changes them.
    let is_of_tags = action.target.cloud.is_some() && !action.is_delete();
    if !is_of_tags && now.preconditions != action.preconditions {
        return Some(Difference::Preconditions);
    }
    // The lists of a memory are shown; what is written is computed from the annotation when the tags were changed.
    if now.change.without_memory_lists() != action.change.without_memory_lists() {
        return Some(Difference::Change);
    }
    if now.undo != action.undo {
        return Some(Difference::Undo);
    }
    if !rests_on_all(action, now, current.names) {
        return Some(Difference::RestsOn);
    }
    (!depends_on_all(plan, action, now, current)).then_some(Difference::Dependencies)
}

/// Returns the first field of what people read in which an action is not the one a plan built now would hold. A file that was
/// not marked here may show anything.
pub(super) fn preview_difference(action: &Action, current: Current<'_>) -> Option<&'static str> {
    let now = current.fresh.offered(action, current.names.get(&action.cluster)?)?;
    let fields = [
        ("reason", action.reason == now.reason),
        ("ownership", action.ownership == now.ownership),
        ("diff", action.diff == now.diff),
    ];
    fields.into_iter().find(|(_, is_equal)| !is_equal).map(|(field, _)| field)
}

/// Whether the file names every collection the action rests on now, under today's names of their clusters.
fn rests_on_all(action: &Action, now: &Action, names: &BTreeMap<String, ClusterName>) -> bool {
    let named = rests_on_today(action, names);
    now.rests_on.iter().all(|needed| named.contains(needed))
}

/// The collections the file says an action rests on, under today's names of their clusters.
fn rests_on_today(action: &Action, names: &BTreeMap<String, ClusterName>) -> BTreeSet<CollectionRef> {
    let today = |named: &CollectionRef| {
        let cluster = names.get(&named.cluster).map_or_else(|| named.cluster.clone(), ToString::to_string);
        CollectionRef { cluster, ..named.clone() }
    };
    action.rests_on.iter().map(today).collect()
}

/// Whether the file lets the action wait for everything it has to wait for now.
fn depends_on_all(plan: &Plan, action: &Action, now: &Action, current: Current<'_>) -> bool {
    let is_awaited = |needed: &Action| {
        let mut awaited = plan.actions.iter().filter(|one| action.depends_on.contains(&one.id));
        awaited.any(|one| {
            let cluster = current.names.get(&one.cluster);
            cluster.is_some_and(|cluster| is_same_write(one, needed, cluster))
        })
    };
    now.depends_on.iter().filter_map(|id| current.fresh.action(id)).all(is_awaited)
}

fn by_journal(action: &Action, undo: &[UndoPlan]) -> RecheckResult {
    let mut derived = undo.iter().flat_map(|undo| &undo.plan.actions);
    let Some(derived) = derived.find(|derived| derived.origin == action.origin) else {
        let why = undo.iter().flat_map(|undo| &undo.left_out).cloned().collect::<Vec<_>>().join("; ");
        return RecheckResult::Differs(Difference::NoUndo { why });
    };
    if !derived.blocked_by.is_empty() {
        return RecheckResult::Blocked(derived.blocked_by.clone());
    }
    if derived.tier > action.tier {
        return RecheckResult::Stricter { planned: action.tier, now: derived.tier };
    }
    match undo_difference(action, derived) {
        Some(field) => RecheckResult::Differs(Difference::OtherUndo { field }),
        None => RecheckResult::Same,
    }
}

/// Returns the first field in which a planned undo is not the one the journal gives; nothing when they are equal. The action's
/// id, the numbering of dependencies and the gates may differ; a tier may have become lower.
pub fn undo_difference(planned: &Action, derived: &Action) -> Option<&'static str> {
    let Action {
        id: _,
        origin,
        domain,
        cluster,
        change,
        target,
        preconditions,
        rests_on,
        selected,
        reason,
        ownership,
        tier,
        diff,
        undo,
        depends_on,
        blocked_by: _,
        group,
    } = planned;
    let fields = [
        ("origin", *origin == derived.origin),
        ("domain", *domain == derived.domain),
        ("cluster", *cluster == derived.cluster),
        ("change", *change == derived.change),
        ("target", *target == derived.target),
        ("preconditions", *preconditions == derived.preconditions),
        ("rests_on", *rests_on == derived.rests_on),
        ("selected", *selected == derived.selected),
        ("reason", *reason == derived.reason),
        ("ownership", *ownership == derived.ownership),
        ("tier", *tier >= derived.tier),
        ("diff", *diff == derived.diff),
        ("undo", *undo == derived.undo),
        ("depends_on", depends_on.len() == derived.depends_on.len()),
        ("group", *group == derived.group),
    ];
    fields.into_iter().find(|(_, is_equal)| !is_equal).map(|(field, _)| field)
}

/// Whether an action of a file and an action of a plan built now are the same write: whatever it is bound to.
fn is_same_write(planned: &Action, now: &Action, cluster: &ClusterName) -> bool {
    let same_origin = match (&planned.origin, &now.origin) {
        // Several findings may be about one cloud resource: each connection of a gateway has its own. The finding of an object
        // names its cluster, which may have another name today.
        (Origin::Finding(one), Origin::Finding(other)) => planned.target.cloud.is_none() || one == other,
        (Origin::Restore { .. } | Origin::Undo { .. }, _) | (_, Origin::Restore { .. } | Origin::Undo { .. }) => {
            planned.origin == now.origin
        }
    };
    same_origin
        && now.cluster == cluster.as_str()
        && now.domain == planned.domain
        && now.verb() == planned.verb()
        && is_same_object(&planned.target, &now.target)
}

/// Whether two references are to one name, whichever object has it.
fn is_same_object(one: &ObjectRef, other: &ObjectRef) -> bool {
    match (&one.cloud, &other.cloud) {
        (Some(one), Some(other)) => {
            (&one.cloud, &one.account, &one.kind, &one.id) == (&other.cloud, &other.account, &other.kind, &other.id)
        }
        (None, None) => {
            (&one.api_version, &one.kind, &one.namespace, &one.name)
                == (&other.api_version, &other.kind, &other.namespace, &other.name)
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The finding of an action's target in the plan built now.
fn finding_of<'f>(action: &Action, cluster: &ClusterName, fresh: &'f FreshPlan) -> Option<&'f Finding> {
    let findings = &fresh.plan().findings;
    if action.target.cloud.is_some() {
        return findings.iter().find(|finding| Some(finding.id.as_str()) == action.finding());
    }
    findings.iter().find(|finding| {
        let subject = &finding.subject;
        finding.cluster == cluster.as_str()
            && finding.domain == action.domain
            && group(&subject.api_version) == group(&action.target.api_version)
            && (&subject.kind, &subject.namespace, &subject.name)
                == (&action.target.kind, &action.target.namespace, &action.target.name)
    })
}

/// The API group: two groups may have a kind of the same name, as MachineSet.
fn group(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}
