//! What this check keeps of each object it looks at.
//!
//! Invariants: of a kubeconfig it keeps what `content` keeps, beside length and keyed digest of the whole.

mod clusters;
mod crossplane;
mod own;
mod secrets;

pub use crate::kinds::CapiCluster;
pub use clusters::{CaptPlane, HostedCluster};
pub use crossplane::{Apply, Workspace};
pub use own::OwnContext;
pub use secrets::{Anchor, Extras, Held, Holder, Mutability, Owner, Role, Typed};
