//! The world of one history: clusters, those who move in them, and what is true whatever an engine believes.
//!
//! Invariants:
//! - everything that happens goes through here, one step after another, and is in the trace;
//! - the truth about references is kept by those who make them, never read from an answer;
//! - time is tokio's paused clock; an engine's own clock may have been set wrong on top of it.
//!
//! Elsewhere: what an engine may do (`truth`), who else acts (`other_writers`), what goes wrong with a request (`injected_fault`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;
use trueup_core::engine::FreezeWindow;
use trueup_sim::{Reply, Request, Server};

use super::compare::Commit;
use super::edit::EditSeen;
use super::fault_profile::FaultProfile;
use super::kind::{Fired, Kind};
use super::planner::proofs;
use super::seeded_rng::SeededRng;
use super::standing::{Phase, Standing};

/// Where candidates live.
pub const CONFIG: &str = "config";
/// Where the ConfigMaps live that refer to them.
pub const APPS: &str = "apps";
pub const OWNER_LABEL: &str = "owner";
pub const MADE_BY: &str = "made-by";
pub const OURS: &str = "trueup";
/// Where the Secret lives that others are copies of.
pub const SOURCES: &str = "sources";
pub const SOURCE: &str = "source";
/// The key that is copied.
pub const COPIED: &str = "value";
/// A label a plan may put on an object.
pub const MARK: &str = "checked";
/// The label by which an object asks for the mark or for being a copy.
pub const WANTS: &str = "wants";

/// One candidate: in which cluster, and its name, which says its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub site: usize,
    pub name: String,
}

/// One cluster, and the one that may come to stand behind its address.
pub struct Site {
    pub server: Server,
    pub other: Option<Server>,
    pub swapped: bool,
    /// The newest version a plan was made of: no stale answer is older.
    pub planned_version: u64,
}

/// A request that was given up by its sender and still arrives.
pub struct Late {
    pub due: Timestamp,
    pub who: usize,
    pub site: usize,
    pub request: Request,
}

pub struct World {
    pub rng: SeededRng,
    pub faults: FaultProfile,
    pub sites: Vec<Site>,
    /// Everything that has been made where candidates live.
    pub candidates: Vec<Target>,
    /// What each referrer names, by its cluster and name.
    pub referrers: BTreeMap<(usize, String), BTreeSet<Target>>,
    /// Grows with every reference to a target that is added or removed.
    pub reference_changes: BTreeMap<Target, u32>,
    pub engines: Vec<Standing>,
    pub late: Vec<Late>,
    /// Deletes that took effect.
    pub commits: Vec<Commit>,
    /// What an engine brought back.
    pub restored: BTreeSet<Target>,
    pub fired: Fired,
    /// The edited files that were given to an apply.
    pub edits: Vec<EditSeen>,
    pub switched: bool,
    pub freeze: Option<FreezeWindow>,
    /// The incident of this history happens at this step of the first engine.
    pub incident_at: Option<u32>,
    /// The cluster whose lists never arrive.
    pub late_site: Option<usize>,
    /// Nothing moves and nothing fails any more.
    pub resting: bool,
    /// The first broken invariant.
    pub broken: Option<String>,
    pub trace: Option<Vec<String>>,
    /// Requests that were answered.
    pub requests: u64,
    start: Timestamp,
    began: Instant,
    jumped: SignedDuration,
}

/// The world as everybody holds it.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<World>>);

/// The result of a request.
pub enum Heard {
    /// `lied`: a stale or emptied answer.
    Reply {
        reply: Reply,
        lied: bool,
    },
    Lost,
    Silence,
    /// The process that asked is no more.
    Dead,
}

impl Target {
    /// Reads `1/s-0`, as referrers name a target.
    pub fn parse(text: &str) -> Option<Self> {
        let (site, name) = text.split_once('/')?;
        Some(Self { site: site.parse().ok()?, name: name.to_owned() })
    }

    pub fn plural(&self) -> &'static str {
        if self.name.starts_with('s') { "secrets" } else { "configmaps" }
    }

    pub fn kind(&self) -> &'static str {
        if self.name.starts_with('s') { "Secret" } else { "ConfigMap" }
    }

    pub fn key(&self) -> String {
        format!("{CONFIG}/{}", self.name)
    }
}

impl Shared {
    pub fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    pub fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Site {
    pub fn name(place: usize) -> String {
        format!("guest-{place}")
    }

    /// The cluster behind a name.
    pub fn of(name: &str) -> usize {
        name.trim_start_matches("guest-").parse().unwrap_or(0)
    }

    /// The cluster that answers at the address now.
    pub fn answering(&mut self) -> &mut Server {
        match (&mut self.other, self.swapped) {
            (Some(other), true) => other,
            (_, _) => &mut self.server,
        }
    }
}

impl World {
    pub fn new(rng: SeededRng, faults: FaultProfile, start: Timestamp, traced: bool) -> Self {
        Self {
            rng,
            faults,
            sites: Vec::new(),
            candidates: Vec::new(),
            referrers: BTreeMap::new(),
            reference_changes: BTreeMap::new(),
            engines: Vec::new(),
            late: Vec::new(),
            commits: Vec::new(),
            restored: BTreeSet::new(),
            fired: Fired::default(),
            edits: Vec::new(),
            switched: false,
            freeze: None,
            incident_at: None,
            late_site: None,
            resting: false,
            broken: None,
            trace: traced.then(Vec::new),
            requests: 0,
            start,
            began: Instant::now(),
            jumped: SignedDuration::ZERO,
        }
    }

