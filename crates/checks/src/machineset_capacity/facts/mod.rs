//! What this check keeps of each object it looks at.
//!
//! Invariants:
//! - no byte of a credential is kept: of a Secret the sort of login it holds, of an environment the few variables that
//!   say where one is, in a process or in a pod;
//! - no resourceVersion is kept of kinds whose controllers update the status: none of that changes a judgement.

mod account;
mod cluster_api;
mod login;
mod pool;
mod workload;

pub use crate::kinds::{CapiCluster, Reference};
pub use account::{Class, Environment, Gpu, InstanceType, Lookup};
pub use cluster_api::{Regional, Template};
pub use login::{Login, Sort as LoginSort};
pub use pool::{CAPI_FIELDS, MACHINE_FIELDS, Own, Pausing, Pool, Provider, SpecKind};
pub use workload::{Container, Deployment, Issuer, Pod, ServiceAccount, TokenMount, Variable};
