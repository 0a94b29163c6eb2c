//! The executor on a simulated account, in paused time: a cluster's resources from their tags to their end.

mod undone;
mod waits;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::Method;
use http_body_util::Full;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt as _;
use zeroize::Zeroizing;

use super::*;
use crate::clouds::ibm::client::{ApiKey, Endpoints};
use crate::clouds::{Accounts, ClusterWithAccounts};
use trueup_core::engine::executor::{
    ActionResult, ClusterPort, Clusters, ExecutorClock, JournalPort, OnNewReference, Ports, Progress,
    REFERENCE_SCAN_AFTER, Recheck, ReferenceScan, Report, RunSettings, Switches, VaultPort, resolve, resume,
};
use trueup_core::engine::journal::{Entry, Record, VerifiedState, entries};
use trueup_core::engine::vault::Sealed;
use trueup_core::engine::{Action, Admission, Answers, Blocked, Chosen, ObjectRef, Plan, RecheckResult, approve};
use trueup_core::world::ClusterIdentity;
use trueup_net::http::HttpClient;
use trueup_sim::ibm::{IbmAnswer, IbmEffect, IbmFault, IbmPart, IbmRequest, IbmSim, IbmSimOptions, Thing, ThingKind};
use trueup_sim::{SimCluster, SimOptions};

const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
const OWNER: &str = "powervs.cluster.x-k8s.io-owner:demo";
const UUID: &str = "powervs.cluster.x-k8s.io-cluster-uuid:u-1";

/// What has to be gone before each of the cluster's resources may go, in the proven order.
const TEARDOWN: [(&str, &[&str]); 9] = [
    ("con-pvs", &[]),
    ("con-vpc", &[]),
    ("tg", &["con-pvs", "con-vpc"]),
    ("lb", &[]),
    ("sg", &["lb"]),
    ("subnet", &["lb"]),
    ("vpc", &["con-vpc", "lb", "sg", "subnet"]),
    ("ws", &["con-pvs"]),
    ("cos", &[]),
];

fn start() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

struct Stage {
    sim: IbmSim,
    accounts: Accounts,
    cluster: SimCluster,
    records: Arc<Mutex<Vec<Record>>>,
    crash: Arc<Crash>,
    /// Called right before a request is handed to the account.
    before_send: Arc<dyn Fn(&IbmSim) + Send + Sync>,
    began: Instant,
    /// Who the plan is made for, and who answers when asked.
    target: (&'static str, Value),
    who: Value,
    /// What was waited for, as reported: `lb 65s: why`.
    waits: Mutex<Vec<String>>,
}

/// Ends the run like a killed process, at the so-manieth step.
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

fn stage() -> Stage {
    let sim = IbmSim::new(IbmSimOptions { account: ACCOUNT.into(), api_key: "key".into(), seed: 1, start: start() });
    let make = |kind, id: &str, location: &str| Thing::new(kind, id, id, location, ACCOUNT, start());
    let own = |kind, id: &str, location: &str| make(kind, id, location).tagged(&[OWNER, UUID]);
    let (vpc, workspace) = (own(ThingKind::Vpc, "vpc", "us-south"), own(ThingKind::Workspace, "ws", "dal10"));
    let connection = |id: &str, gateway: &str, to: &Thing| {
        let mut connection = make(ThingKind::Connection, id, "global").within(gateway);
        (connection.network_type, connection.network_id) = (Some("vpc".into()), Some(to.crn.clone()));
        connection
    };
    let mut balancer = own(ThingKind::LoadBalancer, "lb", "us-south");
    balancer.uses = vec!["subnet".into()];
    let mut dhcp = make(ThingKind::DhcpServer, "dhcp", "dal10").within("ws");
    dhcp.uses = vec!["net".into()];
    let theirs = make(ThingKind::Vpc, "their-vpc", "us-south").tagged(&["team:other"]);
    for thing in [
        connection("con-vpc", "tg", &vpc),
        connection("con-pvs", "tg", &workspace),
        connection("their-con", "their-tg", &theirs),
        own(ThingKind::TransitGateway, "tg", "us-south"),
        make(ThingKind::TransitGateway, "their-tg", "us-south"),
        balancer,
        own(ThingKind::SecurityGroup, "sg", "us-south").within("vpc"),
        own(ThingKind::Subnet, "subnet", "us-south-1").within("vpc"),
        own(ThingKind::Network, "net", "dal10").within("ws"),
        dhcp,
        own(ThingKind::CosInstance, "cos", "global"),
        make(ThingKind::CosInstance, "their-cos", "global"),
        theirs,
        vpc,
        workspace,
    ] {
        sim.seed(thing);
    }
    let http = HttpClient::in_process(sim.service());
    let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
    let account: Arc<dyn AccountPort> = Arc::new(Account::new(http, endpoints, ApiKey::parse("key").unwrap()));
    Stage {
        sim,
        accounts: [(ACCOUNT.to_owned(), account)].into(),
        cluster: SimCluster::new(SimOptions { name: "mgmt".to_owned(), seed: 1, start: start() }),
        records: Arc::default(),
        crash: Arc::default(),
        before_send: Arc::new(|_| ()),
        began: Instant::now(),
        target: ("mgmt", identity()),
        who: identity(),
        waits: Mutex::default(),
    }
}

impl Stage {
    fn now(&self) -> Timestamp {
        start().checked_add(SignedDuration::try_from(self.began.elapsed()).unwrap()).unwrap()
    }

