//! A cluster on PowerVS, its management cluster and the account its resources lie in, each behind a port of its own, and a
//! desk from which the binary works on them.
//!
//! Always true:
//! - time in the account passes with what is asked of it, unless a test wants it to run: a deletion is over at once or when it
//!   was seen under way, so that nothing here waits for a clock;
//! - beside the cluster's own resources the account holds some of every kind that are not, to be left alone.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use trueup_core::engine::{Action, Plan};
use trueup_sim::ibm::{IbmSim, IbmSimOptions, Thing, ThingKind};
use trueup_sim::{Listening, ResourceKind, SimCluster, SimOptions, listen};

use super::fixture::folder;
use super::front::{Front, FrontBody, Upstream};

pub const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";
pub const UID: &str = "5f0c2b7e-0d5e-4c52-9a0e-6b1f4e7d2a10";
const OTHER_UID: &str = "6a1d3c8f-1e6f-4d63-8b1f-7c205f8e3b21";
const DEAD_UID: &str = "7b2e4d90-2f70-4e74-8c20-8d316091c432";
const NAMESPACE: &str = "power";
const API: &str = "infrastructure.cluster.x-k8s.io/v1beta3";
const KIND: &str = "IBMPowerVSCluster";

/// How far the account's clock jumps: further than any deletion and the index take.
const JUMP: Duration = Duration::from_secs(60);

/// Whose transit gateway the cluster uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gateway {
    Own,
    /// The network team's.
    Shared,
}

/// What the account has of the cluster when a story begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tags {
    On,
    Missing,
}

/// How a stage is set.
#[derive(Clone)]
pub struct Set {
    pub gateway: Gateway,
    pub tags: Tags,
    pub key: String,
    pub pace: Pace,
    /// Further management clusters of the account, with no PowerVS cluster of their own.
    pub further: usize,
}

/// How time passes in the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It jumps over every change. Deletions of paths with one of these in them are first seen under way once, or refuse
    /// a request that waits for it.
    Jumps { slow: &'static [&'static str] },
    /// It runs: deletions take seconds, and the index is behind.
    Runs,
}

impl Default for Set {
    fn default() -> Self {
        Self {
            gateway: Gateway::Own,
            tags: Tags::On,
            key: "a-key-that-opens-the-account".to_owned(),
            pace: Pace::Jumps { slow: &[] },
            further: 0,
        }
    }
}

/// All of it. Ends with the test.
pub struct Stage {
    dir: tempfile::TempDir,
    pub mgmt: SimCluster,
    pub further: Vec<SimCluster>,
    pub account: IbmSim,
    pub front: Front,
    gateway: Gateway,
    _port: Listening,
}

pub async fn stage(set: &Set) -> Stage {
    let start = jiff::Timestamp::now();
    let options = IbmSimOptions { account: ACCOUNT.to_owned(), api_key: set.key.clone(), seed: 1, start };
    let account = IbmSim::new(options);
    let mut things = neighbours(start);
    things.extend(own(set, start));
    things.into_iter().for_each(|thing| account.seed(thing));
    let clock = Arc::new(Clock { sim: account.clone(), pace: set.pace, leaving: Mutex::default() });
    let front = Front::start(Jumping(clock));

    let mgmt = management_cluster("mgmt", 1, start);
    for (name, uid, gateway) in [("delta", UID, set.gateway), ("reef", OTHER_UID, Gateway::Shared)] {
        let cluster = json!({ "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "spec": {},
            "metadata": { "name": name, "namespace": NAMESPACE, "uid": format!("{name}-cluster") } });
        mgmt.seed(cluster).unwrap();
        mgmt.seed(object(name, uid, gateway)).unwrap();
    }
    let named = |number: usize| format!("mgmt-{number}");
    let further: Vec<SimCluster> =
        (1..=set.further).map(|number| management_cluster(&named(number), 100 + number as u64, start)).collect();
    let mut served = vec![("mgmt".to_owned(), mgmt.clone())];
    served.extend((1..).map(named).zip(further.iter().cloned()));
    let port = listen("127.0.0.1:0".parse().unwrap(), served).await.unwrap();
    let dir =
        folder(&[("kubeconfig", &port.kubeconfig()), ("ibm.key", &set.key), ("config.toml", &config(&front.url()))]);
    Stage { dir, mgmt, further, account, front, gateway: set.gateway, _port: port }
}

