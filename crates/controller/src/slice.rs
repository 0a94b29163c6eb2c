//! Parts of a plan: what fits into one Proposal. Pure.
//!
//! Invariants:
//! - a part is complete in itself: an action is never in it without everything it depends on;
//! - a part has at most [`ACTIONS_MAX`] actions and [`PLAN_BYTES_MAX`] bytes; what does not fit waits until the part it
//!   depends on was applied;
//! - the same plan gives the same parts.
//!
//! Elsewhere: which actions are to be proposed at all (`reconcile`).

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{ACTIONS_MAX, ProposalSpec, TooLarge};
use crate::recorded::Topic;
use trueup_core::engine::{MarkKey, ObservationRecord, Plan, Summary};

/// What goes into one Proposal.
#[derive(Debug)]
pub struct Part {
    /// The ids of its actions.
    pub actions: BTreeSet<String>,
    pub spec: ProposalSpec,
}

/// A plan in parts.
#[derive(Debug, Default)]
pub struct Parts {
    pub parts: Vec<Part>,
    /// Actions that fit into no Proposal, or have no cluster to be proposed for.
    pub left_out: Vec<(String, String)>,
}

/// Puts these actions of one cluster and check into as few Proposals as they fit in.
pub fn parts(plan: &Plan, topic: &Topic, actions: &BTreeSet<String>, key: &MarkKey) -> Parts {
    let mut parts = Parts::default();
    let mut open: Vec<Vec<Vec<usize>>> = packed(components(plan, actions));
    open.reverse();
    while let Some(part) = open.pop() {
        let ids: BTreeSet<&str> = part.iter().flatten().map(|place| plan.actions[*place].id.as_str()).collect();
        let Some(target) = plan.targets.iter().find(|target| target.cluster == topic.cluster) else {
            parts.left_out.extend(ids.iter().map(|id| ((*id).to_owned(), "its cluster is not a target".to_owned())));
            continue;
        };
        let made = slice(plan, &ids).map_err(TooLarge::NotCanonical);
        match made.and_then(|slice| ProposalSpec::of(&slice.marked(key), target, &topic.check)) {
            Ok(spec) => {
                let actions = ids.iter().map(|id| (*id).to_owned()).collect();
                parts.parts.push(Part { actions, spec });
            }
            Err(why) => match halves(part) {
                Some(halves) => open.extend(halves.into_iter().rev()),
                None => parts.left_out.extend(ids.iter().map(|id| ((*id).to_owned(), why.to_string()))),
            },
        }
    }
    parts
}

/// Groups the actions that depend on each other or belong together; each group in the order of its dependencies, and cut
/// to what fits into a Proposal.
fn components(plan: &Plan, actions: &BTreeSet<String>) -> Vec<Vec<usize>> {
    let steps = plan.steps();
    let mut places: Vec<usize> =
        (0..plan.actions.len()).filter(|place| actions.contains(&plan.actions[*place].id)).collect();
    places.sort_by_key(|place| (steps[*place], *place));
    let by_id: BTreeMap<&str, usize> = places.iter().map(|place| (plan.actions[*place].id.as_str(), *place)).collect();
    let mut group: BTreeMap<usize, usize> = places.iter().map(|place| (*place, *place)).collect();
    let mut first_of: BTreeMap<&str, usize> = BTreeMap::new();
    for place in &places {
        let action = &plan.actions[*place];
        let mut others: Vec<usize> =
            action.depends_on.iter().filter_map(|id| by_id.get(id.as_str())).copied().collect();
        others.extend(action.group.as_deref().map(|name| *first_of.entry(name).or_insert(*place)));
        for other in others {
            let (one, other) = (group[place], group[&other]);
            let (from, to) = (one.max(other), one.min(other));
            group.values_mut().filter(|root| **root == from).for_each(|root| *root = to);
        }
    }
    let mut components: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for place in places {
        components.entry(group[&place]).or_default().push(place);
    }
    let closed = |places: Vec<usize>| {
        // What depends on an action outside of these waits for it.
        let mut kept: Vec<usize> = Vec::new();
        for place in places {
            let is_there = |id: &String| kept.iter().any(|before| plan.actions[*before].id == *id);
            if kept.len() < ACTIONS_MAX && plan.actions[place].depends_on.iter().all(is_there) {
                kept.push(place);
            }
        }
        kept
    };
    components.into_values().map(closed).filter(|component| !component.is_empty()).collect()
}

/// Puts whole components together up to [`ACTIONS_MAX`] actions.
fn packed(components: Vec<Vec<usize>>) -> Vec<Vec<Vec<usize>>> {
    let mut parts: Vec<Vec<Vec<usize>>> = Vec::new();
    for component in components {
        match parts.last_mut() {
            Some(part) if part.iter().map(Vec::len).sum::<usize>() + component.len() <= ACTIONS_MAX => {
                part.push(component);
            }
            Some(_) | None => parts.push(vec![component]),
        }
    }
    parts
}

/// A part in two: by components, or the first half of the only one. None: it is a single action.
fn halves(mut part: Vec<Vec<usize>>) -> Option<Vec<Vec<Vec<usize>>>> {
    if part.len() > 1 {
        let second = part.split_off(part.len() / 2);
        return Some(vec![part, second]);
    }
    let mut only = part.pop()?;
    if only.len() < 2 {
        return None;
    }
    // The order is that of the dependencies: a beginning is complete in itself.
    only.truncate(only.len() / 2);
    Some(vec![vec![only]])
}

