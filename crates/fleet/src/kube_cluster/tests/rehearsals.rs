//! Trying actions: what the server would say to each, and nothing of it done.

use super::copies::{SOURCE, STALE, TARGET, copy_change, copying, creating, edit, refuse, target, updating};
use super::*;
use trueup_core::engine::Verb as Planned;
use trueup_core::engine::journal::Answer;

/// Tries the only action of a stage.
async fn tried(stage: &Stage) -> DryRunResult {
    let port: Arc<dyn ClusterPort> = Arc::new(KubeCluster::new(stage.sim.client()));
    let clusters = Clusters::from([("guest-a".to_owned(), port)]);
    let ports = DryRunPorts { clusters: &clusters, vault: &BackupsThere(None), clock: &SimClock(stage.sim.clone()) };
    let cluster = KubeCluster::new(stage.sim.client());
    dry_run(&cluster, &stage.plan.id, &stage.plan.actions[0], ports).await
}

fn applying() -> Stage {
    let mut change = copy_change();
    change["copy"].as_object_mut().unwrap().remove("remove");
    copying(Planned::Apply, change)
}

#[tokio::test(start_paused = true)]
async fn whatever_can_be_done_can_be_tried_and_nothing_comes_of_it() {
    let cases = [
        ("delete", stage(&["a"])),
        ("label", stage(&["label-a"])),
        ("update with what is copied", updating()),
        ("create with what is copied", creating()),
        ("apply with what is copied", applying()),
    ];
    for (case, stage) in cases {
        let before = stage.sim.version();
        let DryRunResult::Answered(reply) = tried(&stage).await else { panic!("case: {case}: nothing was sent") };
        assert_eq!((reply.answer, reply.http.is_some_and(|code| code < 300)), (Answer::Done, true), "case: {case}");
        assert_eq!(stage.sim.version(), before, "case: {case}: something changed");
        let written: Vec<String> = stage
            .sim
            .request_log()
            .into_iter()
            .filter(|logged| logged.method != "GET")
            .map(|logged| logged.target)
            .collect();
        assert!(written.len() == 1 && written[0].contains("dryRun=All"), "case: {case}: {written:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_would_not_be_sent_in_earnest_is_not_tried() {
    type Change = fn(&Stage);
    let cases: [(&str, Stage, Change, &str); 5] = [
        (
            "the source changed",
            updating(),
            |stage| drop(edit(&stage.sim, SOURCE, |object| object["data"]["kubeconfig"] = json!(STALE))),
            "changed since the plan was made",
        ),
        ("the source is gone", creating(), |stage| drop(stage.sim.remove("v1", "Secret", SOURCE).unwrap()), "is gone"),
        (
            "the target changed",
            updating(),
            |stage| drop(edit(&stage.sim, TARGET, |object| object["data"]["kept"] = json!(STALE))),
            "version",
        ),
        (
            "the name is taken",
            creating(),
            |stage| drop(stage.sim.seed(target()).unwrap()),
            "another object has the name",
        ),
        (
            "it is gone",
            stage(&["a"]),
            |stage| drop(stage.sim.remove("v1", "Secret", "openshift-config/a").unwrap()),
            "gone",
        ),
    ];
    for (case, stage, change, expected) in cases {
        change(&stage);
        let DryRunResult::NotSent(end) = tried(&stage).await else { panic!("case: {case}: it was sent") };
        assert!(end.why().contains(expected), "case: {case}: {end:?}");
        assert!(stage.sim.request_log().iter().all(|logged| logged.method == "GET"), "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_server_refuses_in_earnest_it_refuses_when_it_is_tried() {
    let stage = updating();
    let matcher = Matcher::of("secrets").verb(Verb::Patch);
    stage.sim.fault(Fault::always(matcher, refuse(403)));
    let DryRunResult::Answered(reply) = tried(&stage).await else { panic!("nothing was sent") };
    assert_eq!((reply.answer, reply.http), (Answer::Refused, Some(403)));
}

#[tokio::test(start_paused = true)]
async fn what_comes_from_a_backup_can_be_tried_only_where_there_are_backups() {
    let mut stage = creating();
    stage.plan.actions[0].change = Change::read(Planned::Create, json!({ "backup": "0" })).unwrap();
    stage.plan.actions[0].preconditions.source = None;
    let DryRunResult::NotSent(end) = tried(&stage).await else { panic!("it was sent") };
    assert!(end.why().contains("there are no backups"), "{end:?}");
}
