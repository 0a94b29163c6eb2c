//! An account that several clusters share, by the binary: two management clusters, a VPC that another cluster uses,
//! resources that are not the cluster's, and what an apply leaves for the next process.
//!
//! Always true: what is not the cluster's is compared before and after, resource by resource.

use jiff::ToSpan as _;
use serde_json::{Value, json};
use trueup_core::engine::{Action, Plan};
use trueup_sim::ibm::{Thing, ThingKind};
use trueup_sim::{Fault, FaultAction, Matcher};

use super::powervs_stage::{ACCOUNT, Pace, Set, Stage, Tags, owner_tags, said, stage, ticked};

const NOTHING: [&str; 0] = [];

/// `verdict codes` of the finding about a resource, seen from a cluster (`@power/delta`) or from none (`@-`).
fn about(plan: &Plan, resource: &str) -> String {
    let of = |id: &str| id.rsplit_once(&format!("/{resource}")).is_some_and(|(_, rest)| rest.is_empty());
    let finding = plan.findings.iter().find(|finding| of(&finding.id));
    let finding = finding.unwrap_or_else(|| panic!("no finding about {resource}"));
    [&[finding.verdict.clone()][..], &finding.codes].concat().join(" ")
}

fn id_of(action: &Action) -> &str {
    action.target.cloud.as_ref().map_or("", |cloud| cloud.id.as_str())
}

/// The deletes of a plan that no gate blocks.
fn open_deletes(plan: &Plan) -> Vec<&str> {
    plan.actions.iter().filter(|one| one.is_delete() && one.blocked_by.is_empty()).map(id_of).collect()
}

fn action<'p>(plan: &'p Plan, verb: &str, id: &str) -> &'p Action {
    let found = plan.actions.iter().find(|one| one.verb().as_str() == verb && id_of(one) == id);
    found.unwrap_or_else(|| panic!("no {verb} of {id}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn two_management_clusters_of_one_account_are_needed_for_any_delete_in_it() {
    let stage = stage(&Set { further: 1, ..Set::default() }).await;
    stage.move_reef(&stage.further[0]);
    stage.delete_cluster();
    let alone = stage.plan_in(&["--context", "mgmt"]);
    assert_eq!(about(&alone, "cos-reef@-"), "unknown fleet-incomplete", "its owner lives in the other");
    assert_eq!(about(&alone, "cos-quarry@-"), "unknown fleet-incomplete");
    assert_eq!(open_deletes(&alone), NOTHING);

    let others = stage.others();
    let both = stage.plan();
    assert_eq!(about(&both, "cos-reef@power/reef"), "owned");
    assert_eq!(about(&both, "cos-quarry@-"), "orphan");
    let applied = stage.apply(&both);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    assert_eq!(stage.left(), [] as [String; 0]);
    assert_eq!(stage.others(), others, "the other management cluster's resources are as they were");
}

/// A VPC that another cluster refers to outlives the cluster that made it. What is in it is judged by its own tags.
#[tokio::test(flavor = "multi_thread")]
async fn a_shared_vpc_outlives_the_cluster_that_made_it() {
    let stage = stage(&Set { further: 1, ..Set::default() }).await;
    stage.move_reef(&stage.further[0]);
    stage.edit_reef(&stage.further[0], |object| {
        object["spec"]["vpc"] = json!({ "type": "Reference", "reference": { "id": "r006-delta-vpc" } });
        object["status"]["vpc"]["id"] = json!("r006-delta-vpc");
    });
    stage.delete_cluster();
    let others = stage.others();
    let plan = stage.plan();
    assert_eq!(about(&plan, "r006-delta-vpc@power/delta"), "in-use");
    assert_eq!(about(&plan, "r006-delta-vpc@power/reef"), "reference");
    let actions = plan.actions.iter().filter(|one| one.is_delete() && id_of(one) == "r006-delta-vpc");
    assert_eq!(actions.count(), 0, "it is not offered for deletion");
    let applied = stage.apply(&plan);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    assert_eq!(stage.left(), ["r006-delta-vpc"]);
    assert_eq!(stage.others(), others);
}

/// A management cluster that fails between plan and apply takes the orphan's delete with it, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_fails_after_the_plan_blocks_the_orphan_delete_and_no_other_action() {
    let lists = || Matcher::of("ibmpowervsclusters.infrastructure.cluster.x-k8s.io");
    let refused = |code| FaultAction::Refuse { code, retry_after_seconds: None };
    for (case, fault) in [("forbidden", refused(403)), ("an empty page of a proxy", FaultAction::Html)] {
        let stage = stage(&Set { tags: Tags::Missing, further: 1, ..Set::default() }).await;
        let plan = stage.plan();
        let orphan = action(&plan, "delete", "cos-quarry");
        assert!(orphan.blocked_by.is_empty(), "case: {case}");
        let tag = action(&plan, "tag", "cos-delta");
        stage.further[0].fault(Fault::always(lists(), fault));
        let applied = stage.apply_only(&plan, &[&orphan.id, &tag.id]);
        assert_eq!(stage.deleted(), NOTHING, "case: {case}: {}", said(&applied));
        assert_eq!(stage.tags("cos-delta"), owner_tags(), "case: {case}: {}", said(&applied));
        assert!(said(&applied).contains("mgmt-1"), "case: {case}: it says which: {}", said(&applied));
        assert_ne!(applied.status.code(), Some(0), "case: {case}");

        stage.further[0].clear_faults();
        let again = stage.plan();
        let orphan = action(&again, "delete", "cos-quarry");
        let applied = stage.apply_only(&again, &[&orphan.id]);
        assert_eq!(applied.status.code(), Some(0), "case: {case}: {}", said(&applied));
        assert_eq!(stage.deleted(), ["cos-quarry"], "case: {case}: once every member is read");
    }
}

