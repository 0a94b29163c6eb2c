//! Where a service answers in a region.
//!
//! Invariant: what the cluster says comes first, then the environment, then the names AWS gives its servers. The
//! region of a signature is the request's, wherever the endpoint stands.

use std::collections::BTreeMap;

use http::Uri;
use trueup_net::{Egress, EgressRefused, HostPort, Identity, NamedBy};

use super::partition::{Partition, Region};
use super::variables::Variables;

trueup_core::named_enum! {
    /// A service that is asked here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Service {
        Ec2 = "ec2",
        Sts = "sts",
    }
}

/// Endpoints that differ from the usual, and which of the usual to take.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoints {
    custom: BTreeMap<Service, Custom>,
    fips: bool,
    dual_stack: bool,
}

/// An endpoint that is not the provider's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Custom {
    url: String,
    named_by: NamedBy,
}

/// A custom endpoint that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEndpoint {
    #[error("the endpoint of {service} in {place} is not an https:// URL with a host")]
    NotHttps { service: &'static str, place: &'static str },
    #[error("{place} names two different endpoints of {service}")]
    Twice { service: &'static str, place: &'static str },
}

const INFRASTRUCTURE: &str = "the cluster's Infrastructure";
const ENVIRONMENT: &str = "the environment";

impl Endpoints {
    /// The endpoints for a cluster: `listed` are the `name` and `url` pairs of `status.platformStatus.aws
    /// .serviceEndpoints`, of which services not asked here are passed over.
    ///
    /// # Errors
    /// A URL that can't be used, or two for one service.
    pub fn new<'l>(listed: impl IntoIterator<Item = (&'l str, &'l str)>, env: &Variables) -> Result<Self, BadEndpoint> {
        let mut custom: BTreeMap<Service, Custom> = BTreeMap::new();
        for (name, url) in listed {
            let Some(service) = Service::parse(name) else { continue };
            let url = usable(url, Schemes::HttpsOnly)
                .ok_or(BadEndpoint::NotHttps { service: service.as_str(), place: INFRASTRUCTURE })?;
            let kept = Custom { url, named_by: NamedBy::Cluster };
            if custom.insert(service, kept.clone()).is_some_and(|earlier| earlier != kept) {
                return Err(BadEndpoint::Twice { service: service.as_str(), place: INFRASTRUCTURE });
            }
        }
        if !env.is_on("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") {
            for (service, own) in [(Service::Ec2, "AWS_ENDPOINT_URL_EC2"), (Service::Sts, "AWS_ENDPOINT_URL_STS")] {
                let Some(url) = env.get(own).or_else(|| env.get("AWS_ENDPOINT_URL")) else { continue };
                let url = usable(url, Schemes::Any)
                    .ok_or(BadEndpoint::NotHttps { service: service.as_str(), place: ENVIRONMENT })?;
                custom.entry(service).or_insert(Custom { url, named_by: NamedBy::User });
            }
        }
        let fips = env.is_on("AWS_USE_FIPS_ENDPOINT");
        Ok(Self { custom, fips, dual_stack: env.is_on("AWS_USE_DUALSTACK_ENDPOINT") })
    }

    /// Who named the hosts; the least trusted of several.
    pub fn named_by(&self) -> NamedBy {
        self.custom.values().map(|custom| custom.named_by).max().unwrap_or(NamedBy::Provider)
    }

    /// Whether every service is asked at a host that `named_by` named.
    pub fn all_named_by(&self, named_by: NamedBy) -> bool {
        Service::ALL.iter().all(|service| self.custom.get(service).is_some_and(|custom| custom.named_by == named_by))
    }

    /// The endpoints that may receive this identity; in place of each other one, which is returned, the provider's own.
    pub fn cleared(self, identity: Identity, egress: &Egress) -> (Self, Vec<EgressRefused>) {
        let mut refused = Vec::new();
        let mut custom = self.custom;
        custom.retain(|_, custom| {
            let host = custom.url.parse().ok().and_then(|url| HostPort::of(&url));
            let decision = host.map(|host| egress.may_receive(identity, &host, custom.named_by));
            match decision {
                Some(Ok(())) => true,
                Some(Err(why)) => {
                    refused.push(why);
                    false
                }
                None => false,
            }
        });
        (Self { custom, ..self }, refused)
    }

    /// Whether the server of a service is configured, so that the region's name says nothing about it.
    pub fn is_custom(&self, service: Service) -> bool {
        self.custom.contains_key(&service)
    }

    /// The URL of a service in a region, with a path and without a slash too many.
    pub fn url(&self, service: Service, region: &Region) -> String {
        if let Some(custom) = self.custom.get(&service) {
            return custom.url.clone();
        }
        let partition = region.partition();
        let host = match (self.fips, partition) {
            // GovCloud's ordinary servers are the validated ones.
            (true, Partition::GovCloud) | (false, _) => service.as_str().to_owned(),
            (true, _) => format!("{}-fips", service.as_str()),
        };
        let suffix = partition.dual_stack_suffix().filter(|_| self.dual_stack).unwrap_or(partition.suffix());
        format!("https://{host}.{region}.{suffix}/")
    }
}

/// Which schemes are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Schemes {
    /// The cluster's API allows no other.
    HttpsOnly,
    /// The user's own environment may name a test server.
    Any,
}

/// The URL with one slash at the end of its path, or nothing when it can't be used. A query has no place in one.
fn usable(url: &str, schemes: Schemes) -> Option<String> {
    let uri: Uri = url.trim().parse().ok()?;
    let https = uri.scheme_str() == Some("https");
    let allowed = https || (schemes == Schemes::Any && uri.scheme_str() == Some("http"));
    let plain = uri.query().is_none() && uri.host().is_some_and(|host| !host.is_empty());
    if !allowed || !plain || uri.authority()?.as_str().contains('@') {
        return None;
    }
    Some(format!("{}://{}{}/", uri.scheme_str()?, uri.authority()?, uri.path().trim_end_matches('/')))
}
