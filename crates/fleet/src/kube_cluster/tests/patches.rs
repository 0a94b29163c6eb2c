//! Fields that are patched: sent as the plan has them, after everything they remove is sealed.

use super::after::take_back;
use super::*;
use trueup_core::engine::{ActionDraft, JudgedFields, Reason, Stake, Undo, Verb as Planned};
use trueup_core::world::Resource;

const ACCOUNTS: Resource =
    Resource { group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true };
const TARGET: &str = "openshift-config/robot";

fn account(sim: &SimCluster) -> Value {
    sim.object("v1", "ServiceAccount", TARGET).unwrap()
}

/// A plan that turns a field of a service account, and seals every Secret and Pod first.
fn patching(change: Value) -> Stage {
    let mut stage = stage(&[]);
    for name in ["one", "two"] {
        stage.sim.seed(secret(name)).unwrap();
    }
    let seeded = stage.sim.seed(json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "robot", "namespace": NAMESPACE}, "automountServiceAccountToken": true}));
    let seeded = seeded.unwrap();
    let mut draft = ActionDraft {
        reason: Reason::Differs,
        ownership: Vec::new(),
        stake: Stake::Reversible,
        undo: Undo::RestoreFromBackup,
        rests_on: Vec::new(),
        change: Change::read(Planned::Patch, change).unwrap(),
        ..delete("guest-a", "robot")
    };
    draft.target.resource = ACCOUNTS;
    draft.target.uid = Some(Uid::parse(seeded["metadata"]["uid"].as_str().unwrap()));
    draft.target.version = Some(ResourceVersion::parse(seeded["metadata"]["resourceVersion"].as_str().unwrap()));
    stage.plan = given().finding(finding("robot").draft(draft)).plan();
    stage
}

fn exporting() -> Value {
    let kinds = ["Secret", "Pod"].map(|kind| json!({ "apiVersion": "v1", "kind": kind }));
    json!({ "patch": { "automountServiceAccountToken": false, "imagePullSecrets": null }, "export": kinds })
}

#[tokio::test(start_paused = true)]
async fn a_patch_changes_the_fields_it_names_after_what_goes_was_sealed() {
    let mut stage = patching(exporting());
    let before = account(&stage.sim);
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "robot").as_str(), report.code()), ("changed", 0), "{report:?}");
    let after = account(&stage.sim);
    assert_eq!(after["automountServiceAccountToken"], json!(false));
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    let kinds: Vec<&str> = stage.records.lock().unwrap().iter().map(kind).collect();
    assert_eq!(kinds.join(" "), "approved backup intent outcome verified finished");
    let sealed = stage.vault.object("0");
    let items = sealed["items"].as_array().unwrap();
    assert_eq!(items[0]["automountServiceAccountToken"], json!(true), "the target as it was");
    let lists: Vec<(&str, usize)> = items[1..]
        .iter()
        .map(|list| (list["kind"].as_str().unwrap(), list["items"].as_array().unwrap().len()))
        .collect();
    assert_eq!(lists, [("SecretList", 2), ("PodList", 0)]);
    let said = format!("{:?} {report:?} {:?}", stage.records.lock().unwrap(), stage.plan);
    assert!(!said.contains("czNjcmV0"), "sealed content is shown nowhere: {said}");
}

