//! The demo's first scene, judged: every verdict of the hosted-oidc check is there to be seen, and kubeconfigs in every
//! plight.

#![expect(
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;
use trueup_checks::Check;
use trueup_checks::comparison::compare;
use trueup_checks::hosted_oidc::HostedOidc;
use trueup_checks::kubeconfig::Kubeconfigs;
use trueup_core::decode::Digester;
use trueup_core::decode::recorded::{Coverage, Incomplete, KindCoverage, RecordedCluster, RecordedObject, fill};
use trueup_core::engine::State;
use trueup_core::world::{
    Cluster, ClusterIdentity, ClusterName, ClusterSource, HostedBy, Link, Namespace, ObjectName, RiskClass, Served,
    World,
};
use trueup_sim::demo::{DemoCluster, DemoRole, Reach, Scenario, ScenarioEvent, ScenarioOptions, ScenarioRunner};
use trueup_sim::{Answer, Request};

const KINDS: [(&str, &str, &str, &str); 15] = [
    (
        "/apis/infrastructure.cluster.x-k8s.io/v1beta1",
        "infrastructure.cluster.x-k8s.io",
        "WorkspaceTemplateApply",
        "workspacetemplateapplies",
    ),
    ("/apis/tf.upbound.io/v1beta1", "tf.upbound.io", "Workspace", "workspaces"),
    ("/apis/cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io", "Cluster", "clusters"),
    (
        "/apis/controlplane.cluster.x-k8s.io/v1beta1",
        "controlplane.cluster.x-k8s.io",
        "CAPTControlPlane",
        "captcontrolplanes",
    ),
    ("/api/v1", "", "ConfigMap", "configmaps"),
    ("/api/v1", "", "Secret", "secrets"),
    ("/apis/config.openshift.io/v1", "config.openshift.io", "APIServer", "apiservers"),
    ("/apis/config.openshift.io/v1", "config.openshift.io", "Authentication", "authentications"),
    ("/apis/config.openshift.io/v1", "config.openshift.io", "Image", "images"),
    ("/apis/config.openshift.io/v1", "config.openshift.io", "Infrastructure", "infrastructures"),
    ("/apis/config.openshift.io/v1", "config.openshift.io", "OAuth", "oauths"),
    ("/apis/config.openshift.io/v1", "config.openshift.io", "Proxy", "proxies"),
    ("/apis/hypershift.openshift.io/v1beta1", "hypershift.openshift.io", "HostedCluster", "hostedclusters"),
    ("/apis/hypershift.openshift.io/v1beta1", "hypershift.openshift.io", "HostedControlPlane", "hostedcontrolplanes"),
    ("/api/v1", "", "Namespace", "namespaces"),
];

fn start() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn scenario(guests_more: usize, objects_more: usize) -> Scenario {
    Scenario::new(&ScenarioOptions { seed: 1, guests_more, objects_more, start: start() })
}

/// Verdict and codes of each subject of the scenario as it is now.
fn judge(scenario: &Scenario) -> BTreeMap<String, String> {
    judge_by(&HostedOidc::default(), scenario, start())
}

fn judge_by(domain: &dyn Check, scenario: &Scenario, now: Timestamp) -> BTreeMap<String, String> {
    let world = world_of(domain, scenario, now);
    let view = world.view(now);
    let judged = domain.subjects(view).into_iter().map(|subject| {
        let judgement = domain.judge(&subject, view).expect("a subject has a judgement");
        let place =
            format!("{} {} {}/{}", subject.cluster, subject.kind, subject.namespace.unwrap_or_default(), subject.name);
        (place, [vec![judgement.verdict], judgement.codes].concat().join(" "))
    });
    judged.collect()
}

/// What the check sees of the scenario as it is now.
fn world_of(domain: &dyn Check, scenario: &Scenario, now: Timestamp) -> World {
    let digester = Digester::new(&[7; 32]);
    let recordings: BTreeMap<ClusterName, RecordedCluster> =
        scenario.clusters.iter().map(|cluster| (name_of(&cluster.name), record(cluster))).collect();
    let mut world = World::default();
    for cluster in &scenario.clusters {
        world.put_cluster(member(cluster));
    }
    // The deepest chain is a host, its HostedClusters, their namespaces, and the sources named there.
    for _ in 0..6 {
        let interests = domain.interests(world.view(now));
        fill(&mut world, &recordings, &interests, &digester, now);
    }
    world
}

