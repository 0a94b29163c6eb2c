//! Speed of decoding Secrets with kubeconfigs into facts, and of judging them.
//!
//! `cargo bench --bench kubeconfig`: 10,000 of each kind on one core.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use support::{cluster, now};
use trueup_checks::Check;
use trueup_checks::judgements::Judgements;
use trueup_checks::kubeconfig::Kubeconfigs;
use trueup_core::decode::Digester;
use trueup_core::decode::{DataSort, Reader};
use trueup_core::engine::SubjectId;
use trueup_core::world::{Change, ChangeSet, ClusterName, Delta, Interest, Interner, ResourceVersion, Scope, World};

const FACTS: usize = 10_000;
const NAMESPACES: usize = 100;
/// The machine is shared: the fastest run counts.
const ROUNDS: usize = 21;

fn main() {
    let made = rcgen::generate_simple_self_signed(vec!["api.example".to_owned()]).expect("made of a good name");
    let authority = made.cert.pem();
    let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let eks = json!({ "token": eks() });
    let certified = json!({
        "client-certificate-data": STANDARD.encode(chain), "client-key-data": STANDARD.encode(key)
    });
    for (what, user) in [("EKS token", &eks), ("EC client certificate", &certified)] {
        decode_all(what, &authority, user);
    }
    judge_all("targets alone", &plain(&authority, &certified, FACTS));
    judge_all("pairs of source and target", &capt(&authority, &eks, FACTS / 2));
}

fn eks() -> String {
    let query = "Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=ASIAEXAMPLE%2F20261116%2Fus-west-2%2Fsts%2Faws4_request&X-Amz-Date=20261116T095900Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Security-Token=IQoJb3JpZ2luX2VjEAoaCXVzLWVhc3QtMSJHMEUCIQ&X-Amz-Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(format!("https://sts.us-west-2.amazonaws.com/?{query}")))
}

/// YAML, as providers write it.
fn kubeconfig(server: &str, authority: &str, user: &Value) -> String {
    let fields: String = user
        .as_object()
        .expect("made as one")
        .iter()
        .map(|(field, value)| format!("    {field}: {}\n", value.as_str().unwrap_or_default()))
        .collect();
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    certificate-authority-data: {}\n    server: {server}\n  \
         name: c\ncontexts:\n- context:\n    cluster: c\n    user: u\n  name: c\ncurrent-context: c\nusers:\n- name: u\n  \
         user:\n{fields}",
        STANDARD.encode(authority)
    )
}

