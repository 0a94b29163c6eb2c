//! Regions and the partitions they are in. A name decides: an unknown region is still in one.

use std::fmt;

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
