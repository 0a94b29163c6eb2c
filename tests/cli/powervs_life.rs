//! A cluster on PowerVS from its first tag to its end, by the binary: check, plan and executor together, on an account behind
//! a port. Then the same end with `kill -9` at every write.
//!
//! Always true: what is not the cluster's is compared before and after, resource by resource.

use std::process::{Child, Stdio};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::Method;
use serde_json::{Value, json};
use trueup_core::engine::Plan;

use super::front::{Moment, Which};
use super::powervs_stage::{Gateway, Pace, Set, Stage, Tags, owner_tags, said, stage, ticked};

/// Every kill is played when this is set, as CI does; without it a few are, so that the tests of a working day stay short.
pub const ALL_KILLS: &str = "TRUEUP_ALL_KILLS";

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

    // What the apply attached it has remembered, on the shared gateway too.
    annotate(&stage, "trueup/user-tags", &json!({ "env": "prod" }));
    let both = [tagged.clone(), tagged.iter().map(|line| line.replace("tag ", "untag ")).collect()].concat();
    plan_and_apply(&stage, "the user wants another one", &both);
    for id in &own {
        let [uuid, owner] = owner_tags();
        assert_eq!(stage.tags(id), ["env:prod".to_owned(), uuid, owner], "{id}");
    }

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
    let finalizers = stage.cluster()["metadata"]["finalizers"].clone();
    assert_eq!(finalizers, json!(["ibmpowervscluster.infrastructure.cluster.x-k8s.io"]), "which are its provider's");

    let after = stage.plan();
    assert_eq!(ticked(&after), [].into(), "nothing is left to do");
}

/// The connection, the balancer and the workspace are seen under way, and waited for.
#[tokio::test(flavor = "multi_thread")]
async fn create_and_teardown_leave_nothing_of_the_cluster_and_everything_of_others() {
    let slow = &["connections/con-delta-pvs", "load_balancers/r006-delta-lb", "resource_instances/ws-delta"];
    live_and_die(Set { tags: Tags::Missing, pace: Pace::Jumps { slow }, ..Set::default() }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_gateway_keeps_its_tags_and_connections_from_create_to_teardown() {
    live_and_die(Set { tags: Tags::Missing, gateway: Gateway::Shared, ..Set::default() }).await;
}

/// The index of tags is half a minute behind all the while.
#[tokio::test(flavor = "multi_thread")]
async fn a_tag_replaces_another_while_the_index_is_stale() {
    let stage = stage(&Set { pace: Pace::Runs, ..Set::default() }).await;
    let own = stage.taggable();
    for id in &own {
        // Before the first list, so that the index has it.
        let thing = stage.account.with(|server, _| server.thing(id).unwrap().clone());
        stage.account.seed(thing.tagged(&["env:stage"]));
    }
    annotate(&stage, "trueup/attached-tags", &json!(["env:stage"]));
    annotate(&stage, "trueup/user-tags", &json!({ "env": "prod" }));
    plan_and_apply(&stage, "the user wants another one", &[each("tag", &own), each("untag", &own)].concat());
    for id in &own {
        let [uuid, owner] = owner_tags();
        assert_eq!(stage.tags(id), ["env:prod".to_owned(), uuid, owner], "{id}");
    }
}

/// A process that does not outlive a test that fails.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
    }
}

/// Where a run is killed: before or after the server handles a request.
#[derive(Debug, Clone)]
struct Kill {
    which: Which,
    /// Which of its kind, counted from 0.
    nth: usize,
    moment: Moment,
}

/// What the operator does after a killed run.
#[derive(Debug, Clone, Copy)]
enum Next {
    PlansAgain,
    AppliesTheSame,
}

impl Next {
    fn plan(self, stage: &Stage, killed: Plan) -> Plan {
        match self {
            Self::PlansAgain => stage.plan(),
            Self::AppliesTheSame => killed,
        }
    }
}

/// Starts to apply a plan, waits until the request is held, and kills the process.
async fn kill(stage: &Stage, plan: &Plan, kill: Kill) {
    let held = stage.front.hold(kill.which, kill.nth, kill.moment);
    let args = stage.apply_args(plan);
    let mut command = stage.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    held.reached().await;
    child.0.kill().unwrap();
    child.0.wait().unwrap();
}

