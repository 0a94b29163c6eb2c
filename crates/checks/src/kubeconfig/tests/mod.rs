//! The rules of this check, each on a fleet that differs in what the rule is about.

mod creation;
mod edges;
mod following;
mod own;
mod owners;
mod places;
mod repairs;
mod scale;
mod secrecy;
mod sources;
mod times;
mod twins;

use super::Kubeconfigs;
use super::testing::*;
use crate::Check;
use crate::testing::{Fixture, Follow, Judged, each, now};
use trueup_core::world::World;
