//! The story's first scene: clusters, and everything that happened to them before.
//!
//! Always true: the same options give the same objects, byte for byte, and the same life afterwards.

use jiff::{SignedDuration, Timestamp};

use super::account;
use super::cast::{CAST, Character, EXPIRED_ADMIN, HOSTS, Past, WORKLOADS_HOST};
use super::certificate::{self, Client};
use super::dice::Dice;
use super::furnish::{self, NewGuest};
use super::guest::{CopyMarks, Guest, Operator};
use super::life::Life;
use super::machines::{self, Machines};
use super::objects::CLUSTERS;
use super::operators::Operators;
use super::power;
use super::provider::Authentication;
use super::reach::{DemoService, Reach};
use super::standalone::{self, Standalone};
use super::workload::{self, Workload};
use crate::ibm::IbmSim;
use crate::{SimCluster, SimOptions};

/// How the story is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoryOptions {
    pub seed: u64,
    /// Guests beside those of the cast, spread over the management clusters.
    pub guests_more: usize,
    /// Ordinary objects in the guests' `openshift-config`, spread over the guests.
    pub objects_more: usize,
    pub start: Timestamp,
}

/// The fleet, and those who act in it.
#[derive(Debug)]
pub struct Story {
    /// Management clusters first, then clusters of their own, then guests; in a fixed order.
    pub clusters: Vec<DemoCluster>,
    /// The IBM Cloud account in which clusters on PowerVS have their resources.
    pub account: IbmSim,
    pub(super) actors: Vec<Actor>,
    standalone: Vec<Standalone>,
    workloads: Vec<Workload>,
    machines: Option<Machines>,
    seed: u64,
}

/// One cluster of the story.
#[derive(Debug, Clone)]
pub struct DemoCluster {
    pub name: String,
    pub class: DemoClass,
    pub role: DemoRole,
    pub sim: SimCluster,
    pub reach: Reach,
    /// The API server's address, as kubeconfigs of the story have it.
    pub server: String,
}

/// How much a mistake would cost there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoClass {
    Dev,
    Stage,
    Prod,
}

/// How people come to a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DemoRole {
    /// By a context of their kubeconfig.
    Management { context: String },
    /// By the HostedCluster it is the guest of.
    Guest { management: String, namespace: String, hosted_cluster: String },
}

/// A guest with its operators.
#[derive(Debug, Clone)]
pub(super) struct Actor {
    pub guest: Guest,
    pub operators: Operators,
    pub reach: Reach,
}

/// How long ago the oldest objects were made.
const FIRST_DAY: SignedDuration = SignedDuration::from_hours(24 * 400);

impl Story {
    pub fn new(options: &StoryOptions) -> Self {
        let since = options.start.checked_sub(FIRST_DAY).unwrap_or(Timestamp::MIN);
        let (clusters, actors) = (Vec::new(), Vec::new());
        let (standalone, workloads) = (Vec::new(), Vec::new());
        let account = account::account(options.seed, options.start);
        let mut story = Self { clusters, account, actors, standalone, workloads, machines: None, seed: options.seed };
        for host in &HOSTS {
            let (sim, mut dice) = cluster(options, host.name);
            let server = server_of(host.name);
            furnish::management(&sim, host.name, &server, &mut dice, since);
            if host.name == WORKLOADS_HOST {
                story.workloads = workload::furnish(&sim, options.seed, since, options.start);
                power::furnish(&sim, since, options.start);
            }
            let role = DemoRole::Management { context: host.name.to_owned() };
            let (name, class) = (host.name.to_owned(), host.class);
            story.clusters.push(DemoCluster { name, class, role, sim, reach: Reach::Open, server });
        }
        let (alone, standalone) = standalone::enter(options, since);
        let on_aws = alone.iter().find(|one| one.name == machines::CLUSTER);
        story.machines = on_aws.map(|one| Machines::furnish(&one.sim, since));
        alone.iter().for_each(|one| machines::furnish_annotators(&one.name, &one.sim, since));
        story.clusters.extend(alone);
        story.standalone = standalone;
        for character in &CAST {
            story.enter(options, character.name, character, since);
        }
        for index in 0..options.guests_more {
            story.enter(options, &format!("guest-{:03}", index + 1), &walk_on(options.seed, index), since);
        }
        story.fill(options);
        story
    }

    /// The guest of a HostedCluster.
    pub fn guest(&self, management: &str, namespace: &str, hosted_cluster: &str) -> Option<&DemoCluster> {
        let (management, namespace) = (management.to_owned(), namespace.to_owned());
        let wanted = DemoRole::Guest { management, namespace, hosted_cluster: hosted_cluster.to_owned() };
        self.clusters.iter().find(|cluster| cluster.role == wanted)
    }