    /// The time everybody but an engine goes by.
    pub fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.began.elapsed()).unwrap_or(SignedDuration::ZERO);
        self.start.checked_add(passed).unwrap_or(self.start)
    }

    /// The time the engines' machine shows.
    pub fn engine_now(&self) -> Timestamp {
        let now = self.now();
        now.checked_add(self.jumped).unwrap_or(now)
    }

    pub fn jump(&mut self, by: SignedDuration) {
        self.jumped = self.jumped.checked_add(by).unwrap_or(self.jumped);
        self.tell("clock", || format!("jumps by {by:#}"));
    }

    pub fn tell(&mut self, actor: &str, what: impl FnOnce() -> String) {
        if self.trace.is_some() {
            let at = self.now().duration_since(self.start).as_millis();
            let line = format!("{:>4}.{:03} s  {actor:<6} {}", at / 1000, at % 1000, what());
            self.trace.iter_mut().for_each(|trace| trace.push(line.clone()));
        }
    }

    /// Notes that an invariant does not hold.
    pub fn broke(&mut self, what: impl FnOnce() -> String) {
        if self.broken.is_none() {
            let what = what();
            self.tell("!!!", || what.clone());
            self.broken = Some(what);
        }
    }

    pub fn fire(&mut self, kind: Kind) {
        self.fired.add(kind);
    }

    /// The candidate as it really is.
    pub fn look(&self, target: &Target) -> Option<Value> {
        self.peek(target).cloned()
    }

    fn peek(&self, target: &Target) -> Option<&Value> {
        self.sites[target.site].server.stored("v1", target.kind(), &target.key())
    }

    /// The value copies of a cluster have to have.
    pub fn source_value(&self, site: usize) -> Value {
        let source = self.sites[site].server.stored("v1", "Secret", &format!("{SOURCES}/{SOURCE}"));
        source.map(|source| source["data"][COPIED].clone()).unwrap_or_default()
    }

    /// Whether an object has the name and is not being deleted.
    pub fn is_present(&self, target: &Target) -> bool {
        self.peek(target).is_some_and(|object| object["metadata"]["deletionTimestamp"].is_null())
    }

    pub fn is_referenced(&self, target: &Target) -> bool {
        self.referrers.values().any(|named| named.contains(target))
    }

    /// How many candidates of a cluster carry a proof of ours.
    pub fn managed(&self, site: usize) -> usize {
        let here = self.candidates.iter().filter(|target| target.site == site);
        here.filter_map(|target| self.peek(target)).filter(|object| proofs(object) > 0).count()
    }

    pub fn reference_changes(&self, target: &Target) -> u32 {
        self.reference_changes.get(target).copied().unwrap_or(0)
    }

    /// Writes what a referrer names now.
    pub fn put_referrer(&mut self, place: usize, name: &str) {
        let named = self.referrers.get(&(place, name.to_owned())).cloned().unwrap_or_default();
        let text: Vec<String> = named.iter().map(|target| format!("{}/{}", target.site, target.name)).collect();
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": APPS}, "data": {"refs": text.join(" ")}});
        let now = self.now();
        self.sites[place].server.seed(now, object).expect("a ConfigMap can be put anywhere");
    }

    /// Lets one step of an engine pass. Whether its process ends here.
    pub fn ends_here(&mut self, who: usize) -> bool {
        let standing = &mut self.engines[who];
        if !standing.alive {
            return true;
        }
        standing.steps += 1;
        let steps = standing.steps;
        if standing.crash_at == Some(steps) {
            standing.alive = false;
            self.fire(Kind::Crashed);
            let name = self.engines[who].name;
            self.tell(name, || "is killed".to_owned());
            return true;
        }
        if who == 0 && self.incident_at.is_some_and(|at| at <= steps) && self.engines[0].phase == Phase::Applying {
            self.incident_at = None;
            self.incident();
        }
        false
    }

    /// One request of an engine.
    pub fn ask(&mut self, who: usize, site: usize, request: &Request) -> Heard {
        if !self.engines[who].alive {
            return Heard::Dead;
        }
        self.deliver_late();
        self.others_move();
        if self.ends_here(who) {
            return Heard::Dead;
        }
        let heard = self.answer(who, site, request);
        self.requests += 1;
        if self.ends_here(who) {
            return Heard::Dead;
        }
        self.came_back(who);
        heard
    }

    /// An engine continues after a wait: what it must have noticed by its next request.
    pub fn came_back(&mut self, who: usize) {
        self.engines[who].shut_before = self.is_shut(who);
    }

    /// Whether something stops all writes of an engine now.
    pub fn is_shut(&self, who: usize) -> bool {
        let standing = &self.engines[who];
        let now = self.engine_now();
        self.switched
            || standing.is_stopped()
            || self.freeze.as_ref().is_some_and(|window| window.contains(now))
            || standing.plan.as_ref().is_some_and(|plan| now >= plan.expires_at)
    }
}
