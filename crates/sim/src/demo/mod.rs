//! The simulated fleet that `trueup demo` shows.
//!
//! [`Scenario`] is the state at the start, [`ScenarioRunner`] the events after it, [`serve`] opens ports for kubectl.
//! Invariants: nothing outside the process is touched unless `serve` is called; the same seed gives the same scenario;
//! the state at the start and the events come from the same operators and user edits.
//! Elsewhere: observing and judging the fleet (`trueup_fleet`, `trueup_checks`).

mod account;
mod certificate;
mod creation;
mod eks;
mod guest;
mod guests;
mod kinds;
mod machines;
mod objects;
mod operators;
#[cfg(test)]
mod patches;
mod pod_logs;
mod power;
mod provider;
mod reach;
mod runner;
mod scenario;
mod seed;
mod seeded_rng;
mod serve;
mod standalone;
#[cfg(test)]
mod tests;
mod user_edits;
mod workload;

pub use account::{ACCOUNT, API_KEY};
pub use guests::POWER_HOSTS;
pub use machines::Machines;
pub use reach::{DemoService, NotReached, Reach};
pub use runner::{ScenarioEvent, ScenarioRunner, TICK};
pub use scenario::{DemoClass, DemoCluster, DemoRole, Scenario, ScenarioOptions};
pub use serve::{ServeError, Served, ServedAccount, serve};

/// Bearer token in the demo's kubeconfigs. Only the simulated servers accept it.
const TOKEN: &str = "trueup-demo";
