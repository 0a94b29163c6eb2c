//! Which route to a server: direct, or through a proxy.
//!
//! The rules are those of Go's `golang.org/x/net/http/httpproxy`, because kubectl's users know them: the kubeconfig's
//! `proxy-url` wins; otherwise `HTTPS_PROXY` or `HTTP_PROXY` by the server's scheme (upper case before lower), unless
//! `NO_PROXY` lists the server or the server is this machine.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;

use crate::secret::SecretText;

/// The route to a server.
#[derive(Clone)]
pub enum Route {
    Direct,
    /// CONNECT through an HTTP proxy, which is itself reached in cleartext or over TLS by the scheme of its URL.
    Connect {
        proxy: Uri,
        auth: Option<HeaderValue>,
    },
    /// SOCKS version 5; the proxy resolves names.
    Socks5 {
        proxy: Uri,
        auth: Option<(String, SecretText)>,
    },
}

/// How a connector finds the route to a server.
pub enum Routes {
    /// One route, for the one server of a cluster.
    Fixed(Route),
    /// By the environment, for each server.
    Environment(Proxies),
}

/// The proxy settings of the environment, each as it is written there. They may hold passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    https: Option<Setting>,
    http: Option<Setting>,
    /// `NO_PROXY`: the servers that are reached without a proxy.
    exempt: String,
}

/// A variable that is set.
#[derive(Clone, PartialEq, Eq)]
struct Setting {
    name: &'static str,
    url: SecretText,
}

/// A proxy setting that cannot be used. Holds no part of the URL, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is not a usable proxy URL; use http://, https:// or socks5://host:port")]
pub struct ProxyError {
    pub setting: &'static str,
}

impl Proxies {
    /// Takes the settings of an environment: upper case before lower; an empty variable is not set.
    pub fn of<'v>(variable: impl Fn(&str) -> Option<&'v str>) -> Self {
        let set = |name: &'static str| Some((name, variable(name).filter(|value| !value.is_empty())?));
        let first = |names: [&'static str; 2]| names.into_iter().find_map(set);
        let setting = |(name, url): (&'static str, &str)| Setting { name, url: SecretText::new(url) };
        Self {
            https: first(["HTTPS_PROXY", "https_proxy"]).map(setting),
            http: first(["HTTP_PROXY", "http_proxy"]).map(setting),
            exempt: first(["NO_PROXY", "no_proxy"]).map(|(_, list)| list.to_owned()).unwrap_or_default(),
        }
    }

    /// The route to a server. `demanded` is the kubeconfig's `proxy-url`.
    ///
    /// # Errors
    /// The setting that applies is not a proxy URL. A direct connection instead could leak the request around the proxy.
    pub fn route(&self, server: &Uri, demanded: Option<&SecretText>) -> Result<Route, ProxyError> {
        if let Some(url) = demanded {
            return parse(url.expose(), "proxy-url");
        }
        let setting = if server.scheme_str() == Some("https") { &self.https } else { &self.http };
        match setting {
            Some(Setting { name, url }) if !is_exempt(server, &self.exempt) => parse(url.expose(), name),
            Some(_) | None => Ok(Route::Direct),
        }
    }

    /// Checks every setting, for a client whose servers are not known yet.
    ///
    /// # Errors
    /// A setting that is not a proxy URL.
    pub(crate) fn check(&self) -> Result<(), ProxyError> {
        self.routes().try_for_each(|route| route.map(|_| ()))
    }

    fn routes(&self) -> impl Iterator<Item = Result<Route, ProxyError>> {
        [&self.https, &self.http].into_iter().flatten().map(|Setting { name, url }| parse(url.expose(), name))
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxies(…)")
    }
}

impl Routes {
    pub(crate) fn to(&self, server: &Uri) -> Result<Route, ProxyError> {
        match self {
            Self::Fixed(route) => Ok(route.clone()),
            Self::Environment(proxies) => proxies.route(server, None),
        }
    }

    /// Whether some route leads through a proxy that is reached over TLS.
    pub(crate) fn use_tls_to_proxy(&self) -> bool {
        let is_tls =
            |route: &Route| matches!(route, Route::Connect { proxy, .. } if proxy.scheme_str() == Some("https"));
        match self {
            Self::Fixed(route) => is_tls(route),
            Self::Environment(proxies) => proxies.routes().flatten().any(|route| is_tls(&route)),
        }
    }
}

impl Route {
    /// The proxy's host and port, for people.
    pub fn proxy_host(&self) -> Option<String> {
        match self {
            Self::Direct => None,
            Self::Connect { proxy, .. } | Self::Socks5 { proxy, .. } => proxy.authority().map(ToString::to_string),
        }
    }
}

/// Whether the host is this machine by its very name. A name that merely resolves to it could be pointed elsewhere.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn parse(url: &str, setting: &'static str) -> Result<Route, ProxyError> {
    let bad = || ProxyError { setting };
    // A bare `host:port` means http, as for curl and Go.
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let uri: Uri = whole.parse().map_err(|_| bad())?;
    let scheme = uri.scheme_str().ok_or_else(bad)?.to_ascii_lowercase();
    let authority = uri.authority().ok_or_else(bad)?.as_str();
    let (login, host) = match authority.rsplit_once('@') {
        Some((login, host)) => (Some(login), host),
        None => (None, authority),
    };
    let default_port = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        "socks5" | "socks5h" => 1080,
        _ => return Err(bad()),
    };
    let host: http::uri::Authority = host.parse().map_err(|_| bad())?;
    let port = host.port_u16().unwrap_or(default_port);
    let dialed_scheme = if scheme == "https" { "https" } else { "http" };
    let proxy = format!("{dialed_scheme}://{}:{port}/", host.host()).parse().map_err(|_| bad())?;
    let login = login.map(|login| {
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        (decoded(user), SecretText::new(decoded(password)))
    });
    if scheme.starts_with("socks5") {
        return Ok(Route::Socks5 { proxy, auth: login });
    }
    Ok(Route::Connect { proxy, auth: login.map(|(user, password)| basic_auth(&user, &password)) })
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The value of a basic `Authorization` or `Proxy-Authorization` header, marked as sensitive.
pub fn basic_auth(user: &str, password: &SecretText) -> HeaderValue {
    let pair = zeroize::Zeroizing::new(format!("{user}:{}", password.expose()));
    let packed = base64::engine::general_purpose::STANDARD.encode(pair.as_bytes());
    let mut value = HeaderValue::from_str(&format!("Basic {packed}")).expect("base64 is plain text");
    value.set_sensitive(true);
    value
}

