//! The rules of this check, each on a fleet that differs in what the rule is about.

mod asking;
mod edges;
mod following;
mod oracle;
mod owners;
mod plans;
mod pointing;
mod teardown;
mod user_tags;
mod users;

use super::testing::*;
use super::{PowerVsTags, Settings};
use crate::Check;
use crate::testing::{Answer, Fixture, Follow, Judged, each, now};
use trueup_core::world::World;
