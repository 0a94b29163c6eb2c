//! Plan, apply, history and undo by the real binary on real clusters.

use serde_json::{Value, json};
use trueup_core::engine::Plan;

use super::desk::{AS_READER, Acting, Desk};
use crate::support::killed::said;

#[tokio::test(flavor = "multi_thread")]
async fn a_planned_delete_is_reported_and_undone_byte_for_byte() {
    let Some(acting) = Acting::shared().await else {
        return;
    };
    let (name, desk) = ("comes-back", Desk::new(acting));
    let before = acting.orphan(name).await;
    let (plan, planned, action) = desk.plan(name, &[]);
    assert_eq!(planned.status.code(), Some(2), "{}", said(&planned));
    assert_eq!(action.preconditions.uid.as_deref(), before["metadata"]["uid"].as_str());

    let applied = desk.run(&desk.apply_args("$TMP/plan.json", &plan, &action));
    let text = said(&applied);
    assert_eq!((applied.status.code(), acting.deletes(name)), (Some(0), 1), "{text}");
    assert!(text.contains("gone") && text.contains(name), "{text}");
    assert_eq!(acting.look(name).await, None, "{text}");
    assert_whole(&desk);

    let short = &plan.id[7..15];
    let undone = desk.run(&[
        "undo",
        &format!("{short}/{}", action.id),
        "--out",
        "$TMP/undo.json",
        "--kubeconfig",
        "$TMP/kubeconfig",
    ]);
    assert_eq!(undone.status.code(), Some(0), "{}", said(&undone));
    let undo = Plan::read(&std::fs::read_to_string(desk.path("undo.json")).unwrap()).unwrap();
    let args = desk.apply_args("$TMP/undo.json", &undo, &undo.actions[0]);
    let restored = desk.run(&[&args[..], &["-o", "json"]].concat());
    let report: Value = serde_json::from_slice(&restored.stdout).unwrap_or_else(|_| panic!("{}", said(&restored)));
    assert_eq!((&report["summary"], restored.status.code()), (&json!({"restored": 1}), Some(0)), "{}", said(&restored));

    let after = acting.look(name).await.expect("it was brought back");
    for field in ["data", "type", "kind", "apiVersion"] {
        assert_eq!(after[field], before[field], "field: {field}");
    }
    assert_eq!(after["metadata"]["labels"], before["metadata"]["labels"]);
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"], "it is another object");
    assert_whole(&desk);
    let again = desk.run(&args);
    assert_eq!(again.status.code(), Some(4), "the name is taken: {}", said(&again));
    assert_eq!(acting.deletes(name), 1);
}

fn assert_whole(desk: &Desk) {
    let verified = desk.run(&["history", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", said(&verified));
    assert!(said(&verified).contains("the journal is intact"), "{}", said(&verified));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_delete_permission_is_previewed_and_refused_by_apply() {
    let Some(acting) = Acting::shared().await else {
        return;
    };
    let (name, desk) = ("out-of-reach", Desk::new(acting));
    acting.orphan(name).await;
    let (plan, planned, action) = desk.plan(name, &AS_READER);
    assert_eq!(planned.status.code(), Some(3), "{}", said(&planned));
    let why = &action.blocked_by[0];
    assert_eq!(why.gate.as_str(), "access", "{why:?}");
    assert!(why.why.contains("you may not delete secrets in openshift-config of guest-a"), "{why:?}");
    assert!(said(&planned).contains("may not delete secrets"), "the preview names the verb: {}", said(&planned));

    let applied = desk.run(&[&desk.apply_args("$TMP/plan.json", &plan, &action)[..], &AS_READER].concat());
    let text = said(&applied);
    assert_eq!((applied.status.code(), acting.deletes(name)), (Some(3), 0), "{text}");
    assert!(text.contains("may not delete secrets"), "{text}");
    assert!(acting.look(name).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_does_not_transfer_the_permissions_of_its_author() {
    let Some(acting) = Acting::shared().await else {
        return;
    };
    let (name, desk) = ("not-lent", Desk::new(acting));
    acting.orphan(name).await;
    let (plan, _, action) = desk.plan(name, &[]);
    let applied = desk.run(&[&desk.apply_args("$TMP/plan.json", &plan, &action)[..], &AS_READER].concat());
    let text = said(&applied);
    assert_eq!(acting.deletes(name), 0, "{text}");
    assert!(applied.status.code() == Some(3) && text.contains("may not delete secrets"), "{text}");
    assert!(acting.look(name).await.is_some());
}
