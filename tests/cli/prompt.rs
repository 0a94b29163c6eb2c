//! The question on a terminal: what is shown, which word is the right one, and what an interrupt does.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use trueup_core::engine::Plan;
use trueup_sim::{Fault, FaultAction, Matcher, Verb};

use super::apply::{ORPHAN, apply, deletes, is_there, planned, text};
use super::live::{Fleet, fleet};

/// How long a test waits for what has to come. Nothing takes this long on a machine that is well.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary at a terminal of 80 columns.
pub struct AtTerminal {
    child: Box<dyn portable_pty::Child + Send + Sync>,
    keys: Box<dyn std::io::Write + Send>,
    screen: Receiver<Vec<u8>>,
    seen: String,
    _master: Box<dyn MasterPty + Send>,
}

impl AtTerminal {
    fn apply(fleet: &Fleet, args: &[&str]) -> Self {
        let files = ["apply", "$TMP/plan.json", "--kubeconfig", "$TMP/kubeconfig"];
        Self::run(fleet.dir.path(), &[&files, args].concat())
    }

    /// `$TMP` stands for the folder, which also holds the state.
    pub fn run(dir: &Path, args: &[&str]) -> Self {
        let pty = native_pty_system();
        let pair = pty.openpty(PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear();
        command.env("XDG_STATE_HOME", dir.join("state"));
        command.env("LANG", "C.UTF-8");
        command.cwd("/");
        command.args(args.iter().map(|arg| arg.replace("$TMP", dir.to_str().unwrap())));
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { child, keys, screen, seen: String::new(), _master: pair.master }
    }

    /// Waits until this is on the screen.
    pub fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.seen.contains(text) {
            let left = until.saturating_duration_since(Instant::now());
            let bytes = self.screen.recv_timeout(left).unwrap_or_else(|_| panic!("no {text:?} in: {}", self.seen));
            self.seen += &String::from_utf8_lossy(&bytes);
        }
    }

    pub fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits for the end. Returns the exit code and everything that was on the screen.
    pub fn end(mut self) -> (u32, String) {
        let code = self.child.wait().unwrap().exit_code();
        while let Ok(bytes) = self.screen.recv_timeout(PATIENCE) {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
        (code, self.seen)
    }
}

/// Runs a question up to its answer.
fn answered(fleet: &Fleet, asked: &str, answer: &str) -> (u32, String) {
    tokio::task::block_in_place(|| {
        let mut terminal = AtTerminal::apply(fleet, &["--look-back", "0s"]);
        terminal.wait_for(asked);
        terminal.type_in(answer);
        terminal.end()
    })
}

const ASKED: &str = "cluster guest-a, T3. Type `guest-a` to approve:";

#[tokio::test(flavor = "multi_thread")]
async fn the_actions_are_listed_and_only_the_right_answer_applies_them() {
    let fleet = fleet().await;
    planned(&fleet);
    let cases = [
        ("another name", "guest-b\n", 3, "not the word that was asked for; nothing was sent"),
        ("a letter that looks alike", "guest-\u{430}\n", 3, "not the word that was asked for; nothing was sent"),
        ("enter alone", "\n", 3, "not the word that was asked for; nothing was sent"),
        ("the end of input", "\u{4}", 3, "no answer; nothing was sent"),
        ("ctrl-c", "\u{3}", 130, ASKED),
    ];
    for (case, answer, code, message) in cases {
        let (found, screen) = answered(&fleet, ASKED, answer);
        assert_eq!((found, deletes(&fleet), is_there(&fleet)), (code, 0, true), "case: {case}: {screen}");
        assert!(screen.contains(&format!("delete Secret {ORPHAN}")), "case: {case}: the list: {screen}");
        assert!(screen.contains(message), "case: {case}: {screen}");
    }
    let (code, screen) = answered(&fleet, ASKED, "guest-a\n");
    assert_eq!((code, deletes(&fleet), is_there(&fleet)), (0, 1, false), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_whose_name_looks_like_another_is_shown_escaped() {
    let fleet = fleet().await;
    let mut plan = planned(&fleet);
    let alike = "guest-\u{430}";
    let rename = |name: &mut String| *name = name.replace("guest-a", alike);
    plan.targets.iter_mut().for_each(|target| rename(&mut target.cluster));
    plan.actions.iter_mut().for_each(|action| rename(&mut action.cluster));
    save(&fleet, &mut plan);
    let output = apply(&fleet, &["--foreign-plan", "--expect", &plan.id, "--confirm-cluster", alike]);
    let said = text(&output);
    assert_eq!((output.status.code(), deletes(&fleet)), (Some(3), 0), "{said}");
    assert!(said.contains(r"guest-\u{430}"), "{said}");
}

fn save(fleet: &Fleet, plan: &mut Plan) {
    plan.id = plan.computed_id().unwrap();
    std::fs::write(fleet.dir.path().join("plan.json"), serde_json::to_string(plan).unwrap()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_during_a_run_ends_after_the_action_and_reports_what_was_done() {
    let fleet = fleet().await;
    planned(&fleet);
    // The server asks to wait, so that the interrupt comes between two attempts.
    let busy = FaultAction::Refuse { code: 429, retry_after_seconds: Some(40) };
    fleet.guest.fault(Fault::once(Matcher::of("secrets").verb(Verb::Delete), busy));
    let (code, screen) = tokio::task::block_in_place(|| {
        let mut terminal = AtTerminal::apply(&fleet, &["--look-back", "10m"]);
        terminal.wait_for(ASKED);
        terminal.type_in("guest-a\n");
        while deletes(&fleet) == 0 {
            std::thread::yield_now();
        }
        terminal.type_in("\u{3}");
        terminal.end()
    });
    assert_eq!((code, deletes(&fleet), is_there(&fleet)), (2, 1, true), "{screen}");
    assert!(screen.contains("did not take it, and the run was stopped before the next attempt"), "{screen}");
    assert!(screen.contains("1 failed; stopped"), "{screen}");
}
