//! Cloud resource names: ten segments between colons.
//!
//! Invariant: a [`Crn`] prints exactly as it was read.

use std::fmt;

/// `crn:v1:cname:ctype:service:location:a/account:instance:type:id`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Crn(Box<str>);

const SEGMENTS: usize = 10;

impl Crn {
    /// Reads a name; nothing when it has not the shape of one.
    pub fn parse(text: &str) -> Option<Self> {
        let whole = text.split(':').count() == SEGMENTS && text.starts_with("crn:v1:");
        whole.then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn service(&self) -> &str {
        self.segment(4)
    }

    /// A region, a zone or `global`.
    pub fn location(&self) -> &str {
        self.segment(5)
    }

    /// The account's id. Some services escape the slash before it.
    pub fn account(&self) -> Option<&str> {
        let scope = self.segment(6);
        ["a/", "a%2F", "a%2f"].iter().find_map(|prefix| scope.strip_prefix(prefix)).filter(|id| !id.is_empty())
    }

    /// The instance a part belongs to: the workspace of a network.
    pub fn instance(&self) -> &str {
        self.segment(7)
    }

    fn segment(&self, index: usize) -> &str {
        self.0.split(':').nth(index).unwrap_or_default()
    }
}

impl fmt::Display for Crn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The VPC region of a location: subnets carry a zone (`us-south-1`).
pub(super) fn vpc_region(location: &str) -> &str {
    match location.rsplit_once('-') {
        Some((region, zone)) if zone.bytes().all(|byte| byte.is_ascii_digit()) && region.contains('-') => region,
        Some(_) | None => location,
    }
}

/// The PowerVS region of a zone, as IBM's own client takes it: without the digits at the end (`dal10` → `dal`).
pub(super) fn power_region(zone: &str) -> &str {
    let bare = zone.trim_end_matches(|letter: char| letter.is_ascii_digit());
    bare.strip_suffix('-').unwrap_or(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_found_escaped_or_not() {
        let cases = [
            ("plain", "crn:v1:bluemix:public:is:us-south:a/abc::vpc:r006-1", Some(Some("abc"))),
            ("escaped", "crn:v1:staging:public:power-iaas:dal10:a%2Fabc:ws:network:n", Some(Some("abc"))),
            ("no account", "crn:v1:bluemix:public:is:us-south:::vpc:r006-1", Some(None)),
            ("nine segments", "crn:v1:bluemix:public:is:us-south:a/abc::vpc", None),
            ("something else", "a:b:c:d:e:f:g:h:i:j", None),
        ];
        for (case, text, expected) in cases {
            let crn = Crn::parse(text);
            assert_eq!(crn.as_ref().map(Crn::account), expected, "case: {case}");
        }
    }

    #[test]
    fn locations_lead_to_the_region_whose_endpoint_serves_them() {
        for (location, vpc, power) in [
            ("us-south", "us-south", "us-south"),
            ("us-south-1", "us-south", "us-south"),
            ("eu-de-2", "eu-de", "eu-de"),
            ("dal10", "dal10", "dal"),
            ("lon06", "lon06", "lon"),
            ("global", "global", "global"),
        ] {
            assert_eq!((vpc_region(location), power_region(location)), (vpc, power), "location: {location}");
        }
    }
}
