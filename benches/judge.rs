//! Judging and planning over a large fleet, whole and after one change.
//!
//! `cargo bench --bench judge`: 1,000,000 facts, 100,000 references, 10,000 subjects in 100 guests.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::time::Instant;

use support::{cluster, now};
use trueup_checks::Check;
use trueup_checks::hosted_oidc::{HostedOidc, Settings};
use trueup_checks::judgements::{Judgements, explained};
use trueup_core::decode::Digester;
use trueup_core::decode::{DataSort, Reader};
use trueup_core::engine::{Conditions, Judged, Observed, PlanInput, PlanScope, build};
use trueup_core::world::{
    Change, ChangeSet, ClusterName, Delta, HostedBy, Interest, Interner, Namespace, ObjectName, ResourceVersion, World,
};

const GUESTS: usize = 100;
const SUBJECTS_EACH: usize = 100;
const REFERENCES_EACH: usize = 1000;
const SOURCES_EACH: usize = 10_000;

fn main() {
    let check = HostedOidc::new(Settings::default());
    let mut world = fleet(&check);
    let facts: usize = world.observations().map(|(_, _, count)| count).sum();

    let domains: Vec<Box<dyn Check>> = vec![Box::new(HostedOidc::new(Settings::default()))];
    let (start, cpu) = (Instant::now(), support::cpu_seconds());
    let mut judgements = judge_all(&domains, &world);
    let judged_in = start.elapsed();
    let judged = explained(&judgements, &domains, world.view(now()));
    let explained_in = start.elapsed() - judged_in;
    let plan = plan(&judged, &world);
    let all_in = start.elapsed();
    println!(
        "{facts} facts, {} findings, {} actions: judged in {:.3} s, explained in {:.3} s, planned in {:.3} s; all in {:.3} s, {:.2} s CPU",
        plan.findings.len(),
        plan.actions.len(),
        judged_in.as_secs_f64(),
        explained_in.as_secs_f64(),
        (all_in - judged_in - explained_in).as_secs_f64(),
        all_in.as_secs_f64(),
        support::cpu_seconds() - cpu
    );

    for (what, object) in [("one Secret relabelled", copy(0, 5, "{}")), ("one control plane edited", plane(0, 7))] {
        let interest = find(&check, &world, &object.0, object.1);
        let start = Instant::now();
        let changes = change(&mut world, &interest, &object.2);
        let news = judgements.follow(&domains, world.view(now()), &changes);
        println!(
            "{what}: followed in {:.3} ms, {} findings differ",
            start.elapsed().as_secs_f64() * 1000.0,
            news.len()
        );
    }
}

/// Judges everything, as after the first list.
fn judge_all(domains: &[Box<dyn Check>], world: &World) -> Judgements {
    let view = world.view(now());
    let mut everything = ChangeSet::default();
    for cluster in view.clusters() {
        everything.push(Change::Cluster(cluster.name.clone()));
    }
    let mut judgements = Judgements::default();
    judgements.follow(domains, view, &everything);
    judgements
}

fn plan(judged: &[Judged], world: &World) -> trueup_core::engine::Plan {
    let view = world.view(now());
    let input = PlanInput {
        judged,
        unexplained: trueup_core::engine::Unexplained::NONE,
        clusters: view.clusters().collect(),
        observed: Observed::all(view),
        accepted: &[],
        scope: &PlanScope::default(),
        conditions: &Conditions::at(now()),
    };
    build(&input).expect("the plan holds integers alone")
}

/// A management cluster with its guests, filled as by a list.
fn fleet(check: &HostedOidc) -> World {
    let mut world = World::default();
    world.put_cluster(cluster("mgmt", None));
    for guest in 0..GUESTS {
        let by = HostedBy {
            cluster: ClusterName::new("mgmt"),
            namespace: Namespace::new("clusters"),
            name: ObjectName::new(format!("guest-{guest}")),
        };
        world.put_cluster(cluster(&format!("guest-{guest}"), Some(by)));
    }
    for _ in 0..3 {
        for interest in check.interests(world.view(now())) {
            world.open(&interest);
            feed(&mut world, &interest);
        }
    }
    world
}

