//! Three operators with state folders of their own delete the same object at the same moment, one of them by the console:
//! one did it, and only that journal says so.

use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use serde_json::{Value, json};
use tokio::sync::{Barrier, watch};
use trueup_core::engine::Plan;
use trueup_sim::{Listening, SimCluster, listen};

use super::apply::{ORPHAN, text};
use super::fixture::{COPIES, GUEST_CONFIG, HOSTED, folder};
use super::front::{Front, FrontBody, Upstream};
use super::front_ends::{CONFIG, confirm};
use super::live::sim;
use super::pty::{Program, Pty};

/// Operators with a shell; the third has the console.
const SHELLS: [&str; 2] = ["ann", "bob"];
const CONSOLE: &str = "eve";

/// A guest that carries out deletes only when every operator has sent one: each has read the object before it was gone.
/// The delete that arrived first is carried out last.
struct DeletesTogether {
    guest: SimCluster,
    all_sent: Barrier,
    arrived: AtomicUsize,
    carried_out: watch::Sender<usize>,
}

impl DeletesTogether {
    async fn delete(&self, request: Request<Bytes>) -> anyhow::Result<Response<FrontBody>> {
        let nth = self.arrived.fetch_add(1, Ordering::SeqCst);
        self.all_sent.wait().await;
        if nth == 0 {
            self.carried_out.subscribe().wait_for(|done| *done == SHELLS.len()).await?;
        }
        let answer = self.guest.forward(request).await;
        self.carried_out.send_modify(|done| *done += 1);
        answer
    }
}

impl Upstream for Arc<DeletesTogether> {
    fn forward(&self, request: Request<Bytes>) -> BoxFuture<'_, anyhow::Result<Response<FrontBody>>> {
        let is_delete = request.method() == Method::DELETE && !is_dry_run(&request);
        if is_delete { Box::pin(self.delete(request)) } else { self.guest.forward(request) }
    }
}

fn is_dry_run(request: &Request<Bytes>) -> bool {
    let options: Value = serde_json::from_slice(request.body()).unwrap_or_default();
    options["dryRun"].as_array().is_some_and(|parts| !parts.is_empty())
}

/// The fleet that all operators share.
struct Shared {
    dir: tempfile::TempDir,
    guest: Arc<DeletesTogether>,
    _mgmt: Listening,
}

async fn shared() -> Shared {
    let guest = Arc::new(DeletesTogether {
        guest: sim("guest-a", 2, &[GUEST_CONFIG, COPIES]),
        all_sent: Barrier::new(SHELLS.len() + 1),
        arrived: AtomicUsize::new(0),
        carried_out: watch::Sender::new(0),
    });
    let front = Front::start(guest.clone());
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "admin",
        "clusters": [{"name": "c", "cluster": {"server": front.url()}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "admin", "context": {"cluster": "c", "user": "u"}}],
    });
    let encoded = base64::engine::general_purpose::STANDARD.encode(kubeconfig.to_string());
    let mgmt = sim("mgmt", 1, &[HOSTED]);
    mgmt.seed(json!({"apiVersion": "v1", "kind": "Secret", "data": {"kubeconfig": encoded},
        "metadata": {"name": "guest-a-admin-kubeconfig", "namespace": "clusters"}}))
        .unwrap();
    let mgmt = listen("127.0.0.1:0".parse().unwrap(), vec![("mgmt".to_owned(), mgmt)]).await.unwrap();
    let dir = folder(&[("kubeconfig", &mgmt.kubeconfig()), ("config.toml", CONFIG)]);
    Shared { dir, guest, _mgmt: mgmt }
}

/// What the journal of an operator has for the delete.
#[derive(Debug, PartialEq, Eq)]
struct Recorded {
    http: u64,
    state: String,
    why: String,
}

impl Recorded {
    fn new(http: u64, state: &str, why: &str) -> Self {
        Self { http, state: state.to_owned(), why: why.to_owned() }
    }
}

impl Shared {
    fn path(&self, file: &str) -> String {
        self.dir.path().join(file).to_str().unwrap().to_owned()
    }

    /// The arguments of one operator. `$TMP` stands for the operator's folder.
    fn args(&self, operator: &str, args: &[&str]) -> Vec<String> {
        let (kubeconfig, config) = (self.path("kubeconfig"), self.path("config.toml"));
        let shared = ["--kubeconfig", &kubeconfig, "--config", &config];
        args.iter().chain(&shared).map(|arg| arg.replace("$TMP", &self.path(operator))).collect()
    }

