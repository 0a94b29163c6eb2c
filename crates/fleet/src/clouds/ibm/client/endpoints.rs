//! Where each service is asked.
//!
//! Invariant: a base has no slash at its end and no `/v1`; `{region}` in it stands for the region or zone asked.
//!
//! What decides, first match wins: the config, the variables IBM's own tools read, the public endpoints.

use std::collections::BTreeMap;
use std::fmt;

use http::Uri;
use trueup_net::{Destination, Egress, EgressRefused, HostPort, Identity, Permit};

trueup_core::named_enum! {
    /// A service of IBM Cloud.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum IbmService {
        Iam = "iam",
        Tagging = "tagging",
        Search = "search",
        ResourceController = "resource-controller",
        Vpc = "vpc",
        Transit = "transit",
        Power = "power",
    }
}

impl IbmService {
    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Iam => "IAM",
            Self::Tagging => "Global Tagging",
            Self::Search => "Global Search",
            Self::ResourceController => "Resource Controller",
            Self::Vpc => "VPC",
            Self::Transit => "Transit Gateway",
            Self::Power => "PowerVS",
        }
    }

    fn public(self) -> &'static str {
        match self {
            Self::Iam => "https://iam.cloud.ibm.com",
            Self::Tagging => "https://tags.global-search-tagging.cloud.ibm.com",
            Self::Search => "https://api.global-search-tagging.cloud.ibm.com",
            Self::ResourceController => "https://resource-controller.cloud.ibm.com",
            Self::Vpc => "https://{region}.iaas.cloud.ibm.com",
            Self::Transit => "https://transit.cloud.ibm.com",
            Self::Power => "https://{region}.power-iaas.cloud.ibm.com",
        }
    }

    /// The variables that Terraform's provider and IBM's own clients read, the first that is set wins.
    fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Iam => &["IBMCLOUD_IAM_API_ENDPOINT", "IBMCLOUD_AUTH_URL"],
            Self::Tagging => &["IBMCLOUD_GT_API_ENDPOINT"],
            Self::Search => &["IBMCLOUD_GS_API_ENDPOINT"],
            Self::ResourceController => &["IBMCLOUD_RESOURCE_CONTROLLER_API_ENDPOINT"],
            Self::Vpc => &["IBMCLOUD_IS_NG_API_ENDPOINT"],
            Self::Transit => &["IBMCLOUD_TG_API_ENDPOINT"],
            Self::Power => &["IBMCLOUD_POWER_API_ENDPOINT", "IBMCLOUD_PI_API_ENDPOINT"],
        }
    }
}

impl fmt::Display for IbmService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// The base URL of each service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints(BTreeMap<IbmService, String>);

/// An endpoint that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place} is not an http or https URL")]
pub struct BadEndpoint {
    /// The variable or key it stands in.
    pub place: String,
}

impl Endpoints {
    /// The public endpoints, with what `read` finds among the variables in their place.
    ///
    /// # Errors
    /// A variable that holds no URL.
    pub fn from_variables(read: impl Fn(&str) -> Option<String>) -> Result<Self, BadEndpoint> {
        let mut bases = BTreeMap::new();
        for service in IbmService::ALL {
            let set = service.variables().iter().find_map(|name| read(name).map(|value| (*name, value)));
            let base = match set {
                Some((name, value)) => base(&value).ok_or_else(|| BadEndpoint { place: name.to_owned() })?,
                None => service.public().to_owned(),
            };
            bases.insert(service, base);
        }
        Ok(Self(bases))
    }

    /// Every service at one URL, as the simulated account serves them.
    ///
    /// # Errors
    /// It is not a URL.
    pub fn at_one_place(url: &str) -> Result<Self, BadEndpoint> {
        let base = base(url).ok_or_else(|| BadEndpoint { place: "the URL".to_owned() })?;
        Ok(Self(IbmService::ALL.into_iter().map(|service| (service, base.clone())).collect()))
    }

