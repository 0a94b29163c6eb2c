//! Histories: thousands of small worlds in which everything goes wrong that can, each from one seed.
//!
//! A history makes a world of one to three simulated clusters, a plan through the real engine, approves it and lets the real
//! executor carry it out, behind the real client and with the real journal, while others move in the same clusters and
//! requests, disks, clocks and processes fail. Everything that must hold is checked at every request, at every effect, at
//! the end of every run, and once more when all has come to rest.
//!
//! - `chance`, `weather`, `kind`: what is drawn from the seed. `world`, `movers`, `strike`: what happens.
//! - `planner`, `judge`, `lists`, `tap`, `ports`, `disk`: an engine's surroundings. `history`: the order of things.
//! - `standing`, `truth`, `ending`: what must hold. `compare`: other ways of deleting in the same worlds.

mod chance;
mod compare;
mod configuration;
mod disk;
mod edit;
mod ending;
mod fresh_world;
mod history;
mod kind;
mod lists;
mod movers;
mod planner;
mod ports;
mod rule_check;
mod standing;
mod strike;
mod tap;
mod truth;
mod watched_recheck;
mod weather;
mod world;

pub use compare::{Count, Telling, Way, hostile};
pub use history::{Told, play};
pub use kind::Kind;
