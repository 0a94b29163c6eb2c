//! What this check keeps of each object it looks at.
//!
//! Invariants: a cluster's two shapes become one here. Everything after reads slots and never a version.

mod cluster;
mod resource;
mod sheet;
mod slots;

pub use crate::kinds::{CapiCluster, Pause};
pub use cluster::{Attached, Infra, PowerVsCluster, Restored, Shape, UserTags, UserTagsIn};
pub use resource::{CloudResource, Course, Lock, account_of_crn, crn_ends};
pub use slots::{Held, Slot, SpecEntry};
