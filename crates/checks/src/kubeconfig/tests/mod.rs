//! The rules of this check, each on a fleet that differs in what the rule is about.

mod edges;
mod following;
mod own;
mod places;
mod repairs;
mod secrecy;
mod sources;
mod times;

use super::Kubeconfigs;
use super::testing::*;
use crate::Check;
use crate::testing::{Fixture, Follow, Judged, each, now};
use trueup_core::world::World;
