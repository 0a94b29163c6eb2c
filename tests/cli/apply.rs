//! `trueup apply` and `trueup undo` as a shell sees them: the binary, simulated clusters behind real ports, a state
//! folder of their own.

use std::process::{Command, Output};

use serde_json::{Value, json};
use trueup_core::engine::Plan;
use trueup_sim::{Fault, FaultAction, Matcher, Verb};

use super::fixture::guest_with_an_orphan;
use super::live::{Fleet, fleet};

pub const ORPHAN: &str = "openshift-config/old-client";
const CANARY: &str = "old-s3cret";
const CANARY_BASE64: &str = "b2xkLXMzY3JldA";

/// Runs the binary beside the simulated servers. `$TMP` stands for the fleet's folder. `TRUEUP_BIN` names another build of
/// it, such as the one that is measured.
pub fn trueup(dir: &std::path::Path, args: &[&str]) -> Output {
    let tmp = dir.to_str().unwrap();
    let args = args.iter().map(|arg| arg.replace("$TMP", tmp));
    let built = std::env::var_os("TRUEUP_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_trueup").into());
    let mut command = Command::new(built);
    let output = command.env_clear().env("XDG_STATE_HOME", dir.join("state")).env("USER", "anna").current_dir("/");
    tokio::task::block_in_place(|| output.args(args).output().unwrap())
}

pub fn text(output: &Output) -> String {
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}----- stderr\n{err}----- exit {code}\n")
}

/// Plans on the fleet and saves the plan; answers with it.
pub fn planned(fleet: &Fleet) -> Plan {
    planned_with(fleet, &[])
}