#[tokio::test(start_paused = true)]
async fn an_undo_puts_the_fields_back_and_leaves_the_rest() {
    let mut stage = patching(exporting());
    let report = stage.run().await;
    assert_eq!(report.code(), 0, "{report:?}");
    // Somebody writes elsewhere in the object: the version moves, the fields stay.
    stage
        .sim
        .edit("v1", "ServiceAccount", TARGET, |account| account["metadata"]["labels"] = json!({ "a": "b" }))
        .unwrap();
    let report = take_back(&mut stage).await;
    assert_eq!(report.code(), 0, "{report:?}");
    let back = account(&stage.sim);
    assert_eq!(back["automountServiceAccountToken"], json!(true));
    assert_eq!(back["metadata"]["labels"], json!({ "a": "b" }));
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_sealed_whole_stops_the_patch() {
    let unknown = json!({ "patch": { "automountServiceAccountToken": false },
        "export": [{ "apiVersion": "v1", "kind": "Nothing" }] });
    type Change = fn(&mut Stage);
    let cases: [(&str, Value, Change, &str); 4] = [
        ("a kind nobody serves", unknown, |_| {}, "has no kind Nothing"),
        (
            "a list that is refused",
            exporting(),
            |stage| stage.fault(Verb::List, FaultAction::Refuse { code: 403, retry_after_seconds: None }),
            "the server answered 403",
        ),
        ("a full disk", exporting(), |stage| stage.vault.fails = true, "no space left"),
        (
            "an object that changed",
            exporting(),
            |stage| {
                let edit = |account: &mut Value| account["metadata"]["labels"] = json!({ "a": "b" });
                stage.sim.edit("v1", "ServiceAccount", TARGET, edit).unwrap();
            },
            "it changed since the plan was made",
        ),
    ];
    for (case, change, prepare, expected) in cases {
        let mut stage = patching(change);
        prepare(&mut stage);
        let report = stage.run().await;
        let why = stage.end(&report, "robot").why().to_owned();
        assert!(why.contains(expected), "case: {case}: {why}");
        assert_eq!(account(&stage.sim)["automountServiceAccountToken"], json!(true), "case: {case}");
        assert_eq!(stage.requests("PATCH"), 0, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_patch_that_is_done_already_sends_nothing() {
    let mut stage = patching(json!({ "patch": { "automountServiceAccountToken": true } }));
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "robot").as_str(), stage.requests("PATCH")), ("already", 0), "{report:?}");
}

/// A plan that sets the owner of a Secret, and perhaps its label before: the owner is bound by what was judged, because the
/// label moves the version.
fn owning(is_labelled: bool) -> (Stage, Value) {
    let mut stage = stage(&[]);
    let owner = stage.sim.seed(json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "robot", "namespace": NAMESPACE}}));
    let owner = owner.unwrap()["metadata"]["uid"].clone();
    let seeded = stage.sim.seed(secret("one")).unwrap();
    let owners =
        json!([{ "apiVersion": "v1", "kind": "ServiceAccount", "name": "robot", "uid": owner, "controller": true }]);
    let mut base = ActionDraft {
        reason: Reason::Differs,
        stake: Stake::Reversible,
        undo: Undo::RestoreFromBackup,
        rests_on: Vec::new(),
        ..delete("guest-a", "one")
    };
    base.target.uid = Some(Uid::parse(seeded["metadata"]["uid"].as_str().unwrap()));
    let mut label = base.clone();
    label.target.version = Some(ResourceVersion::parse(seeded["metadata"]["resourceVersion"].as_str().unwrap()));
    label.change = Change::read(Planned::Label, json!({ "set": { "a": "b" } })).unwrap();
    let mut owned = base;
    owned.target.version = None;
    owned.judged = Some(JudgedFields::of(&seeded, &["/metadata/ownerReferences"]));
    owned.change =
        Change::read(Planned::Patch, json!({ "patch": { "metadata": { "ownerReferences": owners } } })).unwrap();
    let found = finding("one");
    let found = if is_labelled { found.draft(label) } else { found };
    stage.plan = given().finding(found.draft(owned)).plan();
    (stage, owners)
}

fn owned_secret(stage: &Stage) -> Value {
    stage.sim.object("v1", "Secret", "openshift-config/one").unwrap()
}

#[tokio::test(start_paused = true)]
async fn owner_references_are_patched_after_another_change_of_the_same_secret() {
    let (mut stage, owners) = owning(true);
    let before = owned_secret(&stage);
    let report = stage.run().await;
    assert_eq!(report.code(), 0, "{report:?}");
    let after = owned_secret(&stage);
    assert_eq!((&after["metadata"]["ownerReferences"], &after["metadata"]["labels"]["a"]), (&owners, &json!("b")));
    assert_eq!(after["data"], before["data"], "content is untouched");
}

#[tokio::test(start_paused = true)]
async fn an_undo_removes_the_owner_reference_again() {
    let (mut stage, owners) = owning(false);
    let report = stage.run().await;
    assert_eq!((report.code(), &owned_secret(&stage)["metadata"]["ownerReferences"]), (0, &owners), "{report:?}");
    let report = take_back(&mut stage).await;
    assert_eq!(report.code(), 0, "{report:?}");
    assert_eq!(owned_secret(&stage)["metadata"]["ownerReferences"], Value::Null);
}
