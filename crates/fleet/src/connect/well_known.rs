//! Fetches the discovery document of an OIDC provider, when the user asks for it.
//!
//! Invariants:
//! - it is one GET over TLS, following redirects, answered within seconds or given up;
//! - no credential is sent, and the server's certificate is verified with the CA that kube-apiserver would use;
//! - a cluster named the URL, so that redirects and names lead to ordinary addresses alone (the egress policy);
//! - of the document only the issuer and `jwks_uri` are read, and only those are quoted.
//!
//! Elsewhere: which document to fetch (`checks`).
//!
//! # Limits
//! The request is sent from this machine. What kube-apiserver and the authentication operator reach may differ.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use serde_json::{Map, Value};

use super::env::Env;
use super::text::printable;
use super::{classify, send};
use trueup_net::http::{HttpClient, HttpError, HttpSettings};
use trueup_net::{Destination, Egress, PemSource, Proxies, SecretText, Verification};

/// How long an answer may take, redirects included: the authentication operator's patience for one attempt.
const FETCH_TIME: Duration = Duration::from_secs(5);

/// Documents have a few kilobytes; what is a hundred times larger is none.
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// Go's HTTP client, which kube-apiserver uses, follows ten.
const REDIRECTS_MAX: usize = 10;

/// What is repeated of a document, at most.
const QUOTED_CHARS_MAX: usize = 200;

/// The document to ask for.
#[derive(Debug, Clone, Copy)]
pub struct WellKnown<'w> {
    pub url: &'w str,
    /// What the document has to call its issuer, letter by letter.
    pub issuer: &'w str,
    /// The only CAs that count, in PEM; without any, the system's.
    pub roots: Option<&'w str>,
}

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// The issuer is the expected one, and its keys have an address.
    Fine(String),
    /// The document names another issuer: kube-apiserver would take none of its tokens.
    OtherIssuer(String),
    /// There is no document, or none that leads to keys.
    Unreachable(String),
    /// Nothing was sent, or not to where a redirect leads.
    NotTried(String),
}

impl Fetched {
    /// What was found out, in a sentence.
    pub fn message(&self) -> String {
        match self {
            Self::Fine(message) | Self::OtherIssuer(message) | Self::Unreachable(message) => {
                format!("tried from here: {message}")
            }
            Self::NotTried(why) => format!("could not be tried: {why}"),
        }
    }
}

/// Fetches the document and looks at it.
pub async fn fetch(asked: WellKnown<'_>, env: &Env, egress: &Egress) -> Fetched {
    let late = || Fetched::Unreachable(format!("{}: no answer within {} s", asked.url, FETCH_TIME.as_secs()));
    tokio::time::timeout(FETCH_TIME, follow(asked, env, egress)).await.unwrap_or_else(|_| late())
}

/// Goes where redirects lead.
async fn follow(asked: WellKnown<'_>, env: &Env, egress: &Egress) -> Fetched {
    let mut url = match https(asked.url) {
        Ok(url) => url,
        Err(why) => return Fetched::NotTried(format!("{}: {why}", asked.url)),
    };
    for _ in 0..=REDIRECTS_MAX {
        let page = match get(&url, asked.roots, env, egress).await {
            Ok(page) => page,
            Err(fetched) => return fetched,
        };
        let (way, status) = (page.way, page.status);
        if status == StatusCode::OK {
            return judge(&way, &page.body, asked.issuer);
        }
        if !status.is_redirection() {
            return Fetched::Unreachable(format!("{way} answered {}", status.as_u16()));
        }
        let target = page.location.as_deref().and_then(|location| resolved(&url, location));
        url = match target.as_deref().map(https) {
            Some(Ok(next)) => next,
            Some(Err(why)) => return Fetched::Unreachable(format!("{way} leads elsewhere, and there {why}")),
            None => return Fetched::Unreachable(format!("{way} leads elsewhere without saying where")),
        };
    }
    Fetched::Unreachable(format!("{} leads from one place to the next, more than {REDIRECTS_MAX} times", asked.url))
}

/// An answer of a server.
struct Page {
    /// The address that answered, and the proxy it was reached through.
    way: String,
    status: StatusCode,
    location: Option<String>,
    body: Bytes,
}

