//! Following a fleet step by step gives the same as judging everything.

use proptest::prelude::*;
use serde_json::json;

use super::*;

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
    match step {
        Step::Tags { item, tags } if given.holds(ITEMS[*item].1) => given.tags(ITEMS[*item].1, &tag_sets()[*tags]),
        Step::State { item, state } if given.holds(ITEMS[*item].1) => {
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
            given.fleet.member("mgmt").objects.retain(|held| held["metadata"]["name"] != "other");
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
    fn following_gives_the_same_as_judging_everything(steps in prop::collection::vec(step(), 1..12)) {
        let mut given = newer();
        let mut follow = Follow::new(&given);
        for step in &steps {
            given = apply(given, step);
            follow.step(&given);
        }
    }
}

#[test]
fn contained_resources_are_below_their_container() {
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
