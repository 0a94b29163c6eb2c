//! What a dead cluster left, torn down as one group, with `kill -9` before and after each delete.

use std::process::Stdio;

use futures::FutureExt as _;
use http::Method;

use super::front::{Moment, Which};
use super::powervs_life::{ALL_KILLS, Killed, all_of};
use super::powervs_stage::{Set, Stage, UID, said, stage};

/// The order of a teardown. The network of a DHCP server goes with it, so that its own delete is not sent.
const ORDER: [&str; 10] = [
    "con-delta-pvs",
    "con-delta-vpc",
    "tg-delta",
    "r006-delta-lb",
    "r006-delta-sg",
    "0717-delta-subnet",
    "r006-delta-vpc",
    "dhcp-delta",
    "ws-delta",
    "cos-delta",
];

fn group() -> String {
    format!("leaked/{UID}")
}

async fn leaked() -> Stage {
    let stage = stage(&Set::default()).await;
    stage.leak_cluster();
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leaked_set_is_one_choice_that_deletes_it_in_order_and_nothing_else() {
    let stage = leaked().await;
    let others = stage.others();
    let plan = stage.plan();
    assert!(plan.actions.iter().filter(|one| one.is_delete()).all(|one| !one.selected), "none is ticked");
    let applied = stage.apply_only(&plan, &[&group()]);
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    assert_eq!(stage.deleted(), ORDER);
    assert_eq!(stage.left(), [] as [String; 0]);
    assert_eq!(stage.others(), others, "what is not in the set is as it was");
}

/// Kills the run at one delete, plans again, and applies the group again.
async fn kill_at(nth: usize, moment: Moment) {
    let case = format!("{nth} {moment:?}");
    let stage = leaked().await;
    let others = stage.others();
    let plan = stage.plan();
    let held = stage.front.hold(Which::new(Method::DELETE, ""), nth, moment);
    let args = stage.only_args(&plan, &[&group()]);
    let mut command = stage.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    held.reached().await;
    child.0.kill().unwrap();
    child.0.wait().unwrap();

    let again = stage.plan();
    let is_left = again.actions.iter().any(|one| one.group.as_deref() == Some(&group()));
    if is_left {
        let applied = stage.apply_only(&again, &[&group()]);
        assert_eq!(applied.status.code(), Some(0), "case: {case}: {}", said(&applied));
    }
    assert_eq!(stage.deleted(), ORDER, "case: {case}: every delete once, in order");
    assert_eq!(stage.left(), [] as [String; 0], "case: {case}");
    assert_eq!(stage.others(), others, "case: {case}: what is not in the set is as it was");
    stage.assert_journal_settled(&case);
}

/// Two kills for each delete: a sample, or all with `TRUEUP_ALL_KILLS`.
#[tokio::test(flavor = "multi_thread")]
async fn a_leaked_set_killed_at_any_delete_is_deleted_once_by_the_next_run() {
    let all = std::env::var_os(ALL_KILLS).is_some();
    let mut kills = Vec::new();
    for nth in 0..ORDER.len() {
        for moment in [Moment::BeforeTheServer, Moment::AfterTheServer] {
            let is_sample = match moment {
                Moment::BeforeTheServer => nth == 0 || nth == 6,
                Moment::AfterTheServer => nth == 2 || nth == ORDER.len() - 1,
            };
            if all || is_sample {
                kills.push(kill_at(nth, moment).boxed());
            }
        }
    }
    all_of(kills).await;
}