pub fn planned_with(fleet: &Fleet, more: &[&str]) -> Plan {
    let args = ["plan", "--settle", "1s", "--kubeconfig", "$TMP/kubeconfig", "--out", "$TMP/plan.json"];
    let output = trueup(fleet.dir.path(), &[&args, more].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    Plan::read(&std::fs::read_to_string(fleet.dir.path().join("plan.json")).unwrap()).unwrap()
}

pub fn apply(fleet: &Fleet, args: &[&str]) -> Output {
    let all = ["apply", "$TMP/plan.json", "--kubeconfig", "$TMP/kubeconfig", "--look-back", "0s"];
    trueup(fleet.dir.path(), &[&all, args].concat())
}

pub fn deletes(fleet: &Fleet) -> usize {
    let logs = [fleet.guest.request_log(), fleet.mgmt.request_log()];
    logs.iter().flatten().filter(|logged| logged.method == "DELETE").count()
}

pub fn is_there(fleet: &Fleet) -> bool {
    fleet.guest.object("v1", "Secret", ORPHAN).is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_applied_reported_and_undone_and_no_secret_leaks() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    let before = fleet.guest.object("v1", "Secret", ORPHAN).unwrap();
    let applied = apply(&fleet, &["--expect", &plan.id]);
    let said = text(&applied);
    assert_eq!((applied.status.code(), is_there(&fleet), deletes(&fleet)), (Some(0), false, 1), "{said}");
    assert!(said.contains("gone") && said.contains(ORPHAN), "{said}");

    let short = &plan.id[7..15];
    let history = text(&trueup(fleet.dir.path(), &["history"]));
    assert!(history.contains(short) && history.contains("1 gone"), "{history}");
    let verified = trueup(fleet.dir.path(), &["history", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified));

    let undo = trueup(fleet.dir.path(), &["undo", short, "--kubeconfig", "$TMP/kubeconfig", "--out", "$TMP/undo.json"]);
    assert_eq!(undo.status.code(), Some(0), "{}", text(&undo));
    let undo = Plan::read(&std::fs::read_to_string(fleet.dir.path().join("undo.json")).unwrap()).unwrap();
    let args = ["apply", "$TMP/undo.json", "--kubeconfig", "$TMP/kubeconfig", "-o", "json", "--expect"];
    let restored = trueup(fleet.dir.path(), &[&args[..], &[&undo.id[7..15]]].concat());
    let report: Value = serde_json::from_slice(&restored.stdout).unwrap_or_else(|_| panic!("{}", text(&restored)));
    assert_eq!((&report["summary"], &report["exit"]), (&json!({ "restored": 1 }), &json!(0)));
    let after = fleet.guest.object("v1", "Secret", ORPHAN).unwrap();
    assert_eq!((&after["data"], &after["metadata"]["labels"]), (&before["data"], &before["metadata"]["labels"]));
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);

    let again = trueup(fleet.dir.path(), &[&args[..], &[&undo.id[7..15]]].concat());
    assert_eq!(again.status.code(), Some(4), "the name is taken: {}", text(&again));
    let replanned = planned(&fleet);
    let finding = replanned.findings.iter().find(|finding| finding.id.ends_with(ORPHAN)).expect("it is judged again");
    assert_eq!((finding.verdict.as_str(), finding.codes.as_slice()), ("orphan-certain", &["restored".to_owned()][..]));
    let delete = replanned.actions.iter().find(|action| finding.actions.contains(&action.id)).expect("it is offered");
    assert!(!delete.selected, "what undo put back is not selected again");
    let mut written = said + &history + &text(&restored);
    for entry in walk(&fleet.dir.path().join("state")) {
        written += &format!("{}\n", entry.display());
        written += &String::from_utf8_lossy(&std::fs::read(entry).unwrap());
    }
    assert!(!written.contains(CANARY) && !written.contains(CANARY_BASE64), "a secret leaked");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_have_their_codes_and_send_nothing() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    let file = fleet.dir.path().join("plan.json");
    let whole = std::fs::read_to_string(&file).unwrap();
    let kept = |text: &str| text.to_owned();
    let edited = |text: &str| text.replace("old-client", "client");
    let cut = |text: &str| text[..text.len() / 2].to_owned();
    let newer = |text: &str| text.replace("trueup/plan/v1", "trueup/plan/v9");
    let short = plan.id[7..15].to_owned();
    type Change<'c> = &'c dyn Fn(&str) -> String;
    let cases: [(&str, Change<'_>, Vec<&str>, i32, &str); 9] = [
        ("no id", &kept, vec![], 1, "--expect"),
        ("a short id for T3", &kept, vec!["--expect", &short], 3, "whole id"),
        ("another id", &kept, vec!["--expect", "0123456789abcdef"], 4, "this plan is"),
        ("no such action", &kept, vec!["--expect", &plan.id, "--only", "a99"], 1, "no action a99"),
        ("read-only", &kept, vec!["--expect", &plan.id, "--read-only"], 3, "read-only"),
        ("onto a folder", &kept, vec!["--expect", &plan.id, "--from", "$TMP"], 3, "cannot be written to"),
        ("edited", &edited, vec!["--expect", &plan.id], 4, "plan was edited"),
        ("cut off", &cut, vec!["--expect", &plan.id], 1, "trueup plan --out"),
        ("of a newer schema", &newer, vec!["--expect", &plan.id], 1, "trueup/plan/v9"),
    ];
    for (case, change, args, code, message) in cases {
        std::fs::write(&file, change(&whole)).unwrap();
        let output = apply(&fleet, &args);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "case: {case}: {said}");
        assert!(said.contains(message), "case: {case}: {said}");
        assert_eq!((deletes(&fleet), is_there(&fleet)), (0, true), "case: {case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reference_created_after_the_plan_keeps_the_object() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    for (sim, api, kind, key) in [
        (&fleet.mgmt, "hypershift.openshift.io/v1beta1", "HostedCluster", "clusters/guest-a"),
        (&fleet.mgmt, "hypershift.openshift.io/v1beta1", "HostedControlPlane", "clusters-guest-a/guest-a"),
    ] {
        let edited = sim.edit(api, kind, key, |object| {
            let client = &mut object["spec"]["configuration"]["authentication"]["oidcProviders"][0]["oidcClients"][0];
            client["clientSecret"]["name"] = json!("old-client");
        });
        edited.unwrap();
    }
    let output = apply(&fleet, &["--expect", &plan.id]);
    let said = text(&output);
    assert_eq!((output.status.code(), deletes(&fleet)), (Some(4), 0), "{said}");
    assert!(said.contains("a1 refused"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_cluster_under_the_same_name_gets_nothing() {
    let (first, second) = (fleet().await, fleet().await);
    let plan = planned(&first);
    second.guest.edit("v1", "Namespace", "kube-system", |object| object["metadata"]["uid"] = json!("another")).unwrap();
    std::fs::copy(first.dir.path().join("plan.json"), second.dir.path().join("plan.json")).unwrap();
    let output = apply(&second, &["--expect", &plan.id, "--foreign-plan", "--confirm-cluster", "guest-a"]);
    let said = text(&output);
    assert_eq!((output.status.code(), deletes(&second)), (Some(3), 0), "{said}");
    assert!(said.contains("identity"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_plan_is_refused_and_an_empty_one_is_one_line() {
    let dir = guest_with_an_orphan();
    trueup(dir.path(), &["plan", "--from", "$TMP", "--out", "$TMP/plan.json"]);
    let file = dir.path().join("plan.json");
    let mut plan = Plan::read(&std::fs::read_to_string(&file).unwrap()).unwrap();
    // The folder's clock stands still; a plan that was just made is what is meant here.
    plan.created_at = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap();
    plan.expires_at = plan.created_at + jiff::SignedDuration::from_mins(15);
    let save = |plan: &mut Plan| {
        plan.id = plan.computed_id().unwrap();
        std::fs::write(&file, serde_json::to_string(plan).unwrap()).unwrap();
        trueup(dir.path(), &["apply", "$TMP/plan.json", "--foreign-plan", "--expect", &plan.id])
    };
    let refused = save(&mut plan);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused));
    plan.actions.clear();
    let empty = save(&mut plan);
    assert_eq!(empty.status.code(), Some(0), "{}", text(&empty));
    plan.expires_at = plan.created_at;
    let expired = save(&mut plan);
    assert_eq!(expired.status.code(), Some(4), "{}", text(&expired));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_folder_readable_by_others_stops_apply() {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    let fleet = fleet().await;
    let plan = planned(&fleet);
    let state = fleet.dir.path().join("state/trueup");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = apply(&fleet, &["--expect", &plan.id]);
    let said = text(&output);
    assert_eq!((output.status.code(), deletes(&fleet)), (Some(1), 0), "{said}");
    assert!(said.contains("chmod 700"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_during_its_delete_is_recovered_by_the_next() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    fleet.guest.fault(Fault::once(Matcher::of("secrets").verb(Verb::Delete), FaultAction::Stall));
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("XDG_STATE_HOME", fleet.dir.path().join("state"))
        .args(["apply", "--expect", &plan.id, "--kubeconfig"])
        .args([fleet.dir.path().join("kubeconfig"), fleet.dir.path().join("plan.json")])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while deletes(&fleet) == 0 {
        tokio::task::yield_now().await;
    }
    child.kill().await.unwrap();
    let output = apply(&fleet, &["--expect", &plan.id]);
    let said = text(&output);
    assert!(said.contains("was found unchanged"), "{said}");
    assert_eq!((output.status.code(), is_there(&fleet), deletes(&fleet)), (Some(0), false, 2), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_after_the_delete_ends_the_run_with_its_report() {
    let fleet = fleet().await;
    let plan = planned(&fleet);
    let child = tokio::process::Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("XDG_STATE_HOME", fleet.dir.path().join("state"))
        .args(["apply", "--expect", &plan.id, "--look-back", "10m", "--kubeconfig"])
        .args([fleet.dir.path().join("kubeconfig"), fleet.dir.path().join("plan.json")])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while is_there(&fleet) {
        tokio::task::yield_now().await;
    }
    let id = child.id().unwrap().to_string();
    tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("1 gone; stopped"), "{said}");
}
