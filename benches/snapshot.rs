//! Planning from a folder of 10,000 objects of about 1 kB: unrelated objects and subjects, as YAML files and as a JSON list.
//!
//! `cargo bench --bench snapshot [-- OBJECTS]` creates the folders in a temporary folder and prints, for each, the time of
//! the library's steps and of `trueup plan --from` as a whole. CPU time includes all threads.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use support::{cluster, cpu_seconds, cpu_seconds_of_children, now};
use trueup_checks::Check;
use trueup_checks::hosted_oidc::{HostedOidc, Settings};
use trueup_checks::judgements::explained;
use trueup_core::decode::Digester;
use trueup_core::engine::{Conditions, Observed, PlanInput, PlanScope, build};
use trueup_fleet::live::recorded;
use trueup_fleet::snapshot::load;

/// Best of a few runs: the machine is shared.
const RUNS: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Ordinary,
    Subjects,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    YamlFiles,
    JsonList,
}

fn main() {
    let objects = support::argument().unwrap_or(10_000);
    for (sort, sort_word) in [(Sort::Ordinary, "ordinary objects"), (Sort::Subjects, "subjects")] {
        for (form, form_word) in [(Form::YamlFiles, "YAML files"), (Form::JsonList, "a JSON list")] {
            let dir = tempfile::tempdir().expect("a temporary folder can be made");
            write_folder(dir.path(), objects, sort, form);
            println!("{objects} {sort_word} in {form_word}:");
            println!("  {}", steps(dir.path()));
            println!("  {}", command(dir.path()));
        }
    }
}

/// The library's steps, one after the other.
fn steps(dir: &Path) -> String {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let mut marks = Vec::new();
    let mut mark = |what: &'static str| marks.push((what, start.elapsed().as_secs_f64()));
    let snapshot = load(dir).expect("the folder was just made");
    mark("read");
    let known = snapshot.clusters.iter().map(|one| cluster(one.name.as_str(), one.hosted_by.clone())).collect();
    let recordings: BTreeMap<_, _> = snapshot.clusters.into_iter().map(|one| (one.name, one.recorded)).collect();
    let domains: Vec<Box<dyn Check>> = vec![Box::new(HostedOidc::new(Settings::default()))];
    let (world, judgements) = recorded(&domains, known, &recordings, &Digester::new(&[7; 32]), now());
    mark("judged");
    let judged = explained(&judgements, &domains, world.view(now()));
    mark("explained");
    let view = world.view(now());
    let input = PlanInput {
        judged: &judged,
        unexplained: trueup_core::engine::Unexplained::NONE,
        clusters: view.clusters().collect(),
        observed: Observed::all(view),
        accepted: &[],
        scope: &PlanScope::default(),
        conditions: &Conditions::at(now()),
    };
    let plan = build(&input).expect("the plan holds integers alone");
    mark("planned");
    let reached: Vec<String> = marks.iter().map(|(what, at)| format!("{what} at {at:.3} s")).collect();
    let cpu = cpu_seconds() - cpu;
    format!("library: {} findings; {}; {cpu:.2} s CPU", plan.findings.len(), reached.join(", "))
}

/// The command, from start to exit.
fn command(dir: &Path) -> String {
    let mut best = (f64::MAX, 0.0);
    for _ in 0..RUNS {
        let (start, cpu) = (Instant::now(), cpu_seconds_of_children());
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        let status = command.arg("plan").arg("--from").arg(dir).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let code = status.expect("the command was just built").code();
        assert!(matches!(code, Some(0 | 2 | 3)), "trueup plan ended with {code:?}");
        let wall = start.elapsed().as_secs_f64();
        if wall < best.0 {
            best = (wall, cpu_seconds_of_children() - cpu);
        }
    }
    format!("trueup plan --from: {:.3} s wall, {:.2} s CPU (best of {RUNS})", best.0, best.1)
}

fn write_folder(dir: &Path, objects: usize, sort: Sort, form: Form) {
    let write = |path: &Path, text: String| fs::write(path, text).expect("a file can be written");
    let (guest, host) = (dir.join("clusters/guest-a"), dir.join("clusters/mgmt"));
    for folder in [&guest, &host] {
        fs::create_dir_all(folder).expect("a folder can be made");
    }
    let fleet = "now: 2026-11-16T10:00:00Z\nclusters:\n  mgmt: {}\n  guest-a:\n    hosted_by: { cluster: mgmt, namespace: clusters, name: guest-a }\n";
    write(&dir.join("fleet.yaml"), fleet.to_owned());
    let hosted = "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedCluster\nmetadata: {name: guest-a, namespace: clusters, resourceVersion: \"5\"}\nspec: {}\n---\napiVersion: hypershift.openshift.io/v1beta1\nkind: HostedControlPlane\nmetadata: {name: guest-a, namespace: clusters-guest-a, resourceVersion: \"6\"}\nspec: {configuration: {authentication: {type: IntegratedOAuth}}}\n";
    write(&host.join("hosted.yaml"), hosted.to_owned());
    match form {
        Form::YamlFiles => {
            for index in 0..objects {
                write(&guest.join(format!("secret-{index:05}.yaml")), yaml(index, sort));
            }
        }
        Form::JsonList => {
            let items: Vec<String> = (0..objects).map(|index| json(index, sort)).collect();
            let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, items.join(","));
            write(&guest.join("secrets.json"), list);
        }
    }
}

/// Namespace, label and the only key of an object.
fn parts(index: usize, sort: Sort) -> (String, &'static str, &'static str) {
    match sort {
        Sort::Ordinary => (format!("ns-{}", index % 100), "app.kubernetes.io/managed", "password"),
        Sort::Subjects => ("openshift-config".to_owned(), "hypershift.openshift.io/managed", "clientSecret"),
    }
}

fn yaml(index: usize, sort: Sort) -> String {
    let (namespace, label, key) = parts(index, sort);
    let (note, value) = ("x".repeat(120), support::base64_value(index, 380));
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: client-{index:05}\n  namespace: {namespace}\n  uid: {index:08x}-0000-4000-8000-{index:012x}\n  resourceVersion: \"{}\"\n  creationTimestamp: \"2026-10-01T00:00:00Z\"\n  labels:\n    {label}: \"true\"\n  annotations:\n    note: {note}\ntype: Opaque\ndata:\n  {key}: {value}\n",
        1000 + index
    )
}

fn json(index: usize, sort: Sort) -> String {
    let (namespace, label, key) = parts(index, sort);
    let (note, value) = ("x".repeat(120), support::base64_value(index, 380));
    format!(
        r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"client-{index:05}","namespace":"{namespace}","uid":"{index:08x}-0000-4000-8000-{index:012x}","resourceVersion":"{}","creationTimestamp":"2026-10-01T00:00:00Z","labels":{{"{label}":"true"}},"annotations":{{"note":"{note}"}}}},"type":"Opaque","data":{{"{key}":"{value}"}}}}"#,
        1000 + index
    )
}
