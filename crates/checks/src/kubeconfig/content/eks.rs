//! Tokens of EKS: a signed request to AWS STS, packed into base64.
//!
//! Invariants: the signature and the session's token are looked at for their presence in no way and kept nowhere.
//!
//! The rules are those of aws-iam-authenticator, which reads these tokens at the other end. It ignores `X-Amz-Expires`:
//! STS takes such a request for 15 minutes from its date, whatever the parameter says.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use percent_encoding::percent_decode_str;

use super::packed::decode_url;

/// Every version's prefix begins so.
const PREFIX: &str = "k8s-aws-v";
/// The one version there is.
const VERSION: &str = "1";
/// The authenticator reads no more than this.
const LENGTH_MAX: usize = 4096;
/// How long STS takes a signed request.
pub const HOLDS: SignedDuration = SignedDuration::from_mins(15);
/// The most `X-Amz-Expires` may say, though no server obeys it.
const EXPIRES_MAX: i64 = 900;
/// The header that binds a token to a cluster.
const CLUSTER_HEADER: &str = "x-k8s-aws-id";

/// The parameters a request may have, in lower case.
const ALLOWED: [&str; 9] = [
    "action",
    "version",
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
];

/// AWS's partitions: how their regions begin, and where their hosts end. The first that fits counts.
const PARTITIONS: [(&str, &str); 7] = [
    ("cn-", "amazonaws.com.cn"),
    ("us-isob-", "sc2s.sgov.gov"),
    ("us-isof-", "csp.hci.ic.gov"),
    ("us-iso-", "c2s.ic.gov"),
    ("eu-isoe-", "cloud.adc-e.uk"),
    ("eusc-", "amazonaws.eu"),
    ("", "amazonaws.com"),
];

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EksToken {
    pub signed: Timestamp,
    /// The id of the access key that signed; empty when the token names none. No secret: it is in every request.
    pub access_key: Box<str>,
    /// Empty when neither the scope nor the host names one.
    pub region: Box<str>,
}

/// Why a token is none the authenticator would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EksFault {
    #[error("it is longer than {LENGTH_MAX} characters")]
    TooLong,
    #[error("its version is not v{VERSION}")]
    Version,
    #[error("it is not base64 of the URL alphabet")]
    NotBase64,
    #[error("it does not hold a URL")]
    NotUrl,
    #[error("its URL is not https")]
    Scheme,
    #[error("its host is not an STS host of any partition")]
    Host,
    #[error("its path is not /")]
    Path,
    #[error("its query cannot be read")]
    Query,
    #[error("it has a query parameter that is not allowed")]
    UnknownParameter,
    #[error("it has a query parameter twice")]
    DuplicateParameter,
    #[error("its action is not GetCallerIdentity")]
    Action,
    #[error("{CLUSTER_HEADER} is not among its signed headers")]
    SignedHeaders,
    #[error("its X-Amz-Expires is not a number from 0 to {EXPIRES_MAX}")]
    Expires,
    #[error("its X-Amz-Date is not a date")]
    Date,
}

impl EksToken {
    /// Whether a token claims to be one of EKS, of whatever version.
    pub fn is_claimed(token: &str) -> bool {
        version(token).is_some()
    }

    /// Reads a token as the authenticator does.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn parse(token: &str) -> Result<Self, EksFault> {
        if token.len() > LENGTH_MAX {
            return Err(EksFault::TooLong);
        }
        let (version, packed) = version(token).ok_or(EksFault::Version)?;
        if version != VERSION {
            return Err(EksFault::Version);
        }
        let bytes = decode_url(packed).ok_or(EksFault::NotBase64)?;
        let url = std::str::from_utf8(&bytes).map_err(|_| EksFault::NotUrl)?;
        let (host, query) = split(url)?;
        let host_region = sts_region(host).ok_or(EksFault::Host)?;
        let parameters = Parameters::parse(query)?;
        if parameters.get("action") != "GetCallerIdentity" {
            return Err(EksFault::Action);
        }
        let signed_headers = parameters.get("x-amz-signedheaders");
        if !signed_headers.split(';').any(|header| header.eq_ignore_ascii_case(CLUSTER_HEADER)) {
            return Err(EksFault::SignedHeaders);
        }
        let expires: i64 = parameters.get("x-amz-expires").parse().map_err(|_| EksFault::Expires)?;
        if !(0..=EXPIRES_MAX).contains(&expires) {
            return Err(EksFault::Expires);
        }
        let signed = date(parameters.get("x-amz-date")).ok_or(EksFault::Date)?;
        // AKID/date/region/sts/aws4_request
        let mut scope = parameters.get("x-amz-credential").split('/');
        let access_key = scope.next().unwrap_or_default();
        let region = scope.nth(1).filter(|region| !region.is_empty()).unwrap_or(host_region);
        Ok(Self { signed, access_key: plain(access_key), region: plain(region) })
    }

    /// At most until then: a token dies earlier with the session that signed it.
    pub fn until(&self) -> Timestamp {
        self.signed.saturating_add(HOLDS).unwrap_or(Timestamp::MAX)
    }
}