    /// The binary as one operator runs it.
    fn command(&self, operator: &str, args: &[&str]) -> Command {
        let own = self.dir.path().join(operator);
        std::fs::create_dir_all(&own).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("XDG_STATE_HOME", own.join("state")).env("USER", operator).current_dir("/");
        command.args(self.args(operator, args));
        command
    }

    fn run(&self, operator: &str, args: &[&str]) -> Output {
        self.command(operator, args).output().unwrap()
    }

    fn plan(&self, operator: &str) -> Plan {
        let output = self.run(operator, &["plan", "--settle", "1s", "--out", "$TMP/plan.json"]);
        assert_eq!(output.status.code(), Some(2), "{operator}: {}", text(&output));
        let file = self.dir.path().join(operator).join("plan.json");
        Plan::read(&std::fs::read_to_string(file).unwrap()).unwrap()
    }

    fn console(&self, operator: &str) -> Pty {
        let args = self.args(operator, &[]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let program = Program::new(env!("CARGO_BIN_EXE_trueup")).args(&args).env("USER", operator);
        let state = self.dir.path().join(operator).join("state");
        program.env("XDG_STATE_HOME", state).env("LANG", "C.UTF-8").folder("/").size(120, 40).start()
    }

    /// The answer that the operator's journal has for the delete, its verified state, and the reason.
    fn journal(&self, operator: &str) -> Recorded {
        let output = self.run(operator, &["history", "export"]);
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let records: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].take()).collect();
        let one = |kind: &str| {
            let mut all = records.iter().filter_map(|record| record.get(kind));
            let first = all.next().unwrap_or_else(|| panic!("{operator}: no {kind} in {lines}"));
            assert!(all.next().is_none(), "{operator}: more than one {kind} in {lines}");
            first.clone()
        };
        let (outcome, verified) = (one("outcome"), one("verified"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let http = outcome["http"].as_u64().unwrap_or_default();
        Recorded { http, state: text(&verified["state"]), why: text(&verified["why"]) }
    }
}

fn already_gone() -> Recorded {
    Recorded::new(404, "skipped", "already gone")
}

/// What an operator with a shell reads. Returns whether the delete is the operator's own.
fn is_own_delete(shared: &Shared, operator: &str, plan: &Plan, output: &Output) -> bool {
    let said = text(output);
    assert_eq!(output.status.code(), Some(0), "{operator}: {said}");
    let recorded = shared.journal(operator);
    if recorded == Recorded::new(200, "gone", "") {
        assert!(said.contains("1 gone") && !said.contains("already"), "{operator}: {said}");
        return true;
    }
    assert_eq!(recorded, already_gone(), "{operator}");
    assert!(said.contains(": already gone") && said.contains("1 already"), "{operator}: {said}");
    let history = text(&shared.run(operator, &["history", "show", &plan.id[7..15]]));
    assert!(history.contains("already gone"), "{operator}: {history}");
    let undo = shared.run(operator, &["undo", &plan.id[7..15], "--out", "$TMP/undo.json"]);
    assert_ne!(undo.status.code(), Some(0), "{operator} has nothing to undo: {}", text(&undo));
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn of_three_operators_that_delete_the_same_object_one_journal_claims_the_delete() {
    let shared = shared().await;
    tokio::task::block_in_place(|| {
        let plans = SHELLS.map(|operator| (operator, shared.plan(operator)));
        let mut console = shared.console(CONSOLE);
        console.wait_for_text("guest-a");
        console.send("1/verdict:orphan-certain\r");
        console.wait_for_text("Secret openshift-config/old-client");
        confirm(&mut console, "r", "−1 delete");
        console.wait_for("the delete to be sent", |_| shared.guest.arrived.load(Ordering::SeqCst) > 0);
        let runs = plans.map(|(operator, plan)| {
            let args = ["apply", "$TMP/plan.json", "--look-back", "0s", "--expect", &plan.id];
            let mut command = shared.command(operator, &args);
            (operator, plan, std::thread::spawn(move || command.output().unwrap()))
        });
        let own = runs.map(|(operator, plan, run)| is_own_delete(&shared, operator, &plan, &run.join().unwrap()));
        assert_eq!(own.iter().filter(|own| **own).count(), 1, "{own:?}");
        console.wait_for_text("finished");
        console.wait_for_text("already gone");
        assert!(!console.text().contains("1 of 1 done"), "{}", console.picture());
        console.send("\x03");
        assert!(console.expect_clean_exit().success());
        assert_eq!(shared.journal(CONSOLE), already_gone());
    });
    assert!(shared.guest.guest.object("v1", "Secret", ORPHAN).is_err());
}
