//! The client: HTTP, endpoints and a clock. Clones share their connections.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::endpoint::Endpoints;
use trueup_net::http::HttpClient;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What a client is made of.
#[derive(Clone)]
pub struct AwsSettings {
    pub http: HttpClient,
    pub endpoints: Endpoints,
    pub clock: Clock,
}

/// Asks STS and EC2.
#[derive(Clone)]
pub struct Aws {
    pub(super) http: HttpClient,
    pub(super) endpoints: Endpoints,
    clock: Clock,
}

impl Aws {
    pub fn new(settings: AwsSettings) -> Self {
        let AwsSettings { http, endpoints, clock } = settings;
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
