//! Regions and the partitions they are in, and the hosts AWS publishes there. A name decides: an unknown region is still
//! in a partition.
//!
//! Invariant: a host is AWS's own only when it is a service that is asked here, in a region, with the suffix of that
//! region's partition. A suffix alone says nothing: customers have names below `amazonaws.com`, too.

use std::fmt;

use trueup_net::HostPort;

/// A region's name, in the form regions have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(Box<str>);

trueup_core::named_enum! {
    /// A part of AWS with its own accounts and names.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Partition {
        Aws = "aws",
        China = "aws-cn",
        GovCloud = "aws-us-gov",
        Iso = "aws-iso",
        IsoB = "aws-iso-b",
        IsoE = "aws-iso-e",
        IsoF = "aws-iso-f",
        Eusc = "aws-eusc",
    }
}

/// The words a region begins with, longest first: `us-gov-` must not be read as `us-`.
const PREFIXES: [(&str, Partition); 17] = [
    ("us-gov-", Partition::GovCloud),
    ("us-isob-", Partition::IsoB),
    ("us-isof-", Partition::IsoF),
    ("us-iso-", Partition::Iso),
    ("eu-isoe-", Partition::IsoE),
    ("eusc-de-", Partition::Eusc),
    ("cn-", Partition::China),
    ("af-", Partition::Aws),
    ("ap-", Partition::Aws),
    ("ca-", Partition::Aws),
    ("eu-", Partition::Aws),
    ("il-", Partition::Aws),
    ("me-", Partition::Aws),
    ("mx-", Partition::Aws),
    ("sa-", Partition::Aws),
    ("us-", Partition::Aws),
    ("uk-", Partition::Aws),
];

impl Region {
    /// Takes a name that is a region of some partition: `<part>-<direction>-<number>`.
    pub fn parse(name: &str) -> Option<Self> {
        let (_, rest) = split(name)?;
        let (direction, number) = rest.split_once('-')?;
        let letters = !direction.is_empty() && direction.bytes().all(|letter| letter.is_ascii_lowercase());
        let digits = (1..=2).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
        (letters && digits).then(|| Self(name.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn partition(&self) -> Partition {
        split(&self.0).map_or(Partition::Aws, |(partition, _)| partition)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The services that are asked here, as the names of their servers begin.
const SERVICES: [&str; 5] = ["ec2", "sts", "portal.sso", "oidc", "iam"];

/// The servers without a region.
const GLOBAL_HOSTS: [&str; 3] = ["sts.amazonaws.com", "iam.amazonaws.com", "iam.us-gov.amazonaws.com"];

/// Whether a host is one that AWS publishes for a service that is asked here.
pub fn is_published(host: &HostPort) -> bool {
    let is_regional = |service: &&str| {
        let rest = host.host().strip_prefix(service)?;
        let rest = rest.strip_prefix("-fips").unwrap_or(rest).strip_prefix('.')?;
        let (region, suffix) = rest.split_once('.')?;
        let partition = Region::parse(region)?.partition();
        (suffix == partition.suffix() || Some(suffix) == partition.dual_stack_suffix()).then_some(())
    };
    let is_known = GLOBAL_HOSTS.contains(&host.host()) || SERVICES.iter().any(|service| is_regional(service).is_some());
    host.is_https_port() && is_known
}

fn split(name: &str) -> Option<(Partition, &str)> {
    PREFIXES.into_iter().find_map(|(prefix, partition)| Some((partition, name.strip_prefix(prefix)?)))
}

impl Partition {
    /// What the names of its servers end with.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Aws | Self::GovCloud => "amazonaws.com",
            Self::China => "amazonaws.com.cn",
            Self::Iso => "c2s.ic.gov",
            Self::IsoB => "sc2s.sgov.gov",
            Self::IsoE => "cloud.adc-e.uk",
            Self::IsoF => "csp.hci.ic.gov",
            Self::Eusc => "amazonaws.eu",
        }
    }

    /// The same for servers that speak IPv6 too, where there are such.
    pub(super) fn dual_stack_suffix(self) -> Option<&'static str> {
        match self {
            Self::Aws | Self::GovCloud => Some("api.aws"),
            Self::China => Some("api.amazonwebservices.com.cn"),
            Self::Iso | Self::IsoB | Self::IsoE | Self::IsoF | Self::Eusc => None,
        }
    }

    /// The one server of IAM in it.
    pub(super) fn iam_host(self) -> String {
        match self {
            Self::Aws => "iam.amazonaws.com".to_owned(),
            Self::GovCloud => "iam.us-gov.amazonaws.com".to_owned(),
            Self::China | Self::Iso | Self::IsoB | Self::IsoE | Self::IsoF | Self::Eusc => {
                format!("iam.{}.{}", self.home(), self.suffix())
            }
        }
    }

    /// A region of it that every account can use: the one to ask about other regions. Asking us-east-1 about a region
    /// of another partition would ask strangers.
    pub fn home(self) -> Region {
        Region(
            match self {
                Self::Aws => "us-east-1",
                Self::China => "cn-north-1",
                Self::GovCloud => "us-gov-west-1",
                Self::Iso => "us-iso-east-1",
                Self::IsoB => "us-isob-east-1",
                Self::IsoE => "eu-isoe-west-1",
                Self::IsoF => "us-isof-south-1",
                Self::Eusc => "eusc-de-east-1",
            }
            .into(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_awss_own_by_the_rules_of_its_partition_and_not_by_its_suffix() {
        let cases = [
            ("sts.us-east-1.amazonaws.com", true),
            ("ec2.eu-central-1.amazonaws.com:443", true),
            ("sts-fips.us-east-1.amazonaws.com", true),
            ("sts.us-gov-west-1.amazonaws.com", true),
            ("sts.us-gov-west-1.api.aws", true),
            ("ec2.us-east-1.api.aws", true),
            ("sts.cn-north-1.amazonaws.com.cn", true),
            ("ec2.cn-north-1.api.amazonwebservices.com.cn", true),
            ("sts.us-iso-east-1.c2s.ic.gov", true),
            ("sts.eusc-de-east-1.amazonaws.eu", true),
            ("portal.sso.us-east-1.amazonaws.com", true),
            ("sts.amazonaws.com", true),
            ("iam.amazonaws.com", true),
            ("iam.us-gov.amazonaws.com", true),
            ("iam.cn-north-1.amazonaws.com.cn", true),
            ("another port", false),
            ("sts.us-east-1.amazonaws.com:8443", false),
            ("sts.us-east-1.amazonaws.com.attacker.example", false),
            ("sts.us-east-1.amazonaws.com.cn", false),
            ("sts.cn-north-1.amazonaws.com", false),
            ("sts.us-iso-east-1.amazonaws.com", false),
            ("x1.execute-api.us-east-1.amazonaws.com", false),
            ("bucket.s3.us-east-1.amazonaws.com", false),
            ("ec2-1-2-3-4.compute-1.amazonaws.com", false),
            ("vpce-1-2.sts.us-east-1.vpce.amazonaws.com", false),
            ("x.elb.us-east-1.amazonaws.com", false),
            ("amazonaws.com", false),
            ("sts.attacker.amazonaws.com", false),
            ("fakests.us-east-1.amazonaws.com", false),
        ];
        for (host, expected) in cases {
            let found = HostPort::parse(host).is_ok_and(|host| is_published(&host));
            assert_eq!(found, expected, "host: {host}");
        }
    }
}
