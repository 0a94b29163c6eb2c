//! Content that is copied, created and applied: only from the source the plan shows, only over the object it shows.

#![expect(clippy::disallowed_methods, reason = "the test measures real time")]

use super::after::take_back;
use super::*;
use trueup_core::engine::testing::SECRETS;
use trueup_core::engine::{ActionDraft, Reason, SourceBinding, Stake, Undo, Verb as Planned};

pub(super) const SOURCE: &str = "openshift-config/outputs";
pub(super) const TARGET: &str = "openshift-config/kubeconfig";
/// `fresh` and `stale` in base64.
const FRESH: &str = "ZnJlc2g=";
pub(super) const STALE: &str = "c3RhbGU=";

fn object(sim: &SimCluster, key: &str) -> Option<Value> {
    sim.object("v1", "Secret", key).ok()
}

pub(super) fn edit(sim: &SimCluster, key: &str, change: impl FnOnce(&mut Value)) -> Value {
    sim.edit("v1", "Secret", key, change).unwrap()
}

fn source() -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "outputs", "namespace": NAMESPACE},
        "data": {"kubeconfig": FRESH, "other": "eA=="}})
}

pub(super) fn target() -> Value {
    let owner = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "alive" }]);
    json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": "kubeconfig", "namespace": NAMESPACE, "labels": {"kept": "1"},
            "annotations": {"kept": "2"}, "ownerReferences": owner},
        "data": {"value": STALE, "kept": "a2VwdA==", "token-file": STALE}})
}

pub(super) fn copy_change() -> Value {
    let source = json!({ "apiVersion": "v1", "kind": "Secret", "namespace": NAMESPACE, "name": "outputs" });
    json!({ "copy": { "source": source, "keys": { "value": "kubeconfig" }, "remove": ["token-file"] },
        "labels": { "cluster": "demo" } })
}

/// A draft of this verb on the target, bound to what is there now and to its source.
fn draft(sim: &SimCluster, verb: Planned, source: &Value, change: Value) -> ActionDraft {
    let text = |object: &Value, field: &str| object["metadata"][field].as_str().unwrap().to_owned();
    let mut draft = ActionDraft {
        reason: Reason::Stale,
        ownership: Vec::new(),
        stake: Stake::Reversible,
        undo: Undo::RestoreFromBackup,
        rests_on: Vec::new(),
        change: Change::read(verb, change).unwrap(),
        source: Some(SourceBinding {
            uid: Uid::parse(&text(source, "uid")),
            version: ResourceVersion::parse(&text(source, "resourceVersion")),
        }),
        ..delete("guest-a", "kubeconfig")
    };
    draft.target.resource = SECRETS;
    let there = object(sim, TARGET);
    draft.target.uid = there.as_ref().map(|object| Uid::parse(&text(object, "uid")));
    draft.target.version = there.as_ref().map(|object| ResourceVersion::parse(&text(object, "resourceVersion")));
    draft
}

/// A stage with a source, and with a target unless it is to be made.
pub(super) fn copying(verb: Planned, change: Value) -> Stage {
    let mut stage = stage(&[]);
    let source = stage.sim.seed(source()).unwrap();
    if verb == Planned::Update {
        stage.sim.seed(target()).unwrap();
    }
    let draft = draft(&stage.sim, verb, &source, change);
    stage.plan = given().finding(finding("kubeconfig").draft(draft)).plan();
    stage
}

pub(super) fn updating() -> Stage {
    copying(Planned::Update, copy_change())
}

fn end_of(stage: &Stage, report: &Report) -> ActionResult {
    stage.end(report, "kubeconfig").clone()
}

