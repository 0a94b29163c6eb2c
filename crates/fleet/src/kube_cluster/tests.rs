//! The executor on simulated clusters, behind the real client, in paused time.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test names the one variant it expects")]

mod after;
mod copies;
mod judged;
mod patches;
mod preconditions;
mod rehearsals;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::KubeCluster;
use trueup_core::engine::executor::{
    ActionResult, BackupsThere, ClusterPort, Clusters, DryRunPorts, DryRunResult, ExecutorClock, Halt, InFlight,
    JournalPort, OnNewReference, Patch, Ports, REFERENCE_SCAN_AFTER, Reading, Recheck, ReferenceScan, Reply, Report,
    RunSettings, Skip, Switches, VaultPort, Write, apply, dry_run, read_owners, resolve,
};
use trueup_core::engine::journal::{ActionStanding, Found, Record, VerifiedState, entries};
use trueup_core::engine::testing::{Given, delete, finding, given, label, now};
use trueup_core::engine::vault::{Sealed, Vault};
use trueup_core::engine::{
    Action, Admission, Answers, ApprovedPlan, BackupSeen, Blocked, Change, Chosen, Dependency, Difference, GateName,
    Look, ObjectNow, ObjectRef, OwnersSeen, PLAN_TTL, Plan, RecheckResult, Tier, approve,
};
use trueup_core::world::{ClusterIdentity, ResourceVersion, Uid};
use trueup_sim::{Fault, FaultAction, Matcher, SimCluster, SimOptions, Verb};

const NAMESPACE: &str = "openshift-config";

/// A cluster with Secrets, and everything an executor needs to be run against it.
struct Stage {
    sim: SimCluster,
    plan: Plan,
    records: Arc<Mutex<Vec<Record>>>,
    vault: MemoryVault,
    /// In place of the one in memory.
    real_vault: Option<Vault>,
    judges: Judges,
    switch: Arc<KillSwitch>,
    stop: Arc<AtomicBool>,
    on_new_reference: OnNewReference,
    crash: Arc<Crash>,
    /// From this append on.
    journal_fails: Option<usize>,
    /// The ids of actions, as they end.
    progress_log: Option<Arc<Mutex<Vec<String>>>>,
    /// The switch is thrown while this append is under way.
    switch_at_append: Option<usize>,
    /// Called before each send.
    before_send: Option<Box<dyn Fn(usize) + Send + Sync>>,
    after_send: Option<Box<dyn Fn(usize) + Send + Sync>>,
    /// Clusters besides `guest-a`.
    others: Clusters,
}

/// What the test's recheck says.
#[derive(Default)]
struct Judges {
    differs: BTreeMap<String, String>,
    /// By look: the first after the wave, the second half a minute later.
    referenced: BTreeMap<usize, String>,
    looks: usize,
    /// From this reading of the identity on it is another one.
    other_identity_from: Option<usize>,
    identity_reads: usize,
}

/// Ends the run like a killed process: at the so-manieth step.
#[derive(Default)]
struct Crash {
    at: Option<usize>,
    steps: AtomicUsize,
}

impl Crash {
    fn step(&self) {
        let step = self.steps.fetch_add(1, Ordering::SeqCst);
        assert!(self.at != Some(step), "killed");
    }
}

fn secret(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {"clientSecret": "czNjcmV0"}})
}

fn stage(names: &[&str]) -> Stage {
    stage_with(names, |given| given)
}

fn stage_with(names: &[&str], change: impl FnOnce(Given) -> Given) -> Stage {
    let sim = SimCluster::new(SimOptions { name: "guest-a".to_owned(), seed: 1, start: now() });
    sim.seed(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})).unwrap();
    let mut all = given();
    for name in names {
        let object = sim.seed(secret(name)).unwrap();
        let mut draft = if name.starts_with("label") { label("guest-a", name) } else { delete("guest-a", name) };
        draft.target.uid = Some(Uid::parse(object["metadata"]["uid"].as_str().unwrap()));
        draft.target.version = Some(ResourceVersion::parse(object["metadata"]["resourceVersion"].as_str().unwrap()));
        all = all.finding(finding(name).draft(draft));
    }
    Stage {
        sim,
        plan: change(all).plan(),
        records: Arc::default(),
        vault: MemoryVault::default(),
        real_vault: None,
        judges: Judges::default(),
        switch: Arc::default(),
        stop: Arc::default(),
        on_new_reference: OnNewReference::Report,
        crash: Arc::default(),
        journal_fails: None,
        progress_log: None,
        switch_at_append: None,
        before_send: None,
        after_send: None,
        others: Clusters::new(),
    }
}

