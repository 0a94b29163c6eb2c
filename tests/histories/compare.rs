//! How often other ways of deleting hit the wrong object, in the same moving worlds.
//!
//! A delete is wrong when the object was not the one that was shown, was not ours any more as it was shown, or something
//! refers to it and it was not brought back. The last is the race between two objects that no precondition covers; it is
//! counted on its own as well, repaired or not.

use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use trueup_core::engine::Chosen;
use trueup_sim::Request;

use super::configuration::Configuration;
use super::fault_profile::{FaultProfile, PlanLife};
use super::history::run;
use super::planner::{self, Made};
use super::ports::Hold;
use super::seeded_rng::SeededRng;
use super::standing::Standing;
use super::truth::content;
use super::watched_recheck::Rereads;
use super::world::{CONFIG, Shared, Target, World};

/// A way to carry out a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ByName,
    ByUid,
    ByUidAndVersion,
    TrueupNoRereads,
    TrueupPerWave,
    TrueupPerDelete,
}

/// Whether a world writes down what happens in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    Yes,
    No,
}

/// One delete, as it was when it took effect.
#[derive(Debug, Clone)]
pub struct Commit {
    pub target: Target,
    pub another: bool,
    pub changed: bool,
    pub referenced: bool,
}

/// Results of many worlds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    pub deletes: u64,
    /// The object was another one than was shown.
    pub another: u64,
    /// It was the one, and had been changed: perhaps no longer ours.
    pub changed: u64,
    /// Something referred to it when it was deleted.
    pub races: u64,
    /// Of these: it is still referred to, and not there.
    pub dangling: u64,
}

const CANDIDATES: usize = 8;

impl Way {
    pub const ALL: [Self; 6] = [
        Self::ByName,
        Self::ByUid,
        Self::ByUidAndVersion,
        Self::TrueupNoRereads,
        Self::TrueupPerWave,
        Self::TrueupPerDelete,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ByName => "by name",
            Self::ByUid => "by uid",
            Self::ByUidAndVersion => "by uid and resourceVersion",
            Self::TrueupNoRereads => "trueup, referrers never read again",
            Self::TrueupPerWave => "trueup, read again per wave (as it is)",
            Self::TrueupPerDelete => "trueup, read again per delete",
        }
    }
}

impl Count {
    pub fn wrong(self) -> u64 {
        self.another + self.changed + self.dangling
    }

    pub fn add(&mut self, other: Self) {
        let Self { deletes, another, changed, races, dangling } = other;
        self.deletes += deletes;
        self.another += another;
        self.changed += changed;
        self.races += races;
        self.dangling += dangling;
    }
}

/// Carries out the plan of one hostile world.
pub fn hostile(seed: u64, way: Way, plan_life: PlanLife, telling: Tracing) -> (Count, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime needs no more than memory").block_on(async {
        let start = Timestamp::from_second(1_794_823_200).expect("a Monday");
        let shared =
            Shared::new(World::new(SeededRng::new(seed), FaultProfile::hostile(), start, telling == Tracing::Yes));
        {
            let mut world = shared.lock();
            world.seed_clusters(1, CANDIDATES, false);
            world.engines.push(Standing::new("A", None));
        }
        let configuration = Configuration { plan_life, ..Configuration::default() };
        let made = planner::make(Hold { shared: shared.clone(), who: 0 }, 0, configuration).await;
        let file = made.file();
        // The operator reads the plan for a minute, or has it approved for almost three days.
        let (moves, hours) = if plan_life == PlanLife::Days { (12, 70) } else { (4, 0) };
        for _ in 0..moves {
            shared.lock().move_once();
            tokio::time::sleep(Duration::from_secs(hours * 3_600 / moves)).await;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
        match way {
            Way::ByName | Way::ByUid | Way::ByUidAndVersion => delete_all(&mut shared.lock(), &made, way),
            Way::TrueupNoRereads => drop(run(&shared, 0, &made, &file, Chosen::Selected, Rereads::Never).await),
            Way::TrueupPerWave => drop(run(&shared, 0, &made, &file, Chosen::Selected, Rereads::Asked).await),
            Way::TrueupPerDelete => {
                for chosen in made.one_by_one() {
                    run(&shared, 0, &made, &file, chosen, Rereads::Asked).await;
                }
            }
        }
        let mut world = shared.lock();
        world.rest();
        (count(&world), world.trace.take().unwrap_or_default())
    })
}

/// Deletes everything the plan shows, the way others do.
fn delete_all(world: &mut World, made: &Made, way: Way) {
    for (target, uid, version, shown) in made.deletions() {
        world.others_move();
        let preconditions = match way {
            Way::ByUid => json!({ "uid": uid }),
            Way::ByUidAndVersion => json!({ "uid": uid, "resourceVersion": version }),
            Way::ByName | Way::TrueupNoRereads | Way::TrueupPerWave | Way::TrueupPerDelete => json!({}),
        };
        let options = json!({ "kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions,
            "propagationPolicy": "Background" });
        let path = format!("/api/v1/namespaces/{CONFIG}/{}/{}", target.plural(), target.name);
        let before = world.look(&target);
        let now = world.now();
        world.sites[target.site].server.handle(now, &Request::new(Method::DELETE, &path, options.to_string()));
        if let Some(before) = before.filter(|before| world.look(&target).as_ref() != Some(before)) {
            world.note_delete(&target, &before, &uid, &shown);
        }
    }
}

impl World {
    /// Notes a delete that took effect.
    pub fn note_delete(&mut self, target: &Target, before: &Value, uid: &str, shown: &Value) {
        let another = before["metadata"]["uid"] != uid;
        let changed = !another && content(before) != *shown;
        let referenced = self.is_referenced(target);
        self.commits.push(Commit { target: target.clone(), another, changed, referenced });
    }
}

fn count(world: &World) -> Count {
    let mut count = Count::default();
    for Commit { target, another, changed, referenced } in &world.commits {
        let missing = world.is_referenced(target) && world.look(target).is_none();
        let missing = missing && !world.restored.contains(target);
        count.deletes += 1;
        count.another += u64::from(*another);
        count.changed += u64::from(*changed);
        count.races += u64::from(*referenced);
        count.dangling += u64::from(*referenced && missing && !another && !changed);
    }
    count
}
