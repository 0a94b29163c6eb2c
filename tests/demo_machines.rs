//! The demo's machines as `trueup demo` shows them: every way a login and an annotation go wrong, and what can be written.

#![expect(
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

const NAMESPACE: &str = "openshift-machine-api/";

/// Ends with the test.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        // It is gone already when a test ended it.
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// The first table, by the set a line is of.
#[derive(Default)]
struct Shown {
    verdicts: BTreeMap<String, String>,
    /// The sets whose action is selected.
    selected: BTreeSet<String>,
    /// The sets whose action is not.
    offered: BTreeSet<String>,
}

fn shown() -> Shown {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.env_clear().env("TMPDIR", folder.path()).arg("demo").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut demo = Demo(command.spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut shown = Shown::default();
    let table = lines.by_ref().take_while(|line| !line.contains(" findings: "));
    for line in table.filter(|line| line.contains(NAMESPACE)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|word| word.starts_with(NAMESPACE)).unwrap();
        let name = words[place].trim_start_matches(NAMESPACE).to_owned();
        if line.trim_start().starts_with("[x]") {
            shown.selected.insert(name);
        } else if line.trim_start().starts_with("[ ]") {
            shown.offered.insert(name);
        } else {
            shown.verdicts.insert(name, words[place + 1].to_owned());
        }
    }
    shown
}

#[test]
fn every_step_of_a_login_fails_somewhere_and_known_types_are_planned() {
    let Shown { mut verdicts, mut selected, offered } = shown();
    // It changes while the story runs: what it is depends on how long this takes.
    verdicts.remove("pool-burst");
    selected.remove("pool-burst");
    let expected = [
        ("pool-anonymous", "credentials-none"),
        ("pool-arm", "keys-disagree"),
        ("pool-by-hand", "credentials-partial"),
        ("pool-from-settings", "unknown"),
        ("pool-gpu", "drift"),
        ("pool-half-made", "invalid-spec"),
        ("pool-mac", "instance-type-unknown"),
        ("pool-new", "missing"),
        ("pool-overseas", "transient"),
        ("pool-profile", "secret-invalid"),
        ("pool-revoked", "denied"),
        ("pool-secretless", "secret-missing"),
        ("pool-sts", "unknown"),
        ("pool-typo", "instance-type-unknown"),
        ("pool-unset", "instance-type-empty"),
        ("pool-zone", "region-invalid"),
    ];
    let expected: BTreeMap<String, String> =
        expected.iter().map(|(name, said)| ((*name).to_owned(), (*said).to_owned())).collect();
    assert_eq!(verdicts, expected);
    assert_eq!(selected.iter().map(String::as_str).collect::<Vec<_>>(), ["pool-arm", "pool-gpu", "pool-new"]);
    // Their login is broken, and another set's answer describes their type.
    let described = ["pool-anonymous", "pool-by-hand", "pool-profile", "pool-revoked", "pool-secretless", "pool-sts"];
    assert_eq!(offered.iter().map(String::as_str).collect::<Vec<_>>(), described);
}
