//! What this check keeps of each object it looks at.
//!
//! Always true: a cluster's two shapes become one here. Everything after reads slots and never a version.

mod capi;
mod cluster;
mod resource;
mod sheet;
mod slots;

pub use capi::CapiCluster;
pub use cluster::{Infra, Pause, PowerVsCluster, Shape, UserTags, UserTagsIn};
pub use resource::{CloudResource, Course, Lock, account_of_crn, crn_ends};
pub use slots::{Held, Slot, Wish};
