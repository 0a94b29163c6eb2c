//! The fleet that `trueup demo` shows: a story told with `sim`.
//!
//! [`Story`] is the first scene, [`Life`] what happens then, [`serve`] a way in for kubectl and everybody else.
//!
//! Always true:
//! - nothing outside the process is touched unless it is asked to listen;
//! - the same seed tells the same story;
//! - the past and the present are made by the same actors.
//!
//! Not here: looking at the fleet, or judging it. The command line joins the clusters to the rest of the program.

mod account;
mod cast;
mod certificate;
mod dice;
mod eks;
mod furnish;
mod guest;
mod kinds;
mod life;
mod machines;
mod objects;
mod operators;
mod people;
mod power;
mod provider;
mod reach;
mod serve;
mod standalone;
mod story;
#[cfg(test)]
mod tests;
mod workload;

pub use account::{ACCOUNT, API_KEY};
pub use cast::WORKLOADS_HOST as POWER_HOST;
pub use life::{Beat, Life, TICK};
pub use machines::Machines;
pub use reach::{DemoService, NotReached, Reach};
pub use serve::{ServeError, Served, ServedAccount, serve};
pub use story::{DemoClass, DemoCluster, DemoRole, Story, StoryOptions};

/// What the story's kubeconfigs log in with. It opens nothing but the story.
const TOKEN: &str = "trueup-demo";
