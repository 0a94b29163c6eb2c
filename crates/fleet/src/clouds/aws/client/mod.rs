//! The AWS APIs in use: caller identity (STS), instance types (EC2) and, on request, a trust policy (IAM). Read only.
//!
//! ```text
//! environment, Secret, own login ─► order (which credentials) ─► sts (keys) ─► ec2 (instance types) ─► catalogue (cache)
//! ```
//!
//! Invariants:
//! - an incomplete pair of web identity variables is an error before anything else is looked at;
//! - a token file is read again for each exchange, because it is rotated in place;
//! - every failure has a class, a code, a sentence and a remedy, and none of them holds a key or a token.
//!
//! Why no SDK but aws-config: `aws-sdk-ec2` alone takes eight minutes and eight gigabytes to build
//! (`docs/facts/irsa-machineset.md` section 11); a few Query calls and one signature are all that is needed of it.
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
mod own_login;
mod partition;
mod query;
mod secret_file;
mod sts;
mod token;
mod trust;
mod variables;
mod xml;

pub use api::Aws;
pub use arn::{BadArn, RoleArn};
pub use catalogue::{Catalogue, Found, Principal};
pub use ec2::{Gpu, InstanceType, Offers, RegionState};
pub use endpoint::{BadEndpoint, Endpoints, Service};
pub use error::{AwsError, Class};
pub use order::{
    Choice, Decision, Here, Irsa, Missing, NamedSecret, Place, Refusal, SecretContent, Step, Went, decide,
};
pub use own_login::{LoginReach, OWN_LOGIN_NONE, OwnKeys, OwnLogin};
pub use partition::{Partition, Region};
pub use secret_file::read_secret;
pub use sts::{Caller, Keys, Session, WebIdentity};
pub use token::Claims;
pub(super) use token::{Token, parse as parse_token};
pub(super) use trust::{beside as trust_beside, needed as trust_needed};
pub use variables::Variables;

#[cfg(test)]
mod tests;