    fn tags(&self, id: &str) -> Vec<String> {
        self.sim
            .with(|server, _| server.thing(id).map(|thing| thing.tags.iter().cloned().collect()).unwrap_or_default())
    }

    /// Whether a resource is there for people: what waits for its reclamation is not.
    fn is_there(&self, id: &str) -> bool {
        let gone = ["pending_reclamation", "removed"];
        self.sim.with(|server, _| server.thing(id).is_some_and(|thing| !gone.contains(&thing.state.as_str())))
    }

    /// Everything that is not ours, as it is.
    fn others(&self) -> Vec<Thing> {
        self.sim.with(|server, _| server.things().filter(|thing| thing.id.starts_with("their")).cloned().collect())
    }

    /// Deletions that were accepted, by path.
    fn accepted_deletes(&self) -> Vec<String> {
        self.sim.with(|server, _| {
            let accepted = server.log().filter(|one| one.method == Method::DELETE);
            accepted.filter(|one| one.status.is_none_or(|code| code < 300)).map(|one| one.path.clone()).collect()
        })
    }

    fn action(&self, id: &str, verb: &str, target: &str, change: Value, depends_on: &[&str]) -> Value {
        let thing = self.sim.with(|server, _| server.thing(target).cloned()).unwrap();
        let kind = match thing.kind {
            ThingKind::Workspace => "workspace",
            ThingKind::Network => "network",
            ThingKind::DhcpServer => "dhcp-server",
            ThingKind::CosInstance => "cos-instance",
            ThingKind::Vpc => "vpc",
            ThingKind::Subnet => "subnet",
            ThingKind::SecurityGroup => "security-group",
            ThingKind::LoadBalancer => "load-balancer",
            ThingKind::TransitGateway => "transit-gateway",
            ThingKind::Connection => "tg-connection",
        };
        let mut reference =
            json!({ "cloud": "ibm", "account": ACCOUNT, "kind": kind, "id": target, "name": thing.name });
        if !thing.crn.is_empty() {
            reference["crn"] = json!(thing.crn);
        }
        let finding = format!("powervs-tags/ibm:{ACCOUNT}/{kind}/{target}@ns/demo");
        json!({
            "id": id, "finding": finding, "origin": { "finding": finding }, "domain": "powervs-tags",
            "cluster": self.target.0, "verb": verb, "target": reference, "preconditions": { "tags": thing.tags },
            "selected": true, "reason": "cluster-deleted", "ownership": ["one", "two"], "tier": 4, "diff": "",
            "change": change, "undo": "none", "depends_on": depends_on, "blocked_by": [],
        })
    }

