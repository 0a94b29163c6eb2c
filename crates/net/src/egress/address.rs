//! What an address is, whatever way it is written.
//!
//! Invariants:
//! - an IPv4 address inside an IPv6 address counts as that IPv4 address;
//! - every spelling that a resolver accepts (decimal, hex, octal, short forms) is read as the address it stands for;
//! - private ranges are ordinary addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Exemption;

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressKind {
    Ordinary,
    /// This machine.
    Loopback,
    /// `0.0.0.0` or `::`, which lead to this machine.
    Unspecified,
    LinkLocal,
    /// Where a cloud hands out credentials to its machines and pods.
    Metadata,
}

/// The addresses at which clouds serve metadata and credentials: AWS (IMDS, ECS, EKS), Azure, Alibaba, Oracle.
const METADATA_V4: [Ipv4Addr; 6] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// The same over IPv6: the network `fd00:ec2::/32` of AWS, and Google's server.
const METADATA_V6_AWS: [u16; 2] = [0xfd00, 0x0ec2];
const METADATA_V6_GOOGLE: Ipv6Addr = Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254);

/// The fixed addresses at which AWS gives credentials to its own machines and pods (IMDS, ECS, EKS).
const CREDENTIALS_V4: [Ipv4Addr; 3] = [METADATA_V4[0], METADATA_V4[1], METADATA_V4[2]];
const CREDENTIALS_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x23)];

/// Names of metadata servers. A proxy resolves names itself, so that their addresses are not seen here.
const METADATA_NAMES: [&str; 5] =
    ["metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"];

impl AddressKind {
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// The kind of a host in a URL; of a name, only where the name itself says it.
    pub fn of_host(host: &str) -> Self {
        let host = bare(host);
        if let Some(address) = parse(&host) {
            return Self::of(address);
        }
        if host == "localhost" || host.ends_with(".localhost") {
            return Self::Loopback;
        }
        if METADATA_NAMES.contains(&host.as_str()) { Self::Metadata } else { Self::Ordinary }
    }

    /// Whether the address leads to this machine.
    pub fn is_local(self) -> bool {
        match self {
            Self::Loopback | Self::Unspecified => true,
            Self::Ordinary | Self::LinkLocal | Self::Metadata => false,
        }
    }

    /// The word of `[egress] guests` that allows such an address.
    pub(super) fn exemption(self) -> Option<Exemption> {
        match self {
            Self::Ordinary => None,
            Self::Loopback | Self::Unspecified => Some(Exemption::Loopback),
            Self::LinkLocal | Self::Metadata => Some(Exemption::LinkLocal),
        }
    }
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ordinary => "ordinary",
            Self::Loopback => "loopback",
            Self::Unspecified => "unspecified",
            Self::LinkLocal => "link-local",
            Self::Metadata => "metadata (link-local)",
        })
    }
}

/// Whether a host is one of the fixed addresses at which AWS gives credentials to its own machines and pods.
pub(super) fn is_credential_address(host: &str) -> bool {
    match parse(&bare(host)) {
        Some(IpAddr::V4(address)) => CREDENTIALS_V4.contains(&address),
        Some(IpAddr::V6(address)) => CREDENTIALS_V6.contains(&address),
        None => false,
    }
}

/// The host without brackets, zone and final dot, in lower case.
fn bare(host: &str) -> String {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.');
    host.split('%').next().unwrap_or_default().to_ascii_lowercase()
}

fn parse(host: &str) -> Option<IpAddr> {
    host.parse().ok().or_else(|| short_v4(host).map(IpAddr::V4))
}

/// Reads what `inet_aton` reads: one to four numbers, decimal, hex or octal, the last of which fills the rest.
fn short_v4(text: &str) -> Option<Ipv4Addr> {
    let numbers: Option<Vec<u64>> = text.split('.').map(number).collect();
    let numbers = numbers.filter(|numbers| numbers.len() <= 4)?;
    let (last, leading) = numbers.split_last()?;
    let free_bits = 32 - 8 * u32::try_from(leading.len()).ok()?;
    if leading.iter().any(|byte| *byte > 0xff) || *last >= 1 << free_bits {
        return None;
    }
    let leading = leading.iter().zip([24, 16, 8]).fold(0, |sum, (byte, shift)| sum | (byte << shift));
    u32::try_from(leading | last).ok().map(Ipv4Addr::from)
}

fn number(text: &str) -> Option<u64> {
    let parse = |digits: &str, radix| {
        let plain = digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
        if plain { u64::from_str_radix(digits, radix).ok() } else { None }
    };
    match text.strip_prefix("0x") {
        Some("") => Some(0),
        Some(digits) => parse(digits, 16),
        None if text.len() > 1 && text.starts_with('0') => parse(text, 8),
        None => parse(text, 10),
    }
}