async fn get(url: &Uri, roots: Option<&str>, env: &Env, egress: &Egress) -> Result<Page, Fetched> {
    let proxies = Proxies::of(|name| env.text(name));
    let route = proxies.route(url, None).map_err(|error| Fetched::NotTried(error.to_string()))?;
    let way = match route.proxy_host() {
        None => url.to_string(),
        Some(proxy) => format!("{url} (through the proxy {proxy})"),
    };
    let roots = roots.map(|pem| PemSource::Inline(SecretText::new(pem)));
    let permit = egress.permit(&Destination::Document).map_err(|error| Fetched::NotTried(error.to_string()))?;
    let settings = HttpSettings { proxies, body_max: DOCUMENT_BYTES_MAX, ..HttpSettings::new(permit) };
    let client = HttpClient::verifying(&Verification::Full { roots, server_name: None }, settings).await;
    let client = client.map_err(|error| Fetched::NotTried(error.to_string()))?;
    let request = Request::get(url).header(header::ACCEPT, send::JSON).body(Bytes::new());
    let request = request.map_err(|_| Fetched::NotTried(format!("{url}: the request cannot be built")))?;
    let answer = client.send(request).await.map_err(|error| match error {
        HttpError::NotAllowed(refused) => Fetched::NotTried(refused.to_string()),
        other @ (HttpError::TimedOut { .. }
        | HttpError::NotReached(_)
        | HttpError::BrokeOff
        | HttpError::TooLarge { .. }) => Fetched::Unreachable(format!("{way}: {other}")),
    })?;
    let location = answer.headers.get(header::LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Ok(Page { way, status: answer.status, location, body: answer.body })
}

fn https(text: &str) -> Result<Uri, String> {
    let url: Uri = text.parse().map_err(|_| "this is not a URL".to_owned())?;
    if url.scheme_str() != Some("https") {
        return Err("this is not an https URL".to_owned());
    }
    let authority = url.authority().map(http::uri::Authority::as_str).unwrap_or_default();
    if url.host().is_none_or(str::is_empty) || authority.contains('@') {
        return Err("this names no host, or a user as well".to_owned());
    }
    Ok(url)
}

/// Where a `Location` leads: a whole URL, or a path on the same server.
fn resolved(from: &Uri, location: &str) -> Option<String> {
    if location.contains("://") {
        return Some(location.to_owned());
    }
    let authority = from.authority()?;
    (location.starts_with('/') && !location.starts_with("//")).then(|| format!("https://{authority}{location}"))
}

fn judge(way: &str, body: &[u8], expected: &str) -> Fetched {
    let Ok(document) = serde_json::from_slice::<Map<String, Value>>(body) else {
        return Fetched::Unreachable(classify::undecodable(body, way).message.to_string());
    };
    // Whatever is not text counts as not there.
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let issuer = text("issuer");
    if issuer != expected {
        let slash = issuer.trim_end_matches('/') == expected.trim_end_matches('/');
        let hint = if slash && !issuer.is_empty() { " (they differ in a slash at the end)" } else { "" };
        let named = if issuer.is_empty() { "no issuer".to_owned() } else { format!("the issuer {}", quoted(issuer)) };
        return Fetched::OtherIssuer(format!("{way} names {named}, and {} is expected{hint}", quoted(expected)));
    }
    let keys = text("jwks_uri");
    match keys.parse::<Uri>() {
        Ok(url) if url.scheme_str() == Some("https") && url.host().is_some() => {
            Fetched::Fine(format!("{way} names the expected issuer, and its keys at {}", quoted(keys)))
        }
        Ok(url) if url.scheme_str() == Some("http") && url.host().is_some() => Fetched::Fine(format!(
            "{way} names the expected issuer, and its keys at {}, which nothing protects on the way",
            quoted(keys)
        )),
        Ok(_) | Err(_) => Fetched::Unreachable(format!("{way} names no jwks_uri, so no signature could be checked")),
    }
}

fn quoted(text: &str) -> String {
    printable(text, QUOTED_CHARS_MAX)
}

#[cfg(test)]
mod tests;