    /// The teardown of what is there and not on its way out yet.
    fn teardown(&self) -> Plan {
        let leaving = |id: &str| self.sim.with(|server, _| server.thing(id).is_some_and(Thing::is_leaving));
        let left: Vec<&str> =
            TEARDOWN.iter().map(|(id, _)| *id).filter(|id| self.is_there(id) && !leaving(id)).collect();
        let actions = TEARDOWN.iter().filter(|(id, _)| left.contains(id)).map(|(id, after)| {
            let after: Vec<&str> = after.iter().copied().filter(|id| left.contains(id)).collect();
            self.action(id, "delete", id, json!({}), &after)
        });
        self.plan(actions.collect())
    }

    fn plan(&self, actions: Vec<Value>) -> Plan {
        let now = self.now();
        let until = now.checked_add(SignedDuration::from_mins(15)).unwrap();
        let plan = json!({
            "schema": "trueup/plan/v1", "id": "", "created_at": now, "expires_at": until, "engine": env!("CARGO_PKG_VERSION"),
            "targets": [{ "cluster": self.target.0, "source": "kubeconfig", "class": "prod", "identity": self.target.1 }],
            "observations": [], "findings": [], "actions": actions,
            "summary": { "findings": {}, "actions": {}, "blocked": 0 },
        });
        let mut plan: Plan = serde_json::from_value(plan).unwrap();
        plan.id = plan.computed_id().unwrap();
        plan
    }

    async fn run(&self, plan: Plan) -> Report {
        self.take_up(plan, &[]).await
    }

    async fn take_up(&self, plan: Plan, earlier: &[Entry]) -> Report {
        let answers = Answers::flags(Some(plan.id.clone()), [self.target.0.to_owned()]);
        let approved =
            approve(Admission::as_planned(plan, &Chosen::Selected, self.now()).unwrap(), &answers, self.now()).unwrap();
        let inner = ClusterWithAccounts::new(self.cluster.client(), self.accounts.clone());
        let (sim, before, crash) = (self.sim.clone(), self.before_send.clone(), self.crash.clone());
        let tapped: Arc<dyn ClusterPort> = Arc::new(Tapped { inner, sim, before, crash });
        let settings = RunSettings {
            who: "anna".to_owned(),
            host: "laptop".to_owned(),
            on_new_reference: OnNewReference::Report,
            reference_scan_after: REFERENCE_SCAN_AFTER,
        };
        let ports = Ports {
            clusters: &Clusters::from([(self.target.0.to_owned(), tapped)]),
            recheck: &mut Agreeing(self.who.clone()),
            journal: &mut MemoryJournal(self.records.clone(), self.crash.clone()),
            vault: &NoVault,
            clock: &PausedClock(self.began),
            switches: &Open,
            stop: &AtomicBool::new(false),
            progress: &mut |action, progress| {
                if let Progress::Waiting { so_far, why } = progress {
                    self.waits.lock().unwrap().push(format!("{} {}s: {why}", action.id, so_far.as_secs()));
                }
            },
        };
        resume(approved, settings, ports, earlier).await
    }

    /// The journal, plan by plan.
    fn entries(&self) -> Vec<Entry> {
        entries(self.records.lock().unwrap().iter())
    }

    /// Lets somebody else send every delete of ours right before it arrives.
    fn delete_everything_twice(&mut self) {
        let sim = self.sim.clone();
        let service = tower::service_fn(move |request: http::Request<Full<bytes::Bytes>>| {
            let sim = sim.clone();
            async move {
                if request.method() == Method::DELETE {
                    drop(sim.service().oneshot(request.clone()).await);
                }
                sim.service().oneshot(request).await
            }
        });
        let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
        let account = Account::new(HttpClient::in_process(service), endpoints, ApiKey::parse("key").unwrap());
        self.accounts = [(ACCOUNT.to_owned(), Arc::new(account) as Arc<dyn AccountPort>)].into();
    }

