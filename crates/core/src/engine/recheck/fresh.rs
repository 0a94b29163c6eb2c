//! The plan built now, with what the brake and the reference scan need besides.

use std::collections::{BTreeMap, BTreeSet};

use super::is_same_write;
use crate::engine::build::{Observed, PlanInput, build_with};
use crate::engine::canonical::NotCanonical;
use crate::engine::gate::{BrakeMode, Group};
use crate::engine::plan::{Action, Finding, Plan};
use crate::engine::rests_on::CollectionRef;
use crate::world::ClusterName;

/// A plan built from the live world, never read from a file. The brake has neither blocked nor raised anything in it: it is
/// counted over the chosen deletes.
#[derive(Debug, Clone)]
pub struct FreshPlan {
    plan: Plan,
    /// The group of deletes each action belongs to, by action.
    pub(in crate::engine) groups: BTreeMap<String, Group>,
    /// How many subjects a check manages in a cluster.
    pub(in crate::engine) managed: BTreeMap<Group, u64>,
    /// The findings whose subject is a whole list.
    whole_lists: BTreeSet<String>,
    /// The collections that are not known completely, with the reason.
    gaps: BTreeMap<CollectionRef, String>,
}

/// Builds the plan an action is judged by again: the same builder, the current conditions.
///
/// # Errors
/// As [`crate::engine::build()`].
pub fn build_fresh(input: &PlanInput<'_>) -> Result<FreshPlan, NotCanonical> {
    let built = build_with(input, BrakeMode::Off)?;
    let unexplained = input.unexplained.subjects.iter().map(|(subject, _)| *subject);
    let subjects = input.judged.iter().map(|judged| &judged.subject).chain(unexplained);
    let whole = subjects.filter(|subject| subject.is_whole_list());
    let whole_lists = whole.map(ToString::to_string).collect();
    let gap = |observed: &Observed<'_>| {
        let gap = observed.completeness.gap()?;
        Some((CollectionRef::from(observed.id), format!("{}: {gap}", observed.id.resource.path())))
    };
    let gaps = input.observed.iter().filter_map(gap).collect();
    Ok(FreshPlan { plan: built.plan, groups: built.groups, managed: built.managed, whole_lists, gaps })
}

impl FreshPlan {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The action of this plan that is the same write as an action of a file.
    pub(in crate::engine) fn offered(&self, planned: &Action, cluster: &ClusterName) -> Option<&Action> {
        self.plan.actions.iter().find(|now| is_same_write(planned, now, cluster))
    }

    pub(super) fn action(&self, id: &str) -> Option<&Action> {
        self.plan.actions.iter().find(|action| action.id == id)
    }

    /// Why one of these collections is not known completely.
    pub(super) fn gap_among(&self, collections: &BTreeSet<CollectionRef>) -> Option<String> {
        let gap = collections.iter().find_map(|collection| Some((&collection.cluster, self.gaps.get(collection)?)));
        gap.map(|(cluster, why)| format!("{cluster} {why}"))
    }

    /// The finding that says that not every object of the action's kind could be read.
    pub(super) fn unread_list(&self, action: &Action, cluster: &ClusterName) -> Option<&Finding> {
        self.plan.findings.iter().find(|finding| {
            self.whole_lists.contains(&finding.id)
                && finding.cluster == cluster.as_str()
                && finding.domain == action.domain
                && finding.subject.kind == action.target.kind
        })
    }
}
