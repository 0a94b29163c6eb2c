//! The rules of this check, each on a fleet that differs in what the rule is about.

mod anything;
mod candidates;
mod day2;
mod expected;
mod fleet;
mod following;
mod hosted_clusters;
mod leftovers;
mod ownership;
mod referrers;
mod scale;
mod secrecy;
mod shapes;
mod unknowns;
mod upstream;

use super::testing::*;
use crate::testing::{Fixture, Follow, Judged, each, judge_everything, now};
