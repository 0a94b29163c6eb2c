//! Fuzzing: whatever the bytes, readers of outside input return and never panic.
//!
//! Each target reads mutations of its corpus (`corpus/<target>/`). `cargo test` runs a bounded number of cases;
//! `TRUEUP_FUZZ_SECONDS=60 cargo test --release --test fuzz -- --nocapture` runs each target that long. What was found is a
//! named test beside the code. Why proptest and not `cargo fuzz`: `docs/decisions/0023-fuzzing-with-proptest.md`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests unwrap, measure the real clock and print how much they ran"
)]

mod mutate;
mod targets;

use std::path::Path;
use std::time::{Duration, Instant};

use proptest::test_runner::{Config, TestRunner};

/// Cases of one round: about a second for the slowest target in a debug build.
const CASES: u32 = 256;
/// An input that takes longer than this hangs a reader. Inputs are a few kilobytes.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Reads mutations of the target's corpus for as long as asked.
fn fuzz(name: &str, target: fn(&[u8])) {
    let seeds = corpus(name);
    // Every seed is read as it is first.
    seeds.iter().for_each(|seed| target(seed));
    let seconds = std::env::var("TRUEUP_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (began, mut executions) = (Instant::now(), u64::try_from(seeds.len()).unwrap());
    loop {
        let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
        let read = TestRunner::new(config).run(&mutate::mutated(seeds.clone()), |input| {
            let sent = Instant::now();
            target(&input);
            proptest::prop_assert!(sent.elapsed() < TIME_MAX, "took {:?}", sent.elapsed());
            Ok(())
        });
        if let Err(failure) = read {
            panic!("fuzz {name}: {failure}");
        }
        executions += u64::from(CASES);
        if began.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    println!("fuzz {name}: {executions} executions in {:.1} s, no crash", began.elapsed().as_secs_f64());
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}

macro_rules! targets {
    ($($test:ident => $name:literal, $target:path;)*) => {
        $(#[test]
        fn $test() {
            fuzz($name, $target);
        })*
    };
}

targets! {
    any_plan_is_read_or_refused => "plan", targets::plan;
    any_journal_is_read_or_refused => "journal", targets::journal;
    any_record_is_read_or_refused => "record", targets::record;
    any_snapshot_is_read_or_a_problem => "snapshot", targets::snapshot;
    any_watch_line_is_read_or_refused => "watch", targets::watch;
    any_list_is_read_or_refused => "list", targets::list;
    any_kubeconfig_is_read_or_refused => "kubeconfig", targets::kubeconfig;
    any_terminal_input_is_decoded => "keys", targets::keys;
    any_exec_output_is_read_or_refused => "exec", targets::exec;
    any_cel_is_compiled_or_refused => "cel", targets::cel;
    any_certificate_is_read_or_refused => "certificate", targets::certificate;
    any_ibm_response_is_read_or_refused => "ibm", targets::ibm;
    any_aws_response_is_read_or_refused => "aws", targets::aws;
    any_config_is_read_or_refused => "config", targets::config;
}

#[test]
#[should_panic(expected = "planted")]
fn a_target_that_panics_fails_its_fuzz_test() {
    fuzz("plan", |input| assert!(input.len() < 64, "planted"));
}
