//! The demo's IBM Cloud account as `trueup demo` shows it: running, deleting, moved and orphaned resources.

#![expect(
    clippy::unwrap_used,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

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
    // Nine resources go with lagoon; two orphans can be included.
    assert_eq!((of("delete"), of("orphan")), (11, 2), "{counts:?}");
    // A DHCP server has no tags of its own, so that eight of nine stale ones can get a new owner.
    assert_eq!((of("stale-owner"), of("re-own")), (9, 8), "{counts:?}");
    assert_eq!(of("half-tagged"), 1, "{counts:?}");
    assert!(of("locked") > 0, "{counts:?}");
    assert!(of("tag") >= 7, "{counts:?}");
}

/// The demo, served, with a home of one's own and a config that names its account.
struct Served {
    _demo: Demo,
    folder: tempfile::TempDir,
    kubeconfig: String,
    key: String,
}

/// What a command said, and how it ended.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn served() -> Served {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.env_clear().env("TMPDIR", folder.path()).args(["demo", "--headless", "--listen", "127.0.0.1:0"]);
    let mut demo = Demo(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let (kubeconfig, account) = (lines.next().unwrap(), lines.next().unwrap());
    let (url, key) = account.strip_prefix("IBM Cloud account: ").unwrap().split_once(" (API key ").unwrap();
    let services = ["iam", "tagging", "search", "resource-controller", "vpc", "transit", "power"];
    let endpoints: String = services.iter().map(|service| format!("{service} = \"{url}\"\n")).collect();
    let key_and_users =
        "api_key_env = \"TRY_KEY\"\nmanagement_clusters = [\"mgmt-*\"]\nmanagement_clusters_complete = true";
    let text = format!("[clouds.ibm.try]\n{key_and_users}\n[clouds.ibm.try.endpoints]\n{endpoints}");
    std::fs::write(folder.path().join("config.toml"), text).unwrap();
    Served { _demo: demo, kubeconfig, key: key.trim_end_matches(')').to_owned(), folder }
}

impl Served {
    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_in(&["mgmt-us", "mgmt-eu"], arguments)
    }

    fn run_in(&self, contexts: &[&str], arguments: &[&str]) -> Ran {
        let folder = self.folder.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("HOME", folder).env("TRY_KEY", &self.key).current_dir(folder).args(arguments);
        command.args(["--kubeconfig", &self.kubeconfig, "--config", "config.toml"]);
        command.args(contexts.iter().flat_map(|context| ["--context", context]));
        let ran = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: ran.status.code(), out: text(&ran.stdout), err: text(&ran.stderr) }
    }

    /// Plans, and says the plan's id with what it holds.
    fn plan(&self) -> Value {
        self.plan_in(&["mgmt-us", "mgmt-eu"])
    }

    fn plan_in(&self, contexts: &[&str]) -> Value {
        let ran = self.run_in(
            contexts,
            &["plan", "--domain", "powervs-tags", "--settle", "0s", "-o", "json", "--out", "plan.json"],
        );
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err))
    }

    /// Applies one action of the plan that was written last.
    fn apply(&self, plan: &Value, action: &str, more: &[&str]) -> Ran {
        let id = plan["id"].as_str().unwrap();
        let arguments = ["apply", "plan.json", "--only", action, "--expect", id, "--look-back", "0s"];
        self.run(&[&arguments, more].concat())
    }
}