fn feed(world: &mut World, interest: &Interest) {
    let name = interest.id.cluster.as_str();
    let namespace = interest.id.namespace().map_or("", |namespace| namespace.as_str());
    let guest = |text: &str| text.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    let objects: Vec<String> = match (interest.id.resource.kind, namespace) {
        ("HostedControlPlane", _) if name == "mgmt" => (0..GUESTS).map(|guest| plane(guest, 1).2).collect(),
        ("HostedCluster", _) if name == "mgmt" => (0..GUESTS).map(hosted_cluster).collect(),
        ("Secret", "openshift-config") => (0..SUBJECTS_EACH)
            .map(|index| copy(guest(name), index, r#"{"hypershift.openshift.io/managed":"true"}"#).2)
            .collect(),
        ("Secret", namespace) if name == "mgmt" => (0..SOURCES_EACH).map(|index| source(namespace, index)).collect(),
        _ => Vec::new(),
    };
    let facts = decode(interest, &objects);
    let version = ResourceVersion::parse("1");
    world.apply(&interest.id, interest.fact, Delta::Listed { facts, version, at: now(), gap: None });
}

fn decode(interest: &Interest, objects: &[String]) -> Box<dyn trueup_core::world::FactBatch> {
    let digester = Digester::new(&[7; 32]);
    let api_version = interest.id.resource.api_version();
    let reader = Reader {
        digester: &digester,
        sort: DataSort::of(interest.id.resource.group, interest.id.resource.kind),
        digested: interest.fact.digested_keys(),
        reduced: interest.fact.reduced_keys(),
        api_version: &api_version,
        kind: interest.id.resource.kind,
    };
    let (mut batch, mut pool) = (interest.fact.new_batch(), Interner::default());
    for object in objects {
        batch.push(&reader.object(object).expect("made as JSON"), &mut pool).expect("made in shape");
    }
    batch
}

fn change(world: &mut World, interest: &Interest, object: &str) -> trueup_core::world::ChangeSet {
    let facts = decode(interest, &[object.to_owned()]);
    let delta = Delta::Changed { facts, removed: Vec::new(), version: ResourceVersion::parse("2"), at: now() };
    world.apply(&interest.id, interest.fact, delta).1
}

fn find(check: &HostedOidc, world: &World, cluster: &str, kind: &str) -> Interest {
    let wanted = |one: &Interest| {
        one.id.cluster.as_str() == cluster
            && one.id.resource.kind == kind
            && one.id.namespace().is_none_or(|namespace| namespace.as_str() == "openshift-config")
    };
    check.interests(world.view(now())).into_iter().find(wanted).expect("the check asks for it")
}

type Made = (String, &'static str, String);

fn copy(guest: usize, index: usize, labels: &str) -> Made {
    let name = format!("guest-{guest}");
    let object = format!(
        r#"{{"metadata":{{"name":"client-{index:04}","namespace":"openshift-config","uid":"{guest:08x}-0000-4000-8000-{index:012x}","resourceVersion":"{}","labels":{labels}}},"type":"Opaque","data":{{"clientSecret":"c2VjcmV0"}}}}"#,
        index + 1
    );
    (name, "Secret", object)
}

fn source(namespace: &str, index: usize) -> String {
    format!(
        r#"{{"metadata":{{"name":"source-{index:05}","namespace":"{namespace}","uid":"00000000-0000-4000-8000-{index:012x}","resourceVersion":"{index}"}}}}"#
    )
}

fn plane(guest: usize, version: usize) -> Made {
    let certificates: Vec<String> =
        (0..REFERENCES_EACH).map(|index| format!(r#"{{"servingCertificate":{{"name":"ref-{index:04}"}}}}"#)).collect();
    let object = format!(
        r#"{{"metadata":{{"name":"guest-{guest}","namespace":"clusters-guest-{guest}","resourceVersion":"{version}"}},"spec":{{"configuration":{{"authentication":{{"type":"IntegratedOAuth"}},"apiServer":{{"servingCerts":{{"namedCertificates":[{}]}}}}}}}}}}"#,
        certificates.join(",")
    );
    ("mgmt".to_owned(), "HostedControlPlane", object)
}

fn hosted_cluster(guest: usize) -> String {
    format!(r#"{{"metadata":{{"name":"guest-{guest}","namespace":"clusters","resourceVersion":"1"}},"spec":{{}}}}"#)
}
