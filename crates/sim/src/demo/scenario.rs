//! The scenario: clusters with their state at the start.
//!
//! Invariants: the same options give the same objects, byte for byte, and the same events afterwards.

use jiff::{SignedDuration, Timestamp};

use super::account;
use super::certificate::{self, Client};
use super::guest::{CopyMarks, Guest, Operator};
use super::guests::{
    EXPIRED_ADMIN, GUESTS, GuestSetup, GuestSpec, MANAGEMENT_CLUSTERS, SECOND_POWER_HOST, WORKLOADS_HOST,
};
use super::machines::{self, Machines};
use super::objects::CLUSTERS;
use super::operators::Operators;
use super::pod_logs;
use super::power;
use super::provider::Authentication;
use super::reach::{DemoService, Reach};
use super::runner::ScenarioRunner;
use super::seed::{self, NewGuest};
use super::seeded_rng::SeededRng;
use super::standalone::{self, Standalone};
use super::workload::{self, Workload};
use crate::ibm::IbmSim;
use crate::{SimCluster, SimOptions};

/// Size and seed of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScenarioOptions {
    pub seed: u64,
    /// Additional guests, spread over the management clusters.
    pub guests_more: usize,
    /// Unrelated objects in the guests' `openshift-config`, spread over the guests.
    pub objects_more: usize,
    pub start: Timestamp,
}

/// The simulated fleet and what acts in it.
#[derive(Debug)]
pub struct Scenario {
    /// Management clusters first, then standalone clusters, then guests; in a fixed order.
    pub clusters: Vec<DemoCluster>,
    /// The IBM Cloud account of the PowerVS clusters.
    pub account: IbmSim,
    pub(super) actors: Vec<GuestActor>,
    standalone: Vec<Standalone>,
    workloads: Vec<Workload>,
    machines: Option<Machines>,
    seed: u64,
}

/// One cluster of the scenario.
#[derive(Debug, Clone)]
pub struct DemoCluster {
    pub name: String,
    pub class: DemoClass,
    pub role: DemoRole,
    pub sim: SimCluster,
    pub reach: Reach,
    /// The API server's address in the demo's kubeconfigs.
    pub server: String,
}

/// Environment class of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoClass {
    Dev,
    Stage,
    Prod,
}

/// How a cluster is discovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DemoRole {
    /// From a context of the kubeconfig.
    Management { context: String },
    /// From its HostedCluster.
    Guest { management: String, namespace: String, hosted_cluster: String },
}

/// A guest with its operators.
#[derive(Debug, Clone)]
pub(super) struct GuestActor {
    pub guest: Guest,
    pub operators: Operators,
    pub reach: Reach,
}

/// Age of the oldest objects.
const FIRST_DAY: SignedDuration = SignedDuration::from_hours(24 * 400);

impl Scenario {
    pub fn new(options: &ScenarioOptions) -> Self {
        let since = options.start.checked_sub(FIRST_DAY).unwrap_or(Timestamp::MIN);
        let (clusters, actors) = (Vec::new(), Vec::new());
        let (standalone, workloads) = (Vec::new(), Vec::new());
        let account = account::account(options.seed, options.start);
        let mut scenario =
            Self { clusters, account, actors, standalone, workloads, machines: None, seed: options.seed };
        for host in &MANAGEMENT_CLUSTERS {
            let (sim, mut rng) = cluster(options, host.name);
            let server = server_of(host.name);
            seed::management(&sim, host.name, &server, &mut rng, since);
            if host.name == WORKLOADS_HOST {
                scenario.workloads = workload::seed(&sim, options.seed, since, options.start);
                power::seed(&sim, since, options.start);
            }
            if host.name == SECOND_POWER_HOST {
                power::seed_second(&sim, since, options.start);
            }
            let role = DemoRole::Management { context: host.name.to_owned() };
            let (name, class) = (host.name.to_owned(), host.class);
            scenario.clusters.push(DemoCluster { name, class, role, sim, reach: Reach::Open, server });
        }
        let (alone, standalone) = standalone::build(options, since);
        let on_aws = alone.iter().find(|one| one.name == machines::CLUSTER);
        scenario.machines = on_aws.map(|one| Machines::seed(&one.sim, since));
        alone.iter().for_each(|one| machines::seed_annotators(&one.name, &one.sim, since));
        alone.iter().for_each(|one| pod_logs::of_standalone(&one.sim, (since, options.start)));
        scenario.clusters.extend(alone);
        scenario.standalone = standalone;
        for spec in &GUESTS {
            scenario.add_guest(options, spec.name, spec, since);
        }
        for index in 0..options.guests_more {
            scenario.add_guest(
                options,
                &format!("guest-{:03}", index + 1),
                &additional_guest(options.seed, index),
                since,
            );
        }
        scenario.add_unrelated_objects(options);
        for host in &MANAGEMENT_CLUSTERS {
            let sim = scenario.clusters.iter().find(|cluster| cluster.name == host.name).map(|cluster| &cluster.sim);
            sim.into_iter().for_each(|sim| pod_logs::of_management(sim, (since, options.start)));
        }
        scenario.actors.iter().for_each(|actor| pod_logs::of_guest(&actor.guest, (since, options.start)));
        scenario
    }