/// A VPC of the cluster's default name, made by someone else before there was a cluster.
fn found_before(stage: &Stage, id: &str, tags: &[&str]) {
    let created = stage.account.with(|_, now| now) - 240.hours();
    let vpc = Thing::new(ThingKind::Vpc, id, "delta-vpc", "us-south", ACCOUNT, created);
    stage.account.seed(vpc.tagged(tags));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_adopted_resource_is_never_ticked_and_is_taken_over_on_purpose() {
    let stage = stage(&Set { tags: Tags::Missing, ..Set::default() }).await;
    found_before(&stage, "r006-old", &[]);
    stage.edit(|object| object["status"]["vpc"]["id"] = json!("r006-old"));
    let plan = stage.plan();
    assert_eq!(about(&plan, "r006-old@power/delta"), "adopted created-before");
    assert!(ticked(&plan).iter().all(|line| !line.contains("r006-old")), "{:?}", ticked(&plan));
    let applied = stage.apply(&plan);
    assert_eq!((applied.status.code(), stage.tags("r006-old")), (Some(0), Vec::new()), "{}", said(&applied));

    let again = stage.plan();
    let take_over = action(&again, "tag", "r006-old");
    assert_eq!((take_over.selected, take_over.reason.as_str()), (false, "take-over"));
    let applied = stage.apply_only(&again, &[&take_over.id]);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    assert_eq!(stage.tags("r006-old"), owner_tags());
    assert_eq!(about(&stage.plan(), "r006-old@power/delta"), "owned");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_of_the_same_name_is_an_error_before_the_provider_adopts_it() {
    for (case, tags, code) in [
        ("made before the cluster", &[][..], "created-before"),
        ("marked by another owner", &["kubernetes.io-cluster-other:owned"], "owner-mark"),
    ] {
        let stage = stage(&Set::default()).await;
        found_before(&stage, "r006-old", tags);
        stage.edit(|object| object["status"]["vpc"] = Value::Null);
        let plan = stage.plan();
        assert_eq!(about(&plan, "r006-old@power/delta"), format!("name-taken {code}"), "case: {case}");
        assert!(plan.actions.iter().all(|one| id_of(one) != "r006-old"), "case: {case}: no action");
        let explained = stage.run(&["explain", "r006-old@power/delta"]);
        assert!(said(&explained).contains("name"), "case: {case}: {}", said(&explained));
    }
}

fn remembered(stage: &Stage) -> Value {
    let annotation = &stage.cluster()["metadata"]["annotations"]["trueup/attached-tags"];
    annotation.as_str().map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
}

/// Undo takes the tags off and forgets them; a tag that was there before is neither.
#[tokio::test(flavor = "multi_thread")]
async fn undo_of_user_tags_takes_the_memory_back_too() {
    let stage = stage(&Set::default()).await;
    let vpc = stage.account.with(|server, _| server.thing("r006-delta-vpc").unwrap().clone());
    stage.account.seed(vpc.tagged(&["env:stage"]));
    stage.edit(|object| object["metadata"]["annotations"]["trueup/user-tags"] = json!("{\"env\":\"stage\"}"));
    let plan = stage.plan();
    let applied = stage.apply(&plan);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    let memory = remembered(&stage);
    assert_eq!(memory["cos-delta"], json!(["env:stage"]));
    assert_eq!(memory["r006-delta-vpc"], Value::Null, "it was there before");

    let made = stage.run(&["undo", &plan.id[7..15], "--out", "$TMP/undo.json"]);
    let text = std::fs::read_to_string(stage.path("undo.json")).unwrap_or_else(|_| panic!("{}", said(&made)));
    let undo = Plan::read(&text).unwrap();
    std::fs::write(stage.path(&format!("{}.json", &undo.id[7..15])), &text).unwrap();
    let undone = stage.apply(&undo);
    assert_eq!(undone.status.code(), Some(0), "{}", said(&undone));
    assert_eq!(remembered(&stage), json!({}));
    assert_eq!(stage.tags("cos-delta"), owner_tags());
    assert!(stage.tags("r006-delta-vpc").contains(&"env:stage".to_owned()), "what we did not attach stays");
    stage.assert_journal_settled("undone");
}

/// The index is behind, and each command is a process of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_process_asks_the_tagging_service_for_what_the_last_one_tagged() {
    let stage = stage(&Set { tags: Tags::Missing, pace: Pace::Runs, ..Set::default() }).await;
    let plan = stage.plan();
    assert!(ticked(&plan).contains("tag cos-delta"), "{:?}", ticked(&plan));
    let applied = stage.apply(&plan);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    let next = stage.plan();
    assert_eq!(ticked(&next), [].into(), "the index does not have the tags yet");
    assert_eq!(about(&next, "cos-delta@power/delta"), "owned");
}