impl Served {
    /// Takes an action back, and says the plan that did.
    fn undo(&self, plan: &Value, action: &str, file: &str) -> Value {
        let entry = format!("{}/{action}", &plan["id"].as_str().unwrap()[7..15]);
        let ran = self.run(&["undo", &entry, "--out", file]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let undo = std::fs::read_to_string(self.folder.path().join(file)).unwrap();
        let undo: Value = serde_json::from_str(&undo).unwrap();
        let ran = self.run(&["apply", file, "--expect", undo["id"].as_str().unwrap(), "--look-back", "0s"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        undo
    }
}

fn action_on<'p>(plan: &'p Value, verb: &str, id: &str) -> &'p Value {
    let is_meant = |one: &&Value| one["verb"] == verb && one["target"]["id"] == id;
    plan["actions"].as_array().unwrap().iter().find(is_meant).unwrap_or_else(|| panic!("no {verb} of {id}"))
}

/// How many findings about the account have each verdict.
fn verdicts(plan: &Value, name: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let about = |one: &&Value| one["subject"]["name"].as_str().is_some_and(|subject| subject.contains(name));
    for finding in plan["findings"].as_array().unwrap().iter().filter(about) {
        *counts.entry(finding["verdict"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn two_management_clusters_share_the_account_and_one_alone_deletes_nothing() {
    let served = served();
    let both = served.plan();
    let owned = verdicts(&both, "fjord");
    assert_eq!(owned.keys().collect::<Vec<_>>(), ["owned"], "{owned:?}");
    assert!(owned["owned"] >= 9, "{owned:?}");
    let alone = served.plan_in(&["mgmt-us"]);
    assert_eq!(verdicts(&alone, "fjord").keys().collect::<Vec<_>>(), ["unknown"]);
    let is_open = |one: &&Value| one["verb"] == "delete" && one["blocked_by"].as_array().unwrap().is_empty();
    let deletes = |plan: &Value| plan["actions"].as_array().unwrap().iter().filter(is_open).count();
    assert!(deletes(&both) > 0);
    assert_eq!(deletes(&alone), 0, "mgmt-eu was not asked");
}

#[test]
fn an_orphan_is_deleted_only_when_its_account_is_confirmed() {
    let served = served();
    let plan = served.plan();
    let delete = action_on(&plan, "delete", "cos-quarry");
    assert_eq!((&delete["cluster"], &delete["selected"]), (&json!("ibm:try"), &json!(false)));
    let (action, set) = (delete["id"].as_str().unwrap(), delete["group"].as_str().unwrap());
    // What a dead cluster left is deleted in order: the VPC goes first.
    let alone = served.apply(&plan, action, &["--confirm-cluster", "ibm:try"]);
    assert_eq!(alone.code, Some(3), "{}", alone.err);
    let first = action_on(&plan, "delete", "r006-quarry-vpc")["id"].as_str().unwrap();
    assert!(alone.err.contains(&format!("depends on {first}, which is not selected")), "{}", alone.err);
    let unnamed = served.apply(&plan, set, &["--confirm-cluster", "mgmt-us"]);
    assert_eq!(unnamed.code, Some(3), "{}", unnamed.err);
    assert!(
        unnamed.err.contains("ibm:try has a T4 action, which asks for --confirm-cluster ibm:try"),
        "{}",
        unnamed.err
    );
    let named = served.apply(&plan, set, &["--confirm-cluster", "ibm:try"]);
    assert_eq!(named.code, Some(0), "{}{}", named.out, named.err);
    let place = |line: &str| named.out.find(line).unwrap_or_else(|| panic!("{line}: {}", named.out));
    let network = place("delete ibm:try vpc quarry-vpc (r006-quarry-vpc)");
    assert!(network < place("delete ibm:try cos-instance quarry-cos (cos-quarry)"), "{}", named.out);
    let left = served.plan();
    let is_left = |one: &Value| one["id"].as_str().unwrap().ends_with("cos-instance/cos-quarry@-");
    let verdict =
        left["findings"].as_array().unwrap().iter().find(|one| is_left(one)).map(|one| one["verdict"].clone());
    assert!(verdict.is_none() || verdict == Some(json!("reclaiming")), "{verdict:?}");
    let undo = served.run(&["undo", &format!("{}/{action}", &plan["id"].as_str().unwrap()[7..15])]);
    assert!(undo.err.contains("IBM Cloud keeps it for up to 7 days"), "{}", undo.err);
}

#[test]
fn a_key_of_another_account_applies_nothing() {
    let mut served = served();
    let plan = served.plan();
    let set = action_on(&plan, "delete", "cos-quarry")["group"].as_str().unwrap().to_owned();
    served.key = "not-this-accounts".to_owned();
    let ran = served.apply(&plan, &set, &["--confirm-cluster", "ibm:try"]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("no API key of the config is for ibm:try"), "{}", ran.err);
}

#[test]
fn both_connections_of_a_gateway_are_tagged_in_one_run() {
    let served = served();
    let plan = served.plan();
    let is_meant = |one: &&Value| one["verb"] == "tag" && one["target"]["id"] == "tg-tundra";
    let tags: Vec<&str> =
        plan["actions"].as_array().unwrap().iter().filter(is_meant).map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(tags.len(), 2);
    let ran = served.apply(&plan, tags[0], &["--only", tags[1]]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[test]
fn a_new_owner_is_undone() {
    let served = served();
    let plan = served.plan();
    let re_own = action_on(&plan, "re-own", "r006-tundra-vpc");
    let (action, before) = (re_own["id"].as_str().unwrap(), &re_own["preconditions"]["tags"]);
    let ran = served.apply(&plan, action, &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let back = served.undo(&plan, action, "back.json");
    assert_eq!((&back["actions"][0]["verb"], &back["targets"][0]["cluster"]), (&json!("re-own"), &json!("mgmt-us")));
    // Taking the undo back would start from what was there before it all.
    let forth = served.undo(&back, action, "forth.json");
    assert_eq!(&forth["actions"][0]["preconditions"]["tags"], before);
}