/// A stage with one object that is not dull.
fn stage_with_object(name: &str, change: impl FnOnce(&mut Value)) -> Stage {
    let mut stage = stage(&[name]);
    let edited = stage.sim.edit("v1", "Secret", &format!("{NAMESPACE}/{name}"), change).unwrap();
    stage.rebind(name, &edited);
    stage
}

impl Stage {
    /// Binds the plan to the object as it is now.
    fn rebind(&mut self, name: &str, object: &Value) {
        let version = object["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
        let action = self.plan.actions.iter_mut().find(|action| action.target.name == name).unwrap();
        action.preconditions.resource_version = Some(version);
        self.plan.id = self.plan.computed_id().unwrap();
    }

    fn approved(&self) -> ApprovedPlan {
        let clusters = self.plan.targets.iter().map(|target| target.cluster.clone());
        let answers = Answers::flags(Some(self.plan.id.clone()), clusters);
        approve(Admission::as_planned(self.plan.clone(), &Chosen::Selected, now()).unwrap(), &answers, now()).unwrap()
    }

    async fn run(&mut self) -> Report {
        let (approved, progress_log) = (self.approved(), self.progress_log.clone());
        let target = KubeCluster::new(self.sim.client());
        let tapped = Tapped {
            inner: target,
            crash: self.crash.clone(),
            before: self.before_send.take(),
            after: self.after_send.take(),
            sent: AtomicUsize::default(),
        };
        let mut clusters = self.others.clone();
        clusters.insert("guest-a".to_owned(), Arc::new(tapped));
        let mut journal = MemoryJournal {
            records: self.records.clone(),
            crash: self.crash.clone(),
            fails: self.journal_fails,
            switch: self.switch_at_append.map(|at| (at, self.switch.clone())),
            appends: 0,
        };
        let settings = RunSettings {
            who: "anna".to_owned(),
            host: "laptop".to_owned(),
            on_new_reference: self.on_new_reference,
            reference_scan_after: REFERENCE_SCAN_AFTER,
        };
        let ports = Ports {
            clusters: &clusters,
            recheck: &mut self.judges,
            journal: &mut journal,
            vault: self.real_vault.as_ref().map_or(&self.vault as &dyn VaultPort, |vault| vault),
            clock: &SimClock(self.sim.clone()),
            switches: self.switch.as_ref(),
            stop: &self.stop,
            progress: &mut |action, _| {
                if let Some(progress_log) = &progress_log {
                    progress_log.lock().unwrap().push(action.id.clone());
                }
            },
        };
        apply(approved, settings, ports).await
    }

    /// Runs until the crash, if there is one.
    async fn run_or_crash(&mut self) -> Option<Report> {
        AssertUnwindSafe(self.run()).catch_unwind().await.ok()
    }

    fn is_there(&self, name: &str) -> bool {
        self.sim.object("v1", "Secret", &format!("{NAMESPACE}/{name}")).is_ok()
    }

    fn requests(&self, method: &str) -> usize {
        self.sim.request_log().iter().filter(|logged| logged.method == method).count()
    }

    fn fault(&self, verb: Verb, action: FaultAction) {
        self.sim.fault(Fault::once(Matcher::of("secrets").verb(verb), action));
    }

    /// The end of the action on this object.
    fn end<'r>(&self, report: &'r Report, name: &str) -> &'r ActionResult {
        let action = self.plan.actions.iter().find(|action| action.target.name == name).unwrap();
        &report.ends[&action.id]
    }
}

struct SimClock(SimCluster);

impl ExecutorClock for SimClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(span).boxed()
    }
}

struct MemoryJournal {
    records: Arc<Mutex<Vec<Record>>>,
    crash: Arc<Crash>,
    fails: Option<usize>,
    switch: Option<(usize, Arc<KillSwitch>)>,
    appends: usize,
}

