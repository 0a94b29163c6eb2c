//! Following a fleet step by step gives the same as judging everything.

use base64::Engine as _;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::judgements::Judgements;
use trueup_core::world::{Gap, GapCause, Link};

/// One change of a fleet of two management clusters, `mgmt` and `edge`.
#[derive(Debug, Clone)]
struct Step {
    context: &'static str,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    Target {
        namespace: u8,
        cluster: u8,
        age: i64,
        leads_to: u8,
    },
    Source {
        cluster: u8,
        age: i64,
        leads_to: u8,
        ca_of: u8,
    },
    Connection {
        namespace: u8,
        cluster: u8,
        is: u8,
        ca_of: u8,
    },
    Cluster {
        namespace: u8,
        cluster: u8,
        is: u8,
    },
    Plane {
        namespace: u8,
        cluster: u8,
        is: u8,
    },
    Drop {
        at: usize,
    },
    Link {
        is_live: bool,
    },
    /// It leaves the fleet, until something else is said of it.
    Leave,
}

fn step() -> impl Strategy<Value = Step> {
    let (namespace, cluster, place, age) = (0..2u8, 0..2u8, 0..3u8, 0..20i64);
    let object = (namespace, cluster, age, place.clone(), place);
    let what = (0..12u8, object, 0..20usize).prop_map(|(what, (namespace, cluster, age, one, other), at)| match what {
        0 | 1 => What::Target { namespace, cluster, age, leads_to: one },
        2..=4 => What::Source { cluster, age, leads_to: one, ca_of: other },
        5 | 6 => What::Connection { namespace, cluster, is: one, ca_of: other },
        7 => What::Cluster { namespace, cluster, is: one },
        8 => What::Plane { namespace, cluster, is: one },
        9 => What::Drop { at },
        10 => What::Link { is_live: at % 2 == 0 },
        _ => What::Leave,
    });
    (prop::sample::select(vec!["mgmt", "edge"]), what).prop_map(|(context, what)| Step { context, what })
}

fn server(place: u8) -> String {
    format!("https://place-{place}.example")
}

/// A management cluster whose kinds have been there: they stay served, as on a real server.
fn with_context(given: Given, context: &str) -> Given {
    let given = given.cluster(context).object_in(context, capi_cluster("seed", "seed"));
    given.object_in(context, plane("seed", "seed"))
}

fn apply(given: Given, Step { context, what }: &Step, version: usize) -> Given {
    let config = |age: i64, place: u8| config().signed(minutes(-age)).server(&server(place));
    let versioned = |secret: Secret| secret.set("metadata.resourceVersion", json!(version.to_string())).0;
    let (team, name) = (|n: u8| format!("team-{n}"), |n: u8| format!("c{n}"));
    let at = |mut object: Value, is: u8| {
        object["spec"] = match is {
            0 => json!({}),
            is => json!({ "controlPlaneEndpoint": { "host": format!("place-{is}.example"), "port": 443 } }),
        };
        object
    };
    let encoded = |by: u8| base64::engine::general_purpose::STANDARD.encode(authority(&name(by)));
    let is_there = given.fleet.members.contains_key(*context);
    let mut given = if is_there { given } else { with_context(given, context) };
    let object = match what {
        What::Target { namespace, cluster, age, leads_to } => {
            versioned(target(&team(*namespace), &name(*cluster), &config(*age, *leads_to)))
        }
        What::Source { cluster, age, leads_to, ca_of } => {
            versioned(source(&name(*cluster), &config(*age, *leads_to).authorities(&[&name(*ca_of)])))
        }
        What::Connection { namespace, cluster, is, ca_of } => {
            let secret = connection(&team(*namespace), &name(*cluster)).key("cluster_endpoint", &server(*is));
            let authority = if *ca_of == 0 { String::new() } else { encoded(*ca_of) };
            versioned(secret.key("cluster_certificate_authority_data", &authority))
        }
        What::Cluster { namespace, cluster, is } => at(capi_cluster(&team(*namespace), &name(*cluster)), *is),
        What::Plane { namespace, cluster, is } => at(plane(&team(*namespace), &name(*cluster)), *is),
        What::Drop { at } => {
            given.fleet.member(context).remove_nth(*at);
            return given;
        }
        What::Link { is_live } => {
            let gap = Gap::new(GapCause::Unreachable, "connection refused");
            given.fleet.member(context).link =
                if *is_live { Link::Live { since: now() } } else { Link::Failed { gap } };
            return given;
        }
        What::Leave => {
            given.fleet.members.remove(*context);
            return given;
        }
    };
    given.object_in(context, object)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn following_gives_the_same_as_judging_everything(steps in prop::collection::vec(step(), 1..24)) {
        let mut given = with_context(with_context(empty(), "mgmt"), "edge");
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
