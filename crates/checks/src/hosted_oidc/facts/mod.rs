//! What this check keeps of each object it looks at.
//!
//! Invariants: an object whose shape isn't understood is a misfit, never an object that asks for nothing.

mod copies;
mod guest;
mod hosted;
mod wanted;

pub use crate::kinds::Infrastructure;
pub use copies::{Copy, Origin, PlatformMark, SecretType, SourceContent, SourceMark, Value16};
pub use guest::{Authentication, ReferringConfig};
pub use hosted::{ControlPlane, Day2, Hosted, HostedCluster, Pause, Restore};
pub use wanted::Client;
