//! The rules read a second time, from the reference alone, and laid beside the check's answers over worlds nobody chose.
//!
//! One VPC and two clusters are enough: every rule about tags is about one resource and who looks at it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// What a cluster's spec says of the VPC.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    GivenById,
    GivenByName,
    Provision,
    Reference,
}

#[derive(Debug, Clone)]
struct One {
    message: Says,
    /// The status holds the id; with which flag.
    held: Option<Option<bool>>,
    going: bool,
    there: bool,
}

#[derive(Debug, Clone)]
struct Case {
    clusters: [One; 2],
    tags: Vec<bool>,
    state: usize,
    clusters_known: bool,
    locked: bool,
}

const NAMES: [&str; 2] = ["demo", "other"];
const UIDS: [&str; 2] = [UID, OTHER];
const STATES: [&str; 4] = ["available", "available", "deleting", "pending_reclamation"];

fn pool() -> [String; 7] {
    [owner("demo"), owner("other"), owner("old"), uuid(UID), uuid(OTHER), uuid(DEAD), connects(UID, "vpc")]
}

fn one() -> impl Strategy<Value = One> {
    let message = prop_oneof![
        Just(Says::Nothing),
        Just(Says::GivenById),
        Just(Says::GivenByName),
        Just(Says::Provision),
        Just(Says::Reference)
    ];
    let held = prop::option::of(prop_oneof![Just(None), Just(Some(true)), Just(Some(false))]);
    (message, held, any::<bool>(), prop::bool::weighted(0.8)).prop_map(|(message, held, going, there)| One {
        message,
        held,
        going,
        there,
    })
}

fn case() -> impl Strategy<Value = Case> {
    let tags = prop::collection::vec(prop::bool::weighted(0.35), 7);
    ([one(), one()], tags, 0..4usize, prop::bool::weighted(0.85), any::<bool>()).prop_map(
        |(clusters, tags, state, clusters_known, locked)| Case { clusters, tags, state, clusters_known, locked },
    )
}

fn given(case: &Case) -> Given {
    let mut given = empty();
    for (place, one) in case.clusters.iter().enumerate().filter(|(_, one)| one.there) {
        let mut object = older_cluster(NAMES[place], UIDS[place]);
        let vpc = match one.message {
            Says::Nothing => json!(null),
            Says::GivenById => json!({ "id": "vpc" }),
            Says::GivenByName => json!({ "name": "shared" }),
            Says::Provision => json!({ "type": "Provision", "provision": { "name": "shared" } }),
            Says::Reference => json!({ "type": "Reference", "reference": { "id": "vpc" } }),
        };
        object["spec"] = json!({ "vpc": vpc });
        let held = one.held.map(|created| json!({ "id": "vpc", "controllerCreated": created }));
        object["status"] = json!({ "vpc": held });
        if one.going {
            object["metadata"]["deletionTimestamp"] = json!("2026-11-16T09:59:00Z");
        }
        given = given.cluster_object(object);
    }
    let tags: Vec<String> = pool().into_iter().zip(&case.tags).filter(|(_, on)| **on).map(|(tag, _)| tag).collect();
    given = given.has(resource("vpc", "vpc")).of("vpc", "name", json!("shared")).tags("vpc", &tags);
    given = given.of("vpc", "state", json!(STATES[case.state])).of("vpc", "locked", json!(case.locked));
    if case.clusters_known { given } else { given.clusters_cut_short() }
}

impl Case {
    fn has(&self, tag: &str) -> bool {
        pool().iter().zip(&self.tags).any(|(one, on)| one == tag && *on)
    }

    fn points_by_id(&self, place: usize) -> bool {
        let one = &self.clusters[place];
        one.there && (one.held.is_some() || matches!(one.message, Says::GivenById | Says::Reference))
    }

    fn points(&self, place: usize) -> bool {
        let one = &self.clusters[place];
        let by_name = matches!(one.message, Says::GivenByName | Says::Provision);
        let by_tags = self.has(&owner(NAMES[place])) && self.has(&uuid(UIDS[place]));
        one.there && (self.points_by_id(place) || by_name || by_tags)
    }

