//! Objects whose version controllers move: bound by what was judged, sent with the version that was read last.

use super::after::take_back;
use super::*;
use trueup_core::engine::testing::SECRETS;
use trueup_core::engine::{ActionDraft, JudgedFields, Reason, Stake, Undo, Verb as Planned};

const KEY: &str = "openshift-config/pool";
const FIELDS: [&str; 2] = ["/metadata/annotations/cpu", "/metadata/annotations/paused"];

fn pool() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "pool", "namespace": NAMESPACE, "annotations": {"cpu": "4", "kept": "1"}}})
}

/// A stage with one object to annotate, as it is now.
fn annotating() -> Stage {
    let mut stage = stage(&[]);
    let object = stage.sim.seed(pool()).unwrap();
    let mut draft = ActionDraft {
        reason: Reason::Differs,
        ownership: Vec::new(),
        stake: Stake::Reversible,
        undo: Undo::RemoveWhatWasAdded,
        rests_on: Vec::new(),
        change: Change::read(Planned::Annotate, json!({ "set": { "cpu": "8", "new": "x" }, "remove": [] })).unwrap(),
        judged: Some(JudgedFields::of(&object, &FIELDS)),
        ..delete("guest-a", "pool")
    };
    draft.target.resource = SECRETS;
    draft.target.uid = Some(Uid::parse(object["metadata"]["uid"].as_str().unwrap()));
    draft.target.version = None;
    stage.plan = given().finding(finding("pool").draft(draft)).plan();
    stage
}

fn annotations(stage: &Stage) -> Value {
    stage.sim.object("v1", "Secret", KEY).unwrap()["metadata"]["annotations"].clone()
}

/// A controller writes its status.
fn move_version(sim: &SimCluster) {
    let count = |object: &Value| object["status"]["count"].as_u64().unwrap_or_default();
    sim.edit("v1", "Secret", KEY, |object| object["status"] = json!({ "count": count(object) + 1 })).unwrap();
}

fn pause(sim: &SimCluster) {
    sim.edit("v1", "Secret", KEY, |object| object["metadata"]["annotations"]["paused"] = json!("")).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_version_changed_by_a_status_update_does_not_make_a_plan_stale() {
    let mut stage = annotating();
    move_version(&stage.sim);
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "pool").as_str(), report.code()), ("changed", 0), "{report:?}");
    assert_eq!(annotations(&stage), json!({ "cpu": "8", "kept": "1", "new": "x" }));
}

/// What happens to the object, and what is said of it.
type Case = (&'static str, fn(&SimCluster), &'static str);

#[tokio::test(start_paused = true)]
async fn what_was_judged_has_to_be_there_still() {
    let cases: [Case; 4] = [
        ("paused", pause, "what was judged of it changed"),
        (
            "somebody's own value",
            |sim| {
                sim.edit("v1", "Secret", KEY, |object| object["metadata"]["annotations"]["cpu"] = json!("16")).unwrap();
            },
            "what was judged of it changed",
        ),
        (
            "recreated",
            |sim| {
                sim.remove("v1", "Secret", KEY).unwrap();
                sim.seed(pool()).unwrap();
            },
            "another object has its name",
        ),
        ("gone", |sim| drop(sim.remove("v1", "Secret", KEY).unwrap()), "gone already"),
    ];
    for (case, change, message) in cases {
        let mut stage = annotating();
        change(&stage.sim);
        let report = stage.run().await;
        let end = stage.end(&report, "pool");
        assert!(matches!(end, ActionResult::Skipped { why, .. } if why.contains(message)), "case: {case}: {end:?}");
        assert_eq!(stage.requests("PATCH"), 0, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn objects_in_the_desired_state_are_not_sent_despite_the_judgement() {
    let mut stage = annotating();
    let wanted = json!({ "cpu": "8", "kept": "1", "new": "x" });
    stage.sim.edit("v1", "Secret", KEY, |object| object["metadata"]["annotations"] = wanted).unwrap();
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "pool"), stage.requests("PATCH")), (&ActionResult::Already, 0));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_moves_between_the_read_and_the_request_is_read_again() {
    let mut stage = annotating();
    let sim = stage.sim.clone();
    stage.before_send = Some(Box::new(move |place| {
        if place < 2 {
            move_version(&sim);
        }
    }));
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "pool").as_str(), report.code()), ("changed", 0), "{report:?}");
    assert_eq!((stage.requests("PATCH"), &annotations(&stage)["cpu"]), (3, &json!("8")));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_never_rests_is_given_up() {
    let mut stage = annotating();
    let sim = stage.sim.clone();
    stage.before_send = Some(Box::new(move |_| move_version(&sim)));
    let report = stage.run().await;
    let end = stage.end(&report, "pool");
    assert!(matches!(end, ActionResult::Failed { why } if why.contains("5 times")), "{end:?}");
    assert_eq!(annotations(&stage), json!({ "cpu": "4", "kept": "1" }));
}

#[tokio::test(start_paused = true)]
async fn a_pause_between_the_read_and_the_request_is_heeded() {
    let mut stage = annotating();
    let sim = stage.sim.clone();
    stage.before_send = Some(Box::new(move |_| pause(&sim)));
    let report = stage.run().await;
    let end = stage.end(&report, "pool");
    assert!(matches!(end, ActionResult::Failed { why } if why.contains("what was judged of it changed")), "{end:?}");
    assert_eq!((stage.requests("PATCH"), annotations(&stage)), (1, json!({ "cpu": "4", "kept": "1", "paused": "" })));
}

/// Nobody knows whether a request was carried out. The object does: what was judged is there still, at another version,
/// so that it was not, and can't be any more.
#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_is_made_again_only_when_it_was_not_carried_out() {
    let cases = [
        ("lost on the way there", FaultAction::LostBefore, 2),
        ("lost on the way back", FaultAction::ReplyLost, 1),
        ("a gateway that gave up", FaultAction::RefuseAfterCommit { code: 504 }, 1),
    ];
    for (case, fault, patches) in cases {
        let mut stage = annotating();
        stage.fault(Verb::Patch, fault);
        let sim = stage.sim.clone();
        stage.after_send = Some(Box::new(move |place| {
            if place == 0 {
                move_version(&sim);
            }
        }));
        let report = stage.run().await;
        assert_eq!((stage.end(&report, "pool").as_str(), report.code()), ("changed", 0), "case: {case}: {report:?}");
        assert_eq!((stage.requests("PATCH"), &annotations(&stage)["new"]), (patches, &json!("x")), "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn annotations_go_back_although_the_version_moved_since() {
    let mut stage = annotating();
    assert_eq!(stage.run().await.code(), 0);
    move_version(&stage.sim);
    let sim = stage.sim.clone();
    stage.before_send = Some(Box::new(move |place| {
        if place == 0 {
            move_version(&sim);
        }
    }));
    let report = take_back(&mut stage).await;
    assert_eq!((report.code(), annotations(&stage)), (0, json!({ "cpu": "4", "kept": "1" })), "{report:?}");
}
