//! URLs as Go reads them, since it is Go that will refuse them.
//!
//! Rust's URL parsers follow the browsers' rules: they mend what Go refuses (`https://%zz`) and refuse what Go takes
//! (a port of 99999, `https:///path`). Here is what decides whether Go's `net/url` (1.26) takes a text, and the parts the
//! rules look at.
//!
//! Elsewhere: which URLs are allowed (`validate::issuer`).

/// A URL that Go could parse.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoUrl {
    /// In lower case.
    pub scheme: String,
    /// Whether there is an `@` in the authority, be there a name or not.
    pub user: UserInfo,
    /// With its port.
    pub host: String,
    pub query: String,
    pub fragment: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserInfo {
    #[default]
    None,
    Some,
}

/// Why Go does not take a text as a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    #[error("it holds a control character")]
    Control,
    #[error("it is empty")]
    Empty,
    #[error("it starts with a colon instead of a scheme")]
    NoScheme,
    #[error("it is not absolute")]
    NotAbsolute,
    #[error("its first part has a colon and is not a scheme")]
    ColonInFirstPart,
    #[error("the escape {0:?} is not allowed there")]
    Escape(String),
    #[error("the character {0:?} cannot stand in a host")]
    HostCharacter(char),
    #[error("its host in brackets is no IPv6 address")]
    Brackets,
    #[error("its port is not a number")]
    Port,
    #[error("its user name or password holds characters that cannot stand there")]
    User,
}

/// Go's `url.Parse`.
///
/// # Errors
/// Go would refuse the text.
pub fn parse(text: &str) -> Result<GoUrl, BadUrl> {
    let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
    let mut url = parse_part(before, Reading::Any)?;
    check_escapes(fragment, Place::Other)?;
    url.fragment = fragment.to_owned();
    Ok(url)
}

/// Go's `url.ParseRequestURI`: absolute, and a `#` is like any other character.
///
/// # Errors
/// Go would refuse the text.
pub fn parse_request(text: &str) -> Result<GoUrl, BadUrl> {
    parse_part(text, Reading::Request)
}

/// Whether `url.Query()` would have no entry: Go drops the pairs it cannot read.
pub fn query_is_empty(query: &str) -> bool {
    let counts = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let readable = |part| check_escapes(part, Place::Other).is_ok();
        !pair.is_empty() && !pair.contains(';') && readable(key) && readable(value)
    };
    !query.split('&').any(counts)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Any,
    Request,
}

/// Where escapes stand decides which are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Host,
    Zone,
    Other,
}

fn parse_part(text: &str, reading: Reading) -> Result<GoUrl, BadUrl> {
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return Err(BadUrl::Control);
    }
    if text.is_empty() && reading == Reading::Request {
        return Err(BadUrl::Empty);
    }
    if text == "*" {
        return Ok(GoUrl::default());
    }
    let (scheme, rest) = split_scheme(text)?;
    let mut url = GoUrl { scheme: scheme.to_ascii_lowercase(), ..GoUrl::default() };
    let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    url.query = query.to_owned();
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Ok(url);
        }
        if reading == Reading::Request {
            return Err(BadUrl::NotAbsolute);
        }
        if rest.split('/').next().is_some_and(|part| part.contains(':')) {
            return Err(BadUrl::ColonInFirstPart);
        }
    }
    let has_authority = !scheme.is_empty() || (reading == Reading::Any && !rest.starts_with("///"));
    if let Some(after) = rest.strip_prefix("//").filter(|_| has_authority) {
        let end = after.find('/').unwrap_or(after.len());
        (url.user, url.host) = authority(&url.scheme, &after[..end])?;
        rest = &after[end..];
    }
    check_escapes(rest, Place::Other)?;
    Ok(url)
}

/// The text before the first colon, if it can be a scheme.
fn split_scheme(text: &str) -> Result<(&str, &str), BadUrl> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err(BadUrl::NoScheme),
            b':' => return Ok((&text[..index], &text[index + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn authority(scheme: &str, authority: &str) -> Result<(UserInfo, String), BadUrl> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return Ok((UserInfo::None, self::host(scheme, authority)?));
    };
    let host = self::host(scheme, host)?;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(letter);
    if !user.chars().all(fits) {
        return Err(BadUrl::User);
    }
    check_escapes(user, Place::Other)?;
    Ok((UserInfo::Some, host))
}

fn host(scheme: &str, host: &str) -> Result<String, BadUrl> {
    match host.rfind('[') {
        Some(0) => return bracketed(host),
        Some(_) => return Err(BadUrl::Brackets),
        None => {}
    }
    // Since Go 1.26 the port starts at the first colon where the scheme is one of the web's.
    let colon = if matches!(scheme, "http" | "https") { host.find(':') } else { host.rfind(':') };
    if !colon.is_none_or(|colon| is_port(&host[colon..])) {
        return Err(BadUrl::Port);
    }
    check_escapes(host, Place::Host)?;
    Ok(host.to_owned())
}

fn bracketed(host: &str) -> Result<String, BadUrl> {
    let end = host.rfind(']').ok_or(BadUrl::Brackets)?;
    let (inner, port) = (&host[1..end], &host[end + 1..]);
    if !is_port(port) {
        return Err(BadUrl::Port);
    }
    let (address, zone) = match inner.find("%25") {
        Some(zone) => (&inner[..zone], Some(&inner[zone..])),
        None => (inner, None),
    };
    check_escapes(address, Place::Host)?;
    check_escapes(zone.unwrap_or_default(), Place::Zone)?;
    // `%25` alone leaves an empty zone, which is not an address to Go.
    let named = zone.is_none_or(|zone| zone.len() > "%25".len());
    match address.parse::<core::net::Ipv6Addr>() {
        Ok(_) if named => Ok(host.to_owned()),
        Ok(_) | Err(_) => Err(BadUrl::Brackets),
    }
}

fn is_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => text.is_empty(),
    }
}