/// The plan with these actions alone.
fn slice(plan: &Plan, ids: &BTreeSet<&str>) -> Result<Plan, trueup_core::engine::NotCanonical> {
    let mut slice = plan.clone();
    slice.mark = None;
    slice.actions.retain(|action| ids.contains(action.id.as_str()));
    let findings: BTreeSet<String> =
        slice.actions.iter().filter_map(|action| action.finding().map(str::to_owned)).collect();
    slice.findings.retain(|finding| findings.contains(&finding.id));
    for finding in &mut slice.findings {
        finding.actions.retain(|id| ids.contains(id.as_str()));
    }
    let mut clusters: BTreeSet<String> = slice.actions.iter().map(|action| action.cluster.clone()).collect();
    clusters.extend(slice.findings.iter().map(|finding| finding.cluster.clone()));
    let sources = slice.actions.iter().filter_map(|action| action.change.copying()?.source.cluster.clone());
    clusters.extend(sources);
    slice.targets.retain(|target| clusters.contains(&target.cluster));
    let rests_on = |observation: &ObservationRecord| {
        slice.actions.iter().flat_map(|action| &action.rests_on).any(|rests_on| {
            let same_scope = rests_on.namespace == observation.namespace && rests_on.name == observation.name;
            rests_on.cluster == observation.cluster && rests_on.resource == observation.resource && same_scope
        })
    };
    slice.observations.retain(rests_on);
    slice.summary = Summary::of(slice.findings.iter().map(|finding| finding.state), &slice.actions);
    slice.id = slice.computed_id()?;
    Ok(slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trueup_core::engine::testing::{finding, given};

    fn key() -> MarkKey {
        MarkKey::shared(&[7; 32]).unwrap()
    }

    fn topic() -> Topic {
        Topic { cluster: "guest-a".to_owned(), check: "hosted-oidc".to_owned() }
    }

    /// A plan of so many deletes, the i-th depending on those given.
    fn plan_of(count: usize, depends_on: &[(usize, usize)]) -> Plan {
        let mut plan = given().findings(count, |index| finding(&format!("s{index:04}")).deletes()).plan();
        for (place, before) in depends_on {
            let id = plan.actions[*before].id.clone();
            plan.actions[*place].depends_on.push(id);
        }
        plan.id = plan.computed_id().unwrap();
        plan
    }

    fn all(plan: &Plan) -> BTreeSet<String> {
        plan.actions.iter().map(|action| action.id.clone()).collect()
    }

    #[test]
    fn a_part_is_a_marked_plan_of_its_own_that_reads_back() {
        let plan = plan_of(3, &[]);
        let one = [plan.actions[1].id.clone()].into();
        let parts = parts(&plan, &topic(), &one, &key());
        let [part] = &parts.parts[..] else { panic!("{parts:?}") };
        let read = part.spec.read_plan().unwrap();
        assert_eq!(read.provenance(&key()), trueup_core::engine::Provenance::Here);
        assert_eq!((read.actions.len(), read.findings.len(), read.targets.len()), (1, 1, 1));
        assert_eq!(read.actions[0], plan.actions[1]);
        assert_eq!(read.summary.actions, [("delete".to_owned(), 1)].into());
        assert_ne!(read.id, plan.id);
    }

    #[test]
    fn more_actions_than_fit_make_several_proposals() {
        let plan = plan_of(450, &[]);
        let parts = parts(&plan, &topic(), &all(&plan), &key());
        let sizes: Vec<u32> = parts.parts.iter().map(|part| part.spec.action_count).collect();
        assert_eq!(sizes.iter().sum::<u32>(), 450, "{sizes:?}");
        assert!(sizes.iter().all(|size| (1..=200).contains(size)), "{sizes:?}");
        assert!(parts.parts.iter().all(|part| part.spec.plan.len() <= crate::api::PLAN_BYTES_MAX));
        assert_eq!(parts.left_out, []);
    }

    #[test]
    fn a_chain_longer_than_a_proposal_is_proposed_from_its_beginning() {
        let chain: Vec<(usize, usize)> = (1..300).map(|place| (place, place - 1)).collect();
        let plan = plan_of(300, &chain);
        let parts = parts(&plan, &topic(), &all(&plan), &key());
        assert_eq!(parts.parts.len(), 1);
        let ids = &parts.parts[0].actions;
        let beginning = plan.actions[..ids.len()].iter().map(|action| action.id.clone()).collect();
        assert_eq!(*ids, beginning);
    }

    #[test]
    fn an_action_whose_dependency_is_elsewhere_waits() {
        let plan = plan_of(2, &[(1, 0)]);
        let second = [plan.actions[1].id.clone()].into();
        assert!(parts(&plan, &topic(), &second, &key()).parts.is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn every_part_holds_what_its_actions_depend_on_and_no_action_is_in_two(
            count in 1_usize..40, edges in proptest::collection::vec((0_usize..40, 0_usize..40), 0..40),
        ) {
            let edges: Vec<(usize, usize)> =
                edges.into_iter().filter(|(later, before)| before < later && *later < count).collect();
            let plan = plan_of(count, &edges);
            let parts = parts(&plan, &topic(), &all(&plan), &key());
            let mut seen = BTreeSet::new();
            for part in &parts.parts {
                let part = part.spec.read_plan().unwrap();
                let ids: BTreeSet<&String> = part.actions.iter().map(|action| &action.id).collect();
                for action in &part.actions {
                    prop_assert!(action.depends_on.iter().all(|id| ids.contains(id)));
                    prop_assert!(seen.insert(action.id.clone()));
                }
            }
            prop_assert_eq!(seen.len(), count);
        }
    }
}
