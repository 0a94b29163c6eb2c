//! A simulated AWS: the STS and EC2 calls that trueup uses, behind the real client; faults on demand.
//!
//! Invariants:
//! - signatures, tokens and sessions are checked as AWS checks them, by independent code;
//! - error codes and messages are those of AWS;
//! - the clock is a parameter.
//!
//! Elsewhere: the good path against an independent implementation (moto, `tests/real/moto`).

mod answer;
mod data;
mod ec2;
mod faults;
mod service;
mod signature;
mod sts;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

pub use data::{SimGpu, SimInstanceType};
pub use faults::{AwsFault, AwsFaultKind};
pub use service::{SimAwsError, SimAwsService};

/// The account of everything simulated.
pub const ACCOUNT: &str = "123456789012";

/// A simulated AWS. Clones share its state.
#[derive(Clone)]
pub struct SimAws {
    state: Arc<Mutex<State>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsCall {
    pub action: String,
    pub region: String,
    /// Names of the requested instance types.
    pub names: usize,
}

pub(crate) struct State {
    roles: BTreeMap<String, Trust>,
    keys: BTreeMap<String, KeyState>,
    regions: BTreeMap<String, RegionState>,
    faults: Vec<AwsFault>,
    calls: Vec<AwsCall>,
    /// Instance types on a page.
    page: usize,
    sessions: u64,
}

/// Trust policy of a role.
#[derive(Debug, Clone)]
struct Trust {
    issuer: String,
    audiences: BTreeSet<String>,
    subject: String,
}

#[derive(Debug, Clone)]
struct KeyState {
    secret: String,
    session_token: Option<String>,
    arn: String,
    expires: Option<Timestamp>,
    policy: Policy,
}

/// Whether the key may call EC2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    Describes,
    Nothing,
}

#[derive(Debug, Clone)]
struct RegionState {
    opt_in: &'static str,
    types: BTreeMap<String, SimInstanceType>,
    way: Way,
}

/// What answers for a region's EC2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    /// A captive portal: status 200 with an HTML page.
    Page,
}

impl SimAws {
    /// An AWS with the instance types of [`data`] in two regions and a third that is not enabled.
    pub fn new(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let region = |opt_in| RegionState { opt_in, types: data::types(), way: Way::Open };
        let regions = BTreeMap::from([
            ("us-east-1".to_owned(), region("opt-in-not-required")),
            ("eu-west-1".to_owned(), region("opt-in-not-required")),
            ("us-gov-west-1".to_owned(), region("opt-in-not-required")),
            ("af-south-1".to_owned(), region("not-opted-in")),
        ]);
        let state = State {
            roles: BTreeMap::new(),
            keys: BTreeMap::new(),
            regions,
            faults: Vec::new(),
            calls: Vec::new(),
            page: 100,
            sessions: 0,
        };
        Self { state: Arc::new(Mutex::new(state)), clock: Arc::new(clock) }
    }

    /// Creates a role that a token of this issuer, audience and subject may assume.
    pub fn trust(&self, role: &str, issuer: &str, audience: &str, subject: &str) {
        let audiences = BTreeSet::from([audience.to_owned()]);
        let trust = Trust { issuer: issuer.to_owned(), audiences, subject: subject.to_owned() };
        self.lock().roles.insert(role.to_owned(), trust);
    }

    /// Creates a user with keys that may describe instance types.
    pub fn add_user(&self, name: &str, access_key_id: &str, secret: &str) {
        let arn = format!("arn:aws:iam::{ACCOUNT}:user/{name}");
        let (secret, policy) = (secret.to_owned(), Policy::Describes);
        let keys = KeyState { secret, session_token: None, arn, expires: None, policy };
        self.lock().keys.insert(access_key_id.to_owned(), keys);
    }

    /// Revokes the permission to describe instance types from all keys.
    pub fn forbid(&self) {
        self.lock().keys.values_mut().for_each(|keys| keys.policy = Policy::Nothing);
    }

    /// Ends all sessions.
    pub fn end_sessions(&self) {
        let now = self.now();
        self.lock()
            .keys
            .values_mut()
            .filter(|keys| keys.session_token.is_some())
            .for_each(|keys| keys.expires = Some(now));
    }

    /// Adds an instance type to a region, which is created with its first type.
    pub fn offer(&self, region: &str, instance_type: SimInstanceType) {
        let mut state = self.lock();
        let fresh = || RegionState { opt_in: "opt-in-not-required", types: BTreeMap::new(), way: Way::Open };
        let region = state.regions.entry(region.to_owned()).or_insert_with(fresh);
        region.types.insert(instance_type.name.clone(), instance_type);
    }

    /// Puts a proxy before a region that answers every DescribeInstanceTypes with an HTML page.
    pub fn put_behind_a_page(&self, region: &str) {
        self.lock().regions.entry(region.to_owned()).and_modify(|region| region.way = Way::Page);
    }

    /// Sets the number of instance types per page.
    pub fn set_page(&self, types: usize) {
        self.lock().page = types.max(1);
    }

    pub fn inject(&self, fault: AwsFault) {
        self.lock().faults.push(fault);
    }

    /// Returns the recorded calls.
    pub fn calls(&self) -> Vec<AwsCall> {
        self.lock().calls.clone()
    }

    /// Returns a service account token that this AWS accepts.
    pub fn mint_token(&self, issuer: &str, audience: &str, subject: &str, expires: Timestamp) -> String {
        sts::mint(issuer, audience, subject, expires)
    }

    /// Returns a connection to it.
    pub fn service(&self) -> SimAwsService {
        SimAwsService::new(self.clone())
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
