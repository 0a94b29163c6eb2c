//! The rules of this check, each on a fleet that differs in what the rule is about.

mod adoption;
mod asking;
mod attached;
mod edges;
mod following;
mod leaked;
mod members;
mod oracle;
mod owners;
mod plans;
mod pointing;
mod scale;
mod sharing;
mod teardown;
mod user_tags;
mod users;

use super::testing::*;
use super::{PowerVsTags, Settings};
use crate::Check;
use crate::testing::{Answer, Fixture, Follow, Judged, each, now};
use trueup_core::world::World;
