//! The demo's IBM Cloud account as `trueup demo` shows it: what runs, what goes, what moved, and what nobody has any more.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// Ends with the test.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        // It is gone already when a test ended it.
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// How many findings of each verdict, and actions of each verb, the first table has of the account.
fn shown() -> BTreeMap<String, usize> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.env_clear().env("TMPDIR", folder.path()).arg("demo").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut demo = Demo(command.spawn().unwrap());
    let lines = BufReader::new(demo.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let table = lines.take_while(|line| !line.contains(" findings: "));
    let mut counts = BTreeMap::new();
    const WORDS: [&str; 9] =
        ["orphan", "stale-owner", "half-tagged", "untagged", "locked", "delete", "re-own", "tag", "untag"];
    for line in
        table.filter(|line| ["harbor", "lagoon", "marsh", "tundra", "quarry"].iter().any(|name| line.contains(name)))
    {
        for word in line.split_whitespace().filter(|word| WORDS.contains(word)) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn the_account_has_a_teardown_a_move_a_half_tag_and_orphans() {
    let counts = shown();
    let of = |word: &str| counts.get(word).copied().unwrap_or_default();
    // Nine resources go with lagoon; two orphans could, when somebody ticks them.
    assert_eq!((of("delete"), of("orphan")), (11, 2), "{counts:?}");
    // A DHCP server has no tags of its own, so that eight of nine stale ones can be owned anew.
    assert_eq!((of("stale-owner"), of("re-own")), (9, 8), "{counts:?}");
    assert_eq!(of("half-tagged"), 1, "{counts:?}");
    assert!(of("locked") > 0, "{counts:?}");
    assert!(of("tag") >= 7, "{counts:?}");
}