fn management_cluster(name: &str, seed: u64, start: jiff::Timestamp) -> SimCluster {
    let cluster = SimCluster::new(SimOptions { name: name.to_owned(), seed, start });
    cluster.register(ResourceKind::custom(API, KIND, "ibmpowervsclusters").with_status());
    cluster.register(ResourceKind::custom("cluster.x-k8s.io/v1beta1", "Cluster", "clusters").with_status());
    cluster
}

impl Stage {
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The binary with a state folder of its own. `$TMP` stands for the desk.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_in(&["--all-contexts"], args)
    }

    /// The same for these contexts alone.
    pub fn command_in(&self, contexts: &[&str], args: &[&str]) -> Command {
        let tmp = self.dir.path().to_str().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("XDG_STATE_HOME", self.path("state")).env("RUST_LOG", "trace").current_dir("/");
        command.args(args.iter().map(|arg| arg.replace("$TMP", tmp)));
        command.args(["--kubeconfig", &format!("{tmp}/kubeconfig"), "--config", &format!("{tmp}/config.toml")]);
        command.args(contexts);
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        tokio::task::block_in_place(|| self.command(args).output().unwrap())
    }

    /// Plans, and answers with the plan.
    pub fn plan(&self) -> Plan {
        self.plan_in(&["--all-contexts"])
    }

    /// Plans for these contexts alone.
    pub fn plan_in(&self, contexts: &[&str]) -> Plan {
        let mut command = self.command_in(contexts, &["plan", "--out", "$TMP/plan.json"]);
        let output = tokio::task::block_in_place(|| command.output().unwrap());
        let text = std::fs::read_to_string(self.path("plan.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
        std::fs::remove_file(self.path("plan.json")).unwrap();
        std::fs::write(self.path(&format!("{}.json", short(&text))), &text).unwrap();
        Plan::read(&text).unwrap()
    }

    /// What carries a plan out, with everything that is asked for at the highest tier.
    pub fn apply_args(&self, plan: &Plan) -> Vec<String> {
        let file = format!("$TMP/{}.json", &plan.id[7..15]);
        let args = ["apply", &file, "--look-back", "0s", "--expect", &plan.id, "--confirm-cluster", "mgmt"];
        args.map(str::to_owned).to_vec()
    }

    /// Carries out what a plan has ticked.
    pub fn apply(&self, plan: &Plan) -> Output {
        let args = self.apply_args(plan);
        self.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Carries out these actions or groups of a plan, and no others.
    pub fn apply_only(&self, plan: &Plan, only: &[&str]) -> Output {
        let args = self.only_args(plan, only);
        self.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    pub fn only_args(&self, plan: &Plan, only: &[&str]) -> Vec<String> {
        let mut args = self.apply_args(plan);
        args.extend(["--confirm-cluster", "ibm:prod"].map(str::to_owned));
        args.extend(only.iter().flat_map(|one| ["--only".to_owned(), (*one).to_owned()]));
        args
    }

    /// Moves the neighbour's cluster to another management cluster of the account.
    pub fn move_reef(&self, to: &SimCluster) {
        for (api, kind) in [("cluster.x-k8s.io/v1beta1", "Cluster"), (API, KIND)] {
            let object = self.mgmt.object(api, kind, &format!("{NAMESPACE}/reef")).unwrap();
            self.mgmt.remove(api, kind, &format!("{NAMESPACE}/reef")).unwrap();
            to.seed(object).unwrap();
        }
    }

    /// The cluster's object is gone, and what it had is left.
    pub fn leak_cluster(&self) {
        self.mgmt.remove(API, KIND, &format!("{NAMESPACE}/delta")).unwrap();
    }

    /// Changes the neighbour's object where it is.
    pub fn edit_reef(&self, cluster: &SimCluster, change: impl FnOnce(&mut Value)) {
        cluster.edit(API, KIND, &format!("{NAMESPACE}/reef"), change).unwrap();
    }

    /// Changes the cluster's object, as its user or its controller does.
    pub fn edit(&self, change: impl FnOnce(&mut Value)) {
        self.mgmt.edit(API, KIND, &format!("{NAMESPACE}/delta"), change).unwrap();
    }

    /// The cluster's object as it is.
    pub fn cluster(&self) -> Value {
        self.mgmt.object(API, KIND, &format!("{NAMESPACE}/delta")).unwrap()
    }

    /// The cluster is deleted; its finalizer keeps it until its resources are gone.
    pub fn delete_cluster(&self) {
        let now = self.mgmt.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        self.edit(|object| object["metadata"]["deletionTimestamp"] = json!(now));
    }

    /// Everything that is not the cluster's, as it is.
    pub fn others(&self) -> Vec<Thing> {
        self.account.with(|server, _| server.things().filter(|thing| !thing.id.contains("delta")).cloned().collect())
    }

    /// What people still see of the cluster: what waits for its reclamation is deleted.
    pub fn left(&self) -> Vec<String> {
        let is_over = |thing: &&Thing| matches!(thing.state.as_str(), "pending_reclamation" | "removed");
        self.account.with(|server, _| {
            let own = server.things().filter(|thing| thing.id.contains("delta"));
            own.filter(|thing| !is_over(thing)).map(|thing| thing.id.clone()).collect()
        })
    }

    pub fn tags(&self, id: &str) -> Vec<String> {
        self.account.with(|server, _| server.thing(id).unwrap().tags.iter().cloned().collect())
    }

    /// The cluster's resources that can be tagged.
    pub fn taggable(&self) -> Vec<String> {
        self.account.with(|server, _| {
            let own = server.things().filter(|thing| thing.id.contains("delta"));
            own.filter(|thing| !thing.crn.is_empty()).map(|thing| thing.id.clone()).collect()
        })
    }

    /// The resources whose deletion was asked for and accepted, in the order it was.
    pub fn deleted(&self) -> Vec<String> {
        self.account.with(|server, _| {
            let deletes = server.log().filter(|one| one.method == Method::DELETE);
            let accepted = deletes.filter(|one| one.status.is_none_or(|status| status < 300));
            accepted.filter_map(|one| one.path.rsplit('/').next().map(str::to_owned)).collect()
        })
    }

    /// The cluster's teardown in the order that works.
    pub fn order(&self) -> Vec<&'static str> {
        let all = [
            "con-delta-pvs",
            "con-delta-vpc",
            "tg-delta",
            "r006-delta-lb",
            "r006-delta-sg",
            "0717-delta-subnet",
            "r006-delta-vpc",
            "ws-delta",
            "cos-delta",
        ];
        all.into_iter().filter(|id| *id != "tg-delta" || self.gateway == Gateway::Own).collect()
    }

    /// The journal's records.
    pub fn records(&self) -> Vec<Value> {
        let output = self.run(&["history", "export"]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The journal is whole, and nothing in it is open.
    pub fn assert_journal_settled(&self, case: &str) {
        let (listed, verified) = (said(&self.run(&["history"])), self.run(&["history", "verify"]));
        assert!(!listed.contains("open"), "case: {case}: something is still open: {listed}");
        assert_eq!(verified.status.code(), Some(0), "case: {case}: {}", said(&verified));
    }
}

/// All that a shell sees.
pub fn said(output: &Output) -> String {
    let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}----- stderr\n{err}----- exit {code}\n")
}

/// The ticked actions of a plan, `verb id`, without those that wait for others first.
pub fn ticked(plan: &Plan) -> BTreeSet<String> {
    let id = |action: &Action| action.target.cloud.as_ref().map(|cloud| cloud.id.clone()).unwrap_or_default();
    let ticked = plan.actions.iter().filter(|action| action.selected);
    ticked.map(|action| format!("{} {}", action.verb().as_str(), id(action))).collect()
}

pub fn owner_tags() -> [String; 2] {
    tags_of("delta", UID)
}

fn tags_of(name: &str, uid: &str) -> [String; 2] {
    [format!("powervs.cluster.x-k8s.io-cluster-uuid:{uid}"), format!("powervs.cluster.x-k8s.io-owner:{name}")]
}

fn connection_tags(uid: &str) -> [String; 2] {
    ["powervs", "vpc"].map(|side| format!("powervs.cluster.x-k8s.io-tgconn:{uid}.{side}"))
}

fn short(plan: &str) -> String {
    Plan::read(plan).unwrap().id[7..15].to_owned()
}

fn config(url: &str) -> String {
    let services = ["iam", "tagging", "search", "resource-controller", "vpc", "transit", "power"];
    let endpoints: String = services.iter().map(|service| format!("{service} = \"{url}\"\n")).collect();
    format!(
        "[safety]\nsettle = \"0s\"\n[clouds.ibm.prod]\napi_key_file = \"ibm.key\"\nmanagement_clusters = [\"mgmt*\"]\nmanagement_clusters_complete = true\n\
         [clouds.ibm.prod.endpoints]\n{endpoints}"
    )
}

/// A cluster whose provider makes everything it has, but for a gateway it shares.
fn object(name: &str, uid: &str, gateway: Gateway) -> Value {
    let made = json!({ "type": "Provision" });
    let (mut own_gateway, gateway_id) = match gateway {
        Gateway::Own => (made.clone(), format!("tg-{name}")),
        Gateway::Shared => {
            (json!({ "type": "Reference", "reference": { "id": "tg-backbone" } }), "tg-backbone".to_owned())
        }
    };
    (own_gateway["vpcConnection"], own_gateway["powerVSConnection"]) = (made.clone(), made.clone());
    let id = |front: &str, tail: &str| format!("{front}-{name}{tail}");
    json!({
        "apiVersion": API, "kind": KIND,
        "metadata": {
            "name": name, "namespace": NAMESPACE, "uid": uid,
            "finalizers": ["ibmpowervscluster.infrastructure.cluster.x-k8s.io"],
            "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", "name": name, "uid": format!("{name}-cluster"),
            }],
        },
        "spec": {
            "topology": "LoadBalancer", "zone": "dal10", "workspace": made, "network": made,
            "vpc": { "type": "Provision", "region": "us-south" }, "transitGateway": own_gateway, "cosInstance": made,
        },
        "status": {
            "workspace": { "id": id("ws", "") },
            "network": { "id": id("net", ""), "dhcpServer": { "id": id("dhcp", "") } },
            "vpc": { "id": id("r006", "-vpc") },
            "vpcSubnets": [{ "id": id("0717", "-subnet"), "name": format!("{name}-subnet-us-south-1") }],
            "vpcSecurityGroups": [{ "id": id("r006", "-sg"), "name": format!("{name}-sg") }],
            "loadBalancers": [{ "id": id("r006", "-lb"), "name": format!("{name}-loadbalancer-public") }],
            "transitGateway": {
                "id": gateway_id,
                "vpcConnection": { "id": id("con", "-vpc") }, "powerVSConnection": { "id": id("con", "-pvs") },
            },
            "cosInstance": { "id": id("cos", "") },
        },
    })
}

fn own(set: &Set, since: jiff::Timestamp) -> Vec<Thing> {
    let tags = match set.tags {
        Tags::On => owner_tags().to_vec(),
        Tags::Missing => Vec::new(),
    };
    tenant("delta", &tags, set.gateway, since)
}

fn tenant(name: &str, tags: &[String], gateway: Gateway, since: jiff::Timestamp) -> Vec<Thing> {
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    let bare = |kind, id: String, location: &str| Thing::new(kind, &id, &format!("n-{id}"), location, ACCOUNT, since);
    let make = |kind, id: String, location: &str| bare(kind, id, location).tagged(&tags);
    let id = |front: &str, tail: &str| format!("{front}-{name}{tail}");
    let gateway_id = match gateway {
        Gateway::Own => id("tg", ""),
        Gateway::Shared => "tg-backbone".to_owned(),
    };
    let (vpc, workspace) =
        (make(ThingKind::Vpc, id("r006", "-vpc"), "us-south"), make(ThingKind::Workspace, id("ws", ""), "dal10"));
    let connection = |tail: &str, kind: &str, to: &Thing| {
        let mut connection = bare(ThingKind::Connection, id("con", tail), "global").within(&gateway_id);
        (connection.network_type, connection.network_id) = (Some(kind.to_owned()), Some(to.crn.clone()));
        connection
    };
    let mut dhcp = bare(ThingKind::DhcpServer, id("dhcp", ""), "dal10").within(&workspace.id);
    dhcp.uses = vec![id("net", "")];
    let mut balancer = make(ThingKind::LoadBalancer, id("r006", "-lb"), "us-south");
    balancer.uses = vec![id("0717", "-subnet")];
    let mut all = vec![
        connection("-vpc", "vpc", &vpc),
        connection("-pvs", "power_virtual_server", &workspace),
        make(ThingKind::Network, id("net", ""), "dal10").within(&workspace.id),
        dhcp,
        make(ThingKind::SecurityGroup, id("r006", "-sg"), "us-south").within(&vpc.id),
        make(ThingKind::Subnet, id("0717", "-subnet"), "us-south-1").within(&vpc.id),
        balancer,
        make(ThingKind::CosInstance, id("cos", ""), "global"),
        vpc,
        workspace,
    ];
    if gateway == Gateway::Own {
        all.push(make(ThingKind::TransitGateway, gateway_id, "us-south"));
    }
    all
}

/// What others have: a running cluster, the network team's gateway, a user's things, and what a dead cluster left.
fn neighbours(since: jiff::Timestamp) -> Vec<Thing> {
    let thing = |kind, id: &str, location: &str| Thing::new(kind, id, id, location, ACCOUNT, since);
    let mut all = tenant("reef", &tags_of("reef", OTHER_UID), Gateway::Shared, since);
    let [powervs, vpc] = connection_tags(OTHER_UID);
    all.push(thing(ThingKind::TransitGateway, "tg-backbone", "us-south").tagged(&["team:network", &powervs, &vpc]));
    let mut line = thing(ThingKind::Connection, "con-datacentre", "global").within("tg-backbone");
    line.network_type = Some("directlink".to_owned());
    let mut vault = thing(ThingKind::Workspace, "ws-vault", "lon06").tagged(&["team:storage"]);
    vault.locked = true;
    let [uuid, owner] = tags_of("quarry", DEAD_UID);
    all.extend([
        line,
        vault,
        thing(ThingKind::Vpc, "r006-theirs", "us-south").tagged(&["team:web"]),
        thing(ThingKind::Subnet, "0717-theirs", "us-south-1").within("r006-theirs"),
        thing(ThingKind::CosInstance, "cos-archive", "global"),
        thing(ThingKind::CosInstance, "cos-quarry", "global").tagged(&[&uuid, &owner]),
    ]);
    all
}

/// The account's clock, which what is asked moves.
struct Clock {
    sim: IbmSim,
    pace: Pace,
    /// Paths of deletions that were not read yet.
    leaving: Mutex<BTreeSet<String>>,
}

impl Clock {
    fn pass(&self, method: &Method, path: &str, status: u16) {
        let Pace::Jumps { slow } = self.pace else { return };
        let mut leaving = self.leaving.lock().unwrap();
        let jumps = match *method {
            // A request was refused because of a deleting resource: finish its deletion.
            Method::DELETE if status == 409 => {
                leaving.clear();
                true
            }
            Method::DELETE if slow.iter().any(|part| path.contains(part)) => {
                leaving.insert(path.to_owned());
                false
            }
            Method::DELETE => leaving.is_empty(),
            Method::GET => leaving.remove(path),
            // The index is behind after every change.
            _ => path.ends_with("/attach") || path.ends_with("/detach"),
        };
        if jumps {
            self.sim.advance(JUMP);
        }
    }
}

/// The account behind its front.
struct Jumping(Arc<Clock>);

impl Upstream for Jumping {
    fn forward(&self, request: Request<Bytes>) -> BoxFuture<'_, anyhow::Result<Response<FrontBody>>> {
        Box::pin(async move {
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            let mut answer = self.0.sim.service().oneshot(request.map(Full::new)).await?;
            // The account jumps ahead of this machine, which would block deletes; the front sends its own time.
            answer.headers_mut().remove(http::header::DATE);
            self.0.pass(&method, &path, answer.status().as_u16());
            Ok(answer.map(|body| body.map_err(|never| match never {}).boxed_unsync()))
        })
    }
}
