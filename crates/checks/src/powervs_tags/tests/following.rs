//! Following a fleet step by step gives what judging it anew would give.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::judgements::Judgements;

/// One change of a fleet.
#[derive(Debug, Clone)]
enum Step {
    Tags { item: usize, tags: usize },
    State { item: usize, state: usize },
    Drop { item: usize },
    Again { item: usize },
    Other { there: bool },
    Going,
    Pause { paused: bool },
    Cut,
}

const ITEMS: [(&str, &str); 5] =
    [("vpc", "vpc"), ("subnet", "sub"), ("transit-gateway", "tg"), ("workspace", "ws"), ("network", "net")];
const STATES: [&str; 3] = ["available", "deleting", "pending_reclamation"];

fn tag_sets() -> Vec<Vec<String>> {
    vec![vec![], ours(), dead(), vec![owner("demo"), uuid(OTHER)], vec![uuid(UID)], vec![connects(UID, "vpc")]]
}

fn step() -> impl Strategy<Value = Step> {
    let item = 0..ITEMS.len();
    prop_oneof![
        (item.clone(), 0..6usize).prop_map(|(item, tags)| Step::Tags { item, tags }),
        (item.clone(), 0..3usize).prop_map(|(item, state)| Step::State { item, state }),
        item.clone().prop_map(|item| Step::Drop { item }),
        item.prop_map(|item| Step::Again { item }),
        any::<bool>().prop_map(|there| Step::Other { there }),
        Just(Step::Going),
        any::<bool>().prop_map(|paused| Step::Pause { paused }),
        Just(Step::Cut),
    ]
}

fn apply(mut given: Given, step: &Step) -> Given {
    let has = |given: &Given, id: &str| given.accounts["main"].objects.iter().any(|held| held["id"] == id);
    match step {
        Step::Tags { item, tags } if has(&given, ITEMS[*item].1) => given.tags(ITEMS[*item].1, &tag_sets()[*tags]),
        Step::State { item, state } if has(&given, ITEMS[*item].1) => {
            given.of(ITEMS[*item].1, "state", json!(STATES[*state]))
        }
        Step::Tags { .. } | Step::State { .. } => given,
        Step::Drop { item } => given.lacks(ITEMS[*item].1),
        Step::Again { item } => given.has(resource(ITEMS[*item].0, ITEMS[*item].1)),
        Step::Other { there: true } => {
            let mut other = newer_cluster("other", OTHER);
            other["status"] = json!({});
            given.cluster_object(other)
        }
        Step::Other { there: false } => {
            given.clusters.get_mut("mgmt").unwrap().objects.retain(|held| held["metadata"]["name"] != "other");
            given
        }
        Step::Going => given.going(),
        Step::Pause { paused } => given.cluster_object(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster",
            "metadata": { "namespace": "clusters", "name": "demo", "uid": "c" }, "spec": { "paused": paused }
        })),
        Step::Cut => given.cut_short(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_followed_is_what_would_be_judged_anew(steps in prop::collection::vec(step(), 1..12)) {
        let domains: Vec<Box<dyn Check>> = vec![Box::new(PowerVsTags::default())];
        let (mut given, mut world, mut judgements) = (newer(), World::default(), Judgements::default());
        for step in &steps {
            given = apply(given, step);
            let changes = given.fill(&mut world);
            judgements.follow(&domains, world.view(now()), &changes);
            let followed: BTreeMap<String, Judgement> =
                judgements.iter().map(|(subject, held)| (subject.to_string(), held.judgement.clone())).collect();
            let anew: BTreeMap<String, Judgement> = Judged::new(&world, PowerVsTags::default())
                .answers
                .into_iter()
                .map(|(id, answer)| (id, answer.judgement))
                .collect();
            prop_assert_eq!(followed, anew, "after {:?}", step);
        }
    }
}

#[test]
fn what_lies_in_something_hangs_under_it() {
    let mut world = World::default();
    newer().fill(&mut world);
    let view = world.view(now());
    let check = PowerVsTags::default();
    let mut tree: Vec<String> = Vec::new();
    for subject in check.subjects(view) {
        let parent = check.parent(&subject, view);
        assert!(
            parent.as_ref().is_none_or(|parent| check.judge(parent, view).is_some()),
            "{subject} hangs under nothing"
        );
        tree.push(format!("{} < {}", subject.name, parent.map_or_else(|| "-".to_owned(), |parent| parent.name)));
    }
    tree.sort();
    assert_eq!(
        tree,
        [
            "con-p < tg",
            "con-v < tg",
            "cos < -",
            "dhcp < ws",
            "lb < -",
            "net < ws",
            "sg < vpc",
            "sub < vpc",
            "tg < -",
            "vpc < -",
            "ws < -"
        ]
    );
}
