//! Suites in Python that use clients others wrote, against the demo.
//!
//! Elsewhere: installing the clients (`venv.sh`), the suites (`ibm/suite.py`, `mcp/suite.py`, `formats/suite.py`).

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::real;

/// A suite whose clients are installed.
pub struct Suite {
    python: PathBuf,
    name: &'static str,
}

impl Suite {
    /// The suite, or nothing and a line that says how to install its clients.
    ///
    /// Panics when `TRUEUP_REAL=required` and they are missing.
    pub fn named(name: &'static str) -> Option<Self> {
        let python = real::folder().join(format!("{name}-venv/bin/python"));
        if python.exists() {
            return Some(Self { python, name });
        }
        let how = format!("install them with tests/real/venv.sh {name} and set TRUEUP_REAL_DIR");
        let required = std::env::var("TRUEUP_REAL").is_ok_and(|value| value == "required");
        assert!(!required, "no {name} clients at {}, but TRUEUP_REAL=required; {how}", python.display());
        // Not eprintln: the test harness would keep that to itself when the test passes.
        let line = format!("skipped {name}: no {name} clients; {how}\n");
        std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
        None
    }

    /// Runs it and returns how many calls it made. Panics when one was not answered as expected.
    pub fn run(&self, home: &Path, args: &[&str]) -> u64 {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/real/{}/suite.py", self.name));
        let ran = Command::new(&self.python).arg(script).args(args).env_clear().env("HOME", home).output().unwrap();
        let stdout = String::from_utf8_lossy(&ran.stdout);
        let last = stdout.lines().last().unwrap_or_default();
        let summary: Value = serde_json::from_str(last).unwrap_or_else(|_| {
            panic!("the suite did not end: {stdout}\n{}", String::from_utf8_lossy(&ran.stderr));
        });
        assert_eq!(summary["failures"], serde_json::json!([]), "{}", summary["failures"]);
        summary["calls"].as_u64().unwrap()
    }
}

/// A demo that serves its clusters and its account, until it is dropped.
pub struct Demo {
    process: Child,
    pub kubeconfig: String,
    /// URL and API key.
    pub account: (String, String),
}

impl Demo {
    pub fn start(folder: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_trueup"))
            .env_clear()
            .env("TMPDIR", folder)
            .args(["demo", "--headless", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
        let (kubeconfig, account) = (lines.next().unwrap(), lines.next().unwrap());
        let (url, key) = account.strip_prefix("IBM Cloud account: ").unwrap().split_once(" (API key ").unwrap();
        Self { process, kubeconfig, account: (url.to_owned(), key.trim_end_matches(')').to_owned()) }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have exited already, which the test then reports.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}