/// Whether a server is reached without the environment's proxy.
fn is_exempt(server: &Uri, no_proxy: &str) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("https") { 443 } else { 80 });
    let address: Option<IpAddr> = host.parse().ok();
    if is_loopback(&host) {
        return true;
    }
    no_proxy
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .any(|entry| covers(entry, &host, address, port))
}

fn covers(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let entry = entry.to_ascii_lowercase();
    if let Some((network, bits)) = entry.split_once('/') {
        let network: Option<IpAddr> = network.parse().ok();
        return match (network, bits.parse(), address) {
            (Some(network), Ok(bits), Some(address)) => in_network(address, network, bits),
            _ => false,
        };
    }
    if let Ok(listed) = entry.trim_matches(['[', ']']).parse::<IpAddr>() {
        return address == Some(listed);
    }
    let (name, wanted_port) = match entry.rsplit_once(':').map(|(name, port)| (name, port.parse::<u16>())) {
        Some((name, Ok(port))) => (name.trim_matches(['[', ']']), Some(port)),
        Some((_, Err(_))) | None => (entry.as_str(), None),
    };
    if wanted_port.is_some_and(|wanted| wanted != port) {
        return false;
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(domain) => host.strip_suffix(domain).is_some_and(|front| front.ends_with('.')),
        None => host == name || host.strip_suffix(name).is_some_and(|front| front.ends_with('.')),
    }
}

