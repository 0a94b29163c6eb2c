//! Output formats, read by programs that others wrote (`formats/suite.py`): JSON Schema, RFC 8785, YAML, XML Schema and
//! OpenMetrics.
//!
//! Published schemas of SARIF and JUnit are used when they are in `schemas` of the folder for real servers.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::clients::{Demo, Suite};
use crate::support::real;

fn trueup(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.env_clear().env("TMPDIR", folder).env("XDG_STATE_HOME", folder.join("state")).args(args).output().unwrap()
}

#[test]
fn independent_readers_accept_every_format_and_compute_the_same_id() {
    let Some(suite) = Suite::named("formats") else { return };
    let dir = tempfile::tempdir().unwrap();
    let demo = Demo::start(dir.path());
    let files = dir.path().join("files");
    fs::create_dir(&files).unwrap();
    let plan = files.join("plan.json");
    let plan = plan.to_str().unwrap();
    let made = trueup(dir.path(), &["plan", "--kubeconfig", &demo.kubeconfig, "--settle", "0s", "--out", plan]);
    assert!(made.status.code().is_some_and(|code| code != 1), "{}", String::from_utf8_lossy(&made.stderr));
    for format in ["yaml", "junit", "sarif", "openmetrics"] {
        let shown = trueup(dir.path(), &["show", plan, "--kubeconfig", &demo.kubeconfig, "-o", format]);
        fs::write(files.join(format!("plan.{format}")), shown.stdout).unwrap();
    }
    let schemas = real::folder().join("schemas");
    let calls = suite.run(dir.path(), &[files.to_str().unwrap(), schemas.to_str().unwrap()]);
    assert!(calls >= 18, "only {calls} comparisons were made");
    println!("{calls} comparisons, 0 failures");
}
