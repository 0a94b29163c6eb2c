//! Following a fleet step by step gives the same as judging everything.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::judgements::Judgements;

/// One change of a fleet.
#[derive(Debug, Clone)]
enum Step {
    Target { namespace: u8, cluster: u8, age: i64, leads_to: u8 },
    Source { cluster: u8, age: i64, leads_to: u8 },
    Connection { namespace: u8, cluster: u8, is: u8 },
    Cluster { namespace: u8, cluster: u8 },
    Plane { namespace: u8, cluster: u8 },
    Drop { at: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let (namespace, cluster, place, age) = (0..2u8, 0..2u8, 0..3u8, 0..20i64);
    prop_oneof![
        (namespace.clone(), cluster.clone(), age.clone(), place.clone())
            .prop_map(|(namespace, cluster, age, leads_to)| Step::Target { namespace, cluster, age, leads_to }),
        (cluster.clone(), age, place.clone()).prop_map(|(cluster, age, leads_to)| Step::Source {
            cluster,
            age,
            leads_to
        }),
        (namespace.clone(), cluster.clone(), place).prop_map(|(namespace, cluster, is)| Step::Connection {
            namespace,
            cluster,
            is
        }),
        (namespace.clone(), cluster.clone()).prop_map(|(namespace, cluster)| Step::Cluster { namespace, cluster }),
        (namespace, cluster).prop_map(|(namespace, cluster)| Step::Plane { namespace, cluster }),
        (0..20usize).prop_map(|at| Step::Drop { at }),
    ]
}

fn server(place: u8) -> String {
    format!("https://place-{place}.example")
}

fn apply(given: Given, step: &Step, version: usize) -> Given {
    let config = |age: i64, place: u8| config().signed(minutes(-age)).server(&server(place));
    let versioned = |secret: Secret| secret.set("metadata.resourceVersion", json!(version.to_string()));
    let (team, name) = (|n: u8| format!("team-{n}"), |n: u8| format!("c{n}"));
    let bare = |mut object: Value| {
        object["spec"] = json!({});
        object
    };
    match step {
        Step::Target { namespace, cluster, age, leads_to } => {
            given.has(versioned(target(&team(*namespace), &name(*cluster), &config(*age, *leads_to))))
        }
        Step::Source { cluster, age, leads_to } => {
            given.has(versioned(source(&name(*cluster), &config(*age, *leads_to))))
        }
        Step::Connection { namespace, cluster, is } => {
            let secret = connection(&team(*namespace), &name(*cluster));
            given.has(versioned(
                secret.key("cluster_endpoint", &server(*is)).key("cluster_certificate_authority_data", ""),
            ))
        }
        Step::Cluster { namespace, cluster } => given.object(bare(capi_cluster(&team(*namespace), &name(*cluster)))),
        Step::Plane { namespace, cluster } => given.object(bare(plane(&team(*namespace), &name(*cluster)))),
        Step::Drop { at } => {
            let mut given = given;
            given.fleet.member("mgmt").remove_nth(*at);
            given
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn following_gives_the_same_as_judging_everything(steps in prop::collection::vec(step(), 1..14)) {
        // A kind that has once been there stays served, as on a real server.
        let mut given = empty().object(capi_cluster("seed", "seed")).object(plane("seed", "seed"));
        let mut follow = Follow::new(&given);
        for (version, step) in steps.iter().enumerate() {
            given = apply(given, step, version + 1);
            follow.step(&given);
        }
        for later in [1, 3, 6, 11, 16] {
            follow.wake(minutes(later), &given);
        }
    }
}

#[test]
fn the_deadline_is_exactly_when_a_verdict_changes() {
    let domains: Vec<Box<dyn Check>> = vec![Box::new(Kubeconfigs::default())];
    let (mut world, mut judgements) = (World::default(), Judgements::default());
    let changes = given().both(&config().signed(minutes(-1))).fill(&mut world);
    judgements.follow(&domains, world.view(now()), &changes);
    let said = |judgements: &Judgements| {
        judgements.iter().map(|(_, held)| (held.judgement.verdict, held.since)).collect::<Vec<_>>()
    };
    assert_eq!(said(&judgements), [("fresh", now())]);
    assert_eq!(judgements.next_deadline(), Some(minutes(9)));
    assert_eq!(judgements.wake(&domains, world.view(minutes(8))).len(), 0, "no change before");
    let news = judgements.wake(&domains, world.view(minutes(9)));
    assert_eq!((news.len(), said(&judgements)), (1, vec![("expiring", minutes(9))]));
    judgements.wake(&domains, world.view(minutes(14)));
    assert_eq!((said(&judgements), judgements.next_deadline()), (vec![("expired", minutes(14))], None));
}
