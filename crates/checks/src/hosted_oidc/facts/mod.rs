//! What this check keeps of each object it looks at.
//!
//! Invariants: an object whose shape isn't understood is a misfit, never an object that asks for nothing.

mod copies;
mod data_keys;
mod guest;
mod hosted;
mod wanted;

pub use crate::kinds::{Bundle, BundleOwner, Infrastructure};
pub use copies::{Copy, Origin, SourceContent, SourceMark, Value16};
pub use data_keys::{DataKeys, SecretType};
pub use guest::{Authentication, ConsoleDeployment, ConsoleOperator, CurrentClient, Management, ReferringConfig};
pub use hosted::{AuthBlock, ControlPlane, Day2, Hosted, HostedCluster, PROVIDERS, Pause, Restore, SpeakingCondition};
pub use wanted::{AuthenticationType, Client};
