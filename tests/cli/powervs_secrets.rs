//! An account's API key and the tokens it buys end in requests: nothing else the program writes holds one, whatever the
//! account answers, and if it repeats all that it was sent.

use std::path::{Path, PathBuf};
use std::process::Output;

use http::Method;
use trueup_sim::ibm::{IbmEcho, IbmEffect, IbmFault, IbmPart};

use super::canaries::Canaries;
use super::powervs_stage::{Set, Stage, Tags, said, stage};

const PARTS: [IbmPart; 6] =
    [IbmPart::Tagging, IbmPart::Search, IbmPart::Instances, IbmPart::Vpc, IbmPart::Transit, IbmPart::Power];

/// A stage whose key is a canary, and everything that was written on it so far.
struct Watched {
    stage: Stage,
    canaries: Canaries,
    written: Vec<(String, Vec<u8>)>,
}

async fn watched(tags: Tags) -> Watched {
    let mut canaries = Canaries::default();
    // Characters that a form escapes: keys of IBM Cloud have none, but a test of escapes needs some.
    let key = format!("{}+/{}", canaries.next(), canaries.next());
    canaries.guard(&key);
    let stage = stage(&Set { tags, key, ..Set::default() }).await;
    Watched { stage, canaries, written: Vec::new() }
}

impl Watched {
    /// Runs the binary as noisily as it can be, and keeps what it says.
    fn run(&mut self, case: &str, args: &[&str]) -> Output {
        let output = self.stage.run(&[args, &["-v", "--log", "$TMP/log"]].concat());
        self.written.push((format!("case: {case}: {args:?}"), said(&output).into_bytes()));
        output
    }

    fn fault(&self, parts: &[IbmPart], effect: &IbmEffect) {
        self.stage.account.with(|server, _| {
            server.clear_faults();
            parts.iter().for_each(|part| server.fault(IbmFault::new(*part, effect.clone())));
        });
    }

    /// Looks for the key and every token that was ever given out in all that was said and in every file there is.
    fn assert_clean(mut self) {
        let tokens: Vec<String> = self.stage.account.with(|server, _| server.tokens().map(str::to_owned).collect());
        assert!(!tokens.is_empty(), "no token was ever given out");
        for token in &tokens {
            self.canaries.guard(token);
            self.canaries.guard(token.split('.').nth(1).unwrap());
        }
        for (place, bytes) in &self.written {
            self.canaries.assert_absent(place, bytes);
        }
        for path in walk(&self.stage.path("")).into_iter().filter(|path| !path.ends_with("ibm.key")) {
            let place = path.display().to_string();
            self.canaries.assert_absent(&place, place.as_bytes());
            self.canaries.assert_absent(&place, &std::fs::read(&path).unwrap());
        }
        assert!(self.stage.path("log").metadata().unwrap().len() > 0, "the log was written");
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn strs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_successful_run_writes_neither_key_nor_token() {
    let mut watched = watched(Tags::Missing).await;
    for format in ["table", "json", "csv", "markdown"] {
        watched.run("plans", &["plan", "-o", format]);
    }
    for format in ["table", "json"] {
        watched.run("explains", &["explain", "vpc/r006-delta-vpc@power/delta", "-o", format]);
    }
    assert!(said(&watched.run("doctor", &["doctor"])).contains("prod is account"));
    let plan = watched.stage.plan();
    let args = watched.stage.apply_args(&plan);
    let applied = watched.run("applies", &strs(&args));
    assert_eq!(applied.status.code(), Some(0), "{}", said(&applied));
    let short = &plan.id[7..15];
    for args in [&["history"][..], &["history", "show", short], &["history", "verify"], &["history", "export"]] {
        watched.run("looks back", args);
    }
    watched.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_quotes_the_key_or_token_is_not_printed() {
    let each = IbmEcho::ALL.map(|form| tokio::spawn(echoed(form)));
    for ended in futures::future::join_all(each).await {
        ended.unwrap();
    }
}

async fn echoed(form: IbmEcho) {
    let mut watched = watched(Tags::Missing).await;
    let plan = watched.stage.plan();
    for status in [400, 401, 403, 500] {
        let echo = IbmEffect::Echo { status, form };
        watched.fault(&PARTS, &echo);
        let doctor = said(&watched.run(&format!("{form:?} {status} of every service"), &["doctor"]));
        assert!(doctor.contains(&status.to_string()), "{form:?}: the doctor does not say {status}: {doctor}");
        watched.fault(&[IbmPart::Iam], &echo);
        watched.run(&format!("{form:?} {status} of IAM"), &["doctor"]);
    }
    watched.fault(&PARTS, &IbmEffect::Echo { status: 500, form });
    watched.run(&format!("{form:?}: a plan"), &["plan", "-o", "json"]);
    // What only writing meets: a refusal, one inside a success, and one with an unknown result.
    for status in [200, 403, 500] {
        watched.stage.account.with(|server, _| {
            server.clear_faults();
            let fault = IbmFault::new(IbmPart::Tagging, IbmEffect::Echo { status, form });
            server.fault(fault.on(Method::POST, "attach"));
        });
        let args = [watched.stage.apply_args(&plan), vec!["-o".to_owned(), "json".to_owned()]].concat();
        let case = format!("{form:?} {status} of a write");
        let applied = watched.run(&case, &strs(&args));
        assert_eq!(applied.status.code(), Some(2), "case: {case}: {}", said(&applied));
        watched.run(&case, &["history", "show", &plan.id[7..15]]);
        watched.run(&case, &["history", "export"]);
    }
    watched.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_key_is_not_printed() {
    let mut watched = watched(Tags::On).await;
    let key = watched.canaries.next();
    for (case, text) in [("two lines", format!("{key}\n{key}")), ("other JSON", format!("{{\"key\": \"{key}\"}}"))] {
        std::fs::write(watched.stage.path("ibm.key"), text).unwrap();
        let doctor = said(&watched.run(case, &["doctor"]));
        assert!(doctor.contains("characters that no key has"), "case: {case}: {doctor}");
        watched.run(case, &["plan", "-o", "json"]);
    }
    std::fs::write(watched.stage.path("ibm.key"), &key).unwrap();
    let doctor = said(&watched.run("an unknown key", &["doctor"]));
    assert!(doctor.contains("API key could not be found"), "{doctor}");
    for (place, bytes) in &watched.written {
        watched.canaries.assert_absent(place, bytes);
    }
}