fn of_v4(address: Ipv4Addr) -> AddressKind {
    if METADATA_V4.contains(&address) {
        AddressKind::Metadata
    } else if address.is_loopback() {
        AddressKind::Loopback
    } else if address.octets()[0] == 0 {
        // The whole of 0.0.0.0/8 means "this host on this network" (RFC 1122).
        AddressKind::Unspecified
    } else if address.is_link_local() {
        AddressKind::LinkLocal
    } else {
        AddressKind::Ordinary
    }
}

fn of_v6(address: Ipv6Addr) -> AddressKind {
    if address.is_loopback() {
        return AddressKind::Loopback;
    }
    if address.is_unspecified() {
        return AddressKind::Unspecified;
    }
    if address.segments().starts_with(&METADATA_V6_AWS) || address == METADATA_V6_GOOGLE {
        return AddressKind::Metadata;
    }
    if address.is_unicast_link_local() {
        return AddressKind::LinkLocal;
    }
    inner_v4(address).map_or(AddressKind::Ordinary, of_v4)
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, translated (RFC 2765), NAT64 and 6to4.
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, _, _, _, _, _] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_recognised_in_every_spelling() {
        let cases = [
            ("127.0.0.1", AddressKind::Loopback),
            ("127.9.9.9", AddressKind::Loopback),
            ("127.1", AddressKind::Loopback),
            ("2130706433", AddressKind::Loopback),
            ("0x7f000001", AddressKind::Loopback),
            ("0X7F.1", AddressKind::Loopback),
            ("0177.0.0.1", AddressKind::Loopback),
            ("127.0.0.1.", AddressKind::Loopback),
            ("[::1]", AddressKind::Loopback),
            ("[0:0:0:0:0:0:0:1]", AddressKind::Loopback),
            ("[::ffff:127.0.0.1]", AddressKind::Loopback),
            ("[::ffff:7f00:1]", AddressKind::Loopback),
            ("[::127.0.0.1]", AddressKind::Loopback),
            ("[::ffff:0:127.0.0.1]", AddressKind::Loopback),
            ("[64:ff9b::127.0.0.1]", AddressKind::Loopback),
            ("[2002:7f00:1::]", AddressKind::Loopback),
            ("localhost", AddressKind::Loopback),
            ("LOCALHOST.", AddressKind::Loopback),
            ("api.localhost", AddressKind::Loopback),
            ("0.0.0.0", AddressKind::Unspecified),
            ("0", AddressKind::Unspecified),
            ("0x", AddressKind::Unspecified),
            ("0.1.2.3", AddressKind::Unspecified),
            ("[::]", AddressKind::Unspecified),
            ("[::ffff:0.0.0.0]", AddressKind::Unspecified),
            ("169.254.1.1", AddressKind::LinkLocal),
            ("[fe80::1]", AddressKind::LinkLocal),
            ("[febf::1]", AddressKind::LinkLocal),
            ("fe80::1%25eth0", AddressKind::LinkLocal),
            ("[::ffff:169.254.7.7]", AddressKind::LinkLocal),
            ("169.254.169.254", AddressKind::Metadata),
            ("2852039166", AddressKind::Metadata),
            ("0xa9fea9fe", AddressKind::Metadata),
            ("0251.0376.0251.0376", AddressKind::Metadata),
            ("169.254.43518", AddressKind::Metadata),
            ("[::ffff:a9fe:a9fe]", AddressKind::Metadata),
            ("169.254.170.2", AddressKind::Metadata),
            ("169.254.170.23", AddressKind::Metadata),
            ("[fd00:ec2::254]", AddressKind::Metadata),
            ("[fd00:ec2::23]", AddressKind::Metadata),
            ("[fd20:ce::254]", AddressKind::Metadata),
            ("168.63.129.16", AddressKind::Metadata),
            ("100.100.100.200", AddressKind::Metadata),
            ("metadata.google.internal", AddressKind::Metadata),
            ("10.0.0.1", AddressKind::Ordinary),
            ("172.16.0.1", AddressKind::Ordinary),
            ("192.168.1.1", AddressKind::Ordinary),
            ("100.64.0.1", AddressKind::Ordinary),
            ("[fd00::1]", AddressKind::Ordinary),
            ("[2001:db8::1]", AddressKind::Ordinary),
            ("8.8.8.8", AddressKind::Ordinary),
            ("localhost.example", AddressKind::Ordinary),
            ("256.1", AddressKind::Ordinary),
            ("1.2.3.4.5", AddressKind::Ordinary),
            ("api.example.com", AddressKind::Ordinary),
            ("", AddressKind::Ordinary),
        ];
        for (host, expected) in cases {
            assert_eq!(AddressKind::of_host(host), expected, "host: {host}");
        }
    }
}