    /// What a new start does first: it reads the results of requests that were left open.
    async fn settle(&self) {
        let port: Arc<dyn ClusterPort> =
            Arc::new(ClusterWithAccounts::new(self.cluster.client(), self.accounts.clone()));
        let resolved = resolve(&self.entries(), &Clusters::from([(self.target.0.to_owned(), port)]), self.now()).await;
        self.records.lock().unwrap().extend(resolved);
    }
}

fn identity() -> Value {
    json!({ "kube_system_uid": "uid", "ca_sha256": "c0ffee" })
}

struct Tapped {
    inner: ClusterWithAccounts,
    sim: IbmSim,
    before: Arc<dyn Fn(&IbmSim) + Send + Sync>,
    crash: Arc<Crash>,
}

impl ClusterPort for Tapped {
    fn read<'a>(&'a self, target: &'a ObjectRef) -> BoxFuture<'a, Reading> {
        self.inner.read(target)
    }

    fn send<'a>(&'a self, token: &'a InFlight, write: Write<'a>) -> BoxFuture<'a, Reply> {
        (self.before)(&self.sim);
        async move {
            self.crash.step();
            let reply = self.inner.send(token, write).await;
            self.crash.step();
            reply
        }
        .boxed()
    }
}

struct MemoryJournal(Arc<Mutex<Vec<Record>>>, Arc<Crash>);

impl JournalPort for MemoryJournal {
    fn append(&mut self, records: &[Record]) -> Result<(), String> {
        self.1.step();
        self.0.lock().unwrap().extend(records.iter().cloned());
        self.1.step();
        Ok(())
    }
}

/// A recheck that finds nothing new: the port alone is looked at here.
struct Agreeing(Value);

impl Recheck for Agreeing {
    fn read_identity<'a>(&'a mut self, _: &'a str) -> BoxFuture<'a, Option<ClusterIdentity>> {
        let who = serde_json::from_value(self.0.clone()).ok();
        async { who }.boxed()
    }

    fn judge_again<'a>(&'a mut self, actions: &'a [&'a Action]) -> BoxFuture<'a, Vec<RecheckResult>> {
        async move { actions.iter().map(|_| RecheckResult::Same).collect() }.boxed()
    }

    fn scan_references<'a>(&'a mut self, deleted: &'a [&'a Action]) -> BoxFuture<'a, Vec<ReferenceScan>> {
        async move { deleted.iter().map(|_| ReferenceScan::Nothing).collect() }.boxed()
    }
}

struct NoVault;

impl VaultPort for NoVault {
    fn seal(&self, _: &Zeroizing<Vec<u8>>) -> Result<Sealed, String> {
        Err("nothing of a cloud is sealed".to_owned())
    }

    fn open(&self, _: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        Err("nothing of a cloud is sealed".to_owned())
    }

    fn restorable(&self, _: &str, _: &str, _: &BTreeSet<String>) -> Result<Zeroizing<Vec<u8>>, String> {
        Err("nothing of a cloud is sealed".to_owned())
    }

    fn owners(&self, _: &str) -> Result<Vec<ObjectRef>, String> {
        Err("nothing of a cloud is sealed".to_owned())
    }
}

struct PausedClock(Instant);

impl ExecutorClock for PausedClock {
    fn now(&self) -> Timestamp {
        start().checked_add(SignedDuration::try_from(self.0.elapsed()).unwrap()).unwrap()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        tokio::time::sleep(span).boxed()
    }
}

struct Open;

impl Switches for Open {
    fn shut(&self, _: Timestamp) -> Option<Blocked> {
        None
    }
}