#[tokio::test(start_paused = true)]
async fn a_copy_changes_the_keys_and_labels_it_names_and_nothing_else() {
    let mut stage = updating();
    let before = object(&stage.sim, TARGET).unwrap();
    let report = stage.run().await;
    assert_eq!((end_of(&stage, &report).as_str(), report.code()), ("changed", 0), "{report:?}");
    let mut expected = before.clone();
    expected["data"] = json!({ "value": FRESH, "kept": "a2VwdA==" });
    expected["metadata"]["labels"] = json!({ "kept": "1", "cluster": "demo" });
    let mut after = object(&stage.sim, TARGET).unwrap();
    assert_ne!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    for field in ["resourceVersion", "managedFields"] {
        (after["metadata"][field], expected["metadata"][field]) = (Value::Null, Value::Null);
    }
    assert_eq!(after, expected);
    let records = stage.records.lock().unwrap().clone();
    let kinds: Vec<&str> = records.iter().map(kind).collect();
    assert_eq!(kinds.join(" "), "approved backup intent outcome verified finished");
    let said = format!("{records:?} {report:?} {:?}", stage.plan);
    for secret in ["fresh", FRESH, "stale-bytes", STALE] {
        assert!(!said.contains(secret), "{secret} is in {said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_is_not_the_one_shown_leaves_the_target_as_it_is() {
    type Change = fn(&mut Stage);
    let cases: [(&str, Change, &str); 5] = [
        (
            "changed",
            |stage| drop(edit(&stage.sim, SOURCE, |o| o["data"]["kubeconfig"] = json!(STALE))),
            "changed since",
        ),
        (
            "created again",
            |stage| {
                stage.sim.remove("v1", "Secret", SOURCE).unwrap();
                stage.sim.seed(source()).unwrap();
            },
            "created again",
        ),
        ("gone", |stage| drop(stage.sim.remove("v1", "Secret", SOURCE).unwrap()), "is gone"),
        (
            "not to be read",
            |stage| {
                let matcher = Matcher::of("secrets").verb(Verb::Get).name("outputs");
                stage.sim.fault(Fault::always(matcher, refuse(403)));
            },
            "cannot be read",
        ),
        ("bound by nothing", |stage| unbind(stage), "binds no uid and version of the source"),
    ];
    for (case, change, expected) in cases {
        let mut stage = updating();
        change(&mut stage);
        let report = stage.run().await;
        let end = end_of(&stage, &report);
        assert!(matches!(&end, ActionResult::Skipped { why, .. } if why.contains(expected)), "case: {case}: {end:?}");
        assert_eq!(stage.requests("PATCH"), 0, "case: {case}");
        assert_eq!(object(&stage.sim, TARGET).unwrap()["data"]["value"], STALE, "case: {case}");
    }
}

fn unbind(stage: &mut Stage) {
    stage.plan.actions[0].preconditions.source = None;
    stage.plan.id = stage.plan.computed_id().unwrap();
}

pub(super) fn refuse(code: u16) -> FaultAction {
    FaultAction::Refuse { code, retry_after_seconds: None }
}

#[tokio::test(start_paused = true)]
async fn a_source_without_the_key_never_empties_the_target() {
    for (case, data) in [("no key", json!({ "other": "eA==" })), ("an empty one", json!({ "kubeconfig": "" }))] {
        let mut stage = updating();
        // The plan is made of the source as it is: nothing but what is under the key speaks against the copy.
        let source = edit(&stage.sim, SOURCE, |object| object["data"] = data);
        let draft = draft(&stage.sim, Planned::Update, &source, copy_change());
        stage.plan = given().finding(finding("kubeconfig").draft(draft)).plan();
        let report = stage.run().await;
        let end = end_of(&stage, &report);
        assert!(
            matches!(&end, ActionResult::Skipped { why, .. } if why.contains("nothing under `kubeconfig`")),
            "{case}: {end:?}"
        );
        assert_eq!((report.code(), stage.requests("PATCH")), (3, 0), "case: {case}");
        assert_eq!(object(&stage.sim, TARGET).unwrap()["data"]["value"], STALE, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_changed_is_not_copied_at_the_second_attempt() {
    for (case, fault, expected) in [("busy", refuse_busy(), "failed"), ("lost", FaultAction::LostBefore, "unknown")] {
        let mut stage = updating();
        stage.fault(Verb::Patch, fault);
        let sim = stage.sim.clone();
        stage.after_send = Some(Box::new(move |_| {
            edit(&sim, SOURCE, |object| object["data"]["kubeconfig"] = json!(STALE));
        }));
        let report = stage.run().await;
        let end = end_of(&stage, &report);
        assert_eq!((end.as_str(), stage.requests("PATCH")), (expected, 1), "case: {case}: {end:?}");
        assert!(end.why().contains("its source"), "case: {case}: {end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn objects_in_the_desired_state_are_not_sent() {
    let mut stage = updating();
    edit(&stage.sim, TARGET, |object| {
        object["data"] = json!({ "value": FRESH, "kept": "a2VwdA==" });
        object["metadata"]["labels"]["cluster"] = json!("demo");
    });
    let report = stage.run().await;
    assert_eq!((end_of(&stage, &report), report.code(), stage.requests("PATCH")), (ActionResult::Already, 0, 0));
    let records = stage.records.lock().unwrap().clone();
    let kinds: Vec<&str> = records.iter().map(kind).collect();
    assert_eq!(kinds.join(" "), "approved skipped finished");
}

#[tokio::test(start_paused = true)]
async fn another_writer_between_the_read_and_the_request_is_not_overwritten() {
    let mut stage = updating();
    let sim = stage.sim.clone();
    stage.before_send = Some(Box::new(move |_| {
        edit(&sim, TARGET, |object| object["data"]["value"] = json!("b3RoZXI="));
    }));
    let report = stage.run().await;
    let end = end_of(&stage, &report);
    assert!(matches!(&end, ActionResult::Failed { why } if why.contains("changed since")), "{end:?}");
    assert_eq!((object(&stage.sim, TARGET).unwrap()["data"]["value"].clone(), report.code()), (json!("b3RoZXI="), 2));
}

#[tokio::test(start_paused = true)]
async fn an_unclear_answer_to_a_copy_is_settled_by_reading() {
    let cases = [
        ("the reply is lost", FaultAction::ReplyLost, 1, "changed"),
        ("504 after it was done", FaultAction::RefuseAfterCommit { code: 504 }, 1, "changed"),
        ("lost on the way", FaultAction::LostBefore, 2, "changed"),
        ("500", refuse(500), 2, "changed"),
        ("forbidden", refuse(403), 1, "failed"),
        ("invalid, as of an immutable one", refuse(422), 1, "failed"),
    ];
    for (case, fault, patches, expected) in cases {
        let mut stage = updating();
        stage.fault(Verb::Patch, fault);
        let report = stage.run().await;
        let end = end_of(&stage, &report);
        assert_eq!((end.as_str(), stage.requests("PATCH")), (expected, patches), "case: {case}: {end:?}");
        let value = if expected == "changed" { FRESH } else { STALE };
        assert_eq!(object(&stage.sim, TARGET).unwrap()["data"]["value"], value, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_killed_at_any_step_is_settled_by_reading_and_sent_once() {
    for at in 0.. {
        let mut stage = updating();
        stage.crash = Arc::new(Crash { at: Some(at), steps: AtomicUsize::default() });
        let finished = stage.run_or_crash().await.is_some();
        let sent = stage.requests("PATCH");
        let mut records = stage.records.lock().unwrap().clone();
        assert!(records.iter().filter(|record| kind(record) == "intent").count() >= sent, "step {at}");
        let clusters: Clusters =
            [("guest-a".to_owned(), Arc::new(KubeCluster::new(stage.sim.client())) as Arc<dyn ClusterPort>)].into();
        let resolved = resolve(&entries(&records), &clusters, now()).await;
        let expected = if sent == 1 { Found::Changed } else { Found::Unchanged };
        for record in &resolved {
            assert!(matches!(record, Record::Resolved { found, .. } if *found == expected), "step {at}: {record:?}");
        }
        records.extend(resolved);
        let open: usize = entries(&records).iter().map(trueup_core::engine::journal::Entry::open_count).sum();
        assert_eq!(open, 0, "step {at}");
        assert_eq!((stage.requests("PATCH"), sent <= 1), (sent, true), "step {at}");
        if finished {
            assert_eq!(at, 5 * 2 + 2, "every step was one to be killed at");
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_is_undone_from_its_backup_unless_it_changed_since() {
    let mut stage = updating();
    let before = object(&stage.sim, TARGET).unwrap();
    assert_eq!(stage.run().await.code(), 0);
    let report = take_back(&mut stage).await;
    let after = object(&stage.sim, TARGET).unwrap();
    assert_eq!(report.code(), 0, "{report:?}");
    assert_eq!((&after["data"], &after["metadata"]["labels"]), (&before["data"], &before["metadata"]["labels"]));

    let mut stage = updating();
    assert_eq!(stage.run().await.code(), 0);
    edit(&stage.sim, TARGET, |object| object["data"]["value"] = json!("bmV3ZXI="));
    let records = stage.records.lock().unwrap().clone();
    let looks = super::after::looks(&stage, &KubeCluster::new(stage.sim.client())).await;
    let undo = trueup_core::engine::undo(&entries(&records)[0], None, &looks, now(), PLAN_TTL).unwrap();
    assert!(undo.plan.actions.is_empty() && undo.left_out[0].contains("changed after apply"), "{undo:?}");
}

fn create_change(owner_uid: &str) -> Value {
    let mut change = copy_change();
    change["copy"].as_object_mut().unwrap().remove("remove");
    change["type"] = json!("cluster.x-k8s.io/secret");
    change["owner"] =
        json!({ "apiVersion": "v1", "kind": "Secret", "name": "outputs", "uid": owner_uid, "controller": true });
    change
}

/// A stage where the target is to be made, owned by the source.
pub(super) fn creating() -> Stage {
    let mut stage = copying(Planned::Create, create_change("not made yet"));
    let source = object(&stage.sim, SOURCE).unwrap();
    let change = create_change(source["metadata"]["uid"].as_str().unwrap());
    let draft = ActionDraft { undo: Undo::DeleteWhatWasCreated, ..draft(&stage.sim, Planned::Create, &source, change) };
    stage.plan = given().finding(finding("kubeconfig").draft(draft)).plan();
    stage
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_not_there_is_made_as_the_plan_shows_it_and_unmade_by_an_undo() {
    let mut stage = creating();
    let report = stage.run().await;
    assert_eq!((end_of(&stage, &report).as_str(), report.code()), ("created", 0), "{report:?}");
    let made = object(&stage.sim, TARGET).unwrap();
    let source = object(&stage.sim, SOURCE).unwrap();
    assert_eq!((&made["type"], &made["data"]), (&json!("cluster.x-k8s.io/secret"), &json!({ "value": FRESH })));
    assert_eq!(made["metadata"]["labels"], json!({ "cluster": "demo" }));
    assert_eq!(made["metadata"]["ownerReferences"][0]["uid"], source["metadata"]["uid"]);
    let report = take_back(&mut stage).await;
    assert_eq!((report.code(), object(&stage.sim, TARGET)), (0, None), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_made_over_something_else_or_under_a_dead_owner() {
    type Change = fn(&mut Stage);
    let cases: [(&str, Change, &str, usize); 4] = [
        ("the name is taken", |stage| drop(stage.sim.seed(target()).unwrap()), "skipped", 0),
        (
            "taken in between",
            |stage| {
                let sim = stage.sim.clone();
                stage.before_send = Some(Box::new(move |_| drop(sim.seed(target()).unwrap())));
            },
            "failed",
            1,
        ),
        ("its owner is another one", |stage| other_owner(stage), "skipped", 0),
        ("somebody made the very same", |stage| drop(stage.sim.seed(the_same()).unwrap()), "already", 0),
    ];
    for (case, change, expected, posts) in cases {
        let mut stage = creating();
        change(&mut stage);
        let report = stage.run().await;
        let end = end_of(&stage, &report);
        assert_eq!((end.as_str(), stage.requests("POST")), (expected, posts), "case: {case}: {end:?}");
    }
}

fn other_owner(stage: &mut Stage) {
    let Change::Create(change) = &mut stage.plan.actions[0].change else { panic!("it is a create") };
    change.owner.as_mut().unwrap().uid = "dead".to_owned();
    stage.plan.id = stage.plan.computed_id().unwrap();
}

fn the_same() -> Value {
    let mut object = target();
    object["data"] = json!({ "value": FRESH });
    object["metadata"]["labels"] = json!({ "cluster": "demo" });
    object
}

#[tokio::test(start_paused = true)]
async fn what_nobody_knows_who_made_is_not_deleted_by_an_undo() {
    let mut stage = creating();
    stage.fault(Verb::Create, FaultAction::ReplyLost);
    let report = stage.run().await;
    assert_eq!((end_of(&stage, &report).as_str(), stage.requests("POST")), ("changed", 1), "{report:?}");
    let records = stage.records.lock().unwrap().clone();
    let looks = super::after::looks(&stage, &KubeCluster::new(stage.sim.client())).await;
    let undo = trueup_core::engine::undo(&entries(&records)[0], None, &looks, now(), PLAN_TTL).unwrap();
    assert!(undo.plan.actions.is_empty() && undo.left_out[0].contains("not known"), "{undo:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_applied_becomes_ours_and_never_takes_a_field_from_another_manager() {
    let mut change = copy_change();
    change["copy"].as_object_mut().unwrap().remove("remove");
    let mut absent = copying(Planned::Apply, change.clone());
    let report = absent.run().await;
    assert_eq!((end_of(&absent, &report).as_str(), report.code()), ("created", 0), "{report:?}");
    assert_eq!(object(&absent.sim, TARGET).unwrap()["data"], json!({ "value": FRESH }));
    let report = take_back(&mut absent).await;
    assert_eq!((report.code(), object(&absent.sim, TARGET)), (0, None), "{report:?}");

    for (case, value, expected) in [("nobody's", None, "changed"), ("another's", Some(STALE), "failed")] {
        let mut stage = copying(Planned::Apply, change.clone());
        let mut there = target();
        there["data"] = value.map_or_else(|| json!({ "kept": "a2VwdA==" }), |value| json!({ "value": value }));
        let client = stage.sim.client();
        let post = http::Request::post("/api/v1/namespaces/openshift-config/secrets?fieldManager=the-operator")
            .header("content-type", "application/json");
        client.request::<Value>(post.body(there.to_string().into_bytes()).unwrap()).await.unwrap();
        let source = object(&stage.sim, SOURCE).unwrap();
        let draft = draft(&stage.sim, Planned::Apply, &source, change.clone());
        stage.plan = given().finding(finding("kubeconfig").draft(draft)).plan();
        let report = stage.run().await;
        let end = end_of(&stage, &report);
        assert_eq!(end.as_str(), expected, "case: {case}: {end:?}");
        let named = end.why().contains("the-operator manages");
        assert_eq!(named, expected == "failed", "case: {case}: {end:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_copy_from_another_cluster_is_read_there() {
    let mut stage = stage(&[]);
    let other = SimCluster::new(SimOptions { name: "mgmt".to_owned(), seed: 2, start: now() });
    other.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})).unwrap();
    let source = other.seed(source()).unwrap();
    stage.sim.seed(target()).unwrap();
    let mut change = copy_change();
    change["copy"]["source"]["cluster"] = json!("mgmt");
    let draft = draft(&stage.sim, Planned::Update, &source, change);
    stage.plan = given().finding(finding("kubeconfig").draft(draft)).plan();
    let report = stage.run().await;
    let end = end_of(&stage, &report);
    assert!(
        matches!(&end, ActionResult::Skipped { why, .. } if why.contains("mgmt, which holds the source")),
        "{end:?}"
    );
    stage.others.insert("mgmt".to_owned(), Arc::new(KubeCluster::new(other.client())));
    let report = stage.run().await;
    assert_eq!((end_of(&stage, &report).as_str(), report.code()), ("changed", 0), "{report:?}");
    assert_eq!(object(&stage.sim, TARGET).unwrap()["data"]["value"], FRESH);
}

#[tokio::test(start_paused = true)]
async fn annotations_are_set_and_go_back_to_what_they_were() {
    let mut stage = stage(&[]);
    let seeded = stage.sim.seed(target()).unwrap();
    let change = json!({ "set": { "kept": "new", "added": "x" }, "remove": [] });
    let draft = ActionDraft {
        judged: None,
        source: None,
        undo: Undo::RemoveWhatWasAdded,
        ..draft(&stage.sim, Planned::Annotate, &seeded, change)
    };
    stage.plan = given().finding(finding("kubeconfig").draft(draft)).plan();
    let annotations = |stage: &Stage| object(&stage.sim, TARGET).unwrap()["metadata"]["annotations"].clone();
    let report = stage.run().await;
    assert_eq!((report.code(), annotations(&stage)), (0, json!({ "kept": "new", "added": "x" })), "{report:?}");
    let report = take_back(&mut stage).await;
    assert_eq!((report.code(), annotations(&stage)), (0, json!({ "kept": "2" })), "{report:?}");
}
