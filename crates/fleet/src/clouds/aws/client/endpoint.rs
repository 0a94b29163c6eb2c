//! Where a service answers in a region.
//!
//! Invariant: what the cluster says comes first, then the environment, the user's profile, and the names AWS gives its servers; an endpoint
//! that may not receive an identity is passed over for the next. The region of a signature is the request's, wherever the
//! endpoint stands.

use std::collections::BTreeMap;

use http::Uri;
use trueup_net::{Destination, Egress, EgressRefused, HostPort, Identity, NamedBy, Permit};

use super::partition::{self, Partition, Region};
use super::variables::Variables;

trueup_core::named_enum! {
    /// A service that is asked here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Service {
        Ec2 = "ec2",
        Sts = "sts",
        /// Where the trust policy of a role is read, on request.
        Iam = "iam",
    }
}

/// The services that every lookup asks.
const LOOKUP_SERVICES: [Service; 2] = [Service::Ec2, Service::Sts];

/// Endpoints that differ from the usual, and which of the usual to take.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoints {
    /// For each service, in the order in which they are used.
    custom: BTreeMap<Service, Vec<Custom>>,
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
const PROFILE: &str = "the profile";

/// Turns off the endpoints of environment and profile.
pub(super) const IGNORE_CONFIGURED: &str = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";

impl Endpoints {
    /// The endpoints for a cluster: `listed` are the `name` and `url` pairs of `status.platformStatus.aws
    /// .serviceEndpoints`, of which services not asked here are passed over.
    ///
    /// # Errors
    /// A URL that can't be used, or two for one service.
    pub fn new<'l>(listed: impl IntoIterator<Item = (&'l str, &'l str)>, env: &Variables) -> Result<Self, BadEndpoint> {
        let mut custom: BTreeMap<Service, Vec<Custom>> = BTreeMap::new();
        for (name, url) in listed {
            let Some(service) = Service::parse(name).filter(|one| LOOKUP_SERVICES.contains(one)) else { continue };
            let url = usable(url, Schemes::HttpsOnly)
                .ok_or(BadEndpoint::NotHttps { service: service.as_str(), place: INFRASTRUCTURE })?;
            let kept = Custom { named_by: named_by_cluster(&url), url };
            let earlier = custom.insert(service, vec![kept.clone()]);
            if earlier.is_some_and(|earlier| earlier != [kept]) {
                return Err(BadEndpoint::Twice { service: service.as_str(), place: INFRASTRUCTURE });
            }
        }
        if !env.is_on(IGNORE_CONFIGURED) {
            let variables = [
                (Service::Ec2, "AWS_ENDPOINT_URL_EC2"),
                (Service::Sts, "AWS_ENDPOINT_URL_STS"),
                (Service::Iam, "AWS_ENDPOINT_URL_IAM"),
            ];
            for (service, own) in variables {
                let Some(url) = env.get(own).or_else(|| env.get("AWS_ENDPOINT_URL")) else { continue };
                let url = usable(url, Schemes::Any)
                    .ok_or(BadEndpoint::NotHttps { service: service.as_str(), place: ENVIRONMENT })?;
                custom.entry(service).or_default().push(Custom { url, named_by: NamedBy::User });
            }
        }
        let fips = env.is_on("AWS_USE_FIPS_ENDPOINT");
        Ok(Self { custom, fips, dual_stack: env.is_on("AWS_USE_DUALSTACK_ENDPOINT") })
    }

    /// The same with `endpoint_url` of the user's profile, after what the environment names.
    ///
    /// # Errors
    /// A URL that can't be used.
    pub fn with_profile(mut self, url: &str) -> Result<Self, BadEndpoint> {
        for service in Service::ALL {
            let url =
                usable(url, Schemes::Any).ok_or(BadEndpoint::NotHttps { service: service.as_str(), place: PROFILE })?;
            let choices = self.custom.entry(service).or_default();
            if choices.iter().all(|custom| custom.named_by != NamedBy::User) {
                choices.push(Custom { url, named_by: NamedBy::User });
            }
        }
        Ok(self)
    }

    /// The permit for requests with this identity to these endpoints and AWS's own.
    ///
    /// # Errors
    /// The policy refuses.
    pub fn permit(&self, identity: Identity, egress: &Egress) -> Result<Permit, EgressRefused> {
        let in_use = Service::ALL.into_iter().filter_map(|service| self.first(service));
        let named: Vec<(HostPort, NamedBy)> =
            in_use.filter_map(|custom| Some((custom.host()?, custom.named_by))).collect();
        egress.permit(&Destination::Cloud { identity, is_published: partition::is_published, named: &named })
    }

    fn first(&self, service: Service) -> Option<&Custom> {
        self.custom.get(&service)?.first()
    }

    /// Whether every service is asked at a host that `named_by` named.
    pub fn all_named_by(&self, named_by: NamedBy) -> bool {
        let is_named = |service: Service| self.first(service).is_some_and(|custom| custom.named_by == named_by);
        LOOKUP_SERVICES.into_iter().all(is_named)
    }

    /// The endpoints that may receive this identity; in place of each other one, which is returned, the next: the user's, or
    /// the provider's own.
    pub fn cleared(self, identity: Identity, egress: &Egress) -> (Self, Vec<EgressRefused>) {
        let mut refused = Vec::new();
        let mut custom = self.custom;
        for choices in custom.values_mut() {
            choices.retain(|custom| {
                let decision = custom.host().map(|host| egress.may_receive(identity, &host, custom.named_by));
                match decision {
                    Some(Ok(())) => true,
                    Some(Err(why)) => {
                        refused.push(why);
                        false
                    }
                    None => false,
                }
            });
        }
        custom.retain(|_, choices| !choices.is_empty());
        (Self { custom, ..self }, refused)
    }

    /// Whether the server of a service is configured, so that the region's name says nothing about it.
    pub fn is_custom(&self, service: Service) -> bool {
        self.custom.contains_key(&service)
    }

    /// The URL of a service in a region, with a path and without a slash too many.
    pub fn url(&self, service: Service, region: &Region) -> String {
        if let Some(custom) = self.first(service) {
            return custom.url.clone();
        }
        let partition = region.partition();
        if service == Service::Iam {
            return format!("https://{}/", partition.iam_host());
        }
        let host = match (self.fips, partition) {
            // GovCloud's ordinary servers are the validated ones.
            (true, Partition::GovCloud) | (false, _) => service.as_str().to_owned(),
            (true, _) => format!("{}-fips", service.as_str()),
        };
        let suffix = partition.dual_stack_suffix().filter(|_| self.dual_stack).unwrap_or(partition.suffix());
        format!("https://{host}.{region}.{suffix}/")
    }
}

impl Custom {
    fn host(&self) -> Option<HostPort> {
        HostPort::of(&self.url.parse().ok()?)
    }
}

/// Who named an endpoint of the cluster's Infrastructure: one of AWS's own hosts is AWS's even if a cluster repeats it.
fn named_by_cluster(url: &str) -> NamedBy {
    let host = url.parse().ok().and_then(|url| HostPort::of(&url));
    if host.is_some_and(|host| partition::is_published(&host)) { NamedBy::Provider } else { NamedBy::Cluster }
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