impl JournalPort for MemoryJournal {
    fn append(&mut self, records: &[Record]) -> Result<(), String> {
        self.crash.step();
        self.appends += 1;
        if self.fails.is_some_and(|from| self.appends > from) {
            return Err("no space left".to_owned());
        }
        self.records.lock().unwrap().extend_from_slice(records);
        if let Some((_, switch)) = self.switch.as_ref().filter(|(at, _)| *at == self.appends) {
            switch.store(true, Ordering::SeqCst);
        }
        self.crash.step();
        Ok(())
    }
}

#[derive(Default)]
struct MemoryVault {
    sealed: Mutex<Vec<Vec<u8>>>,
    fails: bool,
}

impl MemoryVault {
    fn object(&self, file: &str) -> Value {
        serde_json::from_slice(&self.sealed.lock().unwrap()[file.parse::<usize>().unwrap()]).unwrap()
    }
}

impl VaultPort for MemoryVault {
    fn seal(&self, object: &Zeroizing<Vec<u8>>) -> Result<Sealed, String> {
        if self.fails {
            return Err("no space left".to_owned());
        }
        let mut sealed = self.sealed.lock().unwrap();
        sealed.push(object.to_vec());
        Ok(Sealed { file: (sealed.len() - 1).to_string(), digest: "sha256:0".to_owned() })
    }

    fn open(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        Ok(Zeroizing::new(self.sealed.lock().unwrap()[file.parse::<usize>().unwrap()].clone()))
    }

    fn restorable(&self, file: &str, mark: &str, owners: &BTreeSet<String>) -> Result<Zeroizing<Vec<u8>>, String> {
        let object = trueup_core::engine::vault::restorable(self.object(file), owners, mark);
        Ok(Zeroizing::new(object.to_string().into_bytes()))
    }

    fn owners(&self, file: &str) -> Result<Vec<ObjectRef>, String> {
        Ok(trueup_core::engine::vault::owners(&self.object(file)))
    }
}

/// The kill switch of a test.
#[derive(Default)]
struct KillSwitch(AtomicBool);

impl std::ops::Deref for KillSwitch {
    type Target = AtomicBool;

    fn deref(&self) -> &AtomicBool {
        &self.0
    }
}

impl Switches for KillSwitch {
    fn shut(&self, _: Timestamp) -> Option<Blocked> {
        let blocked = Blocked { gate: GateName::KillSwitch, why: "it is there".to_owned() };
        self.load(Ordering::SeqCst).then_some(blocked)
    }
}

impl Recheck for Judges {
    fn read_identity<'a>(&'a mut self, _: &'a str) -> BoxFuture<'a, Option<ClusterIdentity>> {
        let other = self.other_identity_from.is_some_and(|from| self.identity_reads >= from);
        self.identity_reads += 1;
        let uid = if other { "another" } else { "uid-of-kube-system" };
        let identity = ClusterIdentity {
            kube_system_uid: uid.to_owned(),
            ca_sha256: "c0ffee".to_owned(),
            ..ClusterIdentity::default()
        };
        async move { Some(identity) }.boxed()
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>> {
        let judged = |action: &&Action| {
            self.differs
                .get(&action.target.name)
                .map_or(RecheckResult::Same, |why| RecheckResult::Differs(Difference::NotRead(why.clone())))
        };
        let answers = actions.iter().map(judged).collect();
        async move { answers }.boxed()
    }

    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>> {
        self.looks += 1;
        let found =
            self.referenced.get(&self.looks).map_or(ReferenceScan::Nothing, |by| ReferenceScan::Referenced(by.clone()));
        async move { vec![found; deleted.len()] }.boxed()
    }
}

/// The real port, with a tap on what is sent.
struct Tapped {
    inner: KubeCluster,
    crash: Arc<Crash>,
    before: Option<Box<dyn Fn(usize) + Send + Sync>>,
    after: Option<Box<dyn Fn(usize) + Send + Sync>>,
    sent: AtomicUsize,
}

impl ClusterPort for Tapped {
    fn read<'a>(&'a self, target: &'a ObjectRef) -> BoxFuture<'a, Reading> {
        self.inner.read(target)
    }

    fn list<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, String>> {
        self.inner.list(api_version, kind)
    }