    fn verdict(&self, seen_from: Option<usize>) -> &'static str {
        match STATES[self.state] {
            "pending_reclamation" => return "reclaiming",
            "deleting" => return "deleting",
            _ => {}
        }
        let uuids: Vec<&str> = [UID, OTHER, DEAD].into_iter().filter(|uid| self.has(&uuid(uid))).collect();
        if uuids.len() > 1 {
            return "two-owners";
        }
        let us = seen_from.map(|place| (&self.clusters[place], NAMES[place], UIDS[place]));
        if let Some((one, _, _)) = us {
            let given = one.message == Says::GivenById && one.held != Some(Some(true));
            if one.message == Says::Reference || given {
                return "reference";
            }
        }
        let our_owner = us.is_some_and(|(_, name, _)| self.has(&owner(name)));
        let our_uuid = us.is_some_and(|(_, _, uid)| self.has(&uuid(uid)));
        let is_going = us.is_some_and(|(one, _, _)| one.going);
        let is_used = is_going && seen_from.is_some_and(|place| self.uses(1 - place));
        let is_older = us.is_some_and(|(one, _, _)| !matches!(one.message, Says::Provision | Says::Reference));
        let by_flag = is_older && us.is_some_and(|(one, _, _)| one.held == Some(Some(true)));
        if our_owner && our_uuid {
            return match () {
                () if is_used => "in-use",
                () if self.locked && is_going => "locked",
                () => "owned",
            };
        }
        let an_owner = ["demo", "other", "old"].into_iter().any(|name| self.has(&owner(name)));
        let another_uuid = !uuids.is_empty() && !our_uuid;
        let another_name = uuids.is_empty() && an_owner && !our_owner;
        let renamed = our_uuid && an_owner && !our_owner;
        if another_uuid || another_name || renamed {
            let lives = uuids.iter().any(|uid| UIDS.iter().zip(&self.clusters).any(|(one, of)| one == uid && of.there));
            return match () {
                () if uuids.is_empty() || lives => "other-owner",
                () if !self.clusters_known => "unknown",
                () if our_owner => "stale-owner",
                () if !self.points_by_id(0) && !self.points_by_id(1) => "orphan",
                () => "other-owner",
            };
        }
        if our_owner || our_uuid {
            return if is_used && by_flag { "in-use" } else { "half-tagged" };
        }
        let Some((one, _, _)) = us.filter(|(one, _, _)| one.held.is_some()) else { return "foreign" };
        match () {
            () if is_used && by_flag => "in-use",
            () if one.held == Some(Some(true)) || one.message == Says::Provision => "untagged",
            () if one.message == Says::Nothing => "adopted",
            () => "foreign",
        }
    }

    /// Whether a living cluster that is not being deleted uses the VPC.
    fn uses(&self, place: usize) -> bool {
        let one = &self.clusters[place];
        one.there && !one.going && (self.points_by_id(place) || one.message == Says::GivenByName)
    }

    fn expected(&self) -> BTreeMap<String, &'static str> {
        let mut expected = BTreeMap::new();
        for place in (0..2).filter(|place| self.points(*place)) {
            expected.insert(format!("vpc/vpc@clusters/{}", NAMES[place]), self.verdict(Some(place)));
        }
        if expected.is_empty() && self.tags.contains(&true) {
            expected.insert("vpc/vpc@-".to_owned(), self.verdict(None));
        }
        expected
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn two_readings_of_the_rules_agree(case in case()) {
        let judged = given(&case).judged();
        let found: BTreeMap<String, &str> = judged
            .answers
            .iter()
            .filter_map(|(id, answer)| Some((id.strip_prefix(&format!("powervs-tags/ibm:{ACCOUNT}/"))?.to_owned(), answer.judgement.verdict)))
            .collect();
        let found: BTreeMap<String, &str> = found.into_iter().filter(|(id, _)| id.starts_with("vpc/")).collect();
        prop_assert_eq!(found, case.expected(), "{:?}", case);
        for answer in judged.answers.values() {
            let deletes = answer.explanation.remedy.iter().any(|draft| draft.verb().as_str() == "delete");
            let is_dead_ones = answer.judgement.verdict == "orphan";
            let is_going = answer.subject.cloud.as_ref().and_then(|place| place.seen_from.as_ref()).is_some_and(|seen| {
                NAMES.iter().zip(&case.clusters).any(|(name, one)| *name == seen.name && one.going)
            });
            prop_assert!(!deletes || is_dead_ones || is_going, "a delete nobody asked for: {:?}", case);
        }
    }
}
