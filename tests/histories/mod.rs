//! Histories: thousands of small worlds in which everything fails that can fail, each from one seed.
//!
//! A history seeds one to three simulated clusters, makes a plan with the builder that ships, applies the plan file through
//! the admission, approval, recheck, executor and journal that ship, behind the real client, while other writers, faults,
//! edited files, changed configuration and crashes interfere. Every invariant is checked at every request, at every effect, at
//! the end of every run, and once more when all activity has ended.
//!
//! - `seeded_rng`, `fault_profile`, `kind`: what is drawn from the seed. `world`, `other_writers`, `injected_fault`, `edit`,
//!   `edit_field`: what happens.
//! - `rule_check`: the check. `configuration`, `planner`, `fresh_world`, `watched_recheck`, `lists`, `tap`, `ports`, `disk`: what
//!   an engine works with. `history`: the order of events.
//! - `standing`, `truth`, `undo`, `ending`: the invariants. `compare`: other ways of deleting in the same worlds.

mod compare;
mod configuration;
mod disk;
mod edit;
mod edit_field;
mod ending;
mod fault_profile;
mod fresh_world;
mod history;
mod injected_fault;
mod kind;
mod lists;
mod other_writers;
mod planner;
mod ports;
mod rule_check;
mod seeded_rng;
mod standing;
mod tap;
mod truth;
mod undo;
mod watched_recheck;
mod world;

pub use compare::{Count, Tracing, Way, hostile};
pub use edit::{EditSeen, Edited, Marked};
pub use edit_field::FIELDS;
pub use fault_profile::PlanLife;
pub use history::{HistoryResult, play};
pub use kind::Kind;
