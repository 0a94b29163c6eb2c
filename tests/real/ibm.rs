//! The simulated IBM Cloud account, judged by IBM's own clients.
//!
//! Not here: the checks themselves (`ibm/suite.py`), installing the clients (`ibm/venv.sh`).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::real::folder;

const HOW_TO_INSTALL: &str = "install them with tests/real/ibm/venv.sh and set TRUEUP_REAL_DIR";

/// The interpreter that has IBM's clients, or nothing and a line that says how to get it.
fn python() -> Option<PathBuf> {
    let python = folder().join("ibm-venv/bin/python");
    if python.exists() {
        return Some(python);
    }
    let required = std::env::var("TRUEUP_REAL").is_ok_and(|value| value == "required");
    assert!(!required, "no IBM clients at {}, but TRUEUP_REAL=required; {HOW_TO_INSTALL}", python.display());
    // Not eprintln: the test harness would keep that to itself when the test passes.
    let line = format!("skipped ibm: no IBM clients; {HOW_TO_INSTALL}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
    None
}

/// A demo that serves its account, until it is dropped.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have exited already, which the test then reports.
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

#[test]
fn ibm_clients_accept_the_simulated_account() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .env_clear()
        .env("TMPDIR", folder.path())
        .args(["demo", "--headless", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let _demo = Demo(child);
    let account = lines.nth(1).unwrap();
    let (url, key) = account.strip_prefix("IBM Cloud account: ").unwrap().split_once(" (API key ").unwrap();
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/ibm/suite.py");
    let ran = Command::new(python)
        .arg(suite)
        .args([url, key.trim_end_matches(')')])
        .env_clear()
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let last = said.lines().last().unwrap_or_default();
    let summary: Value = serde_json::from_str(last).unwrap_or_else(|_| {
        panic!("the suite did not end: {said}\n{}", String::from_utf8_lossy(&ran.stderr));
    });
    assert_eq!(summary["failures"], serde_json::json!([]), "{}", summary["failures"]);
    let calls = summary["calls"].as_u64().unwrap();
    assert!(calls > 150, "only {calls} calls were made");
    println!("{calls} calls, 0 failures");
}
