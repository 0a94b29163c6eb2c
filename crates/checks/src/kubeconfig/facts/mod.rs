//! What this check keeps of each object it looks at.
//!
//! Always true: of a kubeconfig it keeps what `content` keeps, beside length and keyed digest of the whole.

mod clusters;
mod own;
mod secrets;

pub use clusters::{CapiCluster, CaptPlane, HostedCluster, Pause};
pub use own::OwnContext;
pub use secrets::{Anchor, Extras, Held, Holder, Mark, Mutability, Owner, Role, Typed};