    /// The same with one service elsewhere.
    ///
    /// # Errors
    /// It is not a URL.
    pub fn with(mut self, service: IbmService, url: &str) -> Result<Self, BadEndpoint> {
        let base = base(url).ok_or_else(|| BadEndpoint { place: service.as_str().to_owned() })?;
        self.0.insert(service, base);
        Ok(self)
    }

    /// The permit for requests with the user's key. Endpoints of the configuration or the environment are the user's.
    ///
    /// # Errors
    /// The policy refuses.
    pub fn permit(&self, egress: &Egress) -> Result<Permit, EgressRefused> {
        let all_public = self.0.iter().all(|(service, base)| base == service.public());
        let public = Destination::Cloud { identity: Identity::Own, is_published, named: &[] };
        egress.permit(if all_public { &public } else { &Destination::User })
    }

    /// The base of a service in a region; services without regions ignore it.
    pub(super) fn base(&self, service: IbmService, region: &str) -> String {
        self.0.get(&service).map_or(service.public(), String::as_str).replace("{region}", region)
    }

    /// Whether every region of the service is asked at its own URL.
    pub(super) fn has_regions(&self, service: IbmService) -> bool {
        self.0.get(&service).is_some_and(|base| base.contains("{region}"))
    }
}

/// Whether a host is one of IBM Cloud's public endpoints.
fn is_published(host: &HostPort) -> bool {
    let is_region =
        |text: &str| !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'-');
    let is_public = |service: &IbmService| {
        let public = service.public().trim_start_matches("https://");
        match public.split_once("{region}") {
            Some((before, after)) => {
                let region = host.host().strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                region.is_some_and(is_region)
            }
            None => host.host() == public,
        }
    };
    host.is_https_port() && IbmService::ALL.iter().any(is_public)
}

/// The base in its plain form; nothing when it is not a URL.
fn base(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let text = text.strip_suffix("/v1").unwrap_or(text).trim_end_matches('/');
    let uri: Uri = text.replace("{region}", "region").parse().ok()?;
    let known = matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none();
    known.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variables_of_ibms_own_tools_move_a_service() {
        let set = |name: &str| match name {
            "IBMCLOUD_IS_NG_API_ENDPOINT" => Some("https://{region}.private.example/v1/".to_owned()),
            "IBMCLOUD_PI_API_ENDPOINT" => Some("http://127.0.0.1:8080".to_owned()),
            _ => None,
        };
        let endpoints = Endpoints::from_variables(set).unwrap();
        let cases = [
            (IbmService::Vpc, "https://eu-de.private.example"),
            (IbmService::Power, "http://127.0.0.1:8080"),
            (IbmService::Transit, "https://transit.cloud.ibm.com"),
        ];
        for (service, expected) in cases {
            assert_eq!(endpoints.base(service, "eu-de"), expected, "service: {service}");
        }
        assert!(endpoints.has_regions(IbmService::Vpc) && !endpoints.has_regions(IbmService::Power));
    }

    #[test]
    fn a_host_is_ibms_own_by_the_whole_name() {
        let cases = [
            ("iam.cloud.ibm.com", true),
            ("eu-de.iaas.cloud.ibm.com", true),
            ("us-south.power-iaas.cloud.ibm.com", true),
            ("iam.cloud.ibm.com:8443", false),
            ("x.y.iaas.cloud.ibm.com", false),
            (".iaas.cloud.ibm.com", false),
            ("bucket.cloud.ibm.com", false),
            ("iam.cloud.ibm.com.attacker.example", false),
        ];
        for (host, expected) in cases {
            let found = HostPort::parse(host).is_ok_and(|host| is_published(&host));
            assert_eq!(found, expected, "host: {host}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused_with_its_place() {
        for text in ["", "ftp://x", "not a url", "https://", "https://x?y=1"] {
            let error = Endpoints::from_variables(|name| (name == "IBMCLOUD_GT_API_ENDPOINT").then(|| text.to_owned()));
            assert_eq!(error.unwrap_err().place, "IBMCLOUD_GT_API_ENDPOINT", "text: {text}");
        }
    }
}
