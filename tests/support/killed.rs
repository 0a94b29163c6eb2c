//! `kill -9` of a real `trueup apply` at each position of its journal, whatever server is behind.
//!
//! Always true: whatever the next run finds open it settles by reading; no delete is sent for an object that is gone.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use futures::future::BoxFuture;
use http::Method;
use serde_json::Value;
use trueup_core::engine::{Action, Plan};

use super::front::{Front, Moment, Which};

/// A guest behind a front with an orphaned Secret in `openshift-config`, and a desk from which it is deleted.
pub trait KillTarget: Sync {
    fn front(&self) -> &Front;

    /// The name of the orphan.
    fn orphan(&self) -> &str;

    fn is_there(&self) -> BoxFuture<'_, bool>;

    /// A file of the desk.
    fn path(&self, name: &str) -> PathBuf;

    /// The binary, with a state folder of its own. `$TMP` stands for the desk's folder, which has a `kubeconfig`.
    fn command(&self, args: &[&str]) -> Command;
}

/// Where the run is killed, and what must come of it.
pub struct Position {
    pub name: &'static str,
    /// The request that is under way when the kill comes, which of its kind it is, and where it is held.
    held: (Method, usize, Moment),
    /// The last kind of record that is in the journal then.
    last: &'static str,
    /// Whether the object is still there then.
    there: bool,
    /// What the next run says about what it found open.
    found: Option<&'static str>,
    /// How the next run ends.
    code: i32,
}

pub static POSITIONS: [Position; 4] = [
    Position {
        name: "before-intent",
        held: (Method::GET, 0, Moment::BeforeTheServer),
        last: "plan-approved",
        there: true,
        found: None,
        code: 0,
    },
    Position {
        name: "after-intent",
        held: (Method::DELETE, 0, Moment::BeforeTheServer),
        last: "intent",
        there: true,
        found: Some("was found unchanged"),
        code: 0,
    },
    Position {
        name: "after-send",
        held: (Method::DELETE, 0, Moment::AfterTheServer),
        last: "intent",
        there: false,
        found: Some("was found gone"),
        code: 4,
    },
    Position {
        name: "after-outcome",
        held: (Method::GET, 1, Moment::BeforeTheServer),
        last: "outcome",
        there: false,
        found: None,
        code: 4,
    },
];

/// Kills a run at this position, and holds what is left and what the next run does to what must be.
pub async fn kill_and_go_on(scene: &dyn KillTarget, position: &Position) {
    let case = position.name;
    let (plan, action) = plan(scene);
    kill_at(scene, position, &plan, &action).await;

    let before = records(scene);
    assert_eq!(last_kind(&before), position.last, "case: {case}: {before:?}");
    assert_eq!(scene.is_there().await, position.there, "case: {case}");
    let history = said(&run(scene, &["history", "show", &plan.id[7..15]]));
    assert_eq!(history.contains("open: result unknown"), position.found.is_some(), "case: {case}: {history}");
    assert_eq!(records(scene), before, "case: {case}: looking at the history changes nothing");

    let next = run(scene, &apply_args(&plan, &action));
    let text = said(&next);
    assert_eq!(next.status.code(), Some(position.code), "case: {case}: {text}");
    match position.found {
        Some(found) => assert!(text.contains(found), "case: {case}: {text}"),
        None => assert!(!text.contains("was found"), "case: {case}: {text}"),
    }
    let deletes = scene.front().through(&which(scene, Method::DELETE));
    assert_eq!((deletes, scene.is_there().await), (1, false), "case: {case}: one delete, and gone");
    let after = records(scene);
    assert_eq!(after[..before.len()], before, "case: {case}: a record was lost");
    let verified = run(scene, &["history", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "case: {case}: {}", said(&verified));
    assert!(!said(&run(scene, &["history"])).contains("open"), "case: {case}: something is still open");
    let undo = run(scene, &["undo", &plan.id[7..15], "--out", "$TMP/undo.json"]);
    assert_eq!(undo.status.code(), Some(0), "case: {case}: it can be brought back: {}", said(&undo));
}

/// All that a shell sees.
pub fn said(output: &Output) -> String {
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}----- stderr\n{err}----- exit {code}\n")
}

/// Starts an apply, waits until its request is held, and kills it.
async fn kill_at(scene: &dyn KillTarget, position: &Position, plan: &Plan, action: &Action) {
    let (method, nth, moment) = position.held.clone();
    let held = scene.front().hold(which(scene, method), nth, moment);
    let mut command = scene.command(&apply_args(plan, action));
    let mut child = Killed(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    held.reached().await;
    child.0.kill().unwrap();
    child.0.wait().unwrap();
}

/// A process that does not outlive a test that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
    }
}

fn which(scene: &dyn KillTarget, method: Method) -> Which {
    Which::new(method, &format!("/namespaces/openshift-config/secrets/{}", scene.orphan()))
}

fn run(scene: &dyn KillTarget, args: &[&str]) -> Output {
    tokio::task::block_in_place(|| scene.command(args).output().unwrap())
}

fn plan(scene: &dyn KillTarget) -> (Plan, Action) {
    let args = ["plan", "--settle", "1s", "--max-deletes", "1000", "--kubeconfig", "$TMP/kubeconfig", "--out"];
    let output = run(scene, &[&args[..], &["$TMP/plan.json"]].concat());
    let text = std::fs::read_to_string(scene.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
    let plan = Plan::read(&text).unwrap();
    let action = plan.actions.iter().find(|action| action.target.name == scene.orphan());
    let action = action.unwrap_or_else(|| panic!("nothing is planned: {}", said(&output))).clone();
    (plan, action)
}

fn apply_args<'a>(plan: &'a Plan, action: &'a Action) -> Vec<&'a str> {
    let fixed = ["apply", "$TMP/plan.json", "--kubeconfig", "$TMP/kubeconfig", "--look-back", "0s"];
    // Many orphans in one plan raise the tier of each, and tests may share a guest.
    [&fixed[..], &["--expect", &plan.id, "--confirm-cluster", "guest-a", "--only", &action.id]].concat()
}

/// The journal's records, as an export shows them.
fn records(scene: &dyn KillTarget) -> Vec<Value> {
    let output = run(scene, &["history", "export"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn last_kind(records: &[Value]) -> &str {
    let record = records.last().and_then(|line| line["record"].as_object());
    record.and_then(|record| record.keys().next()).map_or("none", String::as_str)
}