    /// Returns the guest of a HostedCluster.
    pub fn guest(&self, management: &str, namespace: &str, hosted_cluster: &str) -> Option<&DemoCluster> {
        let (management, namespace) = (management.to_owned(), namespace.to_owned());
        let wanted = DemoRole::Guest { management, namespace, hosted_cluster: hosted_cluster.to_owned() };
        self.clusters.iter().find(|cluster| cluster.role == wanted)
    }

    /// Returns the cluster whose kubeconfigs have this `server`.
    pub fn at(&self, server: &str) -> Option<&DemoCluster> {
        let server = server.trim_end_matches('/');
        self.clusters.iter().find(|cluster| cluster.server == server)
    }

    /// Returns the runner of the scenario's events. The events do not depend on when this is called.
    pub fn runner(&self) -> ScenarioRunner {
        let (actors, standalone, workloads) = (self.actors.clone(), self.standalone.clone(), self.workloads.clone());
        ScenarioRunner::new(actors, standalone, workloads, self.machines.clone(), self.seed)
    }

    /// Returns the MachineSets in the simulated AWS.
    pub fn machines(&self) -> Option<&Machines> {
        self.machines.as_ref()
    }

    fn add_guest(&mut self, options: &ScenarioOptions, name: &str, spec: &GuestSpec, since: Timestamp) {
        let (sim, mut rng) = cluster(options, name);
        let host = &self.clusters[spec.host];
        let (management, server) = (host.sim.clone(), server_of(name));
        let hosted_by = host.name.clone();
        let admin = admin(options, name);
        let new = NewGuest { sim: &sim, name, management: &management, server: &server, admin: &admin };
        seed::guest(&new, &mut rng, since);
        let guest = Guest {
            name: name.to_owned(),
            management,
            sim: sim.clone(),
            marks: spec.marks,
            config_operator: Operator::Working,
        };
        let (operators, start) = (Operators::default(), options.start);
        let mut setup = GuestSetup { guest, operators, reach: Reach::Open, rng, start };
        (spec.setup)(&mut setup);
        let GuestSetup { guest, operators, reach, .. } = setup;
        let role =
            DemoRole::Guest { management: hosted_by, namespace: CLUSTERS.to_owned(), hosted_cluster: name.to_owned() };
        self.clusters.push(DemoCluster { name: name.to_owned(), class: spec.class, role, sim, reach, server });
        self.actors.push(GuestActor { guest, operators, reach });
    }

    /// Spreads unrelated objects over the reachable guests.
    fn add_unrelated_objects(&self, options: &ScenarioOptions) {
        let mut rng = SeededRng::new(options.seed, "clutter");
        let open: Vec<&GuestActor> = self.actors.iter().filter(|actor| actor.reach == Reach::Open).collect();
        for (index, actor) in (0..options.objects_more).zip(open.iter().cycle()) {
            seed::unrelated_object(&actor.guest, index / open.len(), &mut rng, options.start);
        }
    }
}

impl DemoCluster {
    /// Returns a connection to the cluster as its admin.
    pub fn service(&self) -> DemoService {
        DemoService::new(&self.sim, self.reach)
    }

    /// Returns a kube client as the cluster's admin. Needs a running tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.service().client()
    }
}

/// Returns an empty cluster and the generator for its objects.
pub(super) fn cluster(options: &ScenarioOptions, name: &str) -> (SimCluster, SeededRng) {
    let mut rng = SeededRng::new(options.seed, name);
    let (seed, start) = (rng.next_u64(), options.start);
    (SimCluster::new(SimOptions { name: name.to_owned(), seed, start }), rng)
}

/// The admin certificate of a guest: valid for a year, three months old. One of them has expired.
fn admin(options: &ScenarioOptions, name: &str) -> Client {
    let ago = |days: i64| options.start.checked_sub(SignedDuration::from_hours(24 * days)).unwrap_or(options.start);
    let made = if name == EXPIRED_ADMIN { ago(368) } else { ago(90) };
    let until = made.checked_add(SignedDuration::from_hours(24 * 365)).unwrap_or(Timestamp::MAX);
    certificate::client(&mut SeededRng::new(options.seed, &format!("admin of {name}")), "root-ca", made, until)
}

/// `.invalid` is a reserved domain: nothing in the demo resolves to a real host.
pub(super) fn server_of(name: &str) -> String {
    format!("https://api.{name}.demo.invalid:6443")
}

/// An additional guest: most switched providers once, some kept the first.
fn additional_guest(seed: u64, index: usize) -> GuestSpec {
    let mut rng = SeededRng::new(seed, &format!("walk-on {index}"));
    let marks = if rng.below(3) == 0 { CopyMarks::ManagedOnly } else { CopyMarks::ManagedAndOidc };
    let class = match rng.below(4) {
        0 => DemoClass::Dev,
        1 => DemoClass::Stage,
        _ => DemoClass::Prod,
    };
    let setup: fn(&mut GuestSetup) = match rng.below(4) {
        0 => |setup| setup.switch_provider("sso-2024", "sso"),
        1 => |setup| setup.set_authentication(80, &Authentication::IntegratedOAuth),
        _ => |setup| setup.set_authentication(60, &Authentication::oidc("sso")),
    };
    GuestSpec { name: "", host: index % MANAGEMENT_CLUSTERS.len(), class, marks, setup }
}