/// The version a prefix names, and what follows it.
fn version(token: &str) -> Option<(&str, &str)> {
    let (version, rest) = token.strip_prefix(PREFIX)?.split_once('.')?;
    let is_number = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((version, rest))
}

/// Names and regions are letters, digits and dashes; anything else is not worth showing.
fn plain(text: &str) -> Box<str> {
    let is_plain = text.len() <= 128 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_plain { text.into() } else { "".into() }
}

/// Host and query of a URL that is nothing more.
fn split(url: &str) -> Result<(&str, &str), EksFault> {
    let (scheme, rest) = url.split_once("://").ok_or(EksFault::NotUrl)?;
    if scheme != "https" {
        return Err(EksFault::Scheme);
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = place.find('/').map_or((place, ""), |at| place.split_at(at));
    sts_region(host).ok_or(EksFault::Host)?;
    if path == "/" { Ok((host, query)) } else { Err(EksFault::Path) }
}

/// The region of an STS host, empty for the global one; nothing for any other host.
fn sts_region(host: &str) -> Option<&str> {
    if host == "sts.amazonaws.com" {
        return Some("");
    }
    let rest = host.strip_prefix("sts.").or_else(|| host.strip_prefix("sts-fips."))?;
    let (region, suffix) = rest.split_once('.')?;
    let (_, expected) = PARTITIONS.iter().find(|(begins, _)| region.starts_with(begins))?;
    (is_region(region) && suffix == *expected).then_some(region)
}

/// `us-west-2`, `us-gov-east-1`, `us-isob-east-1`.
fn is_region(region: &str) -> bool {
    let parts: Vec<&str> = region.split('-').collect();
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.split_last() {
        Some((number, words)) => words.len() >= 2 && words.iter().all(is_word) && is_number(number),
        None => false,
    }
}

/// A query's parameters by their names in lower case, each once.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn parse(query: &str) -> Result<Self, EksFault> {
        let mut all: Vec<(String, String)> = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if pair.contains(';') {
                return Err(EksFault::Query);
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (unescaped(name)?.to_ascii_lowercase(), unescaped(value)?);
            if !ALLOWED.contains(&name.as_str()) {
                return Err(EksFault::UnknownParameter);
            }
            if all.iter().any(|(held, _)| *held == name) {
                return Err(EksFault::DuplicateParameter);
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(held, _)| held == name).map_or("", |(_, value)| value)
    }
}

impl Drop for Parameters {
    /// The signature and the session's token are among them.
    fn drop(&mut self) {
        use zeroize::Zeroize as _;
        self.0.iter_mut().for_each(|(_, value)| value.zeroize());
    }
}

/// Undoes percent escapes; one that is cut short or no number is a fault, as for Go.
fn unescaped(text: &str) -> Result<String, EksFault> {
    let is_escape = |after: &str| {
        let digits = after.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return Err(EksFault::Query);
    }
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().map(|text| text.into_owned()).map_err(|_| EksFault::Query)
}

/// `20230428T000000Z`.
fn date(text: &str) -> Option<Timestamp> {
    let is_shaped = text.len() == 16 && text.as_bytes()[8] == b'T' && text.ends_with('Z');
    let number = |range: std::ops::Range<usize>| -> Option<i16> {
        let digits = text.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    if !is_shaped {
        return None;
    }
    let small = |range| number(range).and_then(|value| i8::try_from(value).ok());
    let civil =
        DateTime::new(number(0..4)?, small(4..6)?, small(6..8)?, small(9..11)?, small(11..13)?, small(13..15)?, 0);
    TimeZone::UTC.to_timestamp(civil.ok()?).ok()
}