fn name_of(name: &str) -> ClusterName {
    ClusterName::new(name)
}

fn member(cluster: &DemoCluster) -> Cluster {
    let (source, hosted_by) = match &cluster.role {
        DemoRole::Management { context } => (ClusterSource::Kubeconfig { context: context.clone() }, None),
        DemoRole::Guest { management, namespace, hosted_cluster } => {
            let cluster = name_of(management);
            let by = HostedBy {
                cluster: cluster.clone(),
                namespace: Namespace::new(namespace.as_str()),
                name: ObjectName::new(hosted_cluster.as_str()),
            };
            (ClusterSource::Hosted { by: cluster }, Some(by))
        }
    };
    let served = KINDS.iter().map(|(_, group, _, plural)| ((*group).to_owned(), (*plural).to_owned()));
    Cluster {
        name: name_of(&cluster.name),
        class: RiskClass::Prod,
        source,
        hosted_by,
        link: Link::Live { since: start() },
        identity: ClusterIdentity::default(),
        served: Served::Complete(served.collect()),
    }
}

/// What the admin of a cluster gets to see of it.
fn record(cluster: &DemoCluster) -> RecordedCluster {
    let mut coverage = Coverage { kinds: KindCoverage::All, ..Coverage::default() };
    let mut objects = Vec::new();
    if cluster.reach == Reach::Refused {
        coverage.unreachable = Some("connection refused".to_owned());
        return RecordedCluster::new(coverage);
    }
    for (root, group, kind, plural) in KINDS {
        match list(cluster, &format!("{root}/{plural}")) {
            Listed::Items(items) => objects.extend(items.into_iter().map(|item| recorded(group, kind, &item))),
            Listed::Absent => {}
            Listed::Forbidden => {
                let (group, plural) = (group.to_owned(), plural.to_owned());
                coverage.incomplete.push(Incomplete { group, plural, namespace: None });
            }
        }
    }
    let mut recording = RecordedCluster::new(coverage);
    objects.into_iter().for_each(|object| recording.push(object));
    recording
}

enum Listed {
    Items(Vec<Value>),
    Absent,
    Forbidden,
}

fn list(cluster: &DemoCluster, path: &str) -> Listed {
    let request = Request::get(path);
    let Answer::Reply(reply) = cluster.sim.with(|server, now| server.handle(now, &request)) else {
        panic!("{path}: a list is answered at once");
    };
    match reply.status {
        200 => {
            let list: Value = serde_json::from_slice(&reply.body).unwrap();
            Listed::Items(list["items"].as_array().unwrap().clone())
        }
        404 => Listed::Absent,
        403 => Listed::Forbidden,
        other => panic!("{path}: {other}"),
    }
}

fn recorded(group: &str, kind: &str, item: &Value) -> RecordedObject {
    let text = |field: &str| item["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (text("namespace"), text("name"));
    RecordedObject { group: group.into(), kind: kind.into(), namespace, name, json: item.to_string().into() }
}

/// How many subjects have each verdict, codes included.
fn counted(judged: &BTreeMap<String, String>) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for verdict in judged.values() {
        *counts.entry(verdict.as_str()).or_default() += 1;
    }
    counts
}

#[test]
fn the_initial_scenario_shows_every_verdict() {
    let judged = judge(&scenario(0, 0));
    let listed: Vec<String> = judged.iter().map(|(place, verdict)| format!("{place}: {verdict}")).collect();
    let counts: Vec<(&str, usize)> = counted(&judged).into_iter().collect();
    let expected = [
        ("foreign", 17),
        ("invalid ca-configmap-missing", 1),
        ("leftover", 13),
        ("missing-copy", 1),
        ("moot deleting", 5),
        ("moot paused", 4),
        ("moot restored", 4),
        ("orphan-certain", 3),
        ("orphan-probable", 2),
        ("pending client-still-current", 2),
        ("pending guest-still-refers", 2),
        ("pending not-propagated", 1),
        ("protected", 44),
        ("referenced", 10),
        ("referenced unlabelled", 1),
        ("source-missing", 1),
        ("stale-copy", 1),
        ("terminating", 1),
        ("unknown", 6),
        ("unknown fleet-incomplete", 2),
        ("valid", 8),
    ];
    assert_eq!(counts, expected, "{}", listed.join("\n"));
    // One for each HostedCluster; this one names a CA that is not there yet.
    let reports = find(&judged, "mgmt-us HostedCluster clusters/guest-reports");
    assert_eq!(reports.as_deref(), Some("invalid ca-configmap-missing"));
    assert_eq!(judged.keys().filter(|place| place.contains(" HostedCluster ")).count(), 10);
}

