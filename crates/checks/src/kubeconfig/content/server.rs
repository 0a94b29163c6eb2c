//! An API server's address in one spelling, so that two of them can be compared.
//!
//! Invariants: user names, passwords, queries and fragments are not kept.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;

/// `https://host:port/path`: host in lower case without a closing dot, the port written out, no closing slash.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Server {
    text: Box<str>,
    host: Box<str>,
}

const HTTPS_PORT: u16 = 443;
const HTTP_PORT: u16 = 80;

impl Server {
    /// Reads an address with or without a scheme. Nothing when it names no host.
    pub fn parse(text: &str) -> Option<Self> {
        Self::with_port(text, None)
    }

    /// A host and a port as Cluster API keeps them. Some providers put a whole URL into the host.
    pub fn of_endpoint(host: &str, port: Option<u16>) -> Option<Self> {
        let host = host.trim();
        // An IPv6 address stands without brackets here.
        match host.parse::<Ipv6Addr>() {
            Ok(address) => Self::with_port(&format!("[{address}]"), port),
            Err(_) => Self::with_port(host, port),
        }
    }

    fn with_port(text: &str, port: Option<u16>) -> Option<Self> {
        let text = text.trim();
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => ("https", rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => ("http", rest),
            Some(_) => return None,
            None => ("https", text),
        };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, written) = split_port(authority)?;
        let usual = if scheme == "https" { HTTPS_PORT } else { HTTP_PORT };
        let port = written.or(port.filter(|port| *port != 0)).unwrap_or(usual);
        let path = path.trim_end_matches('/');
        let slash = if path.is_empty() { "" } else { "/" };
        Some(Self { text: format!("{scheme}://{host}:{port}{slash}{path}").into(), host: host.into() })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the address means something only inside the cluster or on this very machine.
    pub fn is_in_cluster(&self) -> bool {
        let host = self.host.as_ref();
        if let Some(address) = self.address() {
            return address.is_loopback();
        }
        host.ends_with(".svc") || host.contains(".svc.") || host == "localhost" || !host.contains('.')
    }

    fn address(&self) -> Option<IpAddr> {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<Ipv4Addr>().map(IpAddr::V4).or_else(|_| bare.parse::<Ipv6Addr>().map(IpAddr::V6)).ok()
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The host in its usual spelling, and the port where one is written.
fn split_port(authority: &str) -> Option<(String, Option<u16>)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        let address: Ipv6Addr = address.parse().ok()?;
        let port = match after.strip_prefix(':') {
            None if after.is_empty() => None,
            Some("") => None,
            Some(port) => Some(port.parse().ok()?),
            None => return None,
        };
        return Some((format!("[{address}]"), port));
    }
    let (host, port) = match authority.rsplit_once(':') {
        None => (authority, None),
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.parse().ok()?)),
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_host = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
    is_host.then_some((host, port))
}