/// Whether every escape is well-formed and allowed there, and in a host every plain character too.
fn check_escapes(text: &str, place: Place) -> Result<(), BadUrl> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            if place != Place::Other && byte.is_ascii() && !stands_in_host(byte) {
                return Err(BadUrl::HostCharacter(char::from(byte)));
            }
            at += 1;
            continue;
        }
        let digits = bytes.get(at + 1..at + 3).unwrap_or_default();
        let value = std::str::from_utf8(digits).ok().and_then(hex);
        let allowed = match (value, place) {
            (None, _) => false,
            (Some(_), Place::Other) | (Some(b'%'), Place::Host | Place::Zone) => true,
            (Some(value), Place::Host) => value >= 0x80,
            (Some(value), Place::Zone) => value == b' ' || !value.is_ascii() || stands_in_host(value),
        };
        if !allowed {
            let end = text.len().min(at + 3);
            return Err(BadUrl::Escape(String::from_utf8_lossy(&bytes[at..end]).into_owned()));
        }
        at += 3;
    }
    Ok(())
}

fn hex(digits: &str) -> Option<u8> {
    let whole = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// Go leaves a few characters alone that the standard would have escaped.
fn stands_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]<>\"".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_and_refused_as_go_does() {
        let takes = [
            "https://idp.example.com",
            "https://idp.example.com/realms/x/",
            "https:///path",
            "https://idp.example.com:99999/",
            "https://idp.example.com:/",
            "https://[::1]:8443/x",
            "https://[fe80::1%25en0]/",
            "https://%c3%a4.example/",
            "https://müller.example/",
            "HTTPS://idp.example.com",
            "https:opaque",
            "https://x/?",
            "https://a<b>\"c/",
            "/path",
            "",
            "https://user:pass@host/",
        ];
        for text in takes {
            assert!(parse(text).is_ok(), "taken: {text}: {:?}", parse(text));
        }
        let refuses = [
            ("https://%zz", BadUrl::Escape("%zz".to_owned())),
            ("https://%41.example", BadUrl::Escape("%41".to_owned())),
            ("https://x/%4", BadUrl::Escape("%4".to_owned())),
            ("https://x/#%zz", BadUrl::Escape("%zz".to_owned())),
            ("https://a b/", BadUrl::HostCharacter(' ')),
            ("https://x:port/", BadUrl::Port),
            ("https://::1/", BadUrl::Port),
            ("https://[::1/", BadUrl::Brackets),
            ("https://[127.0.0.1]/", BadUrl::Brackets),
            ("https://a[::1]/", BadUrl::Brackets),
            ("https://[fe80::1%25]/", BadUrl::Brackets),
            ("https://x/\n", BadUrl::Control),
            (":x", BadUrl::NoScheme),
            ("a_b:c", BadUrl::ColonInFirstPart),
            ("https://us er@host/", BadUrl::User),
        ];
        for (text, expected) in refuses {
            assert_eq!(parse(text), Err(expected), "refused: {text}");
        }
    }

    #[test]
    fn a_request_uri_is_absolute_and_knows_no_fragment() {
        assert_eq!(parse_request("idp.example.com"), Err(BadUrl::NotAbsolute));
        assert_eq!(parse_request(""), Err(BadUrl::Empty));
        assert_eq!(parse_request("https://x/#%zz"), Err(BadUrl::Escape("%zz".to_owned())));
        assert_eq!(parse_request("https://x#y/"), Err(BadUrl::HostCharacter('#')));
        assert!(parse_request("https://x/#y").is_ok_and(|url| url.fragment.is_empty()));
    }

    #[test]
    fn a_query_of_pairs_go_drops_is_empty() {
        for empty in ["", "&", ";", "a;b", "%zz", "a=%zz&"] {
            assert!(query_is_empty(empty), "{empty}");
        }
        for full in ["a", "=", "a=b", "&a", "a;b&c"] {
            assert!(!query_is_empty(full), "{full}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_fall_over(text in "(https?:)?[/\\\\PC@:%?#\\[\\]a-f0-9 ]{0,40}") {
            let _ = parse(&text);
            let _ = parse_request(&text);
            let _ = query_is_empty(&text);
        }
    }
}
