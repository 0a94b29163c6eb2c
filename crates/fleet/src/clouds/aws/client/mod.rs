//! The AWS APIs in use: caller identity (STS) and instance types (EC2). Read only.
//!
//! ```text
//! environment, Secret, profile ─► order (which credentials) ─► sts (keys) ─► ec2 (instance types) ─► catalogue (cache)
//! ```
//!
//! Invariants:
//! - an incomplete pair of web identity variables is an error before anything else is looked at;
//! - a token file is read again for each exchange, because it is rotated in place;
//! - every failure has a class, a code, a sentence and a remedy, and none of them holds a key or a token.
//!
//! Why no SDK: `aws-sdk-ec2` alone takes eight minutes and eight gigabytes to build (`docs/facts/irsa-machineset.md` section
//! 11); four Query calls and one signature are all that is needed of it.
//!
//! Elsewhere: what an annotation should say (`checks::machineset_capacity`).

mod api;
mod arn;
mod catalogue;
mod ec2;
mod endpoint;
mod error;
mod ini;
mod order;
mod partition;
mod profile;
mod query;
mod secret_file;
mod sso;
mod sts;
mod token;
mod variables;
mod xml;

pub use api::Aws;
pub use arn::{BadArn, RoleArn};
pub use catalogue::{Catalogue, Found, Principal};
pub use ec2::{Gpu, InstanceType, Offers, RegionState};
pub use endpoint::{BadEndpoint, Endpoints, Service};
pub use error::{AwsError, Class};
pub use order::{
    Choice, Decision, Irsa, Missing, NamedSecret, Refusal, SecretContent, Step, Went, Workstation, decide,
};
pub use partition::{Partition, Region};
pub use profile::{Profile, ProfileError, Profiles};
pub use secret_file::read_secret;
pub use sts::{Caller, Keys, Session, WebIdentity};
pub use token::Claims;
pub use variables::Variables;

#[cfg(test)]
mod tests;
