//! The rules of this check, each on a fleet that differs in what the rule is about.

mod annotations;
mod annotator;
mod cluster_api;
mod edges;
mod following;
mod lookups;
mod rules;
mod scale;
mod secrecy;
mod upstream;

use serde_json::Value;

use super::MachineSetCapacity;
use super::testing::*;
use crate::Check;
use crate::testing::{Fixture, Follow, Judged, each, now};
use trueup_core::world::{ClusterName, World};