    fn send<'a>(&'a self, token: &'a InFlight, write: Write<'a>) -> BoxFuture<'a, Reply> {
        async move {
            let place = self.sent.fetch_add(1, Ordering::SeqCst);
            if let Some(before) = &self.before {
                before(place);
            }
            self.crash.step();
            let reply = self.inner.send(token, write).await;
            self.crash.step();
            if let Some(after) = &self.after {
                after(place);
            }
            reply
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_approved_is_done_verified_and_journalled() {
    let mut stage = stage(&["a", "b", "label-c"]);
    let report = stage.run().await;
    assert_eq!(report.counts(), BTreeMap::from([("changed".to_owned(), 1), ("gone".to_owned(), 2)]));
    assert_eq!((report.code(), stage.is_there("a"), stage.is_there("b")), (0, false, false));
    let labelled = stage.sim.object("v1", "Secret", &format!("{NAMESPACE}/label-c")).unwrap();
    assert_eq!(labelled["metadata"]["labels"], json!({ "a": "b" }));
    let kinds: Vec<&str> = stage.records.lock().unwrap().iter().map(kind).collect();
    let expected =
        "approved backup intent backup intent intent outcome outcome outcome verified verified verified finished";
    assert_eq!(kinds.join(" "), expected);
}

/// What an undo sees when nothing of a plan's objects is left and every backup opens.
fn all_gone(plan: &Plan) -> BTreeMap<String, Look> {
    let backup = BackupSeen::Opens { lost: Vec::new() };
    let look = Look { object: ObjectNow::Absent, backup, owners: OwnersSeen::default() };
    plan.actions.iter().map(|action| (action.id.clone(), look.clone())).collect()
}

fn kind(record: &Record) -> &'static str {
    match record {
        Record::PlanApproved { .. } => "approved",
        Record::Backup { .. } => "backup",
        Record::Intent { .. } => "intent",
        Record::Outcome { .. } => "outcome",
        Record::Verified { .. } => "verified",
        Record::Resolved { .. } => "resolved",
        Record::Skipped { .. } => "skipped",
        Record::Finished { .. } => "finished",
        Record::Restarted { .. } => "restarted",
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_not_the_one_shown_is_left_alone() {
    type Change = fn(&mut Stage);
    let cases: [(&str, Change, &str); 5] = [
        (
            "changed",
            |stage| drop(stage.sim.edit("v1", "Secret", "openshift-config/a", |o| o["data"] = json!({})).unwrap()),
            "changed since",
        ),
        (
            "created again under its name",
            |stage| {
                stage.sim.remove("v1", "Secret", "openshift-config/a").unwrap();
                stage.sim.seed(secret("a")).unwrap();
            },
            "another object",
        ),
        ("gone", |stage| drop(stage.sim.remove("v1", "Secret", "openshift-config/a").unwrap()), "gone already"),
        ("referenced since", |stage| drop(stage.judges.differs.insert("a".to_owned(), "in use".to_owned())), "in use"),
        ("no backup possible", |stage| stage.vault.fails = true, "no space left"),
    ];
    for (case, change, expected) in cases {
        let mut stage = stage(&["a"]);
        change(&mut stage);
        let report = stage.run().await;
        let end = stage.end(&report, "a");
        assert!(matches!(end, ActionResult::Skipped { why, .. } if why.contains(expected)), "case: {case}: {end:?}");
        assert_eq!(stage.requests("DELETE"), 0, "case: {case}");
        assert_eq!(report.code(), if case == "no backup possible" { 3 } else { 4 }, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_between_the_read_and_the_request_is_a_conflict_that_says_so() {
    let mut stage = stage(&["a", "b"]);
    let sim = stage.sim.clone();
    stage.before_send = Some(Box::new(move |place| {
        if place == 0 {
            sim.edit("v1", "Secret", "openshift-config/a", |object| object["data"] = json!({})).unwrap();
        }
    }));
    let report = stage.run().await;
    let end = stage.end(&report, "a");
    assert!(matches!(end, ActionResult::Failed { why } if why.contains("changed since")), "{end:?}");
    assert_eq!((stage.is_there("a"), stage.is_there("b"), report.code()), (true, false, 2));
}

#[tokio::test(start_paused = true)]
async fn an_answer_nobody_understands_is_settled_by_reading() {
    let refuse = |code, retry_after_seconds| FaultAction::Refuse { code, retry_after_seconds };
    let cases = [
        ("the reply is lost", FaultAction::ReplyLost, 1, "gone"),
        ("504 after it was done", FaultAction::RefuseAfterCommit { code: 504 }, 1, "gone"),
        ("the answer is cut", FaultAction::Truncate { bytes: 5 }, 1, "gone"),
        ("lost on the way", FaultAction::LostBefore, 2, "gone"),
        ("silence", FaultAction::Stall, 2, "gone"),
        ("500", refuse(500, None), 2, "gone"),
        ("429", refuse(429, Some(3)), 2, "gone"),
        ("503 with a wait", refuse(503, Some(3)), 2, "gone"),
        ("429 for longer than an action may take", refuse(429, Some(600)), 1, "failed"),
        ("forbidden", refuse(403, None), 1, "failed"),
        ("an admission hook says no", refuse(422, None), 1, "failed"),
        ("a page of a proxy", FaultAction::Html, 1, "unknown"),
    ];
    for (case, fault, deletes, expected) in cases {
        let mut stage = stage(&["a"]);
        stage.fault(Verb::Delete, fault);
        let report = stage.run().await;
        let end = stage.end(&report, "a");
        assert_eq!((end.as_str(), stage.requests("DELETE")), (expected, deletes), "case: {case}: {end:?}");
        assert_eq!(stage.is_there("a"), expected != "gone", "case: {case}");
        let intents = stage.records.lock().unwrap().iter().filter(|record| kind(record) == "intent").count();
        assert_eq!(intents, deletes, "case: {case}: each request has its intent");
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_nobody_understands_ends_the_action() {
    let mut stage = stage(&["a"]);
    stage.sim.fault(Fault::always(Matcher::of("secrets").verb(Verb::Delete), FaultAction::LostBefore));
    let report = stage.run().await;
    // Either request may still be carried out, so nobody can say that it failed.
    assert_eq!((stage.end(&report, "a").as_str(), stage.requests("DELETE")), ("unknown", 2));
}

#[tokio::test(start_paused = true)]
async fn waits_are_waited_for() {
    let mut stage = stage(&["a"]);
    stage.fault(Verb::Delete, FaultAction::Refuse { code: 429, retry_after_seconds: Some(7) });
    stage.run().await;
    let log = stage.sim.request_log();
    let times: Vec<Timestamp> = log.iter().filter(|one| one.method == "DELETE").map(|one| one.at).collect();
    assert!(times[1].duration_since(times[0]) >= jiff::SignedDuration::from_secs(7), "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_when_something_stands_in_the_way() {
    type Change = fn(&mut Stage);
    let cases: [(&str, Change, u8); 6] = [
        ("kill switch", |stage| stage.switch.store(true, Ordering::SeqCst), 3),
        ("stopped", |stage| stage.stop.store(true, Ordering::SeqCst), 130),
        ("expired meanwhile", |stage| stage.sim.advance(Duration::from_secs(15 * 60)), 4),
        ("another cluster", |stage| stage.judges.other_identity_from = Some(0), 3),
        ("the journal is full", |stage| stage.journal_fails = Some(0), 3),
        ("it takes the approval, and no intent", |stage| stage.journal_fails = Some(1), 3),
    ];
    for (case, change, code) in cases {
        let mut stage = stage(&["a"]);
        change(&mut stage);
        let report = stage.run().await;
        assert_eq!((report.code(), stage.requests("DELETE")), (code, 0), "case: {case}: {report:?}");
        assert!(report.halted.is_some(), "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_or_switch_in_mid_run_spares_what_was_not_sent() {
    for (case, expected) in [("stop", Halt::Stopped), ("switch", Halt::Gate(switched()))] {
        let names: Vec<String> = (0..20).map(|place| format!("a{place:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        // More than the brake lets pass: what is under way at once has to be fewer than there are.
        let mut stage = stage_with(&names, |given| given.conditions(|c| c.deletes_max = Some(20)));
        let (stop, switch) = (stage.stop.clone(), stage.switch.clone());
        stage.before_send = Some(Box::new(move |place| {
            if place == 3 {
                if case == "stop" { &stop } else { &switch.0 }.store(true, Ordering::SeqCst);
            }
        }));
        let report = stage.run().await;
        assert_eq!(report.halted, Some(expected), "case: {case}");
        // The group that was under way is finished; nothing of the next is sent.
        assert_eq!((stage.requests("DELETE"), report.code()), (16, 2), "case: {case}");
        let all = stage.records.lock().unwrap().clone();
        assert_eq!(entries(&all)[0].open_count(), 0, "case: {case}: nothing is left open");
    }
}

fn switched() -> Blocked {
    Blocked { gate: GateName::KillSwitch, why: "it is there".to_owned() }
}

#[tokio::test(start_paused = true)]
async fn a_reference_that_appears_is_reported_or_the_object_comes_back() {
    let cases = [
        ("nothing refers to it", 0, OnNewReference::Restore, "gone", false),
        ("at once, report", 1, OnNewReference::Report, "gone", false),
        ("at once, restore", 1, OnNewReference::Restore, "restored", true),
        ("half a minute later, restore", 2, OnNewReference::Restore, "restored", true),
    ];
    for (case, look, on_new_reference, expected, there) in cases {
        let mut stage = stage(&["a"]);
        stage.on_new_reference = on_new_reference;
        stage.judges.referenced.insert(look, "a HostedCluster names it".to_owned());
        let before = stage.sim.object("v1", "Secret", "openshift-config/a").unwrap();
        let report = stage.run().await;
        assert_eq!(
            (stage.end(&report, "a").as_str(), stage.is_there("a")),
            (expected, there),
            "case: {case}: {report:?}"
        );
        assert_eq!(report.code(), if look == 0 { 0 } else { 2 }, "case: {case}");
        if there {
            let after = stage.sim.object("v1", "Secret", "openshift-config/a").unwrap();
            assert_eq!(after["data"], before["data"], "case: {case}");
            assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"], "case: {case}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_depends_on_something_undone_is_not_sent() {
    let mut stage = stage_with(&["a", "b"], |mut given| {
        let subject = given.judged[0].subject.clone();
        given.judged[1].explanation.remedy[0].depends_on.push(Dependency { finding: subject, order: 0 });
        given
    });
    stage.sim.fault(Fault::once(
        Matcher::of("secrets").verb(Verb::Delete).name("a"),
        FaultAction::Refuse { code: 403, retry_after_seconds: None },
    ));
    let report = stage.run().await;
    let end = stage.end(&report, "b");
    assert!(matches!(end, ActionResult::Skipped { why, .. } if why.contains("dependency")), "{end:?}");
    assert!(stage.is_there("b"));
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_step_is_settled_by_reading_and_nothing_is_sent_twice() {
    let mut crashes = 0;
    for at in 0.. {
        let mut stage = stage(&["a", "b"]);
        stage.crash = Arc::new(Crash { at: Some(at), steps: AtomicUsize::default() });
        let finished = stage.run_or_crash().await.is_some();
        let sent = stage.requests("DELETE");
        assert!(sent <= 2, "step {at}: {sent} deletes");
        let mut records = stage.records.lock().unwrap().clone();
        let intents = records.iter().filter(|record| kind(record) == "intent").count();
        assert!(intents >= sent, "step {at}: a delete without its intent");
        let clusters: Clusters =
            [("guest-a".to_owned(), Arc::new(KubeCluster::new(stage.sim.client())) as Arc<dyn ClusterPort>)].into();
        let resolved = resolve(&entries(&records), &clusters, now()).await;
        assert_eq!(stage.requests("DELETE"), sent, "step {at}: recovery sent something");
        for record in &resolved {
            let Record::Resolved { action, found, .. } = record else { panic!("step {at}: {record:?}") };
            let name = &stage.plan.actions.iter().find(|one| one.id == *action).unwrap().target.name;
            let expected = if stage.is_there(name) { Found::Unchanged } else { Found::Gone };
            assert_eq!(*found, expected, "step {at}: {name}");
        }
        records.extend(resolved);
        let open: usize = entries(&records).iter().map(trueup_core::engine::journal::Entry::open_count).sum();
        assert_eq!(open, 0, "step {at}: something is still open");
        if finished {
            break;
        }
        crashes += 1;
    }
    // approval, intents, outcomes, ends and the finish, each before and after; two requests, each before and after
    assert_eq!(crashes, 5 * 2 + 2 * 2);
}

/// Where a run can be killed, by the step it had come to.
#[tokio::test(start_paused = true)]
async fn a_run_killed_at_each_journal_record_is_recovered_and_continued() {
    // The approval takes steps 0 and 1, the intent 2 and 3, the request 4 and 5, the outcome 6 and 7, the end 8 and 9.
    let cases: [(&str, usize, &str, Option<Found>, &str); 6] = [
        ("before the intent", 2, "approved", None, "gone"),
        ("after the intent, before the request", 3, "intent", Some(Found::Unchanged), "gone"),
        ("after the request", 5, "intent", Some(Found::Gone), "skipped"),
        ("before the outcome", 6, "intent", Some(Found::Gone), "skipped"),
        ("after the outcome", 7, "outcome", None, "skipped"),
        ("after the verification", 9, "verified", None, "skipped"),
    ];
    for (case, at, last, expected, then) in cases {
        let mut stage = stage(&["a"]);
        stage.crash = Arc::new(Crash { at: Some(at), steps: AtomicUsize::default() });
        assert_eq!(stage.run_or_crash().await, None, "case: {case}: it was not killed");
        let before = stage.records.lock().unwrap().clone();
        assert_eq!(before.last().map(kind), Some(last), "case: {case}");

        let clusters: Clusters =
            [("guest-a".to_owned(), Arc::new(KubeCluster::new(stage.sim.client())) as Arc<dyn ClusterPort>)].into();
        let resolved = resolve(&entries(&before), &clusters, now()).await;
        let found: Vec<Found> = resolved
            .iter()
            .map(|record| match record {
                Record::Resolved { found, .. } => *found,
                other => panic!("case: {case}: {other:?}"),
            })
            .collect();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "case: {case}");
        stage.records.lock().unwrap().extend(resolved);

        stage.crash = Arc::default();
        let report = stage.run().await;
        assert_eq!(stage.end(&report, "a").as_str(), then, "case: {case}: {report:?}");
        assert_eq!((stage.requests("DELETE"), stage.is_there("a")), (1, false), "case: {case}: deleted once");
        let after = stage.records.lock().unwrap().clone();
        assert_eq!(after[..before.len()], before, "case: {case}: a record was lost");
        let undo =
            trueup_core::engine::undo(&entries(&after)[0], None, &all_gone(&stage.plan), now(), PLAN_TTL).unwrap();
        assert_eq!(undo.plan.actions.len(), 1, "case: {case}: it can be brought back: {:?}", undo.left_out);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_when_the_journal_failed_is_not_called_skipped() {
    let mut stage = stage(&["a"]);
    stage.journal_fails = Some(2);
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "a").as_str(), report.code()), ("unknown", 2), "{report:?}");
    let records = stage.records.lock().unwrap().clone();
    assert_eq!(entries(&records)[0].open_count(), 1, "the next run reads its result");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_can_not_come_back_stays_deleted_and_can_still_be_undone() {
    let mut stage = stage(&["a"]);
    stage.on_new_reference = OnNewReference::Restore;
    stage.judges.referenced.insert(1, "a HostedCluster names it".to_owned());
    stage.fault(Verb::Create, FaultAction::Refuse { code: 403, retry_after_seconds: None });
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "a").as_str(), report.code()), ("gone", 2), "{report:?}");
    assert!(report.notices[0].contains("bringing it back failed"), "{report:?}");
    let records = stage.records.lock().unwrap().clone();
    let undo = trueup_core::engine::undo(&entries(&records)[0], None, &all_gone(&stage.plan), now(), PLAN_TTL).unwrap();
    assert_eq!(undo.plan.actions.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_404_about_something_else_is_no_proof_of_absence() {
    let stage = stage(&["a"]);
    let port = KubeCluster::new(stage.sim.client());
    let target = stage.plan.actions[0].target.clone();
    assert!(matches!(port.read(&target).await, Reading::Present(_)));
    stage.fault(Verb::Get, FaultAction::Refuse { code: 404, retry_after_seconds: None });
    assert!(matches!(port.read(&target).await, Reading::Unknown(_)), "a 404 that names nothing");
    stage.sim.remove("v1", "Secret", "openshift-config/a").unwrap();
    assert!(matches!(port.read(&target).await, Reading::Absent));
}

#[tokio::test(start_paused = true)]
async fn what_may_still_be_carried_out_is_not_called_failed() {
    let refuse = |code| FaultAction::Refuse { code, retry_after_seconds: None };
    let long = FaultAction::Refuse { code: 429, retry_after_seconds: Some(600) };
    let cases = [
        ("refused at once", vec![refuse(403)], "failed"),
        ("lost, then refused", vec![FaultAction::LostBefore, refuse(403)], "unknown"),
        ("lost, then throttled for too long", vec![FaultAction::LostBefore, long], "unknown"),
        ("lost, then a conflict that is none", vec![FaultAction::LostBefore, refuse(409)], "unknown"),
    ];
    for (case, faults, expected) in cases {
        let mut stage = stage(&["a"]);
        faults.into_iter().for_each(|fault| stage.fault(Verb::Delete, fault));
        let report = stage.run().await;
        assert_eq!(stage.end(&report, "a").as_str(), expected, "case: {case}: {report:?}");
        let open = entries(&stage.records.lock().unwrap().clone())[0].open_count();
        assert_eq!(open, usize::from(expected == "unknown"), "case: {case}: the next run reads its result");
    }
}

#[tokio::test(start_paused = true)]
async fn a_label_that_was_taken_and_overwritten_is_not_called_failed() {
    let mut stage = stage(&["label-a"]);
    stage.fault(Verb::Patch, FaultAction::ReplyLost);
    let sim = stage.sim.clone();
    // The request is carried out, and before it is looked after somebody takes the label off again.
    stage.after_send = Some(Box::new(move |_| {
        let off = |object: &mut Value| drop(object["metadata"].as_object_mut().unwrap().remove("labels"));
        sim.edit("v1", "Secret", "openshift-config/label-a", off).unwrap();
    }));
    let report = stage.run().await;
    assert_eq!(stage.end(&report, "label-a").as_str(), "unknown", "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn a_second_attempt_that_is_stopped_is_not_called_skipped() {
    for (case, fault, expected) in
        [("lost", FaultAction::LostBefore, "unknown"), ("throttled", refuse_busy(), "failed")]
    {
        let mut stage = stage(&["a"]);
        stage.fault(Verb::Delete, fault);
        // approval, intent, outcome, and the second intent
        stage.switch_at_append = Some(4);
        let report = stage.run().await;
        assert_eq!(stage.requests("DELETE"), 1, "case: {case}");
        assert_eq!(stage.end(&report, "a").as_str(), expected, "case: {case}: {report:?}");
    }
}

fn refuse_busy() -> FaultAction {
    FaultAction::Refuse { code: 429, retry_after_seconds: None }
}

#[tokio::test(start_paused = true)]
async fn a_restore_that_is_stopped_leaves_the_object_deleted_and_fit_for_an_undo() {
    // Before the request of the restore is written down (the verified delete is the fourth append), and after.
    for (case, append) in [("before its intent", 4), ("after its intent", 5)] {
        let mut stage = stage(&["a"]);
        stage.on_new_reference = OnNewReference::Restore;
        stage.judges.referenced.insert(1, "a HostedCluster names it".to_owned());
        stage.switch_at_append = Some(append);
        let report = stage.run().await;
        assert_eq!(stage.end(&report, "a").as_str(), "gone", "case: {case}: {report:?}");
        assert_eq!(report.halted, Some(Halt::Gate(switched())), "case: {case}");
        assert!(report.notices[0].contains("bringing it back failed"), "case: {case}: {report:?}");
        let records = stage.records.lock().unwrap().clone();
        let undo =
            trueup_core::engine::undo(&entries(&records)[0], None, &all_gone(&stage.plan), now(), PLAN_TTL).unwrap();
        assert_eq!(undo.plan.actions.len(), 1, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_another_cluster_says_about_an_object_counts_for_nothing() {
    let mut stage = stage(&["a"]);
    stage.judges.other_identity_from = Some(1);
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "a").as_str(), report.code()), ("unknown", 2), "{report:?}");
    assert!(matches!(&report.halted, Some(Halt::Gate(blocked)) if blocked.gate == GateName::Identity), "{report:?}");
    let records = stage.records.lock().unwrap().clone();
    assert_eq!(entries(&records)[0].open_count(), 1, "the next run reads its result");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_brought_back_into_another_cluster() {
    let mut stage = stage(&["a"]);
    stage.on_new_reference = OnNewReference::Restore;
    stage.judges.referenced.insert(1, "a HostedCluster names it".to_owned());
    // The first look is before the wave, the second after it, the third before the restore.
    stage.judges.other_identity_from = Some(2);
    let report = stage.run().await;
    assert_eq!((stage.end(&report, "a").as_str(), stage.requests("POST")), ("gone", 0), "{report:?}");
}
