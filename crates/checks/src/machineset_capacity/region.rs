//! The names AWS gives its regions, in all its partitions.

/// The first words of a region's name, and the partition they belong to. Longer ones first: `us-gov` is no `us`.
const PREFIXES: [(&str, &str); 16] = [
    ("us-gov", "aws-us-gov"),
    ("us-isob", "aws-iso-b"),
    ("us-isof", "aws-iso-f"),
    ("us-iso", "aws-iso"),
    ("eu-isoe", "aws-iso-e"),
    ("eusc-de", "aws-eusc"),
    ("cn", "aws-cn"),
    ("us", "aws"),
    ("eu", "aws"),
    ("ap", "aws"),
    ("sa", "aws"),
    ("ca", "aws"),
    ("me", "aws"),
    ("af", "aws"),
    ("il", "aws"),
    ("mx", "aws"),
];

/// Where in its part of the world a region is.
const SIDES: [&str; 9] =
    ["north", "south", "east", "west", "central", "northeast", "northwest", "southeast", "southwest"];

/// The partition a region belongs to; nothing when its name is no region's.
///
/// By the form of the name and not by a list: AWS opens a region or two a year, and each has kept to it. A single digit at
/// the end, as no side of any part of the world has come near ten.
pub fn partition(region: &str) -> Option<&'static str> {
    PREFIXES.iter().find_map(|(prefix, partition)| {
        let rest = region.strip_prefix(prefix)?.strip_prefix('-')?;
        let (side, number) = rest.split_once('-')?;
        let is_number = matches!(number.as_bytes(), [b'1'..=b'9']);
        (SIDES.contains(&side) && is_number).then_some(*partition)
    })
}

/// The partition of an ARN.
pub fn partition_of_arn(arn: &str) -> Option<&str> {
    arn.strip_prefix("arn:")?.split(':').next().filter(|partition| !partition.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_of_every_partition_are_known_by_the_form_of_their_names() {
        let cases = [
            ("us-east-1", Some("aws")),
            ("ap-southeast-7", Some("aws")),
            ("mx-central-1", Some("aws")),
            ("il-central-1", Some("aws")),
            ("us-gov-west-1", Some("aws-us-gov")),
            ("cn-northwest-1", Some("aws-cn")),
            ("us-iso-east-1", Some("aws-iso")),
            ("us-isob-east-1", Some("aws-iso-b")),
            ("us-isof-south-1", Some("aws-iso-f")),
            ("eu-isoe-west-1", Some("aws-iso-e")),
            ("eusc-de-east-1", Some("aws-eusc")),
            ("", None),
            ("us-east-1a", None),
            ("us-east-", None),
            ("us-east-0", None),
            ("us-east-99", None),
            ("us-nowhere-1", None),
            ("mars-north-1", None),
            ("US-EAST-1", None),
            ("us-south", None),
            ("eastus", None),
            ("us-east-1 ", None),
        ];
        for (region, expected) in cases {
            assert_eq!(partition(region), expected, "{region:?}");
        }
    }

    #[test]
    fn an_arn_says_its_partition() {
        let cases = [
            ("arn:aws-us-gov:iam::123456789012:role/my-role", Some("aws-us-gov")),
            ("arn:aws:iam::123456789012:role/x", Some("aws")),
            ("arn::iam", None),
            ("role/x", None),
        ];
        for (arn, expected) in cases {
            assert_eq!(partition_of_arn(arn), expected, "{arn}");
        }
    }
}