#[tokio::test(start_paused = true)]
async fn a_whole_life_leaves_nothing_of_ours_and_others_as_they_were() {
    let stage = stage();
    let others = stage.others();
    stage.sim.with(|server, now| server.edit(now, "vpc", |vpc| vpc.tags.clear()));

    let tag = stage.action("a1", "tag", "vpc", json!({ "set": [UUID, OWNER], "remove": [] }), &[]);
    assert_eq!(stage.run(stage.plan(vec![tag])).await.code(), 0);
    assert_eq!(stage.tags("vpc"), [UUID, OWNER]);

    let put_on = stage.action("a1", "tag", "vpc", json!({ "set": ["env:prod"], "remove": [] }), &[]);
    assert_eq!(stage.run(stage.plan(vec![put_on])).await.code(), 0);
    let take_off = stage.action("a1", "untag", "vpc", json!({ "set": [], "remove": ["env:prod"] }), &[]);
    assert_eq!(stage.run(stage.plan(vec![take_off])).await.code(), 0);
    let moved = json!({ "set": [UUID.replace("u-1", "u-2"), OWNER], "remove": [UUID] });
    let re_own = stage.action("a1", "re-own", "vpc", moved, &[]);
    assert_eq!(stage.run(stage.plan(vec![re_own])).await.code(), 0);
    assert_eq!(stage.tags("vpc"), [UUID.replace("u-1", "u-2"), OWNER.to_owned()]);

    let report = stage.run(stage.teardown()).await;
    assert_eq!(report.code(), 0, "{:?}", report.ends);
    let gone = ActionResult::Done(VerifiedState::Gone);
    assert!(report.ends.values().all(|end| *end == gone), "{:?}", report.ends);
    for (id, _) in TEARDOWN.iter().chain(&[("net", [].as_slice()), ("dhcp", &[])]) {
        assert!(!stage.is_there(id), "{id} is still there");
    }
    assert_eq!(stage.others(), others);
    assert_eq!(stage.accepted_deletes().len(), TEARDOWN.len());
}

/// How an operator continues after a killed run.
#[derive(Debug, Clone, Copy)]
enum Continue {
    SamePlan,
    NewPlan,
}

#[tokio::test(start_paused = true)]
async fn a_run_killed_at_any_step_comes_to_the_same_end_and_deletes_nothing_twice() {
    for next in [Continue::SamePlan, Continue::NewPlan] {
        kill_everywhere(next).await;
    }
}

async fn kill_everywhere(next: Continue) {
    let mut kills = 0;
    for at in 0.. {
        let mut stage = stage();
        let others = stage.others();
        let plan = stage.teardown();
        stage.crash = Arc::new(Crash { at: Some(at), ..Crash::default() });
        let ended = AssertUnwindSafe(stage.run(plan.clone())).catch_unwind().await;
        if ended.is_ok() {
            break;
        }
        kills += 1;
        stage.crash = Arc::default();
        stage.settle().await;
        let open = stage.entries().iter().map(Entry::open_count).sum::<usize>();
        assert_eq!(open, 0, "killed at step {at}: requests are still open");
        let report = match next {
            Continue::SamePlan => stage.take_up(plan, &stage.entries()).await,
            Continue::NewPlan => stage.take_up(stage.teardown(), &stage.entries()).await,
        };
        assert!(report.ends.is_empty() || report.code() == 0, "{next:?}, killed at step {at}: {:?}", report.ends);
        // What nobody waits for any more is on its way out.
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(TEARDOWN.iter().all(|(id, _)| !stage.is_there(id)), "{next:?}, killed at step {at}");
        assert_eq!(stage.others(), others, "killed at step {at}");
        let deletes = stage.accepted_deletes();
        let distinct: BTreeSet<&String> = deletes.iter().collect();
        assert_eq!(deletes.len(), distinct.len(), "killed at step {at}: {deletes:?}");
    }
    assert!(kills > 40, "only {kills} steps");
}

