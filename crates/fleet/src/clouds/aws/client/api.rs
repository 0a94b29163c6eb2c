//! The client: HTTP, endpoints and a clock. Clones share their connections.

use std::fmt;

use jiff::Timestamp;

use super::endpoint::Endpoints;
use crate::connect::Clock;
use trueup_net::http::HttpClient;

/// Asks STS and EC2.
#[derive(Clone)]
pub struct Aws {
    pub(super) http: HttpClient,
    pub(super) endpoints: Endpoints,
    clock: Clock,
}

impl Aws {
    pub fn new(http: HttpClient, endpoints: Endpoints, clock: Clock) -> Self {
        Self { http, endpoints, clock }
    }

    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl fmt::Debug for Aws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aws").field("endpoints", &self.endpoints).finish_non_exhaustive()
    }
}