#[test]
fn every_finding_of_the_scenario_has_evidence_a_remedy_and_the_difference_that_made_it() {
    let scenario = scenario(0, 0);
    let checks: [Box<dyn Check>; 2] = [Box::new(HostedOidc::default()), Box::new(Kubeconfigs::default())];
    for check in &checks {
        let world = world_of(&**check, &scenario, start());
        let view = world.view(start());
        for subject in check.subjects(view) {
            let judgement = check.judge(&subject, view).expect("a subject has a judgement");
            let explanation = check.explain(&subject, view).expect("a subject has an explanation");
            if judgement.state == State::Match {
                continue;
            }
            let case = format!("{subject}: {}", judgement.verdict);
            let (advice, facts): (Vec<_>, Vec<_>) = explanation.evidence.iter().partition(|line| line.is_advice());
            assert!(!facts.is_empty(), "{case}: no evidence");
            assert!(!explanation.remedy.is_empty() || !advice.is_empty(), "{case}: nothing to do about it");
            let differs = compare(judgement.state, &explanation).iter().any(|row| row.relation.is_difference());
            let is_compared = !matches!(judgement.state, State::Unknown | State::Blocked);
            assert!(differs || !is_compared, "{case}: no difference");
            let relations = check.relations(&subject, view);
            let is_copy = subject.namespace.as_deref() == Some("openshift-config") && !subject.is_whole_list();
            assert!(!is_copy || relations.links.len() >= 2, "{case}: {relations:?}");
        }
    }
}

#[test]
fn more_guests_and_objects_give_more_findings() {
    let (small, large) = (judge(&scenario(0, 0)), judge(&scenario(20, 290)));
    let foreign = |judged: &BTreeMap<String, String>| counted(judged)["foreign"];
    // Every guest has two objects that no check reads. Of the ten that each of the 29 reachable guests gets,
    // five are Secrets; those of guest-audit are hidden.
    assert_eq!(foreign(&large), foreign(&small) + 20 * 2 + 290 - 5);
    let clusters: BTreeSet<&str> = large.keys().filter_map(|place| place.split(' ').next()).collect();
    assert!(clusters.contains("guest-020"), "{clusters:?}");
}

#[test]
fn a_removed_provider_leaves_orphans() {
    let scenario = scenario(0, 0);
    let mut runner = scenario.runner();
    let mut seen = Vec::new();
    // The first event adds a provider and the third removes it; a hop takes a tick.
    for _ in 0..19 {
        runner.tick();
        let verdict = find(&judge(&scenario), "guest-checkout Secret openshift-config/entra-");
        if seen.last() != Some(&verdict) {
            seen.push(verdict);
        }
    }
    let words: Vec<&str> = seen.iter().map(|verdict| verdict.as_deref().unwrap_or("absent")).collect();
    let expected = [
        "absent",
        "missing-copy",
        "referenced",
        "pending guest-still-refers",
        "pending client-still-current",
        "orphan-certain",
    ];
    assert_eq!(words, expected);
    // Without changes a verdict holds.
    let orphan = find(&judge(&scenario), "guest-payments Secret openshift-config/ext-auth-console");
    assert_eq!(orphan.as_deref(), Some("orphan-certain"));
}

#[test]
fn a_rotated_secret_is_stale_until_the_operator_resyncs() {
    let scenario = scenario(0, 0);
    let mut runner = scenario.runner();
    let secret = "guest-search Secret openshift-config/okta-console";
    assert_eq!(find(&judge(&scenario), secret).as_deref(), Some("stale-copy"));
    tick_until(&mut runner, |event| matches!(event, ScenarioEvent::CopiesRenewed { .. }));
    runner.tick();
    assert_eq!(find(&judge(&scenario), secret).as_deref(), Some("referenced unlabelled"));
    tick_until(&mut runner, |event| matches!(event, ScenarioEvent::SecretRotated { .. }));
    runner.tick();
    assert_eq!(find(&judge(&scenario), secret).as_deref(), Some("stale-copy"));
}