fn in_network(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let (address, network, width) = match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            (u128::from(address.to_bits()), u128::from(network.to_bits()), 32u32)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => (address.to_bits(), network.to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let Some(free) = width.checked_sub(bits) else {
        return false;
    };
    // A shift by the whole width is not defined: with no fixed bits every address is inside.
    (address ^ network).checked_shr(free).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(server: &str, demanded: Option<&str>, env: &[(&str, &str)]) -> String {
        let demanded = demanded.map(SecretText::new);
        let variable = |name: &str| env.iter().find(|(set, _)| *set == name).map(|(_, value)| *value);
        match Proxies::of(variable).route(&server.parse().unwrap(), demanded.as_ref()) {
            Ok(Route::Direct) => "direct".to_owned(),
            Ok(Route::Connect { proxy, auth }) => {
                format!("connect {proxy}{}", if auth.is_some() { " auth" } else { "" })
            }
            Ok(Route::Socks5 { proxy, auth }) => format!("socks5 {proxy}{}", if auth.is_some() { " auth" } else { "" }),
            Err(error) => error.setting.to_owned(),
        }
    }

    #[test]
    fn the_kubeconfigs_proxy_comes_before_the_environments() {
        let both =
            [("HTTPS_PROXY", "http://env:3128"), ("https_proxy", "http://lower:1"), ("HTTP_PROXY", "http://plain:2")];
        let https = "https://api.example:6443";
        let cases = [
            ("nothing set", way(https, None, &[]), "direct"),
            ("kubeconfig wins", way(https, Some("http://kube:1"), &both), "connect http://kube:1/"),
            ("upper case wins", way(https, None, &both), "connect http://env:3128/"),
            ("lower case serves", way(https, None, &both[1..2]), "connect http://lower:1/"),
            ("http servers have their own", way("http://api.example", None, &both), "connect http://plain:2/"),
            (
                "empty means unset",
                way(https, None, &[("HTTPS_PROXY", ""), ("https_proxy", "l:1")]),
                "connect http://l:1/",
            ),
            ("socks5", way(https, Some("socks5://s"), &[]), "socks5 http://s:1080/"),
            ("password", way(https, Some("http://u:p%40@k:1"), &[]), "connect http://k:1/ auth"),
            ("TLS to the proxy", way(https, Some("https://k"), &[]), "connect https://k:443/"),
            ("ftp", way(https, Some("ftp://k"), &[]), "proxy-url"),
            ("nonsense", way(https, None, &[("HTTPS_PROXY", "::: no")]), "HTTPS_PROXY"),
            ("exempt", way(https, None, &[both[0], ("no_proxy", "example")]), "direct"),
            ("kubeconfig's is not exempt", way(https, Some("http://k:1"), &[("NO_PROXY", "*")]), "connect http://k:1/"),
            ("local", way("https://127.0.0.1:6443", None, &both), "direct"),
        ];
        for (case, actual, expected) in cases {
            assert_eq!(actual, expected, "case: {case}");
        }
    }

    #[test]
    fn no_proxy_reads_like_gos() {
        let cases = [
            ("domain itself", "example.com", "https://example.com", true),
            ("below the domain", "example.com", "https://api.example.com:6443", true),
            ("only looks like it", "example.com", "https://notexample.com", false),
            ("leading dot covers what is below", ".example.com", "https://api.example.com", true),
            ("leading dot does not cover itself", ".example.com", "https://example.com", false),
            ("star dot", "*.example.com", "https://api.example.com", true),
            ("star", "*", "https://anything", true),
            ("upper case", "EXAMPLE.com", "https://Api.Example.Com", true),
            ("port matches", "example.com:6443", "https://api.example.com:6443", true),
            ("port differs", "example.com:6443", "https://api.example.com", false),
            ("address", "10.0.0.1", "https://10.0.0.1:6443", true),
            ("another address", "10.0.0.1", "https://10.0.0.2:6443", false),
            ("network", "10.0.0.0/8", "https://10.20.30.40", true),
            ("outside the network", "10.0.0.0/8", "https://11.0.0.1", false),
            ("every address", "0.0.0.0/0", "https://11.0.0.1", true),
            ("a network says nothing of names", "0.0.0.0/0", "https://example.com", false),
            ("IPv6 network", "fd00::/8", "https://[fd12::1]:6443", true),
            ("too many bits", "10.0.0.0/33", "https://10.0.0.0", false),
            ("second of a list", "a, example.com ,b", "https://example.com", true),
            ("empty", "", "https://example.com", false),
            ("localhost", "", "https://localhost:6443", true),
            ("loopback of IPv6", "", "https://[::1]:6443", true),
        ];
        for (case, no_proxy, server, expected) in cases {
            assert_eq!(is_exempt(&server.parse().unwrap(), no_proxy), expected, "case: {case}");
        }
    }

    #[test]
    fn only_a_host_that_is_this_machine_by_its_name_counts_as_loopback() {
        let cases = [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("[::1]", true),
            ("localhost", true),
            ("10.0.0.1", false),
            ("localhost.example", false),
            ("", false),
        ];
        for (host, expected) in cases {
            assert_eq!(is_loopback(host), expected, "{host}");
        }
    }

    #[test]
    fn routes_know_whether_a_proxy_needs_tls() {
        let cases = [
            ("none", "", false),
            ("cleartext", "http://proxy:3128", false),
            ("socks5", "socks5://proxy", false),
            ("TLS", "https://proxy", true),
        ];
        let server: Uri = "https://api.example".parse().unwrap();
        for (case, url, expected) in cases {
            let proxies = Proxies::of(|name| (name == "https_proxy").then_some(url));
            let fixed = Routes::Fixed(proxies.route(&server, None).unwrap());
            assert_eq!(fixed.use_tls_to_proxy(), expected, "case: {case}");
            assert_eq!(Routes::Environment(proxies).use_tls_to_proxy(), expected, "case: {case}");
        }
    }
}