/// The objects of a cluster, by kind, namespace and name.
type Objects = BTreeMap<(&'static str, String, String), String>;

fn put(objects: &mut Objects, kind: &'static str, namespace: &str, name: &str, mut object: Value) {
    object["metadata"] = json!({
        "namespace": namespace, "name": name, "uid": format!("{kind}-{name}"), "resourceVersion": "1",
        "labels": object["metadata"]["labels"]
    });
    objects.insert((kind, namespace.to_owned(), name.to_owned()), object.to_string());
}

fn secret(key: &str, config: &str, cluster: &str) -> Value {
    json!({
        "type": "cluster.x-k8s.io/secret", "data": { key: STANDARD.encode(config) },
        "metadata": { "labels": { "cluster.x-k8s.io/cluster-name": cluster } }
    })
}

fn plain(authority: &str, user: &Value, count: usize) -> Objects {
    let mut objects = Objects::new();
    for index in 0..count {
        let (namespace, name) = (format!("team-{:02}", index % NAMESPACES), format!("c{index:05}"));
        let host = format!("{name}.example");
        let config = kubeconfig(&format!("https://{host}:6443"), authority, user);
        let endpoint = json!({ "spec": { "controlPlaneEndpoint": { "host": host, "port": 6443 }, "controlPlaneRef": { "kind": "KubeadmControlPlane", "name": name } } });
        put(&mut objects, "Cluster", &namespace, &name, endpoint);
        put(&mut objects, "Secret", &namespace, &format!("{name}-kubeconfig"), secret("value", &config, &name));
    }
    objects
}

fn capt(authority: &str, user: &Value, count: usize) -> Objects {
    let mut objects = Objects::new();
    for index in 0..count {
        let (namespace, name) = (format!("team-{:02}", index % NAMESPACES), format!("c{index:05}"));
        let host = format!("https://{name}.example");
        let config = kubeconfig(&host, authority, user);
        let endpoint = json!({ "spec": { "controlPlaneEndpoint": { "host": host, "port": 443 } } });
        put(&mut objects, "Cluster", &namespace, &name, endpoint.clone());
        put(&mut objects, "CAPTControlPlane", &namespace, &name, endpoint);
        put(&mut objects, "Secret", &namespace, &format!("{name}-kubeconfig"), secret("value", &config, &name));
        let source = format!("{name}-outputs-kubeconfig");
        put(&mut objects, "Secret", "default", &source, secret("kubeconfig", &config, &name));
    }
    objects
}

fn decode_all(what: &str, authority: &str, user: &Value) {
    let objects = plain(authority, user, FACTS);
    let interests = settle(&mut empty(), &objects);
    let secrets: Vec<&Interest> = interests.iter().filter(|one| matches!(one.id.scope, Scope::Object { .. })).collect();
    let texts: Vec<Vec<String>> = secrets.iter().map(|one| matching(one, &objects)).collect();
    let bytes: usize = texts.iter().flatten().map(String::len).sum();
    let start = Instant::now();
    let mut facts = 0;
    for (interest, texts) in secrets.iter().zip(&texts) {
        facts += decode(interest, texts).len();
    }
    let spent = start.elapsed().as_secs_f64();
    println!(
        "{what}: {facts} Secrets of {} bytes decoded in {:.1} ms, {:.0} a second",
        bytes / facts.max(1),
        spent * 1000.0,
        facts as f64 / spent
    );
}

fn judge_all(what: &str, objects: &Objects) {
    let mut world = empty();
    settle(&mut world, objects);
    let view = world.view(now());
    let subjects: Vec<SubjectId> = Kubeconfigs::default().subjects(view).into_iter().collect();
    let mut judged = Vec::new();
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let check = Kubeconfigs::default();
        let pass = check.pass(view);
        judged = subjects.iter().map(|subject| Some(pass.rule(subject)?.judgement())).collect::<Vec<_>>();
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    let (fastest, median) = (times[0], times[ROUNDS / 2]);
    let fresh = judged.iter().flatten().filter(|judgement| judgement.verdict == "fresh").count();
    let domains: Vec<Box<dyn Check>> = vec![Box::new(Kubeconfigs::default())];
    let mut everything = ChangeSet::default();
    everything.push(Change::Cluster(ClusterName::new("mgmt")));
    let start = Instant::now();
    let news = Judgements::default().follow(&domains, view, &everything).len();
    println!(
        "{what}: {} subjects judged in {fastest:.1} ms at best, {median:.1} ms in the middle of {ROUNDS} ({fresh} fresh); \
         listed, judged and laid out in {:.1} ms ({news})",
        subjects.len(),
        start.elapsed().as_secs_f64() * 1000.0
    );
}

fn empty() -> World {
    let mut world = World::default();
    world.put_cluster(cluster("mgmt", None));
    world
}

/// Feeds the world until every interest is satisfied.
fn settle(world: &mut World, objects: &Objects) -> Vec<Interest> {
    let mut subjects: Vec<Interest> = Vec::new();
    let mut fed = BTreeSet::new();
    loop {
        let wanted = Kubeconfigs::default().interests(world.view(now()));
        for interest in wanted.iter().filter(|one| fed.insert(one.id.clone())) {
            world.open(interest);
            let facts = decode(interest, &matching(interest, objects));
            let version = ResourceVersion::parse("1");
            world.apply(&interest.id, interest.fact, Delta::Listed { facts, version, at: now(), gap: None });
        }
        if wanted == subjects {
            return wanted;
        }
        subjects = wanted;
    }
}

fn matching(interest: &Interest, objects: &Objects) -> Vec<String> {
    let kind = interest.id.resource.kind;
    match &interest.id.scope {
        Scope::Object { namespace, name } => {
            let namespace = namespace.as_ref().map_or(String::new(), ToString::to_string);
            objects.get(&(kind, namespace, name.to_string())).cloned().into_iter().collect()
        }
        Scope::Namespace(wanted) => {
            let inside = |(held, namespace, _): &&(&str, String, String)| *held == kind && namespace == wanted.as_str();
            objects.keys().filter(inside).map(|key| objects[key].clone()).collect()
        }
        Scope::All => objects.iter().filter(|(key, _)| key.0 == kind).map(|(_, object)| object.clone()).collect(),
    }
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
