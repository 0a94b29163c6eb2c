//! The two front ends on the same world: apply, undo and the recovery of an interrupted run leave the same journal.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use trueup_core::engine::journal::{Record, StateFolder, read};
use trueup_core::engine::{Plan, short_id};
use trueup_sim::{Fault, FaultAction, Matcher, Verb};

use super::apply::{planned_with, text, trueup};
use super::live::{Fleet, fleet};
use super::pty::{Program, Pty};

pub const CONFIG: &str = "[safety]\nsettle = \"1s\"\n";

const CONNECTION: [&str; 4] = ["--kubeconfig", "$TMP/kubeconfig", "--config", "$TMP/config.toml"];

/// Deletes the orphan, then undoes it.
type FrontEnd = fn(&Fleet);

fn headless(fleet: &Fleet) {
    let plan = planned_with(fleet, &CONNECTION[2..]);
    let run = |code: i32, args: &[&str]| {
        let output = trueup(fleet.dir.path(), &[args, &CONNECTION[..]].concat());
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    };
    run(0, &["apply", "$TMP/plan.json", "--look-back", "0s", "--expect", &plan.id]);
    run(0, &["undo", short_id(&plan.id), "--out", "$TMP/undo.json"]);
    let undo = Plan::read(&std::fs::read_to_string(fleet.dir.path().join("undo.json")).unwrap()).unwrap();
    run(0, &["apply", "$TMP/undo.json", "--look-back", "0s", "--expect", &undo.id]);
}

fn console(fleet: &Fleet) {
    let folder = fleet.dir.path();
    let args = CONNECTION.map(|arg| arg.replace("$TMP", folder.to_str().unwrap()));
    let mut pty = Program::new(env!("CARGO_BIN_EXE_trueup"))
        .args(&args.each_ref().map(String::as_str))
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("USER", "anna")
        .env("LANG", "C.UTF-8")
        .folder("/")
        .size(120, 40)
        .start();
    pty.wait_for_text("guest-a");
    pty.send("1/verdict:orphan-certain\r");
    pty.wait_for_text("Secret openshift-config/old-client");
    approve(&mut pty, "r", "−1 delete");
    approve(&mut pty, "u", "+1 create");
    pty.send("\x03");
    assert!(pty.expect_clean_exit().success());
}

/// Plans with a key, until the plan has this total; types the confirmation and waits for the end of the run.
fn approve(pty: &mut Pty, key: &str, total: &str) {
    confirm(pty, key, total);
    pty.wait_for_text("finished");
}

/// Plans with a key, until the plan has this total, and types the confirmation.
pub fn confirm(pty: &mut Pty, key: &str, total: &str) {
    pty.send(key);
    pty.wait_for_text("[Plan]");
    pty.send_until("R", total, |screen| screen.contains(total));
    pty.send("a");
    pty.wait_for_text("to approve");
    if pty.text().contains("Press enter") {
        pty.send_until("\r", "the run to start", |screen| screen.contains("[Activity"));
    } else {
        // Clears the line first: sending it twice is the same as once.
        pty.send_until("\x15guest-a", "the confirmation", |screen| screen.contains("> guest-a"));
        pty.send("\r");
    }
}

/// Starts an apply and kills it while its delete is under way, which the server drops: the intent stays open.
fn interrupted(fleet: &Fleet) {
    let plan = planned_with(fleet, &CONNECTION[2..]);
    fleet.guest.fault(Fault::once(Matcher::of("secrets").verb(Verb::Delete), FaultAction::Stall));
    let args = ["apply", "$TMP/plan.json", "--expect", &plan.id];
    let args = [&args[..], &CONNECTION[..]].concat();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("XDG_STATE_HOME", fleet.dir.path().join("state"))
        .env("USER", "anna")
        .args(args.iter().map(|arg| arg.replace("$TMP", fleet.dir.path().to_str().unwrap())))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !fleet.guest.request_log().iter().any(|logged| logged.method == "DELETE") {
        assert!(child.try_wait().unwrap().is_none(), "the apply ended before its delete");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The records of the journal without what two runs cannot share: times, ids of plans, sealed files, the way of approval.
fn journal(fleet: &Fleet) -> Vec<Value> {
    let folder = StateFolder::look(&fleet.dir.path().join("state/trueup")).unwrap().unwrap();
    let records: Vec<Record> = read(&folder).unwrap().lines.into_iter().map(|line| line.record.redacted()).collect();
    let mut plans: Vec<String> = Vec::new();
    let shared = |record: &Record| {
        let mut value = serde_json::to_value(record).unwrap();
        if let Some(plan) = record.plan()
            && !plans.iter().any(|known| known == plan)
        {
            plans.push(plan.to_owned());
        }
        let fields = value.as_object_mut().unwrap().values_mut().next().unwrap().as_object_mut().unwrap();
        for (name, field) in fields.iter_mut() {
            match name.as_str() {
                "at" | "deadline" | "how" => *field = json!("…"),
                // What was typed depends on how the plan was approved.
                "clusters" => field.as_array_mut().into_iter().flatten().for_each(|cluster| {
                    cluster.as_object_mut().unwrap().remove("typed");
                }),
                "plan" | "undoes" => *field = json!(plans.iter().position(|known| json!(known) == *field)),
                _ => {}
            }
        }
        value
    };
    records.iter().map(shared).collect()
}

/// The journal of a front end that finds an interrupted run, and the verbs of its records.
async fn journal_of(front_end: FrontEnd) -> (Vec<Value>, Vec<String>) {
    let fleet = fleet().await;
    std::fs::write(fleet.dir.path().join("config.toml"), CONFIG).unwrap();
    tokio::task::block_in_place(|| {
        interrupted(&fleet);
        front_end(&fleet);
    });
    let journal = journal(&fleet);
    let kinds = journal.iter().flat_map(|record| record.as_object().unwrap().keys().cloned()).collect();
    (journal, kinds)
}

#[tokio::test(flavor = "multi_thread")]
async fn both_front_ends_recover_apply_and_undo_with_the_same_journal() {
    let (from_headless, kinds) = journal_of(headless).await;
    let run = ["plan-approved", "backup", "intent", "outcome", "verified", "finished"];
    let undo = ["plan-approved", "intent", "outcome", "verified", "finished"];
    let expected = [&run[..3], &["resolved"], &run[..], &undo[..]].concat();
    assert_eq!(kinds, expected);
    let (from_console, _) = journal_of(console).await;
    assert_eq!(from_headless, from_console);
}