/// The verdict on the first subject whose place starts so.
fn find(judged: &BTreeMap<String, String>, place: &str) -> Option<String> {
    judged.iter().find(|(subject, _)| subject.starts_with(place)).map(|(_, verdict)| verdict.clone())
}

fn tick_until(runner: &mut ScenarioRunner, wanted: impl Fn(&ScenarioEvent) -> bool) {
    // Two rounds of beats hold every event.
    for _ in 0..100 {
        if runner.tick().is_some_and(|event| wanted(&event)) {
            return;
        }
    }
    panic!("the scenario never comes there");
}

#[test]
fn the_initial_scenario_has_every_kubeconfig_fault() {
    let judged = judge_by(&Kubeconfigs::default(), &scenario(0, 0), start());
    let of = |place: &str| find(&judged, place).unwrap_or_else(|| panic!("{place}: {judged:#?}"));
    let expected = [
        ("mgmt-us Secret workloads/eks-orders-kubeconfig", "fresh"),
        ("mgmt-us Secret workloads/eks-media-kubeconfig", "refresh-stalled expiring"),
        ("mgmt-us Secret workloads/eks-games-kubeconfig", "refresh-stalled behind-source expiring"),
        ("mgmt-us Secret workloads/eks-maps-kubeconfig", "endpoint-drift ca-drift source-drift source-invalid"),
        ("mgmt-us Secret workloads/eks-photos-kubeconfig", "ca-rotating"),
        ("mgmt-us Secret workloads/eks-legacy-kubeconfig", "exec-refused behind-source"),
        ("mgmt-us Secret team-green/eks-shared-kubeconfig", "fresh"),
        ("mgmt-us Secret team-blue/eks-shared-kubeconfig", "wrong-cluster expired"),
        ("mgmt-us Secret workloads/eks-studio-kubeconfig", "waiting stage-workspace"),
        ("mgmt-us Secret clusters/guest-reports-admin-kubeconfig", "expired past-half-life"),
        ("mgmt-us Secret clusters/guest-mail-admin-kubeconfig", "fresh"),
    ];
    for (place, verdict) in expected {
        assert_eq!(of(place), verdict, "{place}");
    }
}

#[test]
fn a_renewed_source_is_copied_unless_a_controller_is_stuck() {
    let scenario = scenario(0, 0);
    let mut runner = scenario.runner();
    let ticks = 700;
    for _ in 0..ticks {
        scenario.clusters.iter().for_each(|cluster| cluster.sim.advance(std::time::Duration::from_secs(1)));
        runner.tick();
    }
    let now = start().checked_add(jiff::SignedDuration::from_secs(ticks)).unwrap();
    let judged = judge_by(&Kubeconfigs::default(), &scenario, now);
    let of = |name: &str| find(&judged, &format!("mgmt-us Secret workloads/{name}-kubeconfig")).unwrap();
    assert_eq!(of("eks-orders"), "fresh", "renewed once, and copied");
    assert_eq!(of("eks-games"), "expired behind-source", "renewed, and copied by nobody");
}

/// The verdict and codes of a kubeconfig after so many ticks of one second.
fn after_ticks(ticks: i64, name: &str) -> String {
    let scenario = scenario(0, 0);
    let mut runner = scenario.runner();
    for _ in 0..ticks {
        scenario.clusters.iter().for_each(|cluster| cluster.sim.advance(std::time::Duration::from_secs(1)));
        runner.tick();
    }
    let now = start().checked_add(jiff::SignedDuration::from_secs(ticks)).unwrap();
    let judged = judge_by(&Kubeconfigs::default(), &scenario, now);
    find(&judged, &format!("mgmt-us Secret workloads/{name}-kubeconfig")).unwrap().to_owned()
}

#[test]
fn a_cluster_that_is_being_created_names_its_stage_until_it_is_up() {
    let cases = [
        (0, "waiting stage-workspace"),
        (100, "waiting stage-outputs"),
        (160, "waiting stage-copy"),
        (190, "fresh"),
        (900, "fresh"),
    ];
    for (ticks, expected) in cases {
        assert_eq!(after_ticks(ticks, "eks-studio"), expected, "after {ticks} s");
    }
}