/// Kills a teardown, then does what its user would: looks at the history, and applies again.
async fn kill_a_teardown(set: Set, at: Kill, next: Next) {
    let case = format!("{at:?}, {next:?}");
    let stage = stage(&set).await;
    let others = stage.others();
    stage.delete_cluster();
    let plan = stage.plan();
    kill(&stage, &plan, at).await;
    let before = stage.records();

    stage.assert_journal_settled(&case);
    let again = next.plan(&stage, plan);
    let applied = stage.apply(&again);
    assert_eq!(applied.status.code(), Some(0), "case: {case}: {}", said(&applied));
    assert_eq!(stage.deleted(), stage.order(), "case: {case}: every delete once, in the order that works");
    assert_eq!(stage.left(), [] as [String; 0], "case: {case}");
    assert_eq!(stage.others(), others, "case: {case}: what is not the cluster's is as it was");
    assert_eq!(stage.records()[..before.len()], before, "case: {case}: a record was lost");
    stage.assert_journal_settled(&case);
}

/// Kills a run that puts tags on, and applies again.
async fn kill_a_tagging(at: Kill, next: Next) {
    let case = format!("{at:?}, {next:?}");
    let stage = stage(&Set { tags: Tags::Missing, ..Set::default() }).await;
    let (own, others) = (stage.taggable(), stage.others());
    let plan = stage.plan();
    kill(&stage, &plan, at).await;
    stage.assert_journal_settled(&case);
    let again = next.plan(&stage, plan);
    let applied = stage.apply(&again);
    assert_eq!(applied.status.code(), Some(0), "case: {case}: {}", said(&applied));
    for id in &own {
        assert_eq!(stage.tags(id), owner_tags(), "case: {case}: {id}");
    }
    assert_eq!(stage.front.through(&attach()), own.len(), "case: {case}: one request each");
    assert_eq!(stage.others(), others, "case: {case}: what is not the cluster's is as it was");
    stage.assert_journal_settled(&case);
}

fn delete() -> Which {
    Which::new(Method::DELETE, "")
}

fn attach() -> Which {
    Which::new(Method::POST, "/v3/tags/attach")
}

/// How many runs are under way at once: most of each is waiting, and a machine with two cores has other tests to run.
const AT_ONCE: usize = 6;

pub async fn all_of(kills: impl IntoIterator<Item = BoxFuture<'static, ()>>) {
    let mut runs = stream::iter(kills).map(tokio::spawn).buffer_unordered(AT_ONCE);
    while let Some(ended) = runs.next().await {
        ended.unwrap();
    }
}

/// Nine deletes, each killed before it arrives and after it was carried out, each followed by a new plan and by the same one:
/// 36 runs: a sample, or all with `TRUEUP_ALL_KILLS`.
#[tokio::test(flavor = "multi_thread")]
async fn a_teardown_killed_at_any_delete_ends_the_same_with_every_delete_sent_once() {
    let all = std::env::var_os(ALL_KILLS).is_some();
    let mut kills = Vec::new();
    for nth in 0..9 {
        for (moment, next) in [
            (Moment::BeforeTheServer, Next::PlansAgain),
            (Moment::AfterTheServer, Next::PlansAgain),
            (Moment::BeforeTheServer, Next::AppliesTheSame),
            (Moment::AfterTheServer, Next::AppliesTheSame),
        ] {
            let is_sample = match (moment, next) {
                (Moment::BeforeTheServer, Next::PlansAgain) => nth == 0 || nth == 6,
                (Moment::AfterTheServer, Next::PlansAgain) => nth == 3 || nth == 8,
                (Moment::BeforeTheServer, Next::AppliesTheSame) => nth == 7,
                (Moment::AfterTheServer, Next::AppliesTheSame) => nth == 2,
            };
            if all || is_sample {
                let at = Kill { which: delete(), nth, moment };
                kills.push(kill_a_teardown(Set::default(), at, next).boxed());
            }
        }
    }
    all_of(kills).await;
}

/// The balancer is still going when the next run begins: what needs it gone waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn deletes_of_a_killed_run_are_awaited() {
    let kills = [Next::PlansAgain, Next::AppliesTheSame].map(|next| {
        let at = Kill { which: delete(), nth: 3, moment: Moment::AfterTheServer };
        let pace = Pace::Jumps { slow: &["load_balancers/"] };
        kill_a_teardown(Set { pace, ..Set::default() }, at, next).boxed()
    });
    all_of(kills).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_tagging_run_is_completed_with_one_request_per_resource() {
    let all = std::env::var_os(ALL_KILLS).is_some();
    let places = if all { 0..8 } else { 2..4 };
    let moments = [Moment::BeforeTheServer, Moment::AfterTheServer];
    let nexts = [Next::PlansAgain, Next::AppliesTheSame];
    let kills = places.flat_map(|nth| moments.map(|moment| (nth, moment))).flat_map(|(nth, moment)| {
        nexts.map(|next| kill_a_tagging(Kill { which: attach(), nth, moment }, next).boxed())
    });
    all_of(kills.collect::<Vec<_>>()).await;
}
