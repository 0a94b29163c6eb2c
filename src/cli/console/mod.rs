//! `trueup` on a terminal: the console on the user's clusters.

mod acting;
mod backstage;
mod fleet;
mod objects;
mod saving;