/// Taking the read in `send_cloud` out makes this fail: what was read when the wave was prepared still had our tags.
#[tokio::test(start_paused = true)]
async fn tags_are_read_again_right_before_a_delete() {
    let mut stage = stage();
    stage.before_send = Arc::new(|sim| {
        sim.with(|server, now| server.edit(now, "cos", |cos| cos.tags = ["team:other".to_owned()].into()));
    });
    let delete = stage.action("a1", "delete", "cos", json!({}), &[]);
    let report = stage.run(stage.plan(vec![delete])).await;
    assert!(matches!(report.ends["a1"], ActionResult::Failed { .. }), "{:?}", report.ends);
    assert!(stage.is_there("cos") && stage.accepted_deletes().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_delete_ends_as_what_is_read_says_whatever_was_answered() {
    let gone = || ActionResult::Done(VerifiedState::Gone);
    let refused = |status| IbmEffect::Refused { status, retry_after: None };
    let cases = [
        ("the answer is lost", IbmFault::new(IbmPart::Vpc, IbmEffect::LostAfter), Some(gone())),
        ("a gateway gives up", IbmFault::new(IbmPart::Vpc, IbmEffect::GatewayTimeout), Some(gone())),
        ("the token ends", IbmFault::new(IbmPart::Vpc, refused(401)), Some(gone())),
        ("throttled", IbmFault::new(IbmPart::Vpc, refused(429)), Some(gone())),
        ("forbidden", IbmFault::new(IbmPart::Vpc, refused(403)), None),
    ];
    for (case, fault, expected) in cases {
        let stage = stage();
        stage.sim.with(|server, _| server.fault(fault.on(Method::DELETE, "load_balancers").once()));
        let delete = stage.action("a1", "delete", "lb", json!({}), &[]);
        let report = stage.run(stage.plan(vec![delete])).await;
        match expected {
            Some(end) => assert_eq!((&report.ends["a1"], stage.is_there("lb")), (&end, false), "case: {case}"),
            None => {
                assert!(matches!(report.ends["a1"], ActionResult::Failed { .. }), "case: {case}: {:?}", report.ends)
            }
        }
    }
}

/// A plan names tags as the check compares them: without the blank people put after a colon.
#[tokio::test(start_paused = true)]
async fn a_blank_in_somebodys_tag_keeps_nothing_from_going() {
    let stage = stage();
    stage.sim.with(|server, now| server.edit(now, "cos", |cos| cos.tags.extend(["env: prod".to_owned()])));
    let mut delete = stage.action("a1", "delete", "cos", json!({}), &[]);
    delete["preconditions"]["tags"] = json!(["env:prod", UUID, OWNER]);
    let report = stage.run(stage.plan(vec![delete])).await;
    assert_eq!(report.ends["a1"], ActionResult::Done(VerifiedState::Gone));
}

/// Edge case 23: a subnet is on its way out for as long as a balancer's addresses in it are being released.
#[tokio::test(start_paused = true)]
async fn edge_23_a_vpc_is_not_asked_to_go_before_its_subnet_reads_as_gone() {
    let stage = stage();
    assert_eq!(stage.run(stage.teardown()).await.code(), 0);
    let said = |method: Method, path: &str| -> Vec<(usize, Option<u16>)> {
        stage.sim.with(|server, _| {
            let asked = server.log().enumerate().filter(|(_, one)| one.method == method && one.path.ends_with(path));
            asked.map(|(place, one)| (place, one.status)).collect()
        })
    };
    let asked_to_go = said(Method::DELETE, "/vpcs/vpc")[0].0;
    let looks: Vec<Option<u16>> = said(Method::GET, "/subnets/subnet")
        .into_iter()
        .filter(|(place, _)| *place < asked_to_go)
        .map(|(_, status)| status)
        .collect();
    assert_eq!(looks.last(), Some(&Some(404)), "{looks:?}");
    assert!(looks.contains(&Some(200)), "it was seen on its way out: {looks:?}");
}

/// Edge case 37: the provider's controller and this program tear the same cluster down.
#[tokio::test(start_paused = true)]
async fn edge_37_a_delete_that_another_deleter_was_first_with_is_not_a_failure() {
    let targets = [
        ("con-pvs", "/v1/transit_gateways/tg/connections/con-pvs"),
        ("lb", "/v1/load_balancers/lb"),
        ("cos", "/v2/resource_instances/cos"),
    ];
    for (target, path) in targets {
        for moment in
            ["gone before the last look", "under way at the last look", "between the last look and the request"]
        {
            let mut stage = stage();
            match moment {
                "gone before the last look" => {
                    stage.before_send = Arc::new(move |sim| sim.with(|server, now| server.remove(now, target)));
                }
                "under way at the last look" => stage.before_send = Arc::new(move |sim| delete_as_another(sim, path)),
                _ => stage.delete_everything_twice(),
            }
            let delete = stage.action("a1", "delete", target, json!({}), &[]);
            let report = stage.run(stage.plan(vec![delete])).await;
            assert!(!stage.is_there(target), "case: {target} {moment}");
            let ends = [ActionResult::Done(VerifiedState::Gone), ActionResult::Already];
            let is_gone_before = moment == "gone before the last look";
            let end = &report.ends["a1"];
            assert!(ends.contains(end) && (!is_gone_before || *end == ends[1]), "case: {target} {moment}: {end:?}");
            let waits = stage.waits.lock().unwrap();
            let is_rejected = |text: &String| text.contains(": 409");
            assert!(!waits.iter().any(is_rejected), "reported as blocked: {target} {moment}: {waits:?}");
        }
    }
}

/// Sends a delete with a token that somebody has.
fn delete_as_another(sim: &IbmSim, path: &str) {
    sim.with(|server, now| {
        let authorization = format!("Bearer {}", server.tokens().next().unwrap_or_default());
        let query = [("version", "2026-01-01"), ("generation", "2")];
        let answer = server.handle(
            now,
            &IbmRequest {
                method: Method::DELETE,
                base: String::new(),
                path: path.to_owned(),
                query: query.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
                authorization,
                crn: String::new(),
                body: bytes::Bytes::new(),
            },
        );
        assert!(matches!(&answer, IbmAnswer::Reply(reply) if reply.status < 300), "{answer:?}");
    });
}

#[tokio::test(start_paused = true)]
async fn what_depends_on_something_that_stays_is_not_touched() {
    let stage = stage();
    stage.sim.with(|server, now| server.edit(now, "lb", |lb| lb.state = "update_pending".into()));
    let report = stage.run(stage.teardown()).await;
    let ActionResult::Failed { why } = &report.ends["lb"] else { panic!("{:?}", report.ends) };
    assert!(why.starts_with("it was not taken for 10 minutes: VPC: delete a VPC resource: 409"), "{why}");
    assert!(why.contains("update_pending") && why.contains("once no change on it is under way"), "{why}");
    for id in ["subnet", "sg", "vpc"] {
        assert!(
            matches!(report.ends[id], ActionResult::Skipped { .. }) && stage.is_there(id),
            "{id}: {:?}",
            report.ends
        );
    }
    assert!(!stage.is_there("tg") && !stage.is_there("ws"));
}

#[tokio::test(start_paused = true)]
async fn a_tag_that_is_refused_inside_a_200_is_a_failed_action() {
    let stage = stage();
    let tag = stage.action("a1", "tag", "vpc", json!({ "set": ["a/b:1"], "remove": [] }), &[]);
    let report = stage.run(stage.plan(vec![tag])).await;
    let ActionResult::Failed { why } = &report.ends["a1"] else { panic!("{:?}", report.ends) };
    assert!(why.contains("rejected inside a successful response"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn an_account_that_is_not_configured_is_not_written_to() {
    let mut stage = stage();
    let plan = stage.teardown();
    stage.accounts.clear();
    let report = stage.run(plan).await;
    assert!(report.ends.values().all(|end| matches!(end, ActionResult::Skipped { .. })), "{:?}", report.ends);
    assert!(stage.accepted_deletes().is_empty());
}
