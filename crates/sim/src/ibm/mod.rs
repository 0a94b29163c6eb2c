//! An IBM Cloud account in memory: IAM, tagging, search, instances, VPC, transit gateways, PowerVS and object storage.
//!
//! Invariants:
//! - the core ([`IbmServer`]) is synchronous: state, request and time in, response out;
//! - changes that take time in IBM Cloud take time here: deletions have states, search lags, reclamation waits;
//! - paths, fields, paging and error bodies are those of the services; IBM's own Python clients are run against it
//!   (`tests/real/ibm`).
//!
//! All services answer at one base URL; `/is/<region>` and `/power/<region>` in front of a path narrow it to a region.
//!
//! Elsewhere: ownership (`trueup_checks::powervs_tags`), the resources of the demo (`demo`).

mod account;
mod faults;
mod iam;
mod instances;
mod lucene;
mod power;
mod reply;
mod request;
mod search;
mod server;
mod storage;
mod store;
mod tagging;
mod transit;
mod vpc;

#[cfg(test)]
mod tests;

pub use account::{IbmConnectionReset, IbmService, IbmSim, IbmSimOptions};
pub use faults::{IbmEcho, IbmEffect, IbmFault, IbmPart};
pub use reply::{IbmAnswer, IbmReply};
pub use request::IbmRequest;
pub use server::{IbmLogged, IbmServer};
pub use store::{Thing, ThingKind};
