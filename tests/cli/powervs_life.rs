//! A cluster on PowerVS from its first tag to its end, by the binary: check, plan and executor together, on an account behind
//! a port. Then the same end with `kill -9` at every write.
//!
//! Always true: what is not the cluster's is compared before and after, resource by resource.

use std::process::{Child, Stdio};

use http::Method;
use serde_json::{Value, json};

use super::front::{Moment, Which};
use super::powervs_stage::{Gateway, Set, Stage, Tags, owner_tags, said, stage, ticked};

/// Every kill is played when this is set, as CI does; without it, a few are, so that the tests of a working day stay short.
const ALL_KILLS: &str = "TRUEUP_ALL_KILLS";

/// Plans, holds what is ticked to what is expected, carries it out, and leaves nothing open.
fn plan_and_apply(stage: &Stage, step: &str, expected: &[String]) {
    let plan = stage.plan();
    let expected: std::collections::BTreeSet<String> = expected.iter().cloned().collect();
    assert_eq!(ticked(&plan), expected, "step: {step}");
    let applied = stage.apply(&plan);
    assert_eq!(applied.status.code(), Some(0), "step: {step}: {}", said(&applied));
    stage.assert_journal_settled(step);
}

fn annotate(stage: &Stage, key: &str, value: &Value) {
    stage.edit(|object| object["metadata"]["annotations"][key] = json!(value.to_string()));
}

fn each(verb: &str, ids: &[String]) -> Vec<String> {
    ids.iter().map(|id| format!("{verb} {id}")).collect()
}

async fn live_and_die(set: Set) {
    let stage = stage(&set).await;
    let others = stage.others();
    let own = stage.taggable();

    let mut tagged = each("tag", &own);
    if set.gateway == Gateway::Shared {
        tagged.push("tag tg-backbone".to_owned());
    }
    plan_and_apply(&stage, "tags go on", &tagged);
    for id in &own {
        assert_eq!(stage.tags(id), owner_tags(), "{id}");
    }

    annotate(&stage, "trueup/user-tags", &json!({ "env": "stage" }));
    plan_and_apply(&stage, "the user wants a tag", &tagged);
    assert!(own.iter().all(|id| stage.tags(id).contains(&"env:stage".to_owned())));

    annotate(&stage, "trueup/attached-tags", &json!(["env:stage"]));
    annotate(&stage, "trueup/user-tags", &json!({ "env": "prod" }));
    let both = [tagged.clone(), tagged.iter().map(|line| line.replace("tag ", "untag ")).collect()].concat();
    plan_and_apply(&stage, "the user wants another one", &both);
    for id in &own {
        let [uuid, owner] = owner_tags();
        assert_eq!(stage.tags(id), ["env:prod".to_owned(), uuid, owner], "{id}");
    }

    annotate(&stage, "trueup/attached-tags", &json!(["env:prod"]));
    stage.delete_cluster();
    let order = stage.order();
    let mut teardown: Vec<String> = order.iter().map(|id| format!("delete {id}")).collect();
    if set.gateway == Gateway::Shared {
        teardown.push("untag tg-backbone".to_owned());
    }
    plan_and_apply(&stage, "the cluster is deleted", &teardown);
    assert_eq!(stage.deleted(), order, "one delete each, in the order that works");
    assert_eq!(stage.left(), [] as [String; 0]);
    assert_eq!(stage.others(), others, "what is not the cluster's is as it was");

    let after = stage.plan();
    assert_eq!(ticked(&after), [].into(), "nothing is left to do");
}

/// The connection, the balancer and the workspace are seen under way, and waited for.
#[tokio::test(flavor = "multi_thread")]
async fn a_whole_life_leaves_nothing_of_the_cluster_and_everything_of_others() {
    let slow = &["connections/con-delta-pvs", "load_balancers/r006-delta-lb", "resource_instances/ws-delta"];
    live_and_die(Set { tags: Tags::Missing, slow, ..Set::default() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_of_others_keeps_its_own_tags_and_connections_through_a_whole_life() {
    live_and_die(Set { tags: Tags::Missing, gateway: Gateway::Shared, ..Set::default() }).await;
}

/// A process that does not outlive a test that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
    }
}

/// Where a run is killed: around a request that is held at the account's door.
#[derive(Debug, Clone)]
struct Kill {
    which: Which,
    nth: usize,
    moment: Moment,
}

/// Kills a teardown, then does what its user would: looks at the history, plans anew, applies.
async fn kill_and_go_on(set: Set, kill: Kill) {
    let case = format!("{kill:?}");
    let stage = stage(&set).await;
    let others = stage.others();
    stage.delete_cluster();
    let plan = stage.plan();
    let held = stage.front.hold(kill.which, kill.nth, kill.moment);
    let args = stage.apply_args(&plan);
    let mut command = stage.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    held.reached().await;
    child.0.kill().unwrap();
    child.0.wait().unwrap();
    let before = stage.records();

    stage.assert_journal_settled(&case);
    let again = stage.plan();
    let applied = stage.apply(&again);
    assert_eq!(applied.status.code(), Some(0), "case: {case}: {}", said(&applied));
    assert_eq!(stage.deleted(), stage.order(), "case: {case}: every delete once, in the order that works");
    assert_eq!(stage.left(), [] as [String; 0], "case: {case}");
    assert_eq!(stage.others(), others, "case: {case}: what is not the cluster's is as it was");
    assert_eq!(stage.records()[..before.len()], before, "case: {case}: a record was lost");
    stage.assert_journal_settled(&case);
}

async fn all_of(kills: Vec<(Set, Kill)>) {
    let each = kills.into_iter().map(|(set, kill)| tokio::spawn(kill_and_go_on(set, kill)));
    for ended in futures::future::join_all(each).await {
        ended.unwrap();
    }
}

/// Nine deletes, each killed before it arrives and after it was carried out: eighteen runs, of which four are played unless
/// `TRUEUP_ALL_KILLS` is set.
#[tokio::test(flavor = "multi_thread")]
async fn a_teardown_killed_at_any_delete_comes_to_the_same_end_with_every_delete_once() {
    let all = std::env::var_os(ALL_KILLS).is_some();
    let mut kills = Vec::new();
    for nth in 0..9 {
        for moment in [Moment::BeforeTheServer, Moment::AfterTheServer] {
            let is_sample = matches!((nth, moment), (0 | 6, Moment::BeforeTheServer) | (3 | 8, Moment::AfterTheServer));
            if all || is_sample {
                kills.push((Set::default(), Kill { which: Which::new(Method::DELETE, ""), nth, moment }));
            }
        }
    }
    all_of(kills).await;
}
