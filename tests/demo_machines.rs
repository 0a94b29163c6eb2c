//! The demo's machines, looked at from outside: another process asks the story's API server and its AWS over HTTP, finds
//! every way a login and an annotation go wrong, and writes what can be written.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The set that changes while the story runs: what it is depends on how long a test takes.
const BURST: &str = "pool-burst";

struct Demo {
    child: Child,
    kubeconfig: String,
    folder: tempfile::TempDir,
}

impl Demo {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("TMPDIR", folder.path()).args(["demo", "--headless"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let kubeconfig = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        Self { child, kubeconfig, folder }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("XDG_STATE_HOME", self.folder.path().join("state")).args(arguments);
        command.args(["--kubeconfig", &self.kubeconfig, "--context", "ocp-oslo"]).output().unwrap()
    }

    fn plan(&self, out: &Path) -> Value {
        let out = out.to_str().unwrap();
        let output =
            self.run(&["plan", "-o", "json", "--settle", "0s", "--domain", "machineset-capacity", "--out", out]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(&std::fs::read_to_string(out).unwrap_or_else(|error| panic!("{error}: {stderr}"))).unwrap()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It is gone already when a test ended it.
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Verdict and codes of each set.
fn said(plan: &Value) -> BTreeMap<String, String> {
    let word = |finding: &Value| {
        let codes = finding["codes"].as_array().unwrap().iter().map(|code| format!(" {}", code.as_str().unwrap()));
        format!("{}{}", finding["verdict"].as_str().unwrap(), codes.collect::<String>())
    };
    let name = |finding: &Value| finding["subject"]["name"].as_str().unwrap().to_owned();
    let all = plan["findings"].as_array().unwrap().iter();
    all.map(|finding| (name(finding), word(finding))).filter(|(name, _)| name != BURST).collect()
}

#[test]
fn every_step_of_a_login_goes_wrong_somewhere_and_what_is_known_is_written() {
    let demo = Demo::start();
    let file = demo.folder.path().join("plan.json");
    let plan = demo.plan(&file);
    let expected = [
        ("pool-anonymous", "credentials-none"),
        ("pool-arm", "keys-disagree"),
        ("pool-from-azure", "not-aws"),
        ("pool-gpu", "drift family-absent"),
        ("pool-half-made", "invalid-spec"),
        ("pool-mac", "instance-type-unknown architecture-unknown"),
        ("pool-migrated", "skipped authoritative-api"),
        ("pool-new", "missing"),
        ("pool-paused", "skipped paused"),
        ("pool-profile", "secret-invalid"),
        ("pool-revoked", "denied"),
        ("pool-secretless", "secret-missing"),
        ("pool-slice", "match fractional-gpu"),
        ("pool-sts", "token-unreadable secret-web-identity"),
        ("pool-typo", "instance-type-unknown"),
        ("pool-unset", "instance-type-empty"),
        ("pool-web", "match"),
        ("pool-zone", "region-invalid"),
    ];
    let expected: BTreeMap<String, String> =
        expected.iter().map(|(name, said)| ((*name).to_owned(), (*said).to_owned())).collect();
    assert_eq!(said(&plan), expected);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("opens nothing") && !text.contains("AKIA"), "a key is in the plan");

    let id = plan["id"].as_str().unwrap().trim_start_matches("sha256:")[..8].to_owned();
    let actions = plan["actions"].as_array().unwrap().iter();
    let ours = actions.filter(|action| action["target"]["name"] != BURST).map(|action| action["id"].as_str().unwrap());
    let mut arguments = vec!["apply", file.to_str().unwrap(), "--expect", &id];
    for action in ours {
        arguments.extend(["--only", action]);
    }
    let applied = demo.run(&arguments);
    let told = String::from_utf8_lossy(&applied.stdout).into_owned() + &String::from_utf8_lossy(&applied.stderr);
    assert_eq!(applied.status.code(), Some(0), "{told}");
    let after = said(&demo.plan(&demo.folder.path().join("after.json")));
    for name in ["pool-new", "pool-gpu", "pool-arm"] {
        assert_eq!(after[name], "match", "{name}");
    }
}