    /// The cluster a kubeconfig of the story points at with this `server`.
    pub fn at(&self, server: &str) -> Option<&DemoCluster> {
        let server = server.trim_end_matches('/');
        self.clusters.iter().find(|cluster| cluster.server == server)
    }

    /// Those who act in the story from now on. Their deeds do not depend on when this is called.
    pub fn life(&self) -> Life {
        let (actors, standalone, workloads) = (self.actors.clone(), self.standalone.clone(), self.workloads.clone());
        Life::new(actors, standalone, workloads, self.machines.clone(), self.seed)
    }

    /// The machines that are in the story's AWS.
    pub fn machines(&self) -> Option<&Machines> {
        self.machines.as_ref()
    }

    fn enter(&mut self, options: &StoryOptions, name: &str, character: &Character, since: Timestamp) {
        let (sim, mut dice) = cluster(options, name);
        let host = &self.clusters[character.host];
        let (management, server) = (host.sim.clone(), server_of(name));
        let hosted_by = host.name.clone();
        let admin = admin(options, name);
        let new = NewGuest { sim: &sim, name, management: &management, server: &server, admin: &admin };
        furnish::guest(&new, &mut dice, since);
        let guest = Guest {
            name: name.to_owned(),
            management,
            sim: sim.clone(),
            marks: character.marks,
            config_operator: Operator::Working,
        };
        let (operators, start) = (Operators::default(), options.start);
        let mut past = Past { guest, operators, reach: Reach::Open, dice, start };
        (character.past)(&mut past);
        let Past { guest, operators, reach, .. } = past;
        let role =
            DemoRole::Guest { management: hosted_by, namespace: CLUSTERS.to_owned(), hosted_cluster: name.to_owned() };
        self.clusters.push(DemoCluster { name: name.to_owned(), class: character.class, role, sim, reach, server });
        self.actors.push(Actor { guest, operators, reach });
    }

    /// Spreads ordinary objects over the guests that can be reached.
    fn fill(&self, options: &StoryOptions) {
        let mut dice = Dice::new(options.seed, "clutter");
        let open: Vec<&Actor> = self.actors.iter().filter(|actor| actor.reach == Reach::Open).collect();
        for (index, actor) in (0..options.objects_more).zip(open.iter().cycle()) {
            furnish::clutter(&actor.guest, index / open.len(), &mut dice, options.start);
        }
    }
}

impl DemoCluster {
    /// A caller's way to the cluster, as its admin.
    pub fn service(&self) -> DemoService {
        DemoService::new(&self.sim, self.reach)
    }

    /// The real client on top of it. Needs a running tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.service().client()
    }
}

/// An empty cluster and the dice for what goes into it.
pub(super) fn cluster(options: &StoryOptions, name: &str) -> (SimCluster, Dice) {
    let mut dice = Dice::new(options.seed, name);
    let (seed, start) = (dice.roll(), options.start);
    (SimCluster::new(SimOptions { name: name.to_owned(), seed, start }), dice)
}

/// What a guest's admin logs in with: made for a year, a season ago. One was forgotten.
fn admin(options: &StoryOptions, name: &str) -> Client {
    let ago = |days: i64| options.start.checked_sub(SignedDuration::from_hours(24 * days)).unwrap_or(options.start);
    let made = if name == EXPIRED_ADMIN { ago(368) } else { ago(90) };
    let until = made.checked_add(SignedDuration::from_hours(24 * 365)).unwrap_or(Timestamp::MAX);
    certificate::client(&mut Dice::new(options.seed, &format!("admin of {name}")), "root-ca", made, until)
}

/// `.invalid` is reserved: nothing of the story can be reached by mistake.
pub(super) fn server_of(name: &str) -> String {
    format!("https://api.{name}.demo.invalid:6443")
}

/// A guest of the crowd: most moved once from one provider to another, some stayed with the first.
fn walk_on(seed: u64, index: usize) -> Character {
    let mut dice = Dice::new(seed, &format!("walk-on {index}"));
    let marks = if dice.below(3) == 0 { CopyMarks::ManagedOnly } else { CopyMarks::ManagedAndOidc };
    let class = match dice.below(4) {
        0 => DemoClass::Dev,
        1 => DemoClass::Stage,
        _ => DemoClass::Prod,
    };
    let past: fn(&mut Past) = match dice.below(4) {
        0 => |past| past.move_from_to("sso-2024", "sso"),
        1 => |past| past.log_in_by(80, &Authentication::IntegratedOAuth),
        _ => |past| past.log_in_by(60, &Authentication::oidc("sso")),
    };
    Character { name: "", host: index % HOSTS.len(), class, marks, past }
}
