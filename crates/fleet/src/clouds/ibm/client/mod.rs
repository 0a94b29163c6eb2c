//! IBM Cloud: who the key is, what the account holds with which tags, and the few writes a plan may ask for.
//!
//! Invariants:
//! - reads are repeated on 429 and 5xx within bounds; a write ([`write`]) goes out once;
//! - every list is read to its end, or the part that is missing is named;
//! - one error type: service, operation, status, code, message fit for a terminal, request id, remedy.
//!
//! ```text
//! Account (one alias) → Session (token, retries, decoding) → http
//!   ├ instances, vpc, transit, power, search, tags: one file a service
//!   └ inventory: all of them, as the entries of a recorded account
//! ```
//!
//! Elsewhere: which tags are legal and whose they are (`checks::powervs_tags`).

mod account;
mod crn;
mod endpoints;
mod error;
mod instances;
mod inventory;
mod key;
mod paging;
mod power;
mod resource;
mod search;
mod session;
mod tags;
mod token;
mod transit;
mod vpc;
mod write;

#[cfg(test)]
mod tests;

pub use account::{Account, Which};
pub use crn::Crn;
pub use endpoints::{BadEndpoint, Endpoints, IbmService};
pub use error::{CloudError, Problem};
pub use inventory::{Inventory, Missing};
pub use key::{ApiKey, BadKey, COMPUTE_TOKEN_FILES, Credential};
pub use resource::IbmResource;
